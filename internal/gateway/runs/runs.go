package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
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

	Input  int `json:"total_input_tokens"`
	Output int `json:"total_output_tokens"`
	Total  int `json:"total_tokens"`
	// Calls are the run's own model calls, Lead, Subagent and Middleware make up Total, Messages are those that the run
	// has added. Runs of versions that did not count them have the sums alone.
	Calls      int     `json:"llm_call_count"`
	Lead       int     `json:"lead_agent_tokens"`
	Subagent   int     `json:"subagent_tokens"`
	Middleware int     `json:"middleware_tokens"`
	Messages   int     `json:"message_count"`
	StopReason *string `json:"stop_reason"`
	Error      *string `json:"error"`
	// Position is the place of a run that waits, among all that do; it is not there for others.
	Position int `json:"queue_position,omitempty"`
	// NotBefore is when a run that waits may start, if that is later.
	NotBefore string `json:"not_before,omitempty"`
	Attempt   int    `json:"attempt"`
	// Steer is what the request has said to the run, which was at work: it can be taken back under this id until the
	// run has taken it, and is a run of this id if none does. Only the answer to that request has it.
	Steer string `json:"steer_id,omitempty"`
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

// statusOf is a run's status on the wire. One that stopped to ask a human has succeeded there; interrupted is one that
// was cancelled.
func statusOf(run store.Run) string {
	if run.Status == event.StatusInterrupted && run.StopReason == "" {
		return event.StatusSuccess
	}
	return run.Status
}

const webhookDropped = "webhook: dropped, because the run comes from a backup, and backups leave webhooks out; " +
	"nobody is told of its end"

// describe makes a run's JSON.
func (g *Group) describe(ctx context.Context, run store.Run) (runJSON, error) {
	var below message.Usage
	if run.Attempt > 0 { // else it has begun no other
		var err error
		if below, err = g.runs(ctx).SpentBelow(ctx, run.ID); err != nil {
			return runJSON{}, err
		}
	}
	return g.describeWith(ctx, run, below)
}

// describeWith is describe with what the runs below took.
func (g *Group) describeWith(ctx context.Context, run store.Run, below message.Usage) (runJSON, error) {
	run, position := g.place(ctx, run)
	req, err := runs.RequestOf(run)
	if err != nil {
		return runJSON{}, err
	}
	webhook, _ := g.Manager.Webhook(run, req) // one that cannot be opened any more is none
	out := runJSON{
		RunID: run.ID, ThreadID: run.ThreadID, AssistantID: req.AssistantID, Status: statusOf(run),
		Metadata: shape.OrEmpty(req.Metadata), Strategy: string(req.Strategy), CreatedAt: shape.Stamp(run.CreatedAt),
		UpdatedAt: shape.Stamp(run.UpdatedAt), StopReason: shape.OrNil(run.StopReason), Error: shape.OrNil(run.Error),
		Attempt:  run.Attempt,
		Position: position,
		Kwargs: runKwargs{
			Config: shape.OrEmpty(req.Config), Context: shape.OrEmpty(req.Context), Modes: req.Modes,
			Subgraphs: req.Subgraphs, Before: req.InterruptBefore, After: req.InterruptAfter,
			Webhook: shape.OrNil(webhook),
		},
	}
	if req.WebhookDropped {
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
	if err := spent(run, below, &out); err != nil {
		return out, err
	}
	if run.Status == event.StatusPending && run.NotBefore.After(g.Now()) {
		out.NotBefore = shape.Stamp(run.NotBefore)
	}
	return out, nil
}

// spent says what a run, and those below it, took.
func spent(run store.Run, below message.Usage, out *runJSON) error {
	var u agent.Spent
	if run.Usage != nil {
		if err := json.Unmarshal(run.Usage, &u); err != nil {
			return err
		}
	}
	all := u.Usage.Add(below)
	out.Input, out.Output, out.Total = all.InputTokens, all.OutputTokens, all.TotalTokens
	out.Calls, out.Messages = u.Calls, u.Said
	out.Lead, out.Subagent, out.Middleware = max(0, u.TotalTokens-u.Beside), below.TotalTokens, u.Beside
	return nil
}

// place is a run with its place among those that wait, 0 if it does not. One that has begun since it was read is read
// again: what is said of a run is of one moment. What cannot be read leaves it as it is: the run is there, and an error
// would have clients submit it again.
func (g *Group) place(ctx context.Context, run store.Run) (store.Run, int) {
	if run.Status != event.StatusPending {
		return run, 0
	}
	position, err := g.Mine(ctx).Position(ctx, run.ID)
	if err != nil || position > 0 {
		return run, position
	}
	if now, err := g.Mine(ctx).Run(ctx, run.ID); err == nil {
		run = now
	}
	return run, 0
}

// Report is what a webhook is told of a run that has ended: the run, and the values of its state.
func (g *Group) Report(ctx context.Context, run store.Run) ([]byte, error) {
	ctx = route.Called(ctx, access.Principal{User: access.FromRow(run.UserID), Role: access.Regular, Via: "webhook"})
	about, err := g.describe(ctx, run)
	if err != nil {
		return nil, err
	}
	snap, err := g.runs(ctx).Result(ctx, run)
	if err != nil {
		return nil, err
	}
	values, err := frames.VisibleValues(snap.State)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		runJSON

		EndedAt string                     `json:"run_ended_at"`
		SentAt  string                     `json:"webhook_sent_at"`
		Values  map[string]json.RawMessage `json:"values"`
	}{about, shape.Stamp(run.UpdatedAt), shape.Stamp(g.Now()), values})
}

