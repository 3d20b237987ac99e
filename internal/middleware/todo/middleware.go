// Package todo is the agent's plan: the tool write_todos with which the model keeps it, a reminder when it has gone out
// of the model's sight, and another when the model ends its turn with items open. Both are notes that are stored in the
// conversation. The plan itself is state that clients show.
package todo

import (
	"context"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// The names of the notes.
const (
	ReminderName   = "todo_reminder"
	CompletionName = "todo_completion_reminder"
)

// maxReminders is how often a run is sent on because of open items.
const maxReminders = 2

// works is what a run has to do with the plan.
var works = state.LastValue[work]("todo_work").AsPrivate()

// work is that of the run that wrote the plan last: a run that has not touched it is not held up by what is open.
type work struct {
	RunID     string `json:"run_id"`
	Reminders int    `json:"reminders"` // for open items at the end of the turn
}

func workOf(s state.State, runID string) work {
	if w := works.Get(s); w.RunID == runID {
		return w
	}
	return work{RunID: runID}
}

// Middleware offers the tool and reminds of the plan.
type Middleware struct{}

var (
	_ agent.BeforeModelHook = (*Middleware)(nil)
	_ agent.AfterModelHook  = (*Middleware)(nil)
	_ agent.ToolCallWrapper = (*Middleware)(nil)
	_ agent.ToolProvider    = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "TodoMiddleware" }

// Tools implements [agent.ToolProvider].
func (*Middleware) Tools() []tool.Tool { return []tool.Tool{newTool()} }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{threadstate.Todos, works} }

// BeforeModel implements [agent.BeforeModelHook]: it shows the plan again when the model does not see it any more.
func (*Middleware) BeforeModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	todos := threadstate.Todos.Get(s)
	if len(open(todos)) == 0 || inSight(compaction.InSight(s, agent.Messages.Get(s))) {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Messages.Append(conversation.Note(rt.NewID(), ReminderName, outOfSight(todos)))},
		nil
}

// inSight reports whether the messages show the plan.
func inSight(msgs []message.Message) bool {
	for i := len(msgs) - 1; i >= 0; i-- {
		m := &msgs[i]
		if m.Role == message.AI && calls(m) > 0 || m.Role == message.Human && conversation.IsNote(*m, ReminderName) {
			return true
		}
	}
	return false
}

// calls counts the calls of the tool in an answer.
func calls(m *message.Message) int {
	n := 0
	for _, c := range m.ToolCalls {
		if c.Name == ToolName {
			n++
		}
	}
	for _, c := range m.InvalidToolCalls {
		if c.Name == ToolName {
			n++
		}
	}
	return n
}

// AfterModel implements [agent.AfterModelHook]: an answer that would end the turn with items open sends the model on,
// twice at most, if this run has worked on the plan.
func (*Middleware) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	w := works.Get(s)
	if w.RunID != rt.RunID || w.Reminders >= maxReminders || agent.StopState(s, rt.RunID).Reason != "" {
		return agent.Command{}, nil
	}
	msgs := agent.Messages.Get(s)
	left := open(threadstate.Todos.Get(s))
	if len(left) == 0 || len(msgs) == 0 || !isFinal(&msgs[len(msgs)-1]) {
		return agent.Command{}, nil
	}
	w.Reminders++
	note := conversation.Note(rt.NewID(), CompletionName, unfinished(left))
	return agent.Command{Update: agent.Messages.Append(note).With(works.Put(w)), Goto: tool.Model}, nil
}

// isFinal reports whether the message is an answer of the model that ends its turn. One that stands in for a failed
// call is not the model's.
func isFinal(m *message.Message) bool {
	if m.Role != message.AI || m.AsksForTools() || string(m.Kwargs[message.KeyErrorFallback]) == "true" {
		return false
	}
	return !slices.Contains([]string{"tool_calls", "function_call", "tool_use"}, m.FinishReason())
}

// WrapToolCall implements [agent.ToolCallWrapper]: of several plans in one answer nobody knows which one counts.
func (*Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	if req.Call.Name != ToolName {
		return next(ctx, req)
	}
	msgs := agent.Messages.Get(req.Call.State)
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role != message.AI {
			continue
		}
		if calls(&msgs[i]) > 1 {
			return tool.Error("The plan was not changed: call write_todos once in a message, with the whole list."), nil
		}
		break
	}
	return next(ctx, req)
}
