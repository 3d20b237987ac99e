// Package loopdetection stops a model that goes round in circles, and nothing else. What counts is not how often
// something is called but whether anything comes of it: a call is repeated only if it brings the same result again. A
// result that was not there before, or a new call that was done without a word (a file written, a plan changed), is
// progress, and progress forgives what was repeated before it. A failure is none, in whatever words: they may only
// repeat the call.
//
// It looks at the results that the last step brought, before the model is asked again. A repetition is first answered
// with a note to the model, behind the results, then by the end of the run, in which the model sums up what it has.
package loopdetection

import (
	"cmp"
	"context"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Reason is the stop reason of a run that went round in circles.
const Reason = "loop_capped"

// NoteName is the name of the warning among the messages.
const NoteName = "loop_warning"

// Config says how much repetition is too much. A zero field has the default that it names.
type Config struct {
	// WarnThreshold (3) and HardLimit (5) are how often the same calls with the same results may come without progress:
	// then the model is warned, or the run ends. Values below 2 count as 2.
	WarnThreshold, HardLimit int
	// Window (20) is how many messages with calls are looked back for a repetition.
	Window int
	// Tool is the rule for tools that Tools does not name. Its defaults are 30 and 50.
	Tool Rule
	// Tools are rules for single tools, by name.
	Tools map[string]Rule
}

// Rule bounds the calls of one tool. The window in which they are counted is as large as the largest HardLimit.
type Rule struct {
	// Warn is how many calls bring a note, once in a run, whatever they brought.
	Warn int
	// HardLimit is how many calls without any progress end the run; 1 counts as 2.
	HardLimit int
}

// Middleware looks for loops.
type Middleware struct {
	cfg   Config
	calls int // how many calls are looked back
}

var (
	_ agent.BeforeModelHook = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.WarnThreshold = max(cmp.Or(cfg.WarnThreshold, 3), 2)
	cfg.HardLimit = max(cmp.Or(cfg.HardLimit, 5), 2)
	cfg.Window = max(cmp.Or(cfg.Window, 20), cfg.HardLimit)
	m := &Middleware{cfg: cfg}
	m.cfg.Tool = cfg.Tool.or(Rule{Warn: 30, HardLimit: 50})
	m.calls = max(cfg.Window, m.cfg.Tool.Warn, m.cfg.Tool.HardLimit)
	for name := range cfg.Tools {
		r := m.rule(name)
		m.calls = max(m.calls, r.Warn, r.HardLimit)
	}
	return m
}

// rule is what holds for the tool.
func (m *Middleware) rule(tool string) Rule { return m.cfg.Tools[tool].or(m.cfg.Tool) }

// or fills in what the rule does not say. One call is no repetition, whatever it says.
func (r Rule) or(otherwise Rule) Rule {
	return Rule{Warn: cmp.Or(r.Warn, otherwise.Warn), HardLimit: max(cmp.Or(r.HardLimit, otherwise.HardLimit), 2)}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "LoopDetectionMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{record} }

// BeforeModel implements [agent.BeforeModelHook]. Without new results it does nothing.
func (m *Middleware) BeforeModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	asked, results := toolmeta.Newest(agent.Messages.Get(s))
	if len(results) == 0 || agent.StopState(s, rt.RunID).Reason != "" {
		return agent.Command{}, nil
	}
	was := recordOf(s, rt.RunID)
	if was.At == asked.ID {
		return agent.Command{}, nil
	}
	step := m.step(was, asked, results)
	v := m.judge(merge(was, step), step.tools())
	step.Units[0].Warned, step.Told = v.repeated, v.often
	update := record.Put(step)
	if text := v.text(); text != "" {
		update = update.With(agent.Messages.Append(conversation.Note(rt.NewID(), NoteName, text)))
	}
	if v.stop != "" {
		update = update.With(agent.Stop(rt, Reason))
	}
	return agent.Command{Update: update}, nil
}

// step is what the results of one message add to the record.
func (m *Middleware) step(was seen, asked message.Message, results []message.Message) seen {
	known := slices.Clip(was.Calls)
	var all []string
	fresh := false
	for _, c := range callsOf(asked, results) {
		c.Fresh = c.progress(known)
		fresh = fresh || c.Fresh
		known, all = append(known, c.call), append(all, c.Key+c.Result)
	}
	slices.Sort(all)
	return seen{
		RunID: was.RunID, At: asked.ID, KeepUnits: m.cfg.Window, KeepCalls: m.calls,
		Calls: known[len(was.Calls):], Units: []unit{{Key: digest(all...), Fresh: fresh}},
	}
}
