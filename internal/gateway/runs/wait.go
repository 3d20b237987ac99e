package runs

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
	"github.com/pudu-ai/pudu/state"
)

// createWait starts a run and answers with the state that it ends with.
func (g *Group) createWait(w http.ResponseWriter, r *http.Request, in *createIn) error {
	run, err := g.submit(r.Context(), in)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Location", route.Base(r)+runPath(run))
	return g.await(w, r, run, in.OnDisconnect == runs.CancelRun)
}

// join follows a run, for a client that takes streams; others get the state that it ends with.
func (g *Group) join(w http.ResponseWriter, r *http.Request, in *followIn) error {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return g.follow(w, r, in)
	}
	return g.await(w, r, in.Run, in.Gone)
}

// await answers with the state that a run ends with. The answer begins at once, with blanks while the run lasts, so that
// no proxy takes it for dead: there is no error status any more.
func (g *Group) await(w http.ResponseWriter, r *http.Request, run store.Run, cancel bool) error {
	location(w, run, "join")
	w.Header().Set("Content-Type", "application/json")
	// Whose connection breaks from here on knows where to ask; a client that has gone is noticed later.
	_ = http.NewResponseController(w).Flush()
	quiet := route.KeepAlive(w, g.Limits.Heartbeat/3)
	defer quiet()
	ctx, stop := g.Until(r.Context())
	defer stop()
	end, err := g.Hub.Follow(ctx, route.Caller(ctx).User, run.ID, event.ID{}, func([]event.Event) error { return nil })
	if err != nil {
		if r.Context().Err() != nil {
			g.disconnected(r.Context(), run, view{cancel: cancel})
		}
		panic(http.ErrAbortHandler) // a cut connection: the client asks again
	}
	body, err := g.result(ctx, end)
	if err != nil {
		g.Log.ErrorContext(ctx, "cannot read the end of a run", "run", run.ID, "error", err)
		panic(http.ErrAbortHandler)
	}
	quiet()
	_, _ = w.Write(body)
	return nil
}

// result is the state that a run has ended with, with the questions that it asks, and with its error if no answer tells of
// it.
func (g *Group) result(ctx context.Context, run store.Run) ([]byte, error) {
	snap, err := g.runs(ctx).Result(ctx, run)
	if err != nil {
		return nil, err
	}
	values, err := frames.VisibleValues(snap.State)
	if err != nil {
		return nil, err
	}
	if len(snap.Questions) > 0 {
		values["__interrupt__"], err = json.Marshal(shape.Interrupts(snap.Questions))
	}
	if err == nil && run.Broke() && !failed(snap.State) {
		values["__error__"], err = json.Marshal(map[string]string{"error": "RunError", "message": run.Error})
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(values)
}

// failed reports whether the last answer says itself that the model could not be asked.
func failed(st state.State) bool {
	_, ok := runs.Fallback(st)
	return ok
}
