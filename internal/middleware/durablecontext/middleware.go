// Package durablecontext keeps what must outlive a compaction of the conversation. It notes in the state which tasks
// went to sub-agents and how they ended, and which skills the agent read; and it sends, of a conversation that was
// compacted, the part that is still shown, behind the block that tells the rest (package compaction).
//
// It stands outside summarization, which may compact further, and inside everything that changes single messages.
package durablecontext

import (
	"cmp"
	"context"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Config says how skills are known.
type Config struct {
	// ReadTools are the tools that read a file named by their argument path; nil means read_file, read, view and cat.
	ReadTools []string
	// SkillsRoot is the folder of the skills in the sandbox; empty means /mnt/skills.
	SkillsRoot string
}

// Middleware notes and projects.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeModelHook  = (*Middleware)(nil)
	_ agent.AfterModelHook   = (*Middleware)(nil)
	_ agent.ModelCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider    = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	if cfg.ReadTools == nil {
		cfg.ReadTools = []string{"read_file", "read", "view", "cat"}
	}
	cfg.SkillsRoot = cmp.Or(cfg.SkillsRoot, "/mnt/skills")
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "DurableContextMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel {
	return []state.AnyChannel{compaction.Channel, threadstate.Delegations, threadstate.SkillContext}
}

// AfterModel implements [agent.AfterModelHook]: tasks that the answer gives are in progress.
func (*Middleware) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	answer, _, ok := lastAnswer(agent.Messages.Get(s))
	if !ok {
		return agent.Command{}, nil
	}
	if given := givenBy(rt, answer, threadstate.Delegations.Get(s)); len(given) > 0 {
		return agent.Command{Update: threadstate.Delegations.Put(given)}, nil
	}
	return agent.Command{}, nil
}

// BeforeModel implements [agent.BeforeModelHook]: it notes what the results of the last answer's calls tell.
func (m *Middleware) BeforeModel(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	answer, at, ok := lastAnswer(msgs)
	if !ok {
		return agent.Command{}, nil
	}
	var update state.Update
	if changed := changedBy(answer, msgs[at+1:], threadstate.Delegations.Get(s)); len(changed) > 0 {
		update = threadstate.Delegations.Put(changed)
	}
	if read := m.skillsRead(answer, msgs, at, threadstate.SkillContext.Get(s)); len(read) > 0 {
		update = update.With(threadstate.SkillContext.Put(read))
	}
	return agent.Command{Update: update}, nil
}

// WrapModelCall implements [agent.ModelCallWrapper].
func (*Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	c := compaction.Channel.Get(req.State)
	if c.Upto == "" && len(c.Shortened) == 0 {
		return next(ctx, req)
	}
	projected := *req
	projected.Messages = compaction.Project(&c, agent.Messages.Get(req.State), req.Messages)
	return next(ctx, &projected)
}

// lastAnswer finds the newest AI message.
func lastAnswer(msgs []message.Message) (answer *message.Message, at int, ok bool) {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == message.AI {
			return &msgs[i], i, true
		}
	}
	return nil, 0, false
}
