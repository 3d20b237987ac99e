package calls

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Bounds of what is summed up at once, and of the sums that are remembered.
const (
	MaxSpent = 200
	maxSums  = 10_000
)

// Spending is what the runs of a thread took.
type Spending struct {
	ThreadID string  `json:"thread_id"`
	Runs     []Spent `json:"runs"` // the newest first
	// More says that there are older ones, which are in none of the sums.
	More  bool   `json:"more"`
	Usage Usage  `json:"usage"`
	Cost  []Cost `json:"cost"` // of the calls that have a price, by currency
	// Context is how full the model's window was with the last call and its answer; null before the first.
	Context *Context `json:"context"`
}

// Spent is what a run took.
type Spent struct {
	RunID  string    `json:"run_id"`
	Status string    `json:"status"`
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"` // of a run at its end
	Calls  int       `json:"calls"`
	Tools  int       `json:"tools"`
	Usage  Usage     `json:"usage"`
	Cost   []Cost    `json:"cost"`
}

// Context is how full a model's window is.
type Context struct {
	RunID string `json:"run_id"`
	N     int    `json:"n"` // of the call
	Model string `json:"model"`
	// Tokens are those that the call was sent and gave, as the provider told; Window is the size, 0 if that is not
	// known.
	Tokens int `json:"tokens"`
	Window int `json:"window"`
}

// sumKey is a run of a user's.
type sumKey struct{ user, run string }

// sum is what a run took, without prices, which may change.
type sum struct {
	calls, tools int
	models       map[string]message.Usage
	last         Context // its last call that told its tokens
}

// Spent sums up the newest limit runs of a thread, 1 to [MaxSpent]. A thread that is not there took nothing.
func (m *Mine) Spent(ctx context.Context, thread string, limit int) (out Spending, err error) {
	if limit < 1 || limit > MaxSpent {
		return out, fmt.Errorf("limit %d is not between 1 and %d", limit, MaxSpent)
	}
	out = Spending{ThreadID: thread, Runs: []Spent{}, Cost: []Cost{}}
	list, err := m.data.ListRuns(ctx, store.RunFilter{ThreadID: thread, Limit: limit + 1})
	if err != nil {
		return out, err
	}
	out.More = len(list) > limit
	total := make(map[string]message.Usage)
	for i := range list[:min(len(list), limit)] {
		run := &list[i]
		s, err := m.sum(ctx, run)
		if err != nil {
			return out, fmt.Errorf("sum up run %.40q: %w", run.ID, err)
		}
		one := Spent{RunID: run.ID, Status: run.Status, Began: run.CreatedAt, Calls: s.calls, Tools: s.tools}
		if !run.Active() {
			one.Ended = run.UpdatedAt
		}
		one.Usage, one.Cost = m.priced(s.models)
		out.Runs = append(out.Runs, one)
		for name, u := range s.models {
			total[name] = plus(total[name], u)
		}
		if out.Context == nil && s.last.N > 0 {
			out.Context = new(Context)
			*out.Context = s.last
			out.Context.Window = m.all.cfg.Window(s.last.Model)
		}
	}
	out.Usage, out.Cost = m.priced(total)
	return out, nil
}

// sum is what a run took. That of a run at its end is read once.
func (m *Mine) sum(ctx context.Context, run *store.Run) (sum, error) {
	key := sumKey{m.user.ID(), run.ID}
	m.all.mu.Lock()
	s, known := m.all.sums[key]
	m.all.mu.Unlock()
	if known {
		return s, nil
	}
	l := newTeller(m, *run)
	l.models = make(map[string]message.Usage)
	err := l.tell(ctx) // its page has no place for steps
	s = sum{l.t.Calls, l.t.Tools, l.models, l.last}
	if err == nil && !run.Active() {
		m.all.mu.Lock()
		if len(m.all.sums) >= maxSums {
			clear(m.all.sums)
		}
		m.all.sums[key] = s
		m.all.mu.Unlock()
	}
	return s, err
}

// priced is the sum of what models took, and what it cost.
func (m *Mine) priced(models map[string]message.Usage) (Usage, []Cost) {
	var all message.Usage
	cost := []Cost{}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		all = plus(all, models[name])
		if amount, currency, ok := m.all.cfg.Price(name, models[name]); ok {
			cost = paid(cost, Cost{amount, currency})
		}
	}
	return *usageOf(all), cost
}

func plus(a, b message.Usage) message.Usage {
	return message.Usage{
		InputTokens: a.InputTokens + b.InputTokens, OutputTokens: a.OutputTokens + b.OutputTokens,
		TotalTokens: a.TotalTokens + b.TotalTokens, CacheRead: a.CacheRead + b.CacheRead,
		CacheCreation: a.CacheCreation + b.CacheCreation, Reasoning: a.Reasoning + b.Reasoning,
	}
}
