// Package runs is the group of routes of runs: to start one, look at it, follow it, wait for it, cancel it.
//
//	gateway -> runs -> runs.UserRuns (admit, cancel), the caller's store.UserData, a Follower -> runJSON, frames of a stream
package runs

import (
	"context"
	"net/http"

	"github.com/pudu-ai/pudu/internal/feature/assistants"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// Group are the routes, with what they work with. All but Answers is required.
type Group struct {
	*route.Env

	Manager *runs.Manager
	Hub     Follower
	// Models are those that a run may name; the first is the default.
	Models []shape.Model
	// Answers is nil if there is a model that can answer the request, else says how to add one; nil means that there
	// is.
	Answers func(req runs.Request) error
	// Assistant finds one of the caller's assistants by its id, or the lead agent by the graph's name. The error is a
	// 404.
	Assistant func(ctx context.Context, idOrName string) (assistants.Assistant, error)
}

// Follower yields the events of a user's run after an id, first from the log and then live, until the run is at its
// end, and returns the run. It is a follow.Hub.
type Follower interface {
	Follow(ctx context.Context, u access.User, runID string, after event.ID,
		yield func([]event.Event) error) (store.Run, error)
}

// runs is what the caller can do with runs.
func (g *Group) runs(ctx context.Context) *runs.UserRuns {
	return g.Manager.For(route.Caller(ctx).User)
}

const (
	read  = "runs:read"
	write = "runs:write"
)

// Routes are those of runs on threads, and of runs that make a thread of their own.
func (g *Group) Routes() []route.Route {
	return append(route.Under("runs", append(g.ofThreads(), g.ofSteers()...)...),
		route.Under("stateless runs", g.stateless()...)...)
}

func (g *Group) ofThreads() []route.Route {
	const all, one = "/threads/{thread_id}/runs", "/threads/{thread_id}/runs/{run_id}"
	return []route.Route{
		route.Post(all, "Start a run in the background", g.create).
			Access(access.Regular, write).Of(route.ThreadName).Rate(route.Work).Body(route.Maybe),
		route.Get(all, "List the runs of a thread, the newest first", g.list).
			Access(access.Viewer, read).Of(route.ThreadName).Rate(route.Cheap).Body(route.None),
		route.Raw(http.MethodPost, all+"/stream", "Start a run and stream what happens", g.createStream).
			Access(access.Regular, write).Of(route.ThreadName).Rate(route.Work).Body(route.Maybe),
		route.Raw(http.MethodPost, all+"/wait", "Start a run and wait for the state that it ends with", g.createWait).
			Access(access.Regular, write).Of(route.ThreadName).Rate(route.Work).Body(route.Maybe),
		route.Get(one, "Look at a run", g.get).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Cheap).Body(route.None),
		route.Delete(one, "Remove a run that has ended", g.remove).
			Access(access.Regular, write).Of(route.Run).Rate(route.Write).Body(route.None).Audits(audit.Delete, "run"),
		route.Post(one+"/cancel", "Cancel a run", g.cancelRun).
			Access(access.Regular, write).Of(route.Run).Rate(route.Write).Body(route.None).Audits(audit.Delete, "run"),
		route.Raw(http.MethodGet, one+"/join", "Follow a run, or wait for its last state", g.join).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Stream).Body(route.None),
		route.Raw(http.MethodGet, one+"/stream", "Follow a run from any of its events on", g.follow).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Stream).Body(route.None),
		route.Raw(http.MethodPost, one+"/stream", "Follow a run, or cancel it first", g.follow).
			Access(access.Regular, write).Of(route.Run).Rate(route.Stream).Body(route.None),
		route.Raw(http.MethodGet, one+"/log",
			"Follow a run as it is kept: its events as JSON lines, from the one behind after on", g.log).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Stream).Body(route.None),
		route.Raw(http.MethodGet, "/threads/{thread_id}/stream", "Follow the runs of a thread, one after the other",
			g.followThread).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Stream).Body(route.None),
	}
}

func (g *Group) stateless() []route.Route {
	return []route.Route{
		route.Post("/runs", "Start a run on a thread of its own", g.create).
			Access(access.Regular, write).Of(route.InBody).Rate(route.Work).Body(route.Maybe),
		route.Raw(http.MethodPost, "/runs/stream", "Start a run on a thread of its own and stream what happens",
			g.createStream).
			Access(access.Regular, write).Of(route.InBody).Rate(route.Work).Body(route.Maybe),
		route.Raw(http.MethodPost, "/runs/wait",
			"Start a run on a thread of its own and wait for the state that it ends with",
			g.createWait).Access(access.Regular, write).Of(route.InBody).Rate(route.Work).Body(route.Maybe),
		route.Post("/runs/batch", "Start many runs", g.batch).
			Access(access.Regular, write).Of(route.InBody).Rate(route.Work).Body(route.List),
		route.Post("/runs/cancel", "Cancel many runs", g.cancelMany).
			Access(access.Regular, write).Of(route.InBody).Rate(route.Write).Body(route.JSON).
			Audits(audit.Delete, "run"),
		route.Get("/runs/{run_id}", "Look at a run", g.get).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Cheap).Body(route.None),
		route.Delete("/runs/{run_id}", "Remove a run that has ended", g.remove).
			Access(access.Regular, write).Of(route.Run).Rate(route.Write).Body(route.None).Audits(audit.Delete, "run"),
		route.Post("/runs/{run_id}/cancel", "Cancel a run", g.cancelRun).
			Access(access.Regular, write).Of(route.Run).Rate(route.Write).Body(route.None).Audits(audit.Delete, "run"),
		route.Raw(http.MethodGet, "/runs/{run_id}/join", "Follow a run, or wait for its last state", g.join).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Stream).Body(route.None),
		route.Raw(http.MethodGet, "/runs/{run_id}/stream", "Follow a run from any of its events on", g.follow).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Stream).Body(route.None),
	}
}
