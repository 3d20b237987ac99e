// Package systemmessages keeps the system prompt the only system message of a request, as providers want it, and the
// same for a thread's whole life, as their caches want it: a system message that another middleware adds to a request
// goes out where it stands, in the user's role. It stands inside all that adds such messages.
//
// Stored system messages do not come here: clients can send them, so that they are sanitized like what a user says
// before anything else sees the request. A middleware that has something lasting to tell the model stores a note (see
// package conversation).
package systemmessages

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
)

// Middleware sends system messages in the user's role.
type Middleware struct{}

var _ agent.ModelCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "SystemMessageCoalescingMiddleware" }

// WrapModelCall implements [agent.ModelCallWrapper].
func (*Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	var msgs []message.Message
	for i := range req.Messages {
		if req.Messages[i].Role != message.System {
			continue
		}
		if msgs == nil {
			msgs = slices.Clone(req.Messages)
		}
		msgs[i].Role, msgs[i].Kwargs = message.Human, message.Fields{message.KeyHidden: json.RawMessage("true")}
	}
	if msgs != nil {
		changed := *req
		changed.Messages = msgs
		req = &changed
	}
	return next(ctx, req)
}
