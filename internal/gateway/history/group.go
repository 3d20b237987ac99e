// Package history is the group of routes of what was said on a thread: its messages by pages, their versions, what
// happened in a run, what the runs took, and what is needed to answer once more, to say something else, or to go on in
// a thread beside.
//
//	gateway -> history -> the caller's history.Mine, runs.UserRuns -> rowJSON, eventJSON, preparedJSON
package history

import (
	"context"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
)

// Group are the routes, with what they work with. All but CloneFiles is required.
type Group struct {
	*route.Env

	Manager   *runs.Manager
	Histories *history.Histories
	// Models are those that a run may name; the first is the default.
	Models []shape.Model
	// Files is the history of the files of a user's thread.
	Files filehistory.Find
	// Memory says what reading threads for the memory took.
	Memory *memory.Memory
	// CloneFiles copies the files of a user's thread to another one, and reports whether there were any; with a time,
	// as they were then. nil copies none.
	CloneFiles func(ctx context.Context, u access.User, from, to string, then time.Time) (bool, error)
}

func (g *Group) mine(ctx context.Context) *history.Mine {
	return g.Histories.For(route.Caller(ctx).User)
}

func (g *Group) runs(ctx context.Context) *runs.UserRuns {
	return g.Manager.For(route.Caller(ctx).User)
}

const (
	readRuns, readThreads   = "runs:read", "threads:read"
	writeRuns, writeThreads = "runs:write", "threads:write"
)

// Routes are those of messages, events of runs, versions and branches.
func (g *Group) Routes() []route.Route {
	const thread, run = "/threads/{thread_id}", "/threads/{thread_id}/runs/{run_id}"
	return route.Under("history",
		route.Get(thread+"/messages", "List the messages of a thread", g.messages).
			Access(access.Viewer, readRuns).Of(route.ThreadName).Rate(route.Cheap).Body(route.None),
		route.Get(thread+"/messages/page",
			"List the messages of a thread or of one of its branches by pages, from the newest back", g.page).
			Access(access.Viewer, readRuns).Of(route.ThreadName).Rate(route.Cheap).Body(route.None),
		route.Get(thread+"/messages/{message_id}/versions", "List the versions of a message", g.versions).
			Access(access.Viewer, readRuns).Of(route.Thread).Rate(route.Cheap).Body(route.None),
		route.Get(run+"/messages", "List the messages of a run", g.ofRun).
			Access(access.Viewer, readRuns).Of(route.RunName).Rate(route.Cheap).Body(route.None),
		route.Get("/runs/{run_id}/messages", "List the messages of a run", g.ofRunAlone).
			Access(access.Viewer, readRuns).Of(route.Run).Rate(route.Cheap).Body(route.None),
		route.Get(run+"/events", "List what happened in a run", g.events).
			Access(access.Viewer, readRuns).Of(route.RunName).Rate(route.Costly).Body(route.None),
		route.Raw(http.MethodGet, thread+"/export", "Download the conversation of a thread as Markdown, JSON or HTML",
			g.export).
			Access(access.Viewer, readThreads).Of(route.Thread).Rate(route.Costly).Body(route.None),
		route.Get(thread+"/token-usage", "Count the tokens that a thread took", g.usage).
			Access(access.Viewer, readThreads).Of(route.ThreadName).Rate(route.Costly).Body(route.None),
		route.Post(thread+"/branches", "Begin a thread that goes on from an answer of another", g.branch).
			Access(access.Regular, writeThreads).Of(route.Thread).Rate(route.Costly).Body(route.JSON),
		route.Post(thread+"/runs/regenerate/prepare", "Prepare a run that answers once more", g.regenerate).
			Access(access.Regular, writeRuns).Of(route.Thread).Rate(route.Cheap).Body(route.JSON),
		route.Post(thread+"/runs/edit-regenerate/prepare", "Prepare a run that answers other words", g.edit).
			Access(access.Regular, writeRuns).Of(route.Thread).Rate(route.Cheap).Body(route.JSON),
	)
}
