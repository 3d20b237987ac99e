package app

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// family finds out what sub-agent a run is, and whether it may give tasks itself.
func (e *engine) family(s *settings, c *lead.Config, job runs.Job) (err error) {
	c.Kinds = subagents.Kinds(s.cfg, e.box.off == "")
	if t := job.Request.Task; t != nil && job.Run.Parent != "" {
		kind, err := subagents.Find(c.Kinds, t.Kind)
		if err != nil {
			return err
		}
		c.Kind, c.Outside = &kind, t.Outside
		c.Options.Plan, c.Options.Thinking = false, new(bool)
		c.Options.Subagents = c.Options.Subagents && kind.Has(subagents.ToolName)
	}
	if job.Children != nil && job.Run.Depth < s.cfg.Subagents.MaxDepth {
		c.Delegate = delegate{job.Children, c}
	} else {
		c.Options.Subagents = false
	}
	return nil
}

// skillsWithin are the skills of a sub-agent that who gives the task has as well; nil is all.
func skillsWithin(own, given []string) []string {
	switch {
	case own == nil:
		return given
	case given == nil:
		return own
	}
	return slices.DeleteFunc(slices.Clone(own), func(name string) bool { return !slices.Contains(given, name) })
}

// delegate gives tasks to runs below the present one.
type delegate struct {
	below *runs.Children
	of    *lead.Config // of who gives the task
}

// Start implements [subagents.Delegate]. A task that an earlier run of the thread has given, and that has stopped to ask
// a person, goes on with the answer, or asks again as long as there is none.
func (d delegate) Start(ctx context.Context, o subagents.Order) (subagents.Task, error) {
	t := &task{model: o.Kind.Model}
	if t.model == "" {
		t.model = d.of.Choice.Model.Name
	}
	req := runs.Request{
		Input: []message.Message{message.New(message.Human, o.Prompt)}, Model: t.model, MaxSteps: o.Kind.MaxTurns,
		Task: &runs.Task{Kind: o.Kind.Name, Call: o.Call.ID, Description: o.Description, Outside: guardrail.Untrusted.Get(o.Call.State)},
	}
	earlier, err := d.below.Earlier(ctx, o.Key)
	if err != nil {
		return nil, err
	}
	if earlier != nil {
		out, err := earlier.Wait(ctx, nil)
		if err != nil {
			return nil, err
		}
		if len(out.Questions) == 0 || o.Call.Answer == nil {
			t.Child, t.until = earlier, time.Now().Add(o.Kind.Timeout)
			return t, nil
		}
		t.before = messagesIn(out.State)
		req.ThreadID, req.Input = earlier.Run.ThreadID, nil
		req.Answers = map[string]json.RawMessage{out.Questions[0].CallID: o.Call.Answer}
	}
	if t.Child, err = d.below.Start(ctx, o.Key, req); err != nil {
		return nil, err
	}
	t.until = t.Run.CreatedAt.Add(o.Kind.Timeout)
	return t, nil
}

// messagesIn counts the messages of a task that clients were told of.
func messagesIn(s state.State) (n int) {
	for _, m := range agent.Messages.Get(s) {
		if m.Role == message.AI || m.Role == message.Tool {
			n++
		}
	}
	return n
}

// task is a run below another one as the task that it is there for.
type task struct {
	*runs.Child

	model  string
	until  time.Time
	before int // messages
}

var (
	_ subagents.Delegate = delegate{}
	_ subagents.Task     = (*task)(nil)
)

// Where implements [subagents.Task].
func (t *task) Where() (run, thread string) { return t.Run.ID, t.Run.ThreadID }

// Model implements [subagents.Task].
func (t *task) Model() string { return t.model }

// Before implements [subagents.Task].
func (t *task) Before() int { return t.before }

// Left implements [subagents.Task].
func (t *task) Left() time.Duration { return max(0, time.Until(t.until)) }

// Wait implements [subagents.Task].
func (t *task) Wait(ctx context.Context, said func(message.Message)) (subagents.End, error) {
	out, err := t.Child.Wait(ctx, said)
	if err != nil {
		return subagents.End{}, err
	}
	run := out.Run
	end := subagents.End{Outcome: subagents.OutcomeOf(
		event.Run{Status: run.Status, Error: run.Error, StopReason: run.StopReason}, subagents.Answer(agent.Messages.Get(out.State)))}
	end.Model, end.Usage = t.model, out.Usage
	if len(out.Questions) > 0 {
		end.Question = asked(out.Questions[0].Value, t.Namespace())
	}
	if guardrail.Untrusted.Get(out.State) {
		end.Update = guardrail.Untrusted.Put(true)
	}
	return end, nil
}

// asked is a question of a sub-agent, with the path to it.
func asked(question json.RawMessage, namespace []string) json.RawMessage {
	members, ok := rawjson.Members(question)
	if !ok {
		return question
	}
	path, err := json.Marshal(namespace)
	if err != nil { // texts can be encoded
		return question
	}
	members["namespace"] = path
	raw, err := json.Marshal(members)
	if err != nil {
		return question
	}
	return raw
}
