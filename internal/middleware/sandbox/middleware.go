// Package sandbox notes in the state which sandbox a thread works in, gives it back when the agent is done, and tells
// the model when processes that it had left in the background are gone.
//
// A sandbox is started by the first tool that needs one, so it is the result of that tool which carries its id into
// the state. The list of background processes comes with the results of the tools that started them.
package sandbox

import (
	"context"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what the middleware works with.
type Config struct {
	// Space is where the thread's tools work. Required.
	Space sandbox.Space
	// Release gives the sandbox back at the agent's end, for the next run to find it warm. It is called once more by
	// the run's owner, who also sees the ends that no hook sees (a cancel, a failure), so calling it twice does no
	// harm. nil leaves it all to the owner.
	Release func()
}

// Middleware notes and releases the sandbox, and reports what went with it.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeModelHook = (*Middleware)(nil)
	_ agent.AfterAgentHook  = (*Middleware)(nil)
	_ agent.ToolCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware { return &Middleware{cfg: cfg} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "SandboxMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel {
	return []state.AnyChannel{threadstate.Sandbox, threadstate.Background}
}

// WrapToolCall implements [agent.ToolCallWrapper]. Calls that run side by side may all note the one sandbox; a second,
// different id is refused by the channel.
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	res, err := next(ctx, req)
	if err != nil || res == nil || threadstate.Sandbox.Get(req.Call.State) != nil {
		return res, err
	}
	id := m.cfg.Space.ID()
	if id == "" {
		return res, nil
	}
	noted := *res
	noted.Update = threadstate.Sandbox.Put(&threadstate.SandboxState{SandboxID: id}).With(res.Update)
	return &noted, nil
}

// AfterAgent implements [agent.AfterAgentHook].
func (m *Middleware) AfterAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	if m.cfg.Release != nil {
		m.cfg.Release()
	}
	return agent.Command{}, nil
}
