package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// maxEdit bounds a file that is edited, in bytes.
const maxEdit = 2 << 20

// artifactPath is the path inside the sandbox that the rest of a URL names, with "..", "." and doubled slashes resolved
// by the names alone. One that leads out of the thread's folders, or out of the files of the folder that it is in, is
// refused; links are for [sandbox.Files] to look at.
func artifactPath(rest string) (string, error) {
	rest = "/" + strings.TrimLeft(rest, "/")
	root := sandbox.UserData
	if within(sandbox.Folder, rest) {
		root = sandbox.Folder
	}
	switch {
	case strings.ContainsRune(rest, 0):
		return "", route.Failf(http.StatusBadRequest, "embedded null byte")
	case !within(root, rest):
		return "", route.Failf(http.StatusBadRequest, "Path must start with %s", sandbox.UserData)
	}
	clean := path.Clean(rest)
	if !within(root, clean) {
		return "", errTraversal
	}
	return clean, nil
}

var errTraversal = route.Failf(http.StatusForbidden, "Access denied: path traversal detected")

func within(folder, p string) bool { return p == folder || strings.HasPrefix(p, folder+"/") }

// openArtifact opens a file at a path that artifactPath made.
func openArtifact(files *sandbox.Files, p string) (*sandbox.File, error) {
	_, _, err := files.Resolve(p)
	switch {
	case errors.Is(err, sandbox.ErrIsDir):
		return nil, err
	case err != nil, sandbox.IsTemp(path.Base(p)):
		return nil, fs.ErrNotExist // no folder of ours is there, or no file can have this name
	}
	return files.Open(p)
}

// artifactError is the answer to a file that cannot be opened, read or written; shown is its path as the client knows
// it.
func artifactError(err error, shown string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP),
		errors.Is(err, sandbox.ErrInvalidPath):
		return route.Failf(http.StatusNotFound, "Artifact not found: %s", shown)
	case errors.Is(err, sandbox.ErrNotRegular):
		return route.Failf(http.StatusBadRequest, "Path is not a file: %s", shown)
	case errors.Is(err, sandbox.ErrOutside):
		return errTraversal
	case errors.Is(err, sandbox.ErrLinked), errors.Is(err, fs.ErrPermission):
		return route.Failf(http.StatusForbidden, "Access denied: %s", shown)
	}
	return storeError(err)
}

// content is what an artifact holds.
type content struct {
	name string
	size int64
	data interface {
		io.ReadSeeker
		io.ReaderAt
	}
	modified time.Time // zero if unknown
	cached   bool      // a client may keep it for a while
}

type getIn struct {
	ThreadID string `path:"thread_id"`
	Path     string `path:"path"`
	Download bool   `query:"download"`
}

// get sends a file of the thread, or the part of it that the client asks for. Files that could run scripts in the
// name of this server are only ever sent for saving.
func (g *Group) get(w http.ResponseWriter, r *http.Request, in *getIn) error {
	files, err := g.open(r.Context(), in.ThreadID)
	if err != nil {
		return err
	}
	defer files.Close()
	p, err := artifactPath(in.Path)
	if err != nil {
		return err
	}
	if archive, member, ok := cutSkill(p); ok {
		c, err := openMember(files, archive, member)
		if err == nil {
			return g.serve(w, r, c, in.Download)
		}
		if !errors.Is(err, errNoSkill) {
			return err
		}
	}
	h, err := openArtifact(files, p)
	if err != nil {
		return artifactError(err, p[1:])
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return err
	}
	return g.serve(w, r, content{name: path.Base(p), size: info.Size(), data: h, modified: info.ModTime()}, in.Download)
}

// serve sends content as a file of this server.
func (g *Group) serve(w http.ResponseWriter, r *http.Request, c content, download bool) error {
	kind, err := mediaType(c.name, c.data)
	if err != nil {
		return err
	}
	if active(kind) {
		w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
		download = true
	}
	return g.send(w, r, c, kind, download)
}

// send sends content of a kind, which follows from its name; a browser shall not guess.
func (g *Group) send(w http.ResponseWriter, r *http.Request, c content, kind string, download bool) error {
	asked := r.Header.Get("Range")
	if asked != "" && !strings.HasPrefix(asked, "bytes=") {
		return route.Failf(http.StatusBadRequest, "Only support bytes range")
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", "inline; filename*=UTF-8''"+route.Percent(c.name))
	if download {
		h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+route.Percent(c.name))
	}
	h.Set("Cache-Control", "private, no-cache") // ask each time: the agent may have changed it
	if c.cached {
		h.Set("Cache-Control", "private, max-age=300")
	}
	if !c.modified.IsZero() {
		h.Set("ETag", fmt.Sprintf(`"%x-%x"`, c.modified.UnixNano(), c.size))
	}
	out := g.SteadyWriter(w)
	if c.size == 0 && asked != "" && r.Header.Get("If-Range") == "" { // ServeContent would send the whole of nothing
		h.Set("Content-Range", "bytes */0")
		out.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return nil
	}
	http.ServeContent(out, r, c.name, c.modified, c.data)
	return nil
}

