package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// runJSON is a run as clients see it.
type runJSON struct {
	RunID       string          `json:"run_id"`
	ThreadID    string          `json:"thread_id"`
	AssistantID string          `json:"assistant_id"`
	Status      string          `json:"status"`
	Metadata    json.RawMessage `json:"metadata"`
	Kwargs      runKwargs       `json:"kwargs"`
	Strategy    string          `json:"multitask_strategy"`
	CreatedAt   string          `json:"created_at"`
	UpdatedAt   string          `json:"updated_at"`

	Input      int     `json:"total_input_tokens"`
	Output     int     `json:"total_output_tokens"`
	Total      int     `json:"total_tokens"`
	StopReason *string `json:"stop_reason"`
	Error      *string `json:"error"`
	// Position is the place of a run that waits, among all that do; it is not there for others.
	Position int `json:"queue_position,omitempty"`
	// NotBefore is when a run that waits may start, if that is later.
	NotBefore string `json:"not_before,omitempty"`
	Attempt   int    `json:"attempt"`
}

// runKwargs are what a run was asked for.
type runKwargs struct {
	Input     *inputJSON      `json:"input"`
	Command   *commandJSON    `json:"command,omitempty"`
	Config    json.RawMessage `json:"config"`
	Context   json.RawMessage `json:"context"`
	Modes     []string        `json:"stream_mode"`
	Subgraphs bool            `json:"subgraphs"`
	Before    []string        `json:"interrupt_before"`
	After     []string        `json:"interrupt_after"`
	Webhook   *string         `json:"webhook"`
}

type inputJSON struct {
	Messages []message.Message `json:"messages"`
}

type commandJSON struct {
	Resume json.RawMessage `json:"resume,omitempty"`
	Goto   string          `json:"goto,omitempty"`
}

// stamp writes a time as the API does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// statusOf is a run's status on the wire. One that stopped to ask a human has succeeded there; interrupted is one that
// was cancelled.
func statusOf(run store.Run) string {
	if run.Status == event.StatusInterrupted && run.StopReason == "" {
		return event.StatusSuccess
	}
	return run.Status
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func orEmpty(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("{}")
	}
	return raw
}

const webhookDropped = "webhook: dropped, because the run comes from a backup, and backups leave webhooks out; nobody is told of its end"

// describe makes a run's JSON.
func (s *Server) describe(ctx context.Context, run store.Run) (runJSON, error) {
	run, position := s.place(ctx, run)
	var req runs.Request
	if err := json.Unmarshal(run.Request, &req); err != nil {
		return runJSON{}, err
	}
	out := runJSON{
		RunID: run.ID, ThreadID: run.ThreadID, AssistantID: req.AssistantID, Status: statusOf(run), Metadata: orEmpty(req.Metadata),
		Strategy: string(req.Strategy), CreatedAt: stamp(run.CreatedAt), UpdatedAt: stamp(run.UpdatedAt),
		StopReason: orNil(run.StopReason), Error: orNil(run.Error), Attempt: run.Attempt, Position: position,
		Kwargs: runKwargs{
			Config: orEmpty(req.Config), Context: orEmpty(req.Context), Modes: req.Modes, Subgraphs: req.Subgraphs,
			Before: req.InterruptBefore, After: req.InterruptAfter, Webhook: orNil(req.Webhook),
		},
	}
	if req.WebhookDropped {
		var err error
		if out.Metadata, err = runs.Warned(req.Metadata, webhookDropped); err != nil {
			return out, err
		}
	}
	if len(req.Input) > 0 {
		out.Kwargs.Input = &inputJSON{req.Input}
	}
	if req.Resume != nil || req.Goto != "" {
		out.Kwargs.Command = &commandJSON{req.Resume, req.Goto}
	}
	if run.Usage != nil {
		var u message.Usage
		if err := json.Unmarshal(run.Usage, &u); err != nil {
			return out, err
		}
		out.Input, out.Output, out.Total = u.InputTokens, u.OutputTokens, u.TotalTokens
	}
	if run.Status == event.StatusPending && run.NotBefore.After(s.Now()) {
		out.NotBefore = stamp(run.NotBefore)
	}
	return out, nil
}

// place is a run with its place among those that wait, 0 if it does not. One that has begun since it was read is read
// again: what is said of a run is of one moment. What cannot be read leaves it as it is: the run is there, and an error
// would have clients submit it again.
func (s *Server) place(ctx context.Context, run store.Run) (store.Run, int) {
	if run.Status != event.StatusPending {
		return run, 0
	}
	position, err := s.mine(ctx).Position(ctx, run.ID)
	if err != nil || position > 0 {
		return run, position
	}
	if now, err := s.mine(ctx).Run(ctx, run.ID); err == nil {
		run = now
	}
	return run, 0
}

func (s *Server) replyRun(ctx context.Context, w http.ResponseWriter, run store.Run) error {
	out, err := s.describe(ctx, run)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, out)
}

// Report is what a webhook is told of a run that has ended: the run, and the values of its state.
func (s *Server) Report(ctx context.Context, run store.Run) ([]byte, error) {
	ctx = called(ctx, access.Principal{User: access.FromRow(run.UserID), Role: access.Regular, Via: "webhook"})
	about, err := s.describe(ctx, run)
	if err != nil {
		return nil, err
	}
	snap, err := s.runs(ctx).Result(ctx, run)
	if err != nil {
		return nil, err
	}
	values, err := s.values(snap.State)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		runJSON

		EndedAt string                     `json:"run_ended_at"`
		SentAt  string                     `json:"webhook_sent_at"`
		Values  map[string]json.RawMessage `json:"values"`
	}{about, stamp(run.UpdatedAt), stamp(s.Now()), values})
}

