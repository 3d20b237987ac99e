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

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
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
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	changed := *req
	changed.Messages = m.sent.Map(req.Messages, conversation.AppendSent)
	if all := agent.Messages.Get(req.State); len(all) > 0 && len(all) == len(req.Messages) &&
		&all[0] == &req.Messages[0] {
		changed.Usual = changed.Messages
	}
	return next(ctx, &changed)
}