// create starts a run in the background, on the thread of the path or on one of its own.
func (g *Group) create(ctx context.Context, in *createIn) (created, error) {
	run, err := g.submit(ctx, in)
	if err != nil {
		return created{}, err
	}
	out, err := g.describeNew(ctx, run)
	return created{out, route.Base(in.Input.Request()) + "/threads/" + out.ThreadID + "/runs/" + out.RunID}, err
}

// describeNew is the answer to who asked for the run.
func (g *Group) describeNew(ctx context.Context, run store.Run) (runJSON, error) {
	to, err := g.runs(ctx).Steered(ctx, run)
	if err != nil {
		return runJSON{}, err
	}
	out, err := g.describe(ctx, to)
	if to.ID != run.ID {
		out.Steer = run.ID
	}
	return out, err
}

// created is a new run, and where it is to be found.
type created struct {
	runJSON

	at string
}

// Respond implements [route.Responder].
func (c created) Respond(w http.ResponseWriter) error {
	w.Header().Set("Content-Location", c.at)
	return route.Reply(w, http.StatusOK, c.runJSON)
}

type listIn struct {
	ThreadID string `path:"thread_id"`
	Limit    int    `query:"limit" default:"100" min:"1" max:"1000"`
	Offset   int    `query:"offset" max:"1073741824"`
	Status   string `query:"status"`
}

// list lists the runs of a thread, the newest first.
func (g *Group) list(ctx context.Context, in *listIn) ([]runJSON, error) {
	f := store.RunFilter{ThreadID: in.ThreadID, Limit: in.Limit, Offset: in.Offset}
	switch in.Status {
	case "":
	case event.StatusSuccess: // those that stopped to ask count as such
		f.Statuses = []string{event.StatusSuccess, event.StatusInterrupted}
	case event.StatusPending, event.StatusRunning, event.StatusError, event.StatusInterrupted:
		f.Statuses = []string{in.Status}
	default:
		return []runJSON{}, nil
	}
	list, err := g.Mine(ctx).ListRuns(ctx, f)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, run := range list {
		ids[i] = run.ID
	}
	below, err := g.runs(ctx).SpentBelowEach(ctx, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]runJSON, 0, len(list))
	for _, run := range list {
		one, err := g.describeWith(ctx, run, below[run.ID])
		if err != nil {
			return nil, err
		}
		if in.Status == "" || one.Status == in.Status {
			out = append(out, one)
		}
	}
	return out, nil
}

// ofRun is a request about a run.
type ofRun struct {
	Run store.Run `of:"run"`
}

// get shows a run.
func (g *Group) get(ctx context.Context, in *ofRun) (runJSON, error) { return g.describe(ctx, in.Run) }

// remove removes a run that has ended. The state that it has made stays.
func (g *Group) remove(ctx context.Context, in *ofRun) (route.Status, error) {
	err := g.Mine(ctx).DeleteRun(ctx, in.Run.ID)
	if errors.Is(err, store.ErrConflict) {
		err = route.Failf(http.StatusConflict, "Run %s is active; cancel it first", in.Run.ID)
	}
	return http.StatusNoContent, err
}

type cancelIn struct {
	ofRun

	Wait   bool   `query:"wait"`
	Action action `query:"action"`
}

// Audited implements [route.Audited]: a run that is rolled back is gone.
func (in *cancelIn) Audited() (string, bool) {
	return in.Run.ThreadID + "/" + in.Run.ID, in.Action == store.StopRollback
}

// cancelRun asks a run to stop, and with wait=true waits until it has.
func (g *Group) cancelRun(ctx context.Context, in *cancelIn) (route.Status, error) {
	if err := g.cancel(ctx, in.Run, in.Action.or(store.StopInterrupt)); err != nil {
		return 0, err
	}
	if !in.Wait {
		return http.StatusAccepted, nil
	}
	return g.ended(ctx, in.Run)
}

// ended waits for the end of a run that was asked to stop.
func (g *Group) ended(ctx context.Context, run store.Run) (route.Status, error) {
	ctx, stop := g.Until(ctx)
	defer stop()
	nothing := func([]event.Event) error { return nil }
	_, err := g.Hub.Follow(ctx, route.Caller(ctx).User, run.ID, event.ID{}, nothing)
	return http.StatusNoContent, err
}

// action is what a run is asked for; empty if nothing is said.
type action string

// ReadFrom implements [route.Reader].
func (a *action) ReadFrom(in *route.Input, name string) {
	text := in.Str(name)
	if text != "" && text != store.StopInterrupt && text != store.StopRollback {
		in.Add("literal_error", "Input should be 'interrupt' or 'rollback'", route.Quoted(in.Raw(name)),
			in.Loc(name)...).
			Ctx = map[string]any{"expected": "'interrupt' or 'rollback'"}
	}
	*a = action(text)
}

func (a action) or(usual string) string { return cmp.Or(string(a), usual) }

// cancel stops a run. One that was cancelled before is fine, one that came to its end otherwise is a conflict.
func (g *Group) cancel(ctx context.Context, run store.Run, action string) error {
	now, err := g.runs(ctx).Cancel(ctx, run.ID, action)
	if err != nil {
		return err
	}
	if !run.Active() && !now.Active() && now.StopReason != store.Cancelled {
		return route.Failf(http.StatusConflict, "Run %s is not cancellable (status: %s)", run.ID, statusOf(now))
	}
	return nil
}
