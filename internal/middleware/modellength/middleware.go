// Package modellength names an answer that is not complete because the model reached its length limit: the run is a
// success, and its stop_reason tells clients that the text ends early. Nothing is asked again.
//
// An answer that is too long for its tool calls is not its business: the loop never runs a call whose arguments were
// cut, and the model is told so.
package modellength

import (
	"context"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Reason is the stop_reason of a run whose answer was cut.
const Reason = "model_length_capped"

// Middleware looks at the run's last answer.
type Middleware struct{}

var _ agent.AfterAgentHook = (*Middleware)(nil)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ModelLengthFinishReasonMiddleware" }

// AfterAgent implements [agent.AfterAgentHook]. It waits for the end because only then it is known that no other answer
// follows the one that was cut. A reason that the run has already stays.
func (*Middleware) AfterAgent(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 {
		return agent.Command{}, nil
	}
	m := &msgs[len(msgs)-1]
	if string(m.Kwargs[message.KeyErrorFallback]) == "true" { // these words are whole: they say that the model had none
		return agent.Command{}, nil
	}
	if m.Role != message.AI || !m.Truncated() || m.AsksForTools() || strings.TrimSpace(m.Text()) == "" {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Ended(rt, s, Reason)}, nil
}
