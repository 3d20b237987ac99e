// Package sandboxaudit looks at every command before it runs: what is plainly dangerous is refused, what deserves a
// second thought runs with a warning, and each verdict is recorded.
//
// It is advice to the model and a record for people, not a boundary: whoever wants to get around a reader of commands
// does, with a script in a file for example. What keeps a command from doing harm is the sandbox that it runs in.
package sandboxaudit

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// Config tunes the middleware.
type Config struct {
	// Tool is the name of the tool that runs commands; empty means "bash".
	Tool string
	// Log gets a line for every command; nil means slog.Default().
	Log *slog.Logger
}

// Middleware judges commands.
type Middleware struct{ cfg Config }

var _ agent.ToolCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.Tool = cmp.Or(cfg.Tool, "bash")
	return &Middleware{cfg: cfg}
}

const middlewareName = "SandboxAuditMiddleware"

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return middlewareName }

// WrapToolCall implements [agent.ToolCallWrapper].
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	if req.Call.Name != m.cfg.Tool || req.Invalid != "" {
		return next(ctx, req)
	}
	var args struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(req.Call.Args, &args); err != nil { // the tool says what is wrong with it
		return next(ctx, req)
	}
	v := Judge(args.Command)
	m.record(ctx, req, v)
	if v.Level == Block {
		return tool.Error("Command blocked: " + v.Reason + ". Please use a safer alternative approach."), nil
	}
	res, err := next(ctx, req)
	if err != nil || v.Level == Pass {
		return res, err
	}
	return warned(res, v.Reason), nil
}

// warned returns a copy of the result with the warning behind it.
func warned(res *tool.Result, reason string) *tool.Result {
	text := "⚠️ Warning: this was a medium-risk command: " + reason + ". Make sure that the task needs it."
	if len(res.Content) > 0 {
		text = "\n\n" + text
	}
	out := *res
	out.Content = append(slices.Clip(res.Content), message.Text(text))
	return &out
}

// verdictEvent tells those who follow the run what was refused or warned of.
type verdictEvent struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Hook    string  `json:"hook"`
	Action  string  `json:"action"`
	Changes changes `json:"changes"`
}

type changes struct {
	CallID   string   `json:"tool_call_id"`
	Verdict  Level    `json:"verdict"`
	Reason   string   `json:"reason"`
	Programs []string `json:"programs"`
}

// record writes the verdict to the log, and to the run's events unless the command passes: its intent is there already.
// Names of programs only: arguments may hold secrets.
func (m *Middleware) record(ctx context.Context, req *agent.ToolRequest, v Verdict) {
	log, level := m.cfg.Log, slog.LevelInfo
	if log == nil {
		log = slog.Default()
	}
	if v.Level != Pass {
		level = slog.LevelWarn
	}
	rt := req.Runtime
	log.LogAttrs(ctx, level, "[SandboxAudit]", slog.String("verdict", string(v.Level)), slog.String("reason", v.Reason),
		slog.Any("programs", v.Programs),
		slog.String("thread_id", rt.ThreadID), slog.String("run_id", rt.RunID),
		slog.String("tool_call_id", req.Call.ID))
	if v.Level == Pass {
		return
	}
	raw, err := json.Marshal(verdictEvent{"middleware:sandbox_audit", middlewareName, string(agent.HookWrapToolCall),
		string(v.Level) + "_command",
		changes{req.Call.ID, v.Level, v.Reason, v.Programs}})
	if err == nil {
		rt.Emit(agent.NodeTools, event.Custom{Value: raw})
	}
}
