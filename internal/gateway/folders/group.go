// Package folders is the group of routes of folders, which hold threads.
//
//	gateway -> folders -> the caller's folders -> folderJSON
package folders

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Folders are those of all users.
	Folders *folders.Folders
	// Delete removes a user's folder with its files; its error is that of [folders.Mine.Delete].
	Delete func(ctx context.Context, u access.User, folder string) error
	// News tell of what changes.
	News *news.Hub
}

// mine are the caller's folders.
func (g *Group) mine(ctx context.Context) *folders.Mine { return g.Folders.For(route.Caller(ctx).User) }

const (
	read  = "folders:read"
	write = "folders:write"
)

// Routes are those of folders and the threads in them.
func (g *Group) Routes() []route.Route {
	return route.Under("folders",
		route.Post("/folders", "Make a folder for threads", g.create).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Get("/folders", "List folders", g.list).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Get("/folders/{folder_id}", "Look at a folder and its threads", g.get).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Patch("/folders/{folder_id}", "Change a folder", g.patch).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.JSON),
		route.Delete("/folders/{folder_id}", "Remove a folder with its files; its threads stay", g.remove).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "folder"),
		route.Put("/folders/{folder_id}/threads/{thread_id}", "Put a thread into a folder", g.put).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.None),
		route.Delete("/folders/{folder_id}/threads/{thread_id}", "Take a thread out of a folder", g.take).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "folder thread"),
	)
}
