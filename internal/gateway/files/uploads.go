package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

const (
	// formOverhead is what a form may have beside the files' content, in bytes and in fields.
	formOverhead = 1 << 20
	formFields   = 100
	// maxName is the longest name of a file, in bytes.
	maxName = 255
	// maxAlike bounds the search for a name that is free.
	maxAlike = 1000
)

// uploadJSON is an uploaded file as clients see it. All paths are those inside the sandbox.
type uploadJSON struct {
	Filename    string `json:"filename"`
	Size        int64  `json:"size"`
	Path        string `json:"path"`
	VirtualPath string `json:"virtual_path"`
	ArtifactURL string `json:"artifact_url"`
	// Extension and Modified, in seconds since 1970, are told in lists.
	Extension *string  `json:"extension"`
	Modified  *float64 `json:"modified"`
	// Original is the name that the file came with, if it had to get another one.
	Original *string `json:"original_filename"`
	// No file is converted to Markdown, so these are null.
	Markdown            *string `json:"markdown_file"`
	MarkdownPath        *string `json:"markdown_path"`
	MarkdownVirtualPath *string `json:"markdown_virtual_path"`
	MarkdownURL         *string `json:"markdown_artifact_url"`
}

func uploadOf(threadID, name string, size int64) uploadJSON {
	at := uploadPath(name)
	return uploadJSON{
		Filename: name, Size: size, Path: at, VirtualPath: at,
		ArtifactURL: "/api/threads/" + threadID + "/artifacts" + sandbox.Uploads + "/" + route.Percent(name),
	}
}

func uploadPath(name string) string { return sandbox.Uploads + "/" + name }

// ofThread is a request about the files of a thread.
type ofThread struct {
	ThreadID string `path:"thread_id"`
}

type limitsJSON struct {
	Files int   `json:"max_files"`
	Size  int64 `json:"max_file_size"`
	Total int64 `json:"max_total_size"`
}

// limits tells what an upload may bring.
func (g *Group) limits(context.Context, *ofThread) (limitsJSON, error) {
	return limitsJSON{g.Limits.Files, g.Limits.Upload, g.Limits.Uploads}, nil
}

type listJSON struct {
	Files []uploadJSON `json:"files"`
	Count int          `json:"count"`
}

// list lists the files in the thread's uploads by name. Folders and what is no regular file are left out.
func (g *Group) list(ctx context.Context, in *ofThread) (out listJSON, err error) {
	files, err := g.open(ctx, in.ThreadID)
	if err != nil {
		return out, err
	}
	defer files.Close()
	entries, err := files.ReadDir(sandbox.Uploads)
	if errors.Is(err, sandbox.ErrTooMany) {
		return out, route.Failf(http.StatusRequestEntityTooLarge, "There are more than %d uploads",
			sandbox.MaxDirEntries)
	}
	if err != nil {
		return out, err
	}
	list := make([]uploadJSON, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it is gone, or no upload
		}
		u := uploadOf(in.ThreadID, e.Name(), info.Size())
		ext, modified := path.Ext(e.Name()), float64(info.ModTime().UnixMicro())/1e6
		u.Extension, u.Modified = &ext, &modified
		list = append(list, u)
	}
	return listJSON{list, len(list)}, nil
}

type removeIn struct {
	Thread store.Thread `of:"thread"`
	Name   string       `path:"filename"`
}

type removedJSON struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

