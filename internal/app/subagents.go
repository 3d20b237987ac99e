package app

import (
	"context"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
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

// Start implements [subagents.Delegate].
func (d delegate) Start(ctx context.Context, o subagents.Order) (subagents.Task, error) {
	model := o.Kind.Model
	if model == "" {
		model = d.of.Choice.Model.Name
	}
	child, err := d.below.Start(ctx, o.Key, runs.Request{
		Input: []message.Message{message.New(message.Human, o.Prompt)}, Model: model, MaxSteps: o.Kind.MaxTurns,
		Task: &runs.Task{Kind: o.Kind.Name, Call: o.Call.ID, Description: o.Description, Outside: guardrail.Untrusted.Get(o.Call.State)},
	})
	if err != nil {
		return nil, err
	}
	return &task{child, model, child.Run.CreatedAt.Add(o.Kind.Timeout)}, nil
}

// task is a run below another one as the task that it is there for.
type task struct {
	*runs.Child

	model string
	until time.Time
}

var (
	_ subagents.Delegate = delegate{}
	_ subagents.Task     = (*task)(nil)
)

// Where implements [subagents.Task].
func (t *task) Where() (run, thread string) { return t.Run.ID, t.Run.ThreadID }

// Model implements [subagents.Task].
func (t *task) Model() string { return t.model }

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
	if guardrail.Untrusted.Get(out.State) {
		end.Update = guardrail.Untrusted.Put(true)
	}
	return end, nil
}
