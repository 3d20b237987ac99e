package prompts

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/wires"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// delegate gives tasks to runs below the lead's, as the server does.
type delegate struct {
	below *runs.Children
	kinds []subagents.Kind
}

// Start implements [subagents.Delegate].
func (d delegate) Start(ctx context.Context, o subagents.Order) (subagents.Task, error) {
	child, err := d.below.Start(ctx, o.Key, runs.Request{
		Input: []message.Message{message.New(message.Human, o.Prompt)},
		Task:  &runs.Task{Kind: o.Kind.Name, Call: o.Call.ID, Description: o.Description},
	})
	if err != nil {
		return nil, err
	}
	return d.task(child)
}

// Find implements [subagents.Delegate].
func (d delegate) Find(ctx context.Context, id string, _ *tool.Call) (subagents.Task, error) {
	child, err := d.below.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	return d.task(child)
}

// Unfinished implements [subagents.Delegate]: no run of the script is cut off.
func (delegate) Unfinished(context.Context) ([]subagents.Task, error) { return nil, nil }

func (d delegate) task(child *runs.Child) (subagents.Task, error) {
	req, err := runs.RequestOf(child.Run)
	if err != nil {
		return nil, err
	}
	kind, err := subagents.Find(d.kinds, req.Task.Kind)
	return &given{child, subagents.About{Call: req.Task.Call, Description: req.Task.Description, Kind: kind.Name, Timeout: kind.Timeout}}, err
}

// given is a task that the lead has given away.
type given struct {
	*runs.Child

	about subagents.About
}

var (
	_ subagents.Delegate = delegate{}
	_ subagents.Task     = (*given)(nil)
	_ http.RoundTripper  = (*helper)(nil)
)

// Where implements [subagents.Task].
func (t *given) Where() (run, thread string) { return t.Run.ID, t.Run.ThreadID }

// About implements [subagents.Task].
func (t *given) About() subagents.About { return t.about }

// Model implements [subagents.Task].
func (*given) Model() string { return "model" }

// Before implements [subagents.Task].
func (*given) Before() int { return 0 }

// Left implements [subagents.Task].
func (t *given) Left() time.Duration { return t.about.Timeout }

// Watch implements [subagents.Task].
func (t *given) Watch(ctx context.Context, said func(message.Message)) (subagents.End, error) {
	out, err := t.Child.Watch(ctx, said)
	if err != nil {
		return subagents.End{}, err
	}
	end := subagents.End{Outcome: subagents.OutcomeOf(
		event.Run{Status: out.Run.Status, Error: out.Run.Error, StopReason: out.Run.StopReason}, subagents.Answer(agent.Messages.Get(out.State)))}
	end.Model, end.Usage = t.Model(), out.Usage
	return end, nil
}

// Tell implements [subagents.Task].
func (t *given) Tell(ctx context.Context, _ *tool.Call, key, text string) error {
	return t.Say(ctx, key, message.New(message.Human, text))
}

// helper is the model's side of the sub-agents, which come side by side: each finds something at once. While the first one of
// a turn is at work the user may say something to the lead, who waits for it; then it goes on when the lead has heard of that.
type helper struct {
	wire wires.Wire
	lead *server
	say  func(ctx context.Context, text string) error

	mu    sync.Mutex
	word  string // that is still to be said in this turn
	calls int
}

func (h *helper) begin(word string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.word = word
}

// RoundTrip implements [http.RoundTripper].
func (h *helper) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := h.interrupt(req.Context()); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return stream(req, h.wire.Answer(says(found), &h.calls, len(body)/4)), nil
}

func (h *helper) interrupt(ctx context.Context) error {
	h.mu.Lock()
	word := h.word
	h.word = ""
	h.mu.Unlock()
	if word == "" {
		return nil
	}
	moved := h.lead.moved()
	if err := h.say(ctx, word); err != nil {
		return err
	}
	select {
	case <-moved:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

const found = "In numbers.csv there are 40 weeks. The most ships came in week 31, 164 of them, and the longest delay was that of week 34, 81 minutes. " +
	"Nothing was changed. Whether the delays are those of all quays the file does not say."