// createRun starts a run in the background.
func (s *Server) createRun(w http.ResponseWriter, r *http.Request) error {
	o, err := s.threadOrder(w, r)
	if err != nil {
		return err
	}
	run, err := s.submit(w, r, o)
	if err != nil {
		return err
	}
	return s.replyRun(r.Context(), w, run)
}

// threadOrder reads a request for a run on the thread of the path.
func (s *Server) threadOrder(w http.ResponseWriter, r *http.Request) (order, error) {
	id, err := thread(r)
	if err != nil {
		return order{}, err
	}
	return s.order(w, r, id)
}

// ownThread returns the thread of the path, if there is one and it is the caller's.
func (s *Server) ownThread(r *http.Request) (store.Thread, error) {
	id, err := thread(r)
	if err != nil {
		return store.Thread{}, err
	}
	t, err := s.mine(r.Context()).Thread(r.Context(), id)
	if errors.Is(err, store.ErrNotFound) {
		return t, notFound("Thread", id)
	}
	return t, err
}

// ownRun returns the run of the path, if it is the thread's and the caller's.
func (s *Server) ownRun(r *http.Request) (store.Run, error) {
	threadID, runID := r.PathValue("thread_id"), r.PathValue("run_id")
	if len(runID) > 256 || !utf8.ValidString(runID) || strings.ContainsRune(runID, 0) { // no database has it
		return store.Run{}, notFound("Run", clip(runID))
	}
	run, err := s.mine(r.Context()).Run(r.Context(), runID)
	if errors.Is(err, store.ErrNotFound) || err == nil && threadID != "" && run.ThreadID != threadID {
		return run, notFound("Run", clip(runID))
	}
	return run, err
}

// listRuns lists the runs of a thread, the newest first.
func (s *Server) listRuns(w http.ResponseWriter, r *http.Request) error {
	id, err := thread(r)
	if err != nil {
		return err
	}
	q := query{r: r}
	f := store.RunFilter{ThreadID: id, Limit: q.integer("limit", 100, 1, 1000), Offset: q.integer("offset", 0, 0, 1<<30)}
	if err := q.err(); err != nil {
		return err
	}
	status := q.str("status")
	switch status {
	case "":
	case event.StatusSuccess: // those that stopped to ask count as such
		f.Statuses = []string{event.StatusSuccess, event.StatusInterrupted}
	case event.StatusPending, event.StatusRunning, event.StatusError, event.StatusInterrupted:
		f.Statuses = []string{status}
	default:
		return reply(w, http.StatusOK, []runJSON{})
	}
	list, err := s.mine(r.Context()).ListRuns(r.Context(), f)
	if err != nil {
		return err
	}
	out := make([]runJSON, 0, len(list))
	for _, run := range list {
		one, err := s.describe(r.Context(), run)
		if err != nil {
			return err
		}
		if status == "" || one.Status == status {
			out = append(out, one)
		}
	}
	return reply(w, http.StatusOK, out)
}

// getRun shows a run.
func (s *Server) getRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.ownRun(r)
	if err != nil {
		return err
	}
	return s.replyRun(r.Context(), w, run)
}

// deleteRun removes a run that has ended. The state that it has made stays.
func (s *Server) deleteRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.ownRun(r)
	if err != nil {
		return err
	}
	err = s.mine(r.Context()).DeleteRun(r.Context(), run.ID)
	if errors.Is(err, store.ErrConflict) {
		return failf(http.StatusConflict, "Run %s is active; cancel it first", run.ID)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// cancelRun asks a run to stop, and with wait=true waits until it has.
func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request) error {
	q := query{r: r}
	wait, action := q.boolean("wait"), q.action()
	run, err := s.ownRun(r)
	if err == nil {
		err = q.err()
	}
	if err != nil {
		return err
	}
	if action == "" {
		action = store.StopInterrupt
	}
	if err := s.cancel(r.Context(), run, action); err != nil {
		return err
	}
	if !wait {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	ctx, stop := s.until(r.Context())
	defer stop()
	if _, err := s.Hub.Follow(ctx, caller(ctx).User, run.ID, event.ID{}, func([]event.Event) error { return nil }); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// action reads what a run is asked for; empty if nothing is said.
func (q *query) action() string {
	a := q.str("action")
	if a != "" && a != store.StopInterrupt && a != store.StopRollback {
		shown, _ := json.Marshal(clip(a))
		q.add("literal_error", "Input should be 'interrupt' or 'rollback'", shown, "query", "action").
			Ctx = map[string]any{"expected": "'interrupt' or 'rollback'"}
	}
	return a
}

// cancel stops a run. One that was cancelled before is fine, one that came to its end otherwise is a conflict.
func (s *Server) cancel(ctx context.Context, run store.Run, action string) error {
	now, err := s.runs(ctx).Cancel(ctx, run.ID, action)
	if err != nil {
		return err
	}
	if !run.Active() && !now.Active() && now.StopReason != store.Cancelled {
		return failf(http.StatusConflict, "Run %s is not cancellable (status: %s)", run.ID, statusOf(now))
	}
	return nil
}
