// Package summarization keeps a conversation small enough for the model. Before a model call it looks how large the
// request has become; when a threshold is reached it compacts in stages: large tool results that the model has seen
// are shortened (the whole of each goes to a file), then the oldest messages are summed up by a model and no longer
// sent, and what still does not fit into the window is shortened or cut. What is compacted is what the model sees: the
// conversation in the state stays whole (package compaction).
//
// After a compaction a request no longer begins like the one before it, which costs the provider's cache. So one aims
// well below what started it, and after it, or after a failed attempt, the next waits until the conversation has grown.
//
// The middleware stands inside llmerror, so that a request that the provider found too long is made shorter and sent
// once more before that counts as a failure, and inside durablecontext, which sends what the last compaction left.
package summarization

import (
	"cmp"
	"context"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/compaction"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Middleware compacts.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeModelHook  = (*Middleware)(nil)
	_ agent.ModelCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider    = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.Timeout = cmp.Or(cfg.Timeout, defaultTimeout)
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "DeerFlowSummarizationMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel {
	return []state.AnyChannel{
		compaction.Channel, meterChannel, threadstate.SummaryText, threadstate.Delegations, threadstate.SkillContext,
		threadstate.SideUsageChannel(),
	}
}

// BeforeModel implements [agent.BeforeModelHook]: it compacts when that is due. When no summary can be had and the
// window leaves time, nothing changes but that the next attempt waits.
func (m *Middleware) BeforeModel(ctx context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	j, due := m.due(s)
	if !due {
		return agent.Command{}, nil
	}
	out, err := m.do(ctx, j)
	spent := out.spent.count(rt)
	if ctx.Err() != nil {
		return agent.Command{}, context.Cause(ctx)
	}
	if err != nil {
		out.mark(newPlan(&j.last, j.all, nil))
	}
	return agent.Command{Update: out.update().With(spent)}, nil
}

// due prepares a job if the conversation has reached a threshold, or no longer fits into the window.
func (m *Middleware) due(s state.State) (*job, bool) {
	all, mt, last := agent.Messages.Get(s), meterChannel.Get(s), compaction.Channel.Get(s)
	if !m.active() || len(all) == 0 {
		return nil, false
	}
	raw, ok := mt.behind(all)
	if !ok {
		mt.recount(compaction.Project(&last, all, all))
	}
	total, hard, trigger := mt.total(raw), m.cfg.hard(), m.cfg.trigger()
	tight := hard > 0 && total > hard
	large := trigger > 0 && total >= trigger && m.worth(&last, &mt, all, total, trigger)
	many := m.tooMany(&last, all)
	if !tight && !large && !many {
		return nil, false
	}
	j := newJob(s, m.cfg.Keep)
	j.meter, j.goal, j.cut = mt.whole(raw), m.cfg.goal(), many
	if tight {
		j.must = hard
	}
	return j, true
}

// worth reports whether an attempt can be expected to help: the last one was long ago, or there are results to shorten,
// which costs no call of a model.
func (m *Middleware) worth(last *compaction.Compaction, mt *meter, all []message.Message, total, trigger int) bool {
	floor := max(last.Tokens, mt.Base)
	grow := max(trigger/5, floor/5, 200)
	if last.Tokens == 0 || total >= floor+grow {
		return true
	}
	return savingOf(last, all)/4 >= grow
}

// tooMany reports whether more messages are sent than the trigger allows, and enough more than after the last attempt.
func (m *Middleware) tooMany(last *compaction.Compaction, all []message.Message) bool {
	most := m.cfg.Trigger.Messages
	if most == 0 || len(all) < most {
		return false
	}
	sent := len(last.Visible(all)) + len(last.Rescued)
	if last.Block != "" {
		sent++
	}
	return sent >= most && (last.Messages == 0 || sent >= last.Messages+max(most/5, last.Messages/4, 4))
}

// active reports whether sizes matter before a provider complains.
func (m *Middleware) active() bool { return m.cfg.Trigger != (Amount{}) || m.cfg.Window > 0 }