type saveIn struct {
	Thread store.Thread `of:"thread"`
	Path   string       `path:"path"`
	Text   string       `body:"content" required:""`
	Seen   sum          `body:"expected_sha256" required:""`
}

type savedJSON struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int    `json:"size"`
}

// save replaces the text of a file in the outputs, if it still is what the client has seen.
func (g *Group) save(ctx context.Context, in *saveIn) (out savedJSON, err error) {
	p, err := artifactPath(in.Path)
	if err == nil {
		err = editable(p, in.Text)
	}
	if err != nil {
		return out, err
	}
	files, err := g.open(ctx, in.Thread.ID)
	if err != nil {
		return out, err
	}
	defer files.Close()
	if err := g.edit(ctx, in.Thread.ID, files, edit{p, in.Text, string(in.Seen)}); err != nil {
		return out, err
	}
	g.note(ctx, in.Thread.ID, filehistory.ByEdit, p)
	sum := sha256.Sum256([]byte(in.Text))
	return savedJSON{p, hex.EncodeToString(sum[:]), len(in.Text)}, nil
}

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// sum is the SHA-256 of a text.
type sum string

// ReadFrom implements [route.Reader].
func (s *sum) ReadFrom(in *route.Input, name string) {
	in.Demand(name)
	text := in.Str(name)
	if in.Raw(name) != nil && !sha256Pattern.MatchString(text) {
		in.Add("string_pattern_mismatch", "String should match pattern '"+sha256Pattern.String()+"'",
			route.Quoted(in.Raw(name)), in.Loc(name)...).Ctx = map[string]any{"pattern": sha256Pattern.String()}
	}
	*s = sum(text)
}

// editable refuses what cannot be edited whatever is on the disk.
func editable(p, text string) error {
	_, _, skill := cutSkill(p)
	switch {
	case !strings.HasPrefix(p, sandbox.Outputs+"/"):
		return route.Failf(http.StatusBadRequest, "Only files in %s can be edited", sandbox.Outputs)
	case skill, strings.HasSuffix(p, skillExt):
		return route.Failf(http.StatusUnsupportedMediaType, "Skill archives cannot be edited in the artifacts panel")
	case len(text) > maxEdit:
		return errEditSize
	case strings.ContainsRune(text, 0):
		return route.Failf(http.StatusUnsupportedMediaType, "Binary content cannot be saved as an artifact")
	}
	return nil
}

var errEditSize = route.Failf(http.StatusRequestEntityTooLarge, "Artifact is too large to edit")

// edit is a new text for a file whose content was seen to have a SHA-256.
type edit struct{ path, text, seen string }

// edit makes an edit. Only one is made at a time, so that of two with the same origin one is refused. A run of the
// thread is not to lose what it writes, nor find its files changed.
func (g *Group) edit(ctx context.Context, threadID string, files *sandbox.Files, e edit) error {
	g.edits.Lock()
	defer g.edits.Unlock()
	inFlight, err := g.Mine(ctx).ListRuns(ctx, store.RunFilter{
		ThreadID: threadID, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1,
	})
	if err != nil {
		return err
	}
	if len(inFlight) > 0 {
		return route.Failf(http.StatusConflict, "Thread has a run in flight. Save after the run finishes.")
	}
	h, err := openArtifact(files, e.path) // for what it refuses
	if err != nil {
		return artifactError(err, e.path)
	}
	_ = h.Close()
	old, err := files.ReadFile(e.path, maxEdit)
	switch {
	case errors.Is(err, sandbox.ErrTooLarge):
		return errEditSize
	case err != nil:
		return artifactError(err, e.path)
	case !utf8.Valid(old), bytes.ContainsRune(old, 0):
		return route.Failf(http.StatusUnsupportedMediaType, "Binary artifacts cannot be edited")
	}
	if sum := sha256.Sum256(old); hex.EncodeToString(sum[:]) != e.seen {
		return route.Failf(http.StatusPreconditionFailed, "Artifact changed since it was opened")
	}
	if err := files.WriteFile(e.path, []byte(e.text), false); err != nil {
		return artifactError(err, e.path)
	}
	return nil
}
