package files

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"syscall"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// folderRoutes are those of the files that a folder has for its threads.
func (g *Group) folderRoutes() []route.Route {
	const all, read, write = "/folders/{folder_id}/files", "folders:read", "folders:write"
	return route.Under("folders",
		route.Get(all, "List the files of a folder, which its threads see as "+sandbox.Folder, g.folderTree).
			Access(access.Viewer, read).Of(route.User).Rate(route.Costly).Body(route.None),
		route.Raw(http.MethodPost, all, "Upload files to a folder", g.folderUpload).
			Access(access.Regular, write).Of(route.User).Rate(route.Costly).Body(route.Form),
		route.Raw(http.MethodGet, all+".zip", "Download files of a folder as a ZIP", g.folderZip).
			Access(access.Viewer, read).Of(route.User).Rate(route.Costly).Body(route.None),
		route.Raw(http.MethodGet, all+"/{path...}", "Download a file of a folder, or a part of it", g.folderGet).
			Access(access.Viewer, read).Of(route.User).Rate(route.Costly).Body(route.None),
		route.Delete(all+"/{path...}", "Remove a file of a folder, or an empty folder in it", g.folderRemove).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "folder file"),
	)
}

// ofFolder is a request about the files of a folder.
type ofFolder struct {
	Folder string `path:"folder_id"`
}

// openFolder opens the files of a folder of the caller's; the caller closes them.
func (g *Group) openFolder(ctx context.Context, in ofFolder) (*sandbox.Files, error) {
	files, err := g.FolderFiles(ctx, route.Caller(ctx).User, in.Folder)
	if errors.Is(err, store.ErrNotFound) {
		return nil, route.NotFound("Folder", route.Clip(in.Folder))
	}
	return files, err
}

type folderTreeIn struct {
	ofFolder

	Path   string `query:"path"`
	Limit  int    `query:"limit" default:"1000" min:"1" max:"10001"`
	Offset int    `query:"offset" max:"100000"`
}

// folderTree lists the files of a folder, or what is below a path of it.
func (g *Group) folderTree(ctx context.Context, in *folderTreeIn) (out route.Page[threadfiles.Entry], err error) {
	files, err := g.openFolder(ctx, in.ofFolder)
	if err != nil {
		return out, err
	}
	defer files.Close()
	list, more, err := threadfiles.Tree(ctx, files, sandbox.Folder, in.Path, in.Limit, in.Offset)
	if err != nil {
		return out, artifactError(err, in.Path)
	}
	return route.Page[threadfiles.Entry]{Entries: list, Offset: in.Offset, More: more}, nil
}

type folderUploadIn struct {
	ofFolder

	Path    string `query:"path"`
	Replace bool   `query:"replace"`
}

type folderFileJSON struct {
	Path     string  `json:"path"`
	Filename string  `json:"filename"`
	Size     int64   `json:"size"`
	Original *string `json:"original_filename"`
}

type folderUploadJSON struct {
	Files   []folderFileJSON `json:"files"`
	Skipped []string         `json:"skipped_files"`
}

// folderUpload stores the files of a form in a folder, as those of a thread are: all or none, under names of their own
// unless they are to replace. What there would be too much of is refused.
func (g *Group) folderUpload(w http.ResponseWriter, r *http.Request, in *folderUploadIn) error {
	at, err := folderPath(in.Path)
	if err != nil {
		return err
	}
	files, err := g.openFolder(r.Context(), in.ofFolder)
	if err != nil {
		return err
	}
	defer files.Close()
	room, left, _, err := folders.Room(r.Context(), files, g.FolderQuota)
	if err != nil {
		return err
	}
	full := route.Failf(http.StatusRequestEntityTooLarge, "%v", folders.Full(g.FolderQuota))
	u := &upload{at: at, files: files, replace: in.Replace, room: room, left: left, full: full}
	if err := g.receive(w, r, u); err != nil {
		return err
	}
	if _, _, over, err := folders.Room(r.Context(), files, g.FolderQuota); over || err != nil { // of two at once
		u.undo()
		return errors.Join(err, full)
	}
	out := folderUploadJSON{[]folderFileJSON{}, u.skipped}
	for _, f := range u.stored {
		out.Files = append(out.Files, folderFileJSON{u.path(f.name), f.name, f.size, f.original})
	}
	return route.Reply(w, http.StatusOK, out)
}

// folderPath is where in a folder files are to be put: each part of the path must be a name that a file could have.
func folderPath(named string) (string, error) {
	at, err := threadfiles.Below(sandbox.Folder, named)
	for part := range strings.SplitSeq(strings.Trim(strings.TrimPrefix(at, sandbox.Folder), "/"), "/") {
		name, ok := uploadName(part)
		if part != "" && (!ok || name != part) {
			err = sandbox.ErrInvalidPath
		}
	}
	if err != nil {
		return "", route.Failf(http.StatusBadRequest, "Invalid path")
	}
	return at, nil
}

type folderZipIn struct {
	ofFolder

	Paths []string `query:"path" max:"1000"`
}

// folderZip sends some files of a folder, or all, as they are read.
func (g *Group) folderZip(w http.ResponseWriter, r *http.Request, in *folderZipIn) error {
	files, err := g.openFolder(r.Context(), in.ofFolder)
	if err != nil {
		return err
	}
	defer files.Close()
	name := "folder"
	if len(in.Paths) == 1 {
		name = in.Paths[0][strings.LastIndexByte(in.Paths[0], '/')+1:]
	}
	return g.sendZip(w, r, zipped{files, sandbox.Folder, in.Paths, threadfiles.FileName(name, "folder") + ".zip",
		"folder " + in.Folder})
}

type folderGetIn struct {
	ofFolder

	Path     string `path:"path"`
	Download bool   `query:"download"`
}

// folderGet sends a file of a folder, or the part of it that the client asks for, as files of threads are sent.
func (g *Group) folderGet(w http.ResponseWriter, r *http.Request, in *folderGetIn) error {
	files, err := g.openFolder(r.Context(), in.ofFolder)
	if err != nil {
		return err
	}
	defer files.Close()
	p, err := threadfiles.Below(sandbox.Folder, in.Path)
	var h *sandbox.File
	if err == nil {
		h, err = openArtifact(files, p)
	}
	if err != nil {
		return artifactError(err, in.Path)
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return err
	}
	return g.serve(w, r, content{name: path.Base(p), size: info.Size(), data: h, modified: info.ModTime()}, in.Download)
}

type folderRemoveIn struct {
	ofFolder

	Path string `path:"path"`
}

// folderRemove removes a file of a folder, or a folder in it that is empty.
func (g *Group) folderRemove(ctx context.Context, in *folderRemoveIn) (route.Status, error) {
	files, err := g.openFolder(ctx, in.ofFolder)
	if err != nil {
		return 0, err
	}
	defer files.Close()
	p, err := threadfiles.Below(sandbox.Folder, in.Path)
	if err == nil && (p == sandbox.Folder || sandbox.IsTemp(path.Base(p))) {
		err = fs.ErrNotExist
	}
	if err == nil {
		err = files.Remove(p)
	}
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return 0, route.Failf(http.StatusConflict, "The folder %s is not empty", in.Path)
	}
	if err != nil {
		return 0, artifactError(err, in.Path)
	}
	return http.StatusNoContent, nil
}
