// Package filehistory has the history of the thread's files notice what each call changes.
//
//	a call that may write -> the files as they were -> the tool -> what is different, into the run's log
package filehistory

import (
	"context"
	"log/slog"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/tool"
)

// History is that of the thread's files; internal/feature/filehistory has it.
type History interface {
	// Call notes what there is before a call; what it returns notes, after it, what that has changed.
	Call(ctx context.Context, run, call, tool string) (done func(context.Context) error, err error)
}

// Config is what the middleware works with.
type Config struct {
	// History is the thread's. Required.
	History History
	// Run is whose doing the changes are: the run that a person has begun.
	Run string
	// Within are tools whose work is done by calls of other agents, which are noticed by themselves.
	Within []string
	Log    *slog.Logger
}

// Middleware notices changes of files.
type Middleware struct{ cfg Config }

var _ agent.ToolCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New(c Config) *Middleware {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Middleware{c}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "FileHistoryMiddleware" }

// WrapToolCall implements [agent.ToolCallWrapper]. A history that cannot be kept keeps no call from being made.
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	if req.Invalid != "" || req.Spec.Name == "" || req.Spec.Effect == tool.ReadOnly ||
		slices.Contains(m.cfg.Within, req.Call.Name) {
		return next(ctx, req)
	}
	done, err := m.cfg.History.Call(ctx, m.cfg.Run, req.Call.ID, req.Call.Name)
	if err != nil {
		m.lost(ctx, req, err)
		return next(ctx, req)
	}
	defer func() { // also when the call was cancelled, or has panicked
		if err := done(context.WithoutCancel(ctx)); err != nil {
			m.lost(ctx, req, err)
		}
	}()
	return next(ctx, req)
}

func (m *Middleware) lost(ctx context.Context, req *agent.ToolRequest, err error) {
	m.cfg.Log.WarnContext(ctx, "what a call changes cannot be noted, and not be undone", "run", m.cfg.Run, "tool",
		req.Call.Name, "error", err)
}
