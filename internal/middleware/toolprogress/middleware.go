// Package toolprogress watches each tool of a run by what its results say of themselves: a tool that fails again and
// again, brings only parts, or the same text once more, gets the model a hint; one that cannot work is blocked for the
// rest of the run, so that no further call is spent on it. A good result makes all well again.
//
// It rests on the marks of package toolmeta; results without one are not judged. It is off unless configured, and
// stands outside of what marks the results.
package toolprogress

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// NoteName is the name of the hints among the messages.
const NoteName = "progress_hint"

// blocked begins the result of a call that was not made.
const blocked = "[TOOL_BLOCKED] "

// mostHints bounds the hints of one step.
const mostHints = 3

// Config says when a tool makes no progress. A zero field has the default that it names.
type Config struct {
	// StagnationThreshold (3) is how many problems in a row bring a hint.
	StagnationThreshold int
	// WarnEscalation (2) is how many more block a tool that the model cannot help, or bring the next hint.
	WarnEscalation int
	// NoHints leaves the hints out; tools are still blocked.
	NoHints bool
	// Similarity (0.8) is from which share of common words on two results say the same, in (0,1].
	Similarity float64
	// MinWords (10) is how many different words a result must have to be compared.
	MinWords int
	// Exempt are tools that are not watched. Nil means those that only speak with the user, plan or delegate:
	// ask_clarification, write_todos, present_files, task and task_wait.
	Exempt []string
}

// Middleware watches the tools.
type Middleware struct{ cfg Config }

var (
	_ agent.BeforeModelHook = (*Middleware)(nil)
	_ agent.ToolCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	cfg.StagnationThreshold = cmp.Or(cfg.StagnationThreshold, 3)
	cfg.WarnEscalation = cmp.Or(cfg.WarnEscalation, 2)
	cfg.Similarity = cmp.Or(cfg.Similarity, 0.8)
	cfg.MinWords = cmp.Or(cfg.MinWords, 10)
	if cfg.Exempt == nil {
		cfg.Exempt = []string{"ask_clarification", "write_todos", "present_files", "task", "task_wait"}
	}
	return &Middleware{cfg: cfg}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "ToolProgressMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{record} }

// WrapToolCall implements [agent.ToolCallWrapper]. A blocked tool does not run.
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	t := recordOf(req.Call.State, req.Runtime.RunID).Tools[req.Call.Name]
	if t.Phase != phaseBlocked || slices.Contains(m.cfg.Exempt, req.Call.Name) {
		return next(ctx, req)
	}
	return tool.Error(blocked + t.Reason), nil
}

// BeforeModel implements [agent.BeforeModelHook]. It judges the results that the last step brought.
func (m *Middleware) BeforeModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	asked, results := toolmeta.Newest(msgs)
	was := recordOf(s, rt.RunID)
	if len(results) == 0 || was.At == asked.ID {
		return agent.Command{}, nil
	}
	step := watched{RunID: rt.RunID, At: asked.ID, Tools: map[string]track{}}
	var hints []string
	for _, res := range results {
		meta, ok := toolmeta.Of(res)
		t, here := step.Tools[res.Name]
		if !here {
			t = was.Tools[res.Name]
		}
		if !ok || t.Phase == phaseBlocked || slices.Contains(m.cfg.Exempt, res.Name) {
			continue
		}
		next, hint := m.judge(t, meta, res, msgs)
		step.Tools[res.Name] = next
		if hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
		}
	}
	if len(step.Tools) == 0 {
		return agent.Command{}, nil
	}
	update := record.Put(step)
	if len(hints) > 0 && !m.cfg.NoHints {
		text := strings.Join(hints[max(0, len(hints)-mostHints):], "\n")
		update = update.With(agent.Messages.Append(conversation.Note(rt.NewID(), NoteName, text)))
	}
	return agent.Command{Update: update}, nil
}
