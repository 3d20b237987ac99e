// Package inputsanitization takes the power out of what users and clients say before a model reads it: tags in which
// the program speaks are escaped, and two lines mark where the user's words begin and end. It stands before all that
// reads or adds to a request.
//
// The role of a stored message gives no power either, since clients can send system messages: these go out in the
// user's role, where they stand. What the program says in one is known by its mark and made anew; all else is
// sanitized.
//
// Each message is treated alone and always in the same way, however old it is, so that the requests of a thread begin
// alike and a provider's cache serves them. What is stored stays as the user wrote it.
package inputsanitization

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
)

// Middleware sanitizes what comes from users.
type Middleware struct{ sent conversation.Memo }

var _ agent.ModelCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "InputSanitizationMiddleware" }

// WrapModelCall implements [agent.ModelCallWrapper]. Every human message goes out sanitized, but those that the program
// wrote itself.
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest, next agent.ModelHandler) (*agent.ModelResponse, error) {
	changed := *req
	changed.Messages = m.sent.Map(req.Messages, add)
	return next(ctx, &changed)
}

// add appends a message as it is sent.
func add(out []message.Message, m *message.Message) []message.Message {
	if !concerns(m) {
		return append(out, *m)
	}
	sent := *m
	if !change(&sent) {
		return out
	}
	return append(out, sent)
}

func concerns(m *message.Message) bool {
	return m.Role == message.System || m.Role == message.Human && conversation.FromOutside(*m)
}

// change makes of a message what is sent, and reports whether there is anything to send: an empty system message is
// left out, because there are providers that refuse an empty message.
func change(m *message.Message) bool {
	if m.Role == message.Human {
		m.Content = content(*m)
		return true
	}
	if day, ok := conversation.DateOf(*m); ok {
		m.Content = []message.Part{message.Text(conversation.DateText(day))}
	} else {
		m.Content = conversation.MapText(m.Content, untrusted.Input)
	}
	m.Role, m.Kwargs = message.Human, message.Fields{message.KeyHidden: json.RawMessage("true")}
	return strings.TrimSpace(m.Text()) != ""
}
