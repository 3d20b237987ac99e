package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// maxBatch bounds the runs of one batch, and of one cancel.
const maxBatch = 100

// A stateless run makes a thread of its own, or names one in config.configurable.thread_id. The thread stays, with its
// files, unless on_completion is "delete".

func (s *Server) createStateless(w http.ResponseWriter, r *http.Request) error {
	o, err := s.order(w, r, "")
	if err != nil {
		return err
	}
	run, err := s.submit(w, r, o)
	if err != nil {
		return err
	}
	return s.replyRun(r.Context(), w, run)
}

func (s *Server) streamStateless(w http.ResponseWriter, r *http.Request) error {
	o, err := s.order(w, r, "")
	if err != nil {
		return err
	}
	return s.startStream(w, r, o)
}

func (s *Server) waitStateless(w http.ResponseWriter, r *http.Request) error {
	o, err := s.order(w, r, "")
	if err != nil {
		return err
	}
	return s.startWait(w, r, o)
}

// batchRuns starts a list of stateless runs: all that it names are read before the first one starts.
func (s *Server) batchRuns(w http.ResponseWriter, r *http.Request) error {
	list, err := s.listBody(w, r)
	if err != nil {
		return err
	}
	orders := make([]order, len(list))
	for i, raw := range list {
		in := &input{at: []any{"body", i}}
		if err := json.Unmarshal(raw, &in.members); err != nil {
			in.add("model_attributes_type", "Input should be a valid dictionary or object to extract fields from", quoted(raw), in.at...)
			return in.err()
		}
		if orders[i], err = s.orderOf(r, in, ""); err != nil {
			return err
		}
		orders[i].Key = "" // one key cannot stand for many runs
	}
	out := make([]any, len(orders))
	for i, o := range orders { // one that is refused says so in its place: the others are there
		run, err := s.submit(w, r, o)
		if err == nil {
			out[i], err = s.describe(r.Context(), run)
		}
		if err != nil {
			out[i] = map[string]any{"status": "error", "detail": asError(err).Detail}
		}
	}
	w.Header().Del("Content-Location")
	return reply(w, http.StatusOK, out)
}

// listBody reads a JSON list of at most maxBatch entries.
func (s *Server) listBody(w http.ResponseWriter, r *http.Request) ([]json.RawMessage, error) {
	raw, err := s.bodyText(w, r)
	if err != nil {
		return nil, err
	}
	var f faults
	var list []json.RawMessage
	if offset, err := checkJSON(raw); err != nil {
		f.add("json_invalid", "JSON decode error", json.RawMessage("{}"), "body", offset).Ctx = map[string]any{"error": err.Error()}
	} else if err := json.Unmarshal(raw, &list); err != nil {
		f.add("list_type", "Input should be a valid list", quoted(raw), "body")
	}
	if len(list) > maxBatch {
		f.add("too_long", fmt.Sprintf("List should have at most %d items", maxBatch), nil, "body")
	}
	return list, f.err()
}

// cancelRuns cancels the runs that are named, or those of a status.
func (s *Server) cancelRuns(w http.ResponseWriter, r *http.Request) error {
	in, err := s.body(w, r, false)
	if err != nil {
		return err
	}
	q := query{r: r}
	action := q.action()
	if action == "" {
		action = store.StopInterrupt
	}
	threadID, ids := in.threadID("thread_id"), in.names("run_ids", maxBatch)
	status := in.oneOf("status", "", event.StatusPending, event.StatusRunning, "all")
	if threadID == "" == (status == "") {
		in.add("value_error", "Give either a status, or a thread_id with run_ids", nil, "body")
	}
	if err := errors.Join(in.err(), q.err()); err != nil {
		return err
	}
	list, err := s.toCancel(r, threadID, ids, status)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return failf(http.StatusNotFound, "No matching runs to cancel")
	}
	for _, run := range list {
		if _, err := s.runs(r.Context()).Cancel(r.Context(), run.ID, action); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) toCancel(r *http.Request, threadID string, ids []string, status string) ([]store.Run, error) {
	f := store.RunFilter{ThreadID: threadID, Statuses: []string{status}, Limit: 1000}
	if status == "" || status == "all" {
		f.Statuses = []string{event.StatusPending, event.StatusRunning}
	}
	list, err := s.mine(r.Context()).ListRuns(r.Context(), f)
	if status == "" {
		list = slices.DeleteFunc(list, func(run store.Run) bool { return !slices.Contains(ids, run.ID) })
	}
	return list, err
}

// threadPoll is how often a thread that is followed is looked at for its next run.
const threadPoll = 500 * time.Millisecond

// followThread streams the runs of a thread, one after the other, from the first that is active now until the client goes.
func (s *Server) followThread(w http.ResponseWriter, r *http.Request) error {
	q := query{r: r}
	v := s.viewOf(&q)
	t, err := s.ownThread(r)
	if err == nil {
		err = q.err()
	}
	if err != nil {
		return err
	}
	list, err := s.mine(r.Context()).ListRuns(r.Context(), store.RunFilter{ThreadID: t.ID, Limit: maxBatch})
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, run := range list {
		seen[run.ID] = !run.Active()
	}
	out := newSSE(w, s.Limits)
	defer out.close()
	s.Watch.Streaming(1)
	defer s.Watch.Streaming(-1)
	ctx, stop := s.until(r.Context())
	defer stop()
	tick := time.NewTicker(threadPoll)
	for {
		for _, run := range slices.Backward(list) {
			if seen[run.ID] {
				continue
			}
			seen[run.ID] = true
			if err := s.followOne(r, out, run, v); err != nil {
				return nil // the headers are sent: the stream ends
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if list, err = s.mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: t.ID, Limit: maxBatch}); err != nil {
			return nil
		}
	}
}

func (s *Server) followOne(r *http.Request, out *outlet, run store.Run, v view) (err error) {
	if v.modes == nil {
		if v.modes, v.subgraphs, err = asked(run); err != nil {
			return err
		}
	}
	v.after = ""
	ctx, stop := s.until(r.Context())
	defer stop()
	p, err := s.projector(ctx, run, v)
	if err != nil {
		return err
	}
	end, err := s.Hub.Follow(ctx, caller(ctx).User, run.ID, event.ID{}, func(evs []event.Event) error { return out.project(p, evs) })
	switch {
	case errors.Is(err, errEnded):
		return nil
	case err == nil && end.Attempt == 0:
		return out.write(frames.EndFrame())
	}
	return err
}
