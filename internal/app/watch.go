package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/metrics"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// maxCause bounds what a line of the log says about an error, in bytes.
const maxCause = 500

// watch tells operators what the runs of this process do: a line in the log for what they may have to act on, and
// figures.
type watch struct {
	log     *slog.Logger // what people see of a run in a terminal needs no log: only a server has one
	metrics *metrics.Metrics
}

var _ runs.Watcher = (*watch)(nil)

// attempt is what is known of an attempt of a run while it lasts. It travels in the attempt's context.
type attempt struct {
	begun time.Time

	mu   sync.Mutex
	cost map[string]float64 // of its model calls so far, by currency
}

type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt) // a call outside of any run has none
	return a
}

func (a *attempt) add(currency string, cost float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cost == nil {
		a.cost = make(map[string]float64)
	}
	a.cost[currency] += cost
}

// about puts what a run's lines of the log name into the context.
func about(ctx context.Context, job runs.Job) context.Context {
	return logctx.With(ctx, logctx.IDs{
		Request: job.Request.RequestID, Token: job.Request.Token, Run: job.Run.ID, Thread: job.Run.ThreadID,
		User: job.Run.UserID,
	})
}

// Begun implements [runs.Watcher].
func (w *watch) Begun(ctx context.Context, job runs.Job) context.Context {
	now := time.Now()
	waited := max(now.Sub(job.Run.CreatedAt), 0)
	ctx = context.WithValue(about(ctx, job), attemptKey{}, &attempt{begun: now})
	if job.Run.Attempt <= 1 {
		w.metrics.RunBegun(waited)
	}
	w.log.InfoContext(ctx, "run started", "attempt", job.Run.Attempt, "waited_ms", waited.Milliseconds())
	return ctx
}

// Ended implements [runs.Watcher].
func (w *watch) Ended(ctx context.Context, job runs.Job, end runs.End) {
	level := slog.LevelInfo
	if end.Status == event.StatusError {
		level = slog.LevelWarn
	}
	attrs := []any{"status", end.Status, "attempt", job.Run.Attempt}
	a := attemptOf(ctx)
	if a != nil {
		took := time.Since(a.begun)
		w.metrics.RunEnded(end.Status, took)
		attrs = append(attrs, "duration_ms", took.Milliseconds())
	}
	attrs = append(attrs, tokensOf(end.Usage)...)
	if a != nil {
		attrs = append(attrs, a.costs()...)
	}
	if cause := causeOf(end.Run); cause != "" {
		attrs = append(attrs, "cause", cause)
	}
	w.log.Log(about(ctx, job), level, "run ended", attrs...)
}

func tokensOf(u message.Usage) []any {
	return []any{"tokens", u.TotalTokens, "input_tokens", u.InputTokens, "output_tokens", u.OutputTokens}
}

// costs are what is known to have been spent, such as cost_usd; nothing if no model that was called has a price.
func (a *attempt) costs() (attrs []any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for currency, cost := range a.cost {
		attrs = append(attrs, slog.Float64("cost_"+strings.ToLower(currency), cost))
	}
	return attrs
}

// causeOf is why a run ended before its work was done.
func causeOf(end event.Run) string {
	if end.Error != "" {
		return excerpt.Bound(end.Error, maxCause)
	}
	return end.StopReason
}

// call is told of each call of a model.
func (w *watch) call(ctx context.Context, m config.Model, c modelcall.Call) {
	class := classOf(ctx, c.Err)
	w.metrics.ModelCalled(c, class)
	if p := m.Pricing; p != nil && c.Usage != (message.Usage{}) {
		cost := p.Cost(c.Usage)
		w.metrics.ModelCost(c.Model, p.Money(), cost)
		if a := attemptOf(ctx); a != nil {
			a.add(p.Money(), cost)
		}
	}
	if c.Err == nil || class == cancelled {
		return
	}
	attrs := []any{"model", c.Model, "class", class, "duration_ms", c.Took.Milliseconds()}
	if failure := model.AsError(c.Err); failure != nil && failure.Status != 0 {
		attrs = append(attrs, "status", failure.Status)
	}
	w.log.WarnContext(ctx, "model call failed", append(attrs, "error", excerpt.Bound(c.Err.Error(), maxCause))...)
}

// Classes of failed calls beside those of [model.Class].
const (
	cancelled = "cancelled" // its run has ended
	other     = "other"
)

// classOf sorts the failure of a call; empty if there is none.
func classOf(ctx context.Context, err error) string {
	failure := model.AsError(err)
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return cancelled
	case failure != nil && failure.Class != "":
		return string(failure.Class)
	}
	return other
}

// toolWatch counts the calls of tools. It stands within all other middlewares, and sees what is really called.
type toolWatch struct{ metrics *metrics.Metrics }

var _ agent.ToolCallWrapper = toolWatch{}

// Name implements [agent.Middleware].
func (toolWatch) Name() string { return "ToolMetricsMiddleware" }

// WrapToolCall implements [agent.ToolCallWrapper].
func (w toolWatch) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	begun := time.Now()
	res, err := next(ctx, req)
	w.metrics.ToolCalled(cmp.Or(req.Spec.Name, "unknown"), outcomeOf(ctx, res, err), time.Since(begun))
	return res, err
}

func outcomeOf(ctx context.Context, res *tool.Result, err error) string {
	var ask *tool.InterruptError
	switch {
	case errors.As(err, &ask):
		return "asked" // a person
	case ctx.Err() != nil:
		return cancelled
	case err != nil || res.IsError:
		return "error"
	}
	return "ok"
}
