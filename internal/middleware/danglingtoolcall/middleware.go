// Package danglingtoolcall makes every request fit for strict providers: each tool call of the model is directly
// followed by exactly its results, has an id, a name and an object of arguments, and no result stands alone.
//
// A history gets out of that shape when a run was cut off, when messages were injected or summarised away, or when
// a client imported it. Only the request is repaired, never the stored conversation.
package danglingtoolcall

import (
	"context"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
)

// Middleware is the repair as a wrapper of the model call.
type Middleware struct{ checked conversation.Checked }

var _ agent.ModelCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "DanglingToolCallMiddleware" }

// WrapModelCall implements [agent.ModelCallWrapper]. A valid history goes on as the very slice that came.
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	if valid(req.Messages[m.checked.From(req.Messages):]) { // what came before ends with the results of its calls
		m.checked.Pass(req.Messages)
		return next(ctx, req)
	}
	repaired := *req
	repaired.Messages = repair(req.Messages)
	return next(ctx, &repaired)
}
