package history

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/history"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

type usageIn struct {
	ID     string `path:"thread_id"`
	Active bool   `query:"include_active"`
}

// usageJSON is what the runs of a thread took that are at their end.
type usageJSON struct {
	ThreadID string               `json:"thread_id"`
	Total    int                  `json:"total_tokens"`
	Input    int                  `json:"total_input_tokens"`
	Output   int                  `json:"total_output_tokens"`
	Runs     int                  `json:"total_runs"`
	ByModel  map[string]modelJSON `json:"by_model"`
	ByCaller callersJSON          `json:"by_caller"`
	Context  contextJSON          `json:"context_usage"`
}

type modelJSON struct {
	Tokens int `json:"tokens"`
	Runs   int `json:"runs"`
}

type callersJSON struct {
	Lead       int `json:"lead_agent"`
	Subagent   int `json:"subagent"`
	Middleware int `json:"middleware"`
	// Memory is what reading the thread for the memory took; a thread that was not read has none.
	Memory int `json:"memory,omitempty"`
}

// contextJSON is about how much of the model's window the conversation takes; null where the window is not known.
type contextJSON struct {
	Count      int      `json:"token_count"`
	Most       *int     `json:"max_context_tokens"`
	Percentage *float64 `json:"percentage"`
}

// unknown is the name of the model of a run that has not answered yet.
const unknown = "unknown"

// usage counts what the runs of a thread took, those on branches that were left included. A thread that is not there
// took nothing.
func (g *Group) usage(ctx context.Context, in *usageIn) (usageJSON, error) {
	out := usageJSON{ThreadID: in.ID, ByModel: make(map[string]modelJSON)}
	list, err := g.mine(ctx).Spent(ctx, in.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	for _, run := range list {
		ended := run.Status == event.StatusSuccess || run.Status == event.StatusError
		if ended || in.Active && run.Status == event.StatusRunning {
			out.add(run)
		}
	}
	read, err := g.Memory.For(route.Caller(ctx).User).Spent(ctx, in.ID)
	if err != nil {
		return out, err
	}
	for name, took := range read {
		out.read(name, took)
	}
	out.Context, err = g.context(ctx, in.ID)
	return out, err
}

// read adds what a model took to read the thread for the memory, which is no run.
func (u *usageJSON) read(name string, took memory.Spent) {
	u.Total, u.Input, u.Output = u.Total+took.Total, u.Input+took.Input, u.Output+took.Output
	u.ByCaller.Memory += took.Total
	of := u.ByModel[name]
	of.Tokens += took.Total
	u.ByModel[name] = of
}

func (u *usageJSON) add(run history.Run) {
	all := run.Usage.TotalTokens
	u.Total, u.Input, u.Output = u.Total+all, u.Input+run.Usage.InputTokens, u.Output+run.Usage.OutputTokens
	if run.Below {
		u.ByCaller.Subagent += all
	} else {
		u.Runs++
	}
	answers, names := 0, slices.Sorted(maps.Keys(run.Models))
	for _, name := range names {
		answers += run.Models[name]
	}
	rest := max(0, all-answers)
	if len(names) == 0 {
		names, rest = []string{unknown}, all
	} else if !run.Below {
		u.ByCaller.Middleware += rest
	}
	if !run.Below {
		u.ByCaller.Lead += all
		if run.Models != nil {
			u.ByCaller.Lead -= rest
		}
	}
	for i, name := range names {
		of := u.ByModel[name]
		of.Tokens, of.Runs = of.Tokens+run.Models[name], of.Runs+1
		if i == 0 {
			of.Tokens += rest
		}
		u.ByModel[name] = of
	}
}

// context measures the conversation as it is, against the window of the model of its last run.
func (g *Group) context(ctx context.Context, thread string) (out contextJSON, err error) {
	last, err := g.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: thread, Limit: 1})
	if err != nil {
		return out, err
	}
	var req runs.Request
	if len(last) > 0 {
		if req, err = runs.RequestOf(last[0]); err != nil {
			return out, err
		}
	}
	snap, err := g.runs(ctx).Snapshot(ctx, thread, "")
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	if msgs := agent.Messages.Get(snap.State); len(msgs) > 0 {
		out.Count = tokens.Messages(msgs)
	}
	if most := g.modelOf(req).Window; most > 0 {
		share := math.Round(1000*float64(out.Count)/float64(most)) / 10
		out.Most, out.Percentage = &most, &share
	}
	return out, nil
}