// remove removes a file from the uploads of a thread.
func (g *Group) remove(ctx context.Context, in *removeIn) (out removedJSON, err error) {
	files, err := g.open(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	defer files.Close()
	name := in.Name
	if name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return out, route.Failf(http.StatusBadRequest, "Invalid path")
	}
	info, err := files.Lstat(uploadPath(name))
	switch {
	case errors.Is(err, sandbox.ErrInvalidPath), errors.Is(err, sandbox.ErrOutside):
		return out, route.Failf(http.StatusBadRequest, "Invalid path")
	case err == nil && (info.IsDir() || sandbox.IsTemp(name)):
		err = fs.ErrNotExist
	case err == nil:
		if err = files.Remove(uploadPath(name)); err == nil {
			g.note(ctx, in.Thread.ID, filehistory.ByUpload, uploadPath(name))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return out, route.Failf(http.StatusNotFound, "File not found: %s", name)
	}
	if err != nil {
		return out, err
	}
	return removedJSON{true, "Deleted " + name}, nil
}

type uploadIn struct {
	ofThread

	Replace bool `query:"replace"`
}

// upload stores the files of a form: all of them, or none if one is too large or the client stops in the middle. No
// file replaces another one: it gets a new name, which the answer tells; unless the query says replace=true: then each
// takes the place of the file of its name, also if a later one of the form fails. Files whose names cannot be used are
// left out, which the answer tells too.
func (g *Group) upload(w http.ResponseWriter, r *http.Request, in *uploadIn) error {
	files, err := g.open(r.Context(), in.ThreadID)
	if err != nil {
		return err
	}
	defer files.Close()
	u := &upload{at: sandbox.Uploads, files: files, replace: in.Replace, room: math.MaxInt, left: math.MaxInt64}
	if err := g.receive(w, r, u); err != nil {
		return err
	}
	g.note(r.Context(), in.ThreadID, filehistory.ByUpload, u.paths()...)
	return route.Reply(w, http.StatusOK, u.answer(in.ThreadID))
}

// receive stores the files of a form.
func (g *Group) receive(w http.ResponseWriter, r *http.Request, u *upload) error {
	if r.ContentLength > g.Limits.Uploads+formOverhead {
		w.Header().Set("Connection", "close")
		return errTotal
	}
	body := g.Steady(w, r, g.Limits.Uploads+formOverhead)
	r.Body = body
	u.limits, u.skipped = g.Limits, []string{}
	err := u.read(r)
	if err != nil {
		u.undo()
		err = uploadError(err, body.Err)
	}
	body.Drain()
	return err
}

var errTotal = route.Failf(http.StatusRequestEntityTooLarge, "Total upload size too large")

// uploadError is the answer to what went wrong; read is what reading the request failed with.
func uploadError(err, read error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(read, &tooLarge):
		return errTotal
	case errors.Is(read, os.ErrDeadlineExceeded):
		return route.Failf(http.StatusRequestTimeout, "The upload came too slowly; nothing was stored")
	case read != nil, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return route.Failf(http.StatusBadRequest, "The upload was cut off; nothing was stored")
	}
	return storeError(err)
}

// upload is a form on its way into a folder.
type upload struct {
	at      string // the folder, inside the sandbox
	files   *sandbox.Files
	limits  route.Limits
	replace bool
	// room is for how many files there is room there, and left for how many bytes; full is the answer to more.
	room int
	left int64
	full error

	seen, fields int
	total        int64
	made         []string // the names that were taken
	stored       []stored
	skipped      []string
}

// stored is a file that was stored; original is the name that it came with, if it had to get another one.
type stored struct {
	name     string
	size     int64
	original *string
}

func (u *upload) path(name string) string { return u.at + "/" + name }

// read takes the form apart. Nothing of it is kept in memory.
func (u *upload) read(r *http.Request) error {
	form, err := r.MultipartReader()
	if err != nil {
		return noFiles()
	}
	for {
		part, err := form.NextRawPart()
		if err == io.EOF { // a wrapped one is that of a form without an end
			break
		}
		if err != nil {
			return formError(err)
		}
		if err := u.part(part); err != nil {
			return err
		}
	}
	if u.seen == 0 {
		return noFiles()
	}
	return nil
}

func noFiles() error {
	var f route.Faults
	f.Add("missing", "Field required", nil, "body", "files")
	return f.Err()
}

// formError tells a form that is wrong from one that did not arrive.
func formError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return route.Failf(http.StatusBadRequest, "The form cannot be read: %s", route.Clip(err.Error()))
}

// part takes a field of the form. Fields that are no file of ours are passed over.
func (u *upload) part(part *multipart.Part) error {
	if u.fields++; u.fields > u.limits.Files+formFields {
		return route.Failf(http.StatusRequestEntityTooLarge, "Too many fields in the form")
	}
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return route.Failf(http.StatusBadRequest, "The form cannot be read: a field has no valid Content-Disposition")
	}
	sent, isFile := params["filename"]
	if params["name"] != "files" || !isFile {
		return nil
	}
	if u.seen++; u.seen > u.limits.Files {
		return route.Failf(http.StatusRequestEntityTooLarge, "Too many files: maximum is %d", u.limits.Files)
	}
	name, ok := uploadName(sent)
	if !ok {
		u.skipped = append(u.skipped, route.Clip(sent))
		return nil
	}
	return u.store(name, part)
}

