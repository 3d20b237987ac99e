// Package dynamiccontext tells the model what changes while the system prompt stays the same: what day it is. It stores a
// hidden message in front of what the user said, in the first turn of a thread and whenever the day has changed. It stands
// behind all that changes the user's message, before a run's first model call.
//
// The message gets its place before anything behind it was sent, and stays there, so that requests begin alike.
package dynamiccontext

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Config says where the user is.
type Config struct {
	// Zone is the time zone whose day counts; nil means that of this machine.
	Zone *time.Location
}

// Middleware tells the date.
type Middleware struct{ zone *time.Location }

var (
	_ agent.BeforeAgentHook = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// begun is what the thread's newest run began with.
var begun = state.LastValue[beginning]("dynamic_context_begun").AsPrivate()

// beginning is a run and the message that was the last one when it began.
type beginning struct {
	RunID     string `json:"run_id"`
	MessageID string `json:"message_id"`
}

// New makes the middleware.
func New(cfg Config) *Middleware {
	if cfg.Zone == nil {
		cfg.Zone = time.Local //nolint:gosmopolitan // who runs it on a machine of their own lives by its clock
	}
	return &Middleware{zone: cfg.Zone}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "DynamicContextMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{begun} }

// BeforeAgent implements [agent.BeforeAgentHook].
func (m *Middleware) BeforeAgent(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 || !input(msgs[len(msgs)-1]) {
		return agent.Command{}, nil
	}
	var added []message.Message
	last, was := msgs[len(msgs)-1], begun.Get(s)
	if day := conversation.Day(rt.Now().In(m.zone)); told(msgs) != day {
		sent := was.MessageID == last.ID && was.RunID != rt.RunID // by a run that failed
		added = tell(rt, last, day, sent)
		last = added[len(added)-1]
	}
	var update state.Update
	if len(added) > 0 {
		update = agent.Messages.Append(added...)
	}
	if now := (beginning{rt.RunID, last.ID}); now != was {
		update = update.With(begun.Put(now))
	}
	return agent.Command{Update: update}, nil
}

// input reports whether the message is one that a run begins with, so that nothing behind it was sent: an old turn is
// left alone until a new one follows it.
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

// tell puts the date in front of what the user just said, and returns the messages to add: the date message takes the place
// and the id of the user's message, which follows under an id of its own. If the message was sent already or has such an
// id, or if no user said it, it stays where it is and the date follows.
func tell(rt *agent.Runtime, last message.Message, day string, sent bool) []message.Message {
	if sent || !conversation.IsUser(last) || strings.HasSuffix(last.ID, conversation.UserSuffix) {
		return []message.Message{conversation.DateMessage(rt.NewID(), day)}
	}
	date := conversation.DateMessage(last.ID, day)
	last.ID += conversation.UserSuffix
	return []message.Message{date, last}
}
