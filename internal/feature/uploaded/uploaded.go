// Package uploaded knows the files that users sent to a thread: which ones there are, how their names and paths are
// written for a model, and what an outline of one is. The middleware that announces new files and the tool that lists
// older ones share it.
//
// The disk is what counts. What a client says about a file is not believed, and names and headings are made harmless
// (package untrusted) before they go anywhere.
package uploaded

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/sandbox"
)

// MaxShown is how many files are announced one by one; the others are counted.
const MaxShown = 10

// File is a regular file in the uploads folder.
type File struct {
	Name     string
	Size     int64 // bytes
	Modified time.Time
	// Text is the name of the Markdown version of a document, such as "report.md" beside "report.pdf"; empty if there
	// is none. Such a version is not listed by itself.
	Text string
}

// Path is the file's path as the agent sees it.
func (f File) Path() string { return sandbox.Uploads + "/" + f.Name }

// Version is another one when the file has another content.
func (f File) Version() string { return fmt.Sprintf("%d %d", f.Size, f.Modified.UnixNano()) }

// State is the file as the thread's state and the list for the model describe it, without an outline.
func (f File) State() threadstate.UploadedFile {
	return threadstate.UploadedFile{Filename: f.Name, Size: f.Size, Path: f.Path(), Extension: path.Ext(f.Name)}
}

// documents are the endings of files that get a text version when they are converted.
var documents = []string{".pdf", ".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".odt", ".odp", ".ods", ".rtf",
	".epub"}

// List returns the uploads, the newest first. Folders, links, files of other kinds and files that are still being
// written are left out; so are the text versions of documents, which are named by [File.Text]. A folder that is not
// there is empty.
func List(files *sandbox.Files) ([]File, error) {
	entries, err := files.ReadDir(sandbox.Uploads)
	if err != nil {
		return nil, fmt.Errorf("list uploads: %w", err)
	}
	there := make(map[string]bool, len(entries))
	var list []File
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it is gone, or no upload
		}
		there[e.Name()] = true
		list = append(list, File{Name: e.Name(), Size: info.Size(), Modified: info.ModTime()})
	}
	list = pair(list, there)
	slices.SortFunc(list, func(a, b File) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Name, b.Name))
	})
	return list, nil
}

// pair brings documents and their text versions together.
func pair(list []File, there map[string]bool) []File {
	versions := make(map[string]bool)
	for i, f := range list {
		if name := textName(f.Name); name != "" && there[name] {
			list[i].Text, versions[name] = name, true
		}
	}
	return slices.DeleteFunc(list, func(f File) bool { return versions[f.Name] })
}

// textName is the name that the text version of a document has; empty if the file is no document.
func textName(name string) string {
	ext := path.Ext(name)
	if !slices.Contains(documents, strings.ToLower(ext)) {
		return ""
	}
	return strings.TrimSuffix(name, ext) + ".md"
}

// Find looks for one upload by its name. Names that no upload can have, links and the like are not found.
func Find(files *sandbox.Files, name string) (File, bool) {
	if !IsName(name) {
		return File{}, false
	}
	info, ok := regular(files, name)
	if !ok {
		return File{}, false
	}
	f := File{Name: name, Size: info.Size(), Modified: info.ModTime()}
	if text := textName(name); text != "" {
		if _, ok := regular(files, text); ok {
			f.Text = text
		}
	}
	return f, true
}

func regular(files *sandbox.Files, name string) (fs.FileInfo, bool) {
	info, err := files.Lstat(sandbox.Uploads + "/" + name)
	return info, err == nil && info.Mode().IsRegular()
}

// IsName reports whether an upload can have the name: one name, not a path, and not that of a file being written.
func IsName(name string) bool {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) || sandbox.IsTemp(name) {
		return false
	}
	_, err := sandbox.CleanPath(sandbox.Uploads + "/" + name)
	return err == nil
}
