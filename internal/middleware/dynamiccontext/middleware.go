// Package dynamiccontext tells the model what changes while the system prompt stays the same: what day it is. It stores
// a hidden message behind what the user said, in the first turn of a thread and whenever the day has changed. It stands
// behind all that changes the user's message, before a run's first model call.
//
// The message comes behind all that was sent before, so that requests begin alike; and the user's message stays the
// first of its turn, which is the one that clients edit.
package dynamiccontext

import (
	"context"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Middleware tells the date: the day in the zone of the run's clock, which is this machine's, or that of a recording.
type Middleware struct{}

var _ agent.BeforeAgentHook = (*Middleware)(nil)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "DynamicContextMiddleware" }

// BeforeAgent implements [agent.BeforeAgentHook].
func (*Middleware) BeforeAgent(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 || !input(msgs[len(msgs)-1]) {
		return agent.Command{}, nil
	}
	day := conversation.Day(rt.Now())
	if told(msgs) == day {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Messages.Append(conversation.DateMessage(rt.NewID(), day))}, nil
}

// input reports whether the message is one that a run begins with: an old turn is left alone until a new one follows
// it.
func input(m message.Message) bool { return m.Role == message.Human || m.Role == message.System }

// told is the day that the thread's newest date message tells; "" without one. A date in any other message is no news.
func told(msgs []message.Message) string {
	for _, m := range slices.Backward(msgs) {
		if day, ok := conversation.DateOf(m); ok {
			return day
		}
	}
	return ""
}
