package runs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// maxBatch bounds the runs of one batch, and of one cancel.
const maxBatch = 100

// A stateless run makes a thread of its own, or names one in config.configurable.thread_id. The thread stays, with its
// files, unless on_completion is "delete".

type batchIn struct {
	Rest route.Rest `body:"*"`
}

// batch starts a list of stateless runs: all that it names are read before the first one starts.
func (g *Group) batch(ctx context.Context, body *batchIn) ([]any, error) {
	list := body.Rest.Elements
	if len(list) > maxBatch {
		body.Rest.Add("too_long", fmt.Sprintf("List should have at most %d items", maxBatch), nil, "body")
		return nil, body.Rest.Err()
	}
	orders := make([]order, len(list))
	for i, raw := range list {
		in, err := body.Rest.Element(i, raw)
		if err != nil {
			return nil, err
		}
		var a asked
		route.Decode(in, &a)
		if orders[i], err = g.order(ctx, a, "", ""); err != nil { // one key cannot stand for many runs
			return nil, err
		}
	}
	out := make([]any, len(orders))
	for i, o := range orders { // one that is refused says so in its place: the others are there
		run, err := g.admit(ctx, o)
		if err == nil {
			out[i], err = g.describeNew(ctx, run)
		}
		if err != nil {
			out[i] = map[string]any{"status": "error", "detail": route.AsError(err).Detail}
		}
	}
	return out, nil
}

type cancelManyIn struct {
	Action   action         `query:"action"`
	ThreadID route.ThreadID `body:"thread_id"`
	IDs      []string       `body:"run_ids" max:"100"`
	Status   string         `body:"status" enum:",pending,running,all"`
}

// Audited implements [route.Audited].
func (in *cancelManyIn) Audited() (string, bool) {
	object := in.Status
	if object == "" {
		object = string(in.ThreadID) + "/" + strings.Join(in.IDs, ",")
	}
	return object, in.Action == store.StopRollback
}

// cancelMany cancels the runs that are named, or those of a status.
func (g *Group) cancelMany(ctx context.Context, in *cancelManyIn) (route.Status, error) {
	if in.ThreadID == "" == (in.Status == "") {
		var f route.Faults
		f.Add("value_error", "Give either a status, or a thread_id with run_ids", nil, "body")
		return 0, f.Err()
	}
	list, err := g.toCancel(ctx, in)
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, route.Failf(http.StatusNotFound, "No matching runs to cancel")
	}
	for _, run := range list {
		_, err := g.runs(ctx).Cancel(ctx, run.ID, in.Action.or(store.StopInterrupt))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
	}
	return http.StatusNoContent, nil
}

func (g *Group) toCancel(ctx context.Context, in *cancelManyIn) ([]store.Run, error) {
	f := store.RunFilter{ThreadID: string(in.ThreadID), Statuses: []string{in.Status}, Limit: 1000}
	if in.Status == "" || in.Status == "all" {
		f.Statuses = []string{event.StatusPending, event.StatusRunning}
	}
	list, err := g.Mine(ctx).ListRuns(ctx, f)
	if in.Status == "" {
		list = slices.DeleteFunc(list, func(run store.Run) bool { return !slices.Contains(in.IDs, run.ID) })
	}
	return list, err
}

// threadPoll is how often a thread that is followed is looked at for its next run.
const threadPoll = 500 * time.Millisecond

type followThreadIn struct {
	viewIn

	Thread store.Thread `of:"thread"`
}

// followThread streams the runs of a thread, one after the other, from the first that is active now until the client
// goes.
func (g *Group) followThread(w http.ResponseWriter, r *http.Request, in *followThreadIn) error {
	v, t := in.view(), in.Thread
	list, err := g.Mine(r.Context()).ListRuns(r.Context(), store.RunFilter{ThreadID: t.ID, Limit: maxBatch})
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, run := range list {
		seen[run.ID] = !run.Active()
	}
	out := route.NewSSE(w, g.Limits)
	defer out.Close()
	g.Watch.Streaming(1)
	defer g.Watch.Streaming(-1)
	ctx, stop := g.Until(r.Context())
	defer stop()
	tick := time.NewTicker(threadPoll)
	for {
		for _, run := range slices.Backward(list) {
			if seen[run.ID] {
				continue
			}
			seen[run.ID] = true
			if err := g.followOne(r, out, run, v); err != nil {
				return nil // the headers are sent: the stream ends
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if list, err = g.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: t.ID, Limit: maxBatch}); err != nil {
			return nil
		}
	}
}

func (g *Group) followOne(r *http.Request, out *route.Outlet, run store.Run, v view) (err error) {
	if v.modes == nil {
		if v.modes, v.subgraphs, err = modesOf(run); err != nil {
			return err
		}
	}
	v.after = ""
	ctx, stop := g.Until(r.Context())
	defer stop()
	p, err := g.projector(ctx, run, v)
	if err != nil {
		return err
	}
	end, err := g.Hub.Follow(ctx, route.Caller(ctx).User, run.ID, event.ID{},
		func(evs []event.Event) error { return project(out, p, evs) })
	switch {
	case errors.Is(err, errEnded):
		return nil
	case err == nil && end.Attempt == 0:
		return writeFrame(out, frames.EndFrame())
	}
	return err
}
