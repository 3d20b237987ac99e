package goals

import (
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// watcher is a middleware that looks, as real ones do when there is nothing for them to do, and changes nothing.
type watcher struct {
	name  string
	limit *state.Channel[int]
}

var (
	_ agent.BeforeModelHook  = (*watcher)(nil)
	_ agent.AfterModelHook   = (*watcher)(nil)
	_ agent.ModelCallWrapper = (*watcher)(nil)
	_ agent.ToolCallWrapper  = (*watcher)(nil)
	_ agent.StateProvider    = (*watcher)(nil)
)

// watchers are n middlewares with the four hooks of a step and a channel of their own.
func watchers(n int) []agent.Middleware {
	all := make([]agent.Middleware, n)
	for i := range all {
		all[i] = &watcher{name: fmt.Sprintf("Watcher%d", i), limit: state.LastValue[int](fmt.Sprintf("watcher_%d", i)).
			AsPrivate()}
	}
	return all
}

// Name is "Watcher" and a number.
func (w *watcher) Name() string { return w.name }

// Channels implements [agent.StateProvider].
func (w *watcher) Channels() []state.AnyChannel { return []state.AnyChannel{w.limit} }

// BeforeModel looks at the last message.
func (w *watcher) BeforeModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if n := len(msgs); n == 0 || msgs[n-1].Role != message.System {
		return agent.Command{}, nil
	}
	return agent.Command{Update: w.limit.Put(len(rt.RunID))}, nil
}

// AfterModel looks at the answer and at its own state.
func (w *watcher) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if last := msgs[len(msgs)-1]; len(last.ToolCalls) <= 8 && w.limit.Get(s) == 0 {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Stop(rt, "watched")}, nil
}

// WrapModelCall looks for a system message that nobody sends.
func (w *watcher) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	if len(req.Messages) == 0 {
		return nil, fmt.Errorf("%s: there is nothing to answer", w.name)
	}
	return next(ctx, req)
}

// WrapToolCall looks at the result.
func (w *watcher) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	res, err := next(ctx, req)
	if err == nil && res.IsError {
		return nil, fmt.Errorf("%s: the tool %s failed: %s", w.name, req.Call.Name, res.Text())
	}
	return res, err
}
