// Package dynamiccontext tells the model what changes while the system prompt stays the same: what day it is, and which
// packages the sandbox's Python has. It stores hidden messages behind what the user said, in the first turn of a thread
// and whenever the day, or the packages, have changed. It stands behind all that changes the user's message, before a
// run's first model call.
//
// The message comes behind all that was sent before, so that requests begin alike; and the user's message stays the
// first of its turn, which is the one that clients edit.
package dynamiccontext

import (
	"context"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Config says what is told beside the date.
type Config struct {
	// Toolbox is the line about the packages; empty if there are none.
	Toolbox string
}

// Middleware tells the date: the day in the zone of the run's clock, which is this machine's, or that of a recording.
// And it tells the line about the packages.
type Middleware struct{ cfg Config }

var _ agent.BeforeAgentHook = (*Middleware)(nil)

// New makes the middleware.
func New(c Config) *Middleware { return &Middleware{c} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "DynamicContextMiddleware" }

// BeforeAgent implements [agent.BeforeAgentHook].
func (m *Middleware) BeforeAgent(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 || !input(msgs[len(msgs)-1]) {
		return agent.Command{}, nil
	}
	var news []message.Message
	if day := conversation.Day(rt.Now()); told(msgs) != day {
		news = append(news, conversation.DateMessage(rt.NewID(), day))
	}
	if line := m.toolbox(compaction.InSight(s, msgs)); line != "" {
		news = append(news, conversation.Note(rt.NewID(), NoteName, "<system-reminder>\n"+line+"\n</system-reminder>"))
	}
	if len(news) == 0 {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Messages.Append(news...)}, nil
}

// NoteName is that of the notes about the packages.
const NoteName = "toolbox_reminder"

// gone is said to a thread that was told of packages that are not there any more.
const gone = "python3 in the sandbox has its standard library alone now."

// toolbox is the line that is news to who sees these messages.
func (m *Middleware) toolbox(visible []message.Message) string {
	line := m.cfg.Toolbox
	for _, old := range slices.Backward(visible) {
		if !conversation.IsNote(old, NoteName) {
			continue
		}
		if line == "" {
			line = gone
		}
		if strings.Contains(old.Text(), line) {
			return ""
		}
		return line
	}
	return line
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
