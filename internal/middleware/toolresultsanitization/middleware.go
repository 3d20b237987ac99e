// Package toolresultsanitization takes the power out of what tools bring in from outside, such as web pages: tags in
// which the program speaks to the model are escaped. A result is changed once, before it is stored, so that the message
// is the same for its whole life. It stands outside all that makes or cuts a result's text but the budget of its size.
package toolresultsanitization

import (
	"context"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// Config says whose results come from outside.
type Config struct {
	// Tools are their names; nil means web_fetch, web_search, image_search and web_capture, empty means none.
	Tools []string
	// Remote reports whether a tool that is not among them brings in text from outside, such as one of another server.
	// nil means that none does.
	Remote func(tool.Spec) bool
}

// Middleware sanitizes results.
type Middleware struct{ cfg Config }

var _ agent.ToolCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New(cfg Config) *Middleware {
	if cfg.Tools == nil {
		cfg.Tools = []string{"web_fetch", "web_search", "image_search", "web_capture"}
	}
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ToolResultSanitizationMiddleware" }

// WrapToolCall implements [agent.ToolCallWrapper].
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	res, err := next(ctx, req)
	if err != nil || res == nil || !m.outside(req) {
		return res, err
	}
	changed := *res
	changed.Content = sanitize(res.Content)
	return &changed, nil
}

func (m *Middleware) outside(req *agent.ToolRequest) bool {
	return slices.Contains(m.cfg.Tools, req.Call.Name) || m.cfg.Remote != nil && m.cfg.Remote(req.Spec)
}

// sanitize returns the parts with their texts sanitized, each alone. If a tag stands across the border of two texts,
// they become one, because models may read them as one.
func sanitize(parts []message.Part) []message.Part {
	out := slices.Clone(parts)
	for i, p := range out {
		if p.Type == message.PartText {
			out[i].Text = untrusted.Text(p.Text)
		}
	}
	whole := message.Message{Content: out}
	if text := whole.Text(); untrusted.Text(text) != text {
		return conversation.MapText(out, untrusted.Text)
	}
	return out
}
