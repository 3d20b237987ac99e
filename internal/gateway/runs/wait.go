package runs

import (
	"context"
	"encoding/json"
	"errors"
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
	to, err := g.spokenTo(r.Context(), w, run)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Location", route.Base(r)+runPath(to))
	said := ""
	if to.ID != run.ID {
		said = run.ID
	}
	return g.await(w, r, to, said, said == "" && in.OnDisconnect == runs.CancelRun)
}

// join follows a run, for a client that takes streams; others get the state that it ends with.
func (g *Group) join(w http.ResponseWriter, r *http.Request, in *followIn) error {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return g.follow(w, r, in)
	}
	return g.await(w, r, in.Run, "", in.Gone)
}

// await answers with the state that a run ends with. The answer begins at once, with blanks while the run lasts, so
// that no proxy takes it for dead: there is no error status any more. If said was said to the run, and that ends
// without it, the state is that of the run that has read it.
func (g *Group) await(w http.ResponseWriter, r *http.Request, run store.Run, said string, cancel bool) error {
	location(w, run, "join")
	w.Header().Set("Content-Type", "application/json")
	// Whose connection breaks from here on knows where to ask; a client that has gone is noticed later.
	_ = http.NewResponseController(w).Flush()
	quiet := route.KeepAlive(w, g.Limits.Heartbeat/3)
	defer quiet()
	ctx, stop := g.Until(r.Context())
	defer stop()
	end, err := g.endOf(ctx, run.ID)
	if err == nil && said != "" {
		end, err = g.reader(ctx, end, said)
	}
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

// endOf waits for the end of a run.
func (g *Group) endOf(ctx context.Context, id string) (store.Run, error) {
	return g.Hub.Follow(ctx, route.Caller(ctx).User, id, event.ID{}, func([]event.Event) error { return nil })
}

// reader waits for the end of the run that has read what was said to one that is at its end. What nobody reads before a
// question is answered, or was taken back, leaves it at that one.
func (g *Group) reader(ctx context.Context, end store.Run, said string) (store.Run, error) {
	for {
		s, err := g.Mine(ctx).Run(ctx, said)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && s.Active() && s.IsSteer() && !s.NotBefore.IsZero():
			return end, nil
		case err != nil:
			return end, err
		case s.IsSteer() && s.StopReason == store.Taken:
			if s.Steers == end.ID {
				return end, nil
			}
			return g.endOf(ctx, s.Steers)
		case !s.Active():
			return s, nil
		}
		if _, err := g.endOf(ctx, said); err != nil {
			return end, err
		}
	}
}

// result is the state that a run has ended with, with the questions that it asks, and with its error if no answer tells
// of it.
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
