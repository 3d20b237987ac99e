// Package files is the group of routes of a thread's files, what people upload and what the agent has made, and of the
// files of a folder of threads.
//
//	gateway -> files -> sandbox.Files of the caller's thread -> a list, a file, or a part of one
package files

import (
	"context"
	"net/http"
	"sync"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/sandbox"
)

// Group are the routes, with what they work with. Every field but Makers is required.
type Group struct {
	*route.Env

	// Files opens the files of a user's thread; the caller closes them.
	Files func(ctx context.Context, user access.User, threadID string) (*sandbox.Files, error)
	// FolderFiles opens the files of a user's folder of threads, which may have FolderQuota bytes; the caller closes
	// them. The error is [store.ErrNotFound] if he has no such folder.
	FolderFiles func(ctx context.Context, user access.User, folder string) (*sandbox.Files, error)
	FolderQuota int64
	// Links are those to previews.
	Links *threadfiles.Links
	// Makers knows who made which files; nil knows no more than their paths say.
	Makers threadfiles.Makers
	// History is that of the files of a user's thread.
	History filehistory.Find

	edits sync.Mutex // one edit of an artifact at a time
}

const (
	read  = "files:read"
	write = "files:write"
)

// Routes are those of uploads and artifacts, and of the files as people look at them.
func (g *Group) Routes() []route.Route {
	const uploads, artifacts = "/threads/{thread_id}/uploads", "/threads/{thread_id}/artifacts/{path...}"
	return append(route.Under("files",
		route.Raw(http.MethodPost, uploads, "Upload files to a thread, which need not be there yet", g.upload).
			Access(access.Regular, write).Of(route.ThreadOrNew).Rate(route.Costly).Body(route.Form),
		route.Get(uploads+"/limits", "What an upload may bring", g.limits).
			Access(access.Viewer, read).Of(route.ThreadName).Rate(route.Free).Body(route.None),
		route.Get(uploads+"/list", "List the uploads of a thread", g.list).
			Access(access.Viewer, read).Of(route.ThreadOrNew).Rate(route.Cheap).Body(route.None),
		route.Delete(uploads+"/{filename}", "Remove an upload", g.remove).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "file"),
		route.Raw(http.MethodGet, artifacts, "Download a file of a thread, or a part of it", g.get).
			Access(access.Viewer, read).Of(route.ThreadOrNew).Rate(route.Costly).Body(route.None),
		route.Get("/threads/{thread_id}/files", "List the files of a thread, or of one of its folders", g.tree).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Costly).Body(route.None),
		route.Raw(http.MethodGet, "/threads/{thread_id}/files.zip", "Download files of a thread as a ZIP", g.zip).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Costly).Body(route.None),
		route.Raw(http.MethodGet, "/threads/{thread_id}/preview", "A URL that shows a file of a thread as a page",
			g.link).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Cheap).Body(route.None),
		route.Raw(http.MethodGet, "/preview/{link}/{path...}", "A file of a thread, by a link that has the permission",
			g.page).
			Access(route.Anyone, "").Of(route.Nobody).Rate(route.Costly).Body(route.None).FromAnywhere(),
		route.Raw(http.MethodGet, "/threads/{thread_id}/file-versions/{version}/content",
			"Download a version of a file, or a part of it", g.getVersion).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Costly).Body(route.None),
		route.Put(artifacts, "Change the text of a file in the outputs", g.save).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.JSON),
	), g.folderRoutes()...)
}
