// Package tokenusage says what the tokens of an answer were spent on. Each answer of the model is marked, in the same
// step that stores it, with what it did (an answer, a search, a step of the plan, a task for a sub-agent), for clients
// that show cost beside work; and what a sub-agent took is added to the answer that gave it the task. The model sees
// none of it: only kwargs and usage of stored messages change.
package tokenusage

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Key is the additional_kwargs key of [Attribution].
const Key = "token_usage_attribution"

// Middleware marks answers.
type Middleware struct{}

var (
	_ agent.ModelCallWrapper = (*Middleware)(nil)
	_ agent.AfterModelHook   = (*Middleware)(nil)
)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "TokenUsageMiddleware" }

// WrapModelCall implements [agent.ModelCallWrapper]: an answer is marked before it enters the state. One whose calls
// have no ids yet waits for AfterModel.
func (*Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	resp, err := next(ctx, req)
	if err != nil || !identified(&resp.Message) {
		return resp, err
	}
	raw, err := json.Marshal(attribute(&resp.Message, threadstate.Todos.Get(req.State)))
	if err != nil {
		return nil, err
	}
	marked := *resp
	marked.Message = with(resp.Message, Key, raw)
	return &marked, nil
}

// identified reports whether the calls of an answer have the ids that they will keep.
func identified(m *message.Message) bool {
	seen := make(map[string]bool, len(m.ToolCalls))
	for _, c := range m.ToolCalls {
		if c.ID == "" || seen[c.ID] {
			return false
		}
		seen[c.ID] = true
	}
	return len(m.InvalidToolCalls) == 0
}

// AfterModel implements [agent.AfterModelHook]. What is marked already is left as it is.
func (*Middleware) AfterModel(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 || msgs[len(msgs)-1].Role != message.AI {
		return agent.Command{}, nil
	}
	changed := tasks(msgs[:len(msgs)-1])
	if last := msgs[len(msgs)-1]; last.Kwargs[Key] == nil {
		raw, err := json.Marshal(attribute(&last, threadstate.Todos.Get(s)))
		if err != nil {
			return agent.Command{}, err
		}
		changed = append(changed, with(last, Key, raw))
	}
	if len(changed) == 0 {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Messages.Replace(changed...)}, nil
}

// tasks adds what sub-agents took to the message that gave them their tasks, and returns it and their results, marked.
// It looks at the newest results only: older ones had their turn.
func tasks(msgs []message.Message) []message.Message {
	var done []message.Message
	var took message.Usage
	i := len(msgs) - 1
	for ; i >= 0 && msgs[i].Role != message.AI; i-- {
		u, ok := toolmeta.SubagentUsage(msgs[i])
		if !ok || toolmeta.SubagentAttributed(msgs[i]) {
			continue
		}
		took = took.Add(u)
		done = append(done, with(msgs[i], toolmeta.KeySubagentAttributed, json.RawMessage("true")))
	}
	if i < 0 || len(done) == 0 {
		return nil
	}
	gave := msgs[i]
	sum := took
	if gave.Usage != nil {
		sum = gave.Usage.Add(took)
	}
	gave.Usage = &sum
	return append(done, gave)
}

// with returns a copy of the message with one more kwarg.
func with(m message.Message, key string, raw json.RawMessage) message.Message {
	kwargs := make(message.Fields, len(m.Kwargs)+1)
	maps.Copy(kwargs, m.Kwargs)
	kwargs[key] = raw
	m.Kwargs = kwargs
	return m
}
