// Package tokenbudget bounds what a run may spend, in tokens and in money. Every answer of the model is counted as it
// comes, with what sub-agents and calls beside the conversation took. Near a limit the model is told the numbers, once;
// at the limit the calls that it asks for are no longer made, and it sums up what it has.
package tokenbudget

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Reason is the stop reason of a run that spent its budget.
const Reason = "token_capped"

// NoteName is the name of the warning among the messages.
const NoteName = "budget_warning"

// Config is the budget of one run. A limit of 0 does not bound.
type Config struct {
	// MaxTokens bounds input and output together, MaxInput and MaxOutput each alone.
	MaxTokens, MaxInput, MaxOutput int
	// MaxCost bounds the money, in the currency of the run's model. What is priced in another one is not counted.
	MaxCost float64
	// WarnAt and StopAt are shares of a limit; 0 means 0.8 and 1.
	WarnAt, StopAt float64
	// Model is the configured name of the run's model; Prices are those of all models by that name.
	Model  string
	Prices map[string]config.Pricing
}

// Middleware keeps the budget.
type Middleware struct{ cfg Config }

var (
	_ agent.ModelCallWrapper = (*Middleware)(nil)
	_ agent.BeforeModelHook  = (*Middleware)(nil)
	_ agent.AfterModelHook   = (*Middleware)(nil)
	_ agent.StateProvider    = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.WarnAt, cfg.StopAt = cmp.Or(cfg.WarnAt, 0.8), cmp.Or(cfg.StopAt, 1)
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "TokenBudgetMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel {
	return []state.AnyChannel{record, threadstate.SideUsageChannel()}
}

// WrapModelCall implements [agent.ModelCallWrapper]. It counts the answer together with storing it, so that each is
// counted once, whatever becomes of the message later.
func (m *Middleware) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	resp, err := next(ctx, req)
	if err != nil {
		return nil, err
	}
	u := resp.Message.Usage
	if u == nil {
		u = &message.Usage{}
	}
	counted, cost := *resp, m.cost(modelcall.AnsweredBy(&resp.Message, m.cfg.Model), *u)
	counted.Update = resp.Update.With(record.Put(spending{RunID: req.Runtime.RunID, Usage: *u, Cost: cost}))
	return &counted, nil
}

// AfterModel implements [agent.AfterModelHook]. Calls that the budget does not allow any more are not made; an answer
// without calls is the end anyway.
func (m *Middleware) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	if agent.StopState(s, rt.RunID).Reason != "" || !m.over(m.spent(s, rt.RunID), m.cfg.StopAt) {
		return agent.Command{}, nil
	}
	msgs := agent.Messages.Get(s)
	last := &msgs[len(msgs)-1]
	if last.Role != message.AI || len(last.ToolCalls)+len(last.InvalidToolCalls) == 0 {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Stop(rt, Reason)}, nil
}

// BeforeModel implements [agent.BeforeModelHook]. It counts what sub-agents took, and tells the model where it stands:
// behind the results, so that they stay with their calls.
func (m *Middleware) BeforeModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	step, changed := m.tasks(s, rt.RunID)
	total := merge(m.spent(s, rt.RunID), step)
	stopping := agent.StopState(s, rt.RunID).Reason
	text := ""
	switch over := m.over(total, m.cfg.StopAt); {
	case over && !total.Stopped && (stopping == "" || stopping == Reason):
		step.Stopped, text = true, "The budget of this run is spent: "+m.numbers(total)+"."
	case !over && !total.Warned && stopping == "" && m.over(total, m.cfg.WarnAt):
		step.Warned = true
		text = "Most of the budget of this run is spent: " + m.numbers(total) +
			". Come to a result with what is left; at the limit no more tools can be called."
	case !changed:
		return agent.Command{}, nil
	}
	update := record.Put(step)
	if text != "" {
		update = update.With(agent.Messages.Append(conversation.Note(rt.NewID(), NoteName, text)))
	}
	if step.Stopped && stopping == "" {
		update = update.With(agent.Stop(rt, Reason))
	}
	return agent.Command{Update: update}, nil
}

// tasks is what the newest results say that sub-agents took, if it is not counted yet.
func (m *Middleware) tasks(s state.State, runID string) (step spending, changed bool) {
	step = spending{RunID: runID}
	asked, results := toolmeta.Newest(agent.Messages.Get(s))
	if len(results) == 0 || recordOf(s, runID).TasksOf == asked.ID {
		return step, false
	}
	for _, res := range results {
		u, ok := toolmeta.SubagentUsage(res)
		if !ok {
			continue
		}
		step.TasksOf, changed = asked.ID, true
		step.Usage = step.Usage.Add(u)
		step.Cost += m.cost(cmp.Or(toolmeta.SubagentModel(res), m.cfg.Model), u)
	}
	return step, changed
}

// spent is all that the run took so far.
func (m *Middleware) spent(s state.State, runID string) spending {
	total := recordOf(s, runID)
	side := threadstate.SideUsage(s, runID)
	for _, name := range slices.Sorted(maps.Keys(side)) { // in order, so that the sum of the money is always the same
		total.Usage = total.Usage.Add(side[name])
		total.Cost += m.cost(name, side[name])
	}
	return total
}

func (m *Middleware) cost(name string, u message.Usage) float64 {
	if price := m.cfg.Prices[name]; price.Money() == m.currency() {
		return price.Cost(u)
	}
	return 0
}

// currency is that of the run's model.
func (m *Middleware) currency() string { return m.cfg.Prices[m.cfg.Model].Money() }
