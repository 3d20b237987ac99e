package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// waitRun starts a run and answers with the state that it ends with.
func (s *Server) waitRun(w http.ResponseWriter, r *http.Request) error {
	o, err := s.threadOrder(w, r)
	if err != nil {
		return err
	}
	return s.startWait(w, r, o)
}

func (s *Server) startWait(w http.ResponseWriter, r *http.Request, o order) error {
	run, err := s.submit(w, r, o)
	if err != nil {
		return err
	}
	return s.await(w, r, run, o.OnDisconnect == runs.CancelRun)
}

// joinRun follows a run, for a client that takes streams; others get the state that it ends with.
func (s *Server) joinRun(w http.ResponseWriter, r *http.Request) error {
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return s.followRun(w, r)
	}
	q := query{r: r}
	gone := q.boolean("cancel_on_disconnect")
	run, err := s.ownRun(r)
	if err == nil {
		err = q.err()
	}
	if err != nil {
		return err
	}
	return s.await(w, r, run, gone)
}

// await answers with the state that a run ends with. The answer begins at once, with blanks while the run lasts, so that
// no proxy takes it for dead: there is no error status any more.
func (s *Server) await(w http.ResponseWriter, r *http.Request, run store.Run, cancel bool) error {
	location(w, run, "join")
	w.Header().Set("Content-Type", "application/json")
	_ = http.NewResponseController(w).Flush() // whose connection breaks from here on knows where to ask; a client that has gone is noticed later
	quiet := keepAlive(w, s.Limits.Heartbeat/3)
	defer quiet()
	ctx, stop := s.until(r.Context())
	defer stop()
	end, err := s.Hub.Follow(ctx, caller(ctx).User, run.ID, event.ID{}, func([]event.Event) error { return nil })
	if err != nil {
		if r.Context().Err() != nil {
			s.disconnected(r.Context(), run, view{cancel: cancel})
		}
		panic(http.ErrAbortHandler) // a cut connection: the client asks again
	}
	body, err := s.result(ctx, end)
	if err != nil {
		s.Log.ErrorContext(ctx, "cannot read the end of a run", "run", run.ID, "error", err)
		panic(http.ErrAbortHandler)
	}
	quiet()
	_, _ = w.Write(body)
	return nil
}

// result is the state that a run has ended with, with the questions that it asks, and with its error if no answer tells of
// it.
func (s *Server) result(ctx context.Context, run store.Run) ([]byte, error) {
	snap, err := s.runs(ctx).Result(ctx, run)
	if err != nil {
		return nil, err
	}
	values, err := s.values(snap.State)
	if err != nil {
		return nil, err
	}
	if len(snap.Questions) > 0 {
		values["__interrupt__"], err = json.Marshal(interruptsOf(snap.Questions))
	}
	if err == nil && run.Status == event.StatusError && run.Error != store.RolledBack && !failed(snap.State) {
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

// keepAlive writes a line break every so often until quiet is called.
func keepAlive(w http.ResponseWriter, every time.Duration) (quiet func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(every)
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_, _ = w.Write([]byte("\n")) // a client that has gone ends the request's context
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}
