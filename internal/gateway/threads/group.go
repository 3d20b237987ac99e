// Package threads is the group of routes of threads and of their states: as they are now, at a checkpoint, as a
// history.
//
//	gateway -> threads -> the caller's store.UserData and runs.UserRuns -> threadJSON, stateJSON
package threads

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/runs"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	Manager *runs.Manager
	Bin     *bin.Bin
	// Folders are those of all users.
	Folders *folders.Folders
	// Delete removes a user's thread with its files; its error is the store's.
	Delete func(ctx context.Context, u access.User, threadID string) error
}

// runs is what the caller can do with runs.
func (g *Group) runs(ctx context.Context) *runs.UserRuns {
	return g.Manager.For(route.Caller(ctx).User)
}

const (
	read  = "threads:read"
	write = "threads:write"
)

// Routes are those of threads and of their states.
func (g *Group) Routes() []route.Route {
	return append(route.Under("threads",
		route.Post("/threads", "Create a thread", g.create).
			Access(access.Regular, write).Of(route.InBody).Rate(route.Write).Body(route.Maybe),
		route.Post("/threads/search", "List threads", g.search).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.Maybe),
		route.Post("/threads/count", "Count threads", g.count).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.Maybe),
		route.Get("/threads/{thread_id}", "Look at a thread", g.get).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Cheap).Body(route.None),
		route.Patch("/threads/{thread_id}", "Change the metadata of a thread", g.patch).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.JSON),
		route.Delete("/threads/{thread_id}", "Remove a thread with its files", g.remove).
			Access(access.Regular, write).Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "thread"),
		route.Patch("/threads/{thread_id}/marks", "Archive, pin or rename a thread, or keep a temporary one", g.mark).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.JSON),
		route.Post("/threads/{thread_id}/trash", "Put a thread into the bin; what runs on it is stopped", g.trash).
			Access(access.Regular, write).Of(route.ThreadName).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "thread to the bin"),
		route.Post("/threads/{thread_id}/restore", "Take a thread out of the bin", g.restore).
			Access(access.Regular, write).Of(route.ThreadName).Rate(route.Write).Body(route.None),
		route.Get("/trash", "List the threads in the bin, the last deleted first", g.bin).
			Access(access.Viewer, read).Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Delete("/trash", "Empty the bin for good", g.empty).
			Access(access.Regular, write).Of(route.User).Rate(route.Costly).Body(route.None).
			Audits(audit.Delete, "bin"),
		route.Post("/threads/{thread_id}/copy", "Copy a thread and its states", g.copy).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Costly).Body(route.None),
	), route.Under("state",
		route.Get("/threads/{thread_id}/state", "Look at the state of a thread", g.state).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Cheap).Body(route.None),
		route.Post("/threads/{thread_id}/state", "Change the state of a thread", g.updateState).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.JSON),
		route.Patch("/threads/{thread_id}/state", "Change the metadata of a thread", g.patch).
			Access(access.Regular, write).Of(route.Thread).Rate(route.Write).Body(route.JSON),
		route.Get("/threads/{thread_id}/state/{checkpoint_id}", "Look at the state at a checkpoint", g.stateAt).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Cheap).Body(route.None),
		route.Post("/threads/{thread_id}/state/checkpoint", "Look at the state at a checkpoint", g.statePlace).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Cheap).Body(route.Maybe),
		route.Get("/threads/{thread_id}/history", "List the states of a thread, the newest first", g.getHistory).
			Access(access.Viewer, read).Of(route.ThreadName).Rate(route.Costly).Body(route.None),
		route.Post("/threads/{thread_id}/history", "List the states of a thread, the newest first", g.postHistory).
			Access(access.Viewer, read).Of(route.ThreadName).Rate(route.Costly).Body(route.Maybe),
	)...)
}
