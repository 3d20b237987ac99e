// Package terminalresponse sees to it that a run does not end with nothing: an answer without words and without calls
// is taken back and the model is asked once more; if that gives nothing either, the user gets a text that says so and
// the run counts as failed. It makes no difference whether tools ran before, whether the model only reasoned, or
// whether it used up its length for that.
package terminalresponse

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// NoteName is the name of the note that asks for an answer.
const NoteName = "terminal_response_recovery"

// What is said, to the model and to the user.
const (
	askAgain = "Your last answer was empty. If work is left, go on with it; else answer the user now: " +
		"what you found or did, and where results are."
	askShorter = "Your last answer reached its length limit before it said anything. Think less: " +
		"answer the user now, briefly, or make the next tool call."
	gaveNothing = "The model gave no answer, also when it was asked again. What was done until here is kept. " +
		"Send your message again, or choose another model."
)

// recovered is the run in which the model was asked again last.
var recovered = state.LastValue[string]("terminal_response_recovered").AsPrivate()

// Middleware looks at every answer.
type Middleware struct{}

var (
	_ agent.AfterModelHook = (*Middleware)(nil)
	_ agent.StateProvider  = (*Middleware)(nil)
)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "TerminalResponseMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{recovered} }

// AfterModel implements [agent.AfterModelHook]. The blank answer was never sent to a model, so that it can be taken out
// of the conversation without a change of what later requests begin with.
func (*Middleware) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 || !isBlank(&msgs[len(msgs)-1]) {
		return agent.Command{}, nil
	}
	blank := msgs[len(msgs)-1]
	gone := agent.Messages.Remove(blank.ID)
	if recovered.Get(s) == rt.RunID || agent.StopState(s, rt.RunID).Answered { // no other answer will follow
		return agent.Command{Update: gone.With(agent.Messages.Append(fallback(blank, rt.NewID())))}, nil
	}
	text := askAgain
	if blank.Truncated() {
		text = askShorter
	}
	note := conversation.Note(rt.NewID(), NoteName, text)
	return agent.Command{Update: gone.With(agent.Messages.Append(note), recovered.Put(rt.RunID)), Goto: tool.Model}, nil
}

// isBlank reports whether the message is an answer that says nothing and asks for nothing. Calls that only a provider's
// own copy holds count for nothing: no loop runs them.
func isBlank(m *message.Message) bool {
	if m.Role != message.AI || len(m.ToolCalls)+len(m.InvalidToolCalls) > 0 {
		return false
	}
	return !slices.ContainsFunc(m.Content, func(p message.Part) bool {
		switch p.Type {
		case message.PartReasoning:
			return false
		case message.PartText:
			return strings.TrimSpace(p.Text) != ""
		}
		return true
	})
}

// fallback is the answer in place of a blank one. It is a message of its own: who was shown the blank one as a stream
// would not look at it again.
func fallback(blank message.Message, id string) message.Message {
	m := blank.WithoutCalls()
	m.ID = id
	m.Content = slices.DeleteFunc(slices.Clone(m.Content),
		func(p message.Part) bool { return p.Type == message.PartText })
	m.Content = append(m.Content, message.Text(gaveNothing))
	kwargs := message.Fields{
		message.KeyErrorFallback: json.RawMessage(`true`),
		"error_type":             json.RawMessage(`"EmptyModelResponse"`),
		"error_reason":           json.RawMessage(`"empty_response"`),
	}
	for key, value := range m.Kwargs {
		if kwargs[key] == nil {
			kwargs[key] = value
		}
	}
	m.Kwargs = kwargs
	return m
}
