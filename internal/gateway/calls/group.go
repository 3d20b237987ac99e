// Package calls is the group of routes of what happened in a run: its steps, what each call of a model was sent, what
// it cost, and the run as a test.
//
//	gateway -> calls -> the caller's calls.Mine -> a timeline, a call
package calls

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/store"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	Calls *calls.Calls
	// Record makes a test of a finished run, for `pudu replay`; what cannot be one is a [replay.UnfitError].
	Record func(ctx context.Context, u access.User, thread, run string) ([]byte, error)
}

const read = "runs:read"

// Routes are those of a run's timeline and of its calls.
func (g *Group) Routes() []route.Route {
	const run = "/threads/{thread_id}/runs/{run_id}"
	return route.Under("calls",
		route.Get(run+"/timeline",
			"List the steps of a run: calls of models and tools, retries, compactions, questions, and what they took",
			g.timeline).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Costly).Body(route.None),
		route.Get(run+"/calls/{call_number}", "Look at what a call of a model was sent, and at what came back", g.call).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Costly).Body(route.None),
		route.Raw(http.MethodGet, run+"/test", "Download a run that is over as a test: pudu replay FILE runs it again",
			g.test).
			Access(access.Viewer, read).Of(route.Run).Rate(route.Costly).Body(route.None),
		route.Get("/threads/{thread_id}/costs",
			"Sum up what the runs of a thread took, the newest first, and how full the model's window is", g.costs).
			Access(access.Viewer, read).Of(route.Thread).Rate(route.Costly).Body(route.None),
	)
}

// stepID is the id of a step.
type stepID string

// ReadFrom implements [route.Reader].
func (s *stepID) ReadFrom(in *route.Input, name string) {
	const most = 64
	*s = stepID(in.Text(name, most))
	if _, err := event.ParseID(string(*s)); *s != "" && err != nil {
		in.Add("value_error", "Value should be the id of a step, as `next` of a page has it",
			route.Quoted(in.Raw(name)), in.Loc(name)...)
	}
}

type timelineIn struct {
	Run   store.Run `of:"run"`
	After stepID    `query:"after"`
	Limit int       `query:"limit" default:"500" min:"1" max:"1000"`
}

func (g *Group) timeline(ctx context.Context, in *timelineIn) (calls.Timeline, error) {
	return g.mine(ctx).Timeline(ctx, in.Run.ThreadID, in.Run.ID, string(in.After), in.Limit)
}

type callIn struct {
	Run    store.Run `of:"run"`
	Number string    `path:"call_number"`
}

func (g *Group) call(ctx context.Context, in *callIn) (calls.Call, error) {
	n, err := strconv.Atoi(in.Number)
	if err != nil || n < 1 {
		return calls.Call{}, store.ErrNotFound
	}
	return g.mine(ctx).Call(ctx, in.Run.ThreadID, in.Run.ID, n)
}

type testIn struct {
	Run store.Run `of:"run"`
}

// test sends a run as a file that can be played again.
func (g *Group) test(w http.ResponseWriter, r *http.Request, in *testIn) error {
	raw, err := g.Record(r.Context(), route.Caller(r.Context()).User, in.Run.ThreadID, in.Run.ID)
	if _, unfit := errors.AsType[replay.UnfitError](err); unfit {
		return route.Failf(http.StatusConflict, "%s", route.Clip(err.Error()))
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/yaml")
	h.Set("Content-Disposition", route.Attachment(in.Run.ID+".replay.yaml"))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-store")
	_, err = g.SteadyWriter(w).Write(raw)
	return err
}

type costsIn struct {
	Thread store.Thread `of:"thread"`
	Limit  int          `query:"limit" default:"50" min:"1" max:"200"`
}

func (g *Group) costs(ctx context.Context, in *costsIn) (calls.Spending, error) {
	return g.mine(ctx).Spent(ctx, in.Thread.ID, in.Limit)
}

func (g *Group) mine(ctx context.Context) *calls.Mine { return g.Calls.For(route.Caller(ctx).User) }
