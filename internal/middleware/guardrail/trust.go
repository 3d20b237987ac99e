package guardrail

import (
	"context"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Untrusted says that the conversation holds, or held, text from outside. It is never taken back: a summary may carry
// on what a page said, and so may the model's own words.
var Untrusted = state.LastValue[bool]("guardrail_untrusted").AsPrivate()

// KeyOutside marks a message, as true, by which an agent that has read text from outside speaks to its sub-agent.
const KeyOutside = "from_outside"

// BeforeAgent implements [agent.BeforeAgentHook]: it looks for results from outside in a conversation that came from
// elsewhere or began before there was a guardrail.
func (m *Middleware) BeforeAgent(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	if len(m.cfg.Remote) == 0 || Untrusted.Get(s) {
		return agent.Command{}, nil
	}
	outside := m.cfg.Outside || slices.ContainsFunc(agent.Messages.Get(s), func(msg message.Message) bool {
		return msg.Role == message.Tool && m.cfg.Remote.Match(msg.Name) || string(msg.Kwargs[KeyOutside]) == "true"
	})
	if !outside {
		return agent.Command{}, nil
	}
	return agent.Command{Update: Untrusted.Put(true)}, nil
}

// marking notes that a result comes from outside.
func (m *Middleware) marking(next agent.ToolHandler) agent.ToolHandler {
	return func(ctx context.Context, req *agent.ToolRequest) (*tool.Result, error) {
		res, err := next(ctx, req)
		if err != nil || res == nil || Untrusted.Get(req.Call.State) || !m.cfg.Remote.Match(req.Call.Name) {
			return res, err
		}
		out := *res
		out.Update = res.Update.With(Untrusted.Put(true))
		return &out, nil
	}
}
