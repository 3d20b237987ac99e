// Package redact is a middleware for Pudu: e-mail addresses that a tool has found do not get to the model. It lives in
// a module of its own, as yours would; mypudu beside it is a Pudu that has it.
package redact

import (
	"context"
	"regexp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// Middleware implements [agent.Middleware].
type Middleware struct{}

// The hooks that it has: one that is misspelt does not compile.
var _ agent.ToolCallWrapper = Middleware{}

// Name implements [agent.Middleware]. No other middleware has it.
func (Middleware) Name() string { return "RedactMiddleware" }

var address = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+`)

// WrapToolCall implements [agent.ToolCallWrapper]: it lets the tool run and changes what comes back, before the result
// is stored. So the model, the history and every client see the same.
func (Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	result, err := next(ctx, req)
	if err != nil {
		return nil, err
	}
	for i, part := range result.Content {
		if part.Type == message.PartText {
			result.Content[i].Text = address.ReplaceAllString(part.Text, "[e-mail address]")
		}
	}
	return result, nil
}