// store writes a file under the name, or the first one like it that is free.
func (u *upload) store(name string, content io.Reader) error {
	if len(u.stored) >= u.room {
		return u.full
	}
	got := name
	if !u.replace {
		var err error
		if got, err = u.take(name); err != nil {
			return err
		}
	}
	room := min(u.limits.Upload, u.limits.Uploads-u.total, u.left-u.total)
	n, err := u.files.WriteFrom(u.path(got), content, room)
	if errors.Is(err, sandbox.ErrTooLarge) {
		return u.tooLarge(room, name)
	}
	if err != nil {
		return inTheWay(err, name)
	}
	u.total += n
	f := stored{name: got, size: n}
	if got != name {
		f.original = &name
	}
	u.stored = append(u.stored, f)
	return nil
}

// tooLarge is the answer to a file that is larger than the room for it.
func (u *upload) tooLarge(room int64, name string) error {
	switch {
	case room == u.left-u.total:
		return u.full
	case room < u.limits.Upload:
		return errTotal
	}
	return route.Failf(http.StatusRequestEntityTooLarge, "File too large: %s", name)
}

// inTheWay is the answer to a file that has no place under its name.
func inTheWay(err error, name string) error {
	switch {
	case errors.Is(err, sandbox.ErrNotRegular), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return route.Failf(http.StatusConflict, "What is called %s already is no file that could be replaced", name)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, sandbox.ErrLinked), errors.Is(err, sandbox.ErrReadOnly),
		errors.Is(err, sandbox.ErrOutside):
		return route.Failf(http.StatusForbidden, "The file %s may not be written", name)
	}
	return err
}

// take makes an empty file of a name that nobody else has, also not in another request or another process; its content
// replaces it in one step.
func (u *upload) take(name string) (string, error) {
	for i := range maxAlike {
		try := numbered(name, i)
		h, err := u.files.Create(u.path(try))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", inTheWay(err, name)
		}
		u.made = append(u.made, try)
		return try, h.Close()
	}
	return "", route.Failf(http.StatusConflict, "There are too many uploads with names like %s; give it another one",
		name)
}

// paths are those of the stored files.
func (u *upload) paths() (list []string) {
	for _, f := range u.stored {
		list = append(list, u.path(f.name))
	}
	return list
}

// undo removes what this request has stored.
func (u *upload) undo() {
	for _, name := range u.made {
		_ = u.files.Remove(u.path(name)) // somebody else was faster
	}
}

type uploadAnswer struct {
	Success bool         `json:"success"`
	Files   []uploadJSON `json:"files"`
	Message string       `json:"message"`
	Skipped []string     `json:"skipped_files"`
}

func (u *upload) answer(threadID string) uploadAnswer {
	list := make([]uploadJSON, len(u.stored))
	for i, f := range u.stored {
		list[i] = uploadOf(threadID, f.name, f.size)
		list[i].Original = f.original
	}
	out := uploadAnswer{len(u.skipped) == 0, list, fmt.Sprintf("Successfully uploaded %d file(s)", len(u.stored)),
		u.skipped}
	if !out.Success {
		out.Message += fmt.Sprintf("; skipped %d unsafe file(s)", len(u.skipped))
	}
	return out
}

// uploadName is the name that a file gets which was sent under another one: the last part of it, be it a path of Unix
// or of Windows. ok says whether it can be used: it is text without control characters, not too long, and no name that
// means something else.
func uploadName(sent string) (name string, ok bool) {
	name = sent[strings.LastIndexAny(sent, `/\`)+1:]
	switch {
	case name == ".", name == "..", strings.TrimSpace(name) == "", len(name) > maxName, !utf8.ValidString(name),
		sandbox.IsTemp(name):
		return "", false
	}
	breaks := func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
	return name, strings.IndexFunc(name, breaks) < 0
}

// numbered is the name with a number before its extension; the name itself for 0. It is no longer than a name may be.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	ext := path.Ext(name)
	if ext == name || len(ext) > maxName/2 { // .hidden has no extension, nor has a long name with a dot somewhere
		ext = ""
	}
	number := fmt.Sprintf("_%d", n)
	stem := strings.TrimSuffix(name, ext)
	for len(stem)+len(number)+len(ext) > maxName {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	return stem + number + ext
}
