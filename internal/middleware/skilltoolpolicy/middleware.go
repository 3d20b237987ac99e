// Package skilltoolpolicy keeps a run to the tools that its active skills allow: those that the user has named in this
// turn, else those whose SKILL.md was read in it. A skill that does not say which tools it needs limits nothing.
//
//	call -> the messages of the turn -> active skills -> refused, or the tool runs
//
// The tools of the request stay as they are, so that requests begin alike; and the limit ends with the turn.
package skilltoolpolicy

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// Config says where skills come from.
type Config struct {
	// Skills are those of the run.
	Skills *skills.Run
}

// Middleware refuses calls.
type Middleware struct{ cfg Config }

var _ agent.ToolCallWrapper = (*Middleware)(nil)

// New makes the middleware.
func New(c Config) *Middleware { return &Middleware{c} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "SkillToolPolicyMiddleware" }

// always are the tools that no skill takes away: those that read skills, those of the conversation, which reminders
// name, and those for tasks that were given before.
func always() []string {
	return []string{"read_file", "describe_skill", "review_skill_package", "tool_search", "ask_clarification",
		"present_files", "write_todos",
		"task_wait", "task_message", "task_stop"}
}

// WrapToolCall implements [agent.ToolCallWrapper].
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	if slices.Contains(always(), req.Call.Name) {
		return next(ctx, req)
	}
	names, tools, limited, err := m.active(ctx, agent.Messages.Get(req.Call.State))
	if err != nil {
		return nil, err
	}
	if limited && !slices.Contains(tools, req.Call.Name) {
		return tool.Error(fmt.Sprintf("Error: Tool '%s' is not allowed by the active skill policy. Skill %s allows: %s",
				req.Call.Name, strings.Join(names, ", "), strings.Join(append(slices.Clone(tools), always()...),
					", "))),
			nil
	}
	return next(ctx, req)
}

// active are the active skills of the turn and the tools that they allow together. One that allows all is no limit.
func (m *Middleware) active(ctx context.Context,
	msgs []message.Message) (names, tools []string, limited bool, err error) {
	turn := msgs[max(0, conversation.Turn(msgs)):]
	for _, msg := range slices.Backward(turn) {
		if a, ok := skills.ActiveIn(msg); ok {
			return []string{a.Name}, a.Tools, a.Tools != nil, nil
		}
	}
	read := readIn(turn)
	if len(read) == 0 {
		return nil, nil, false, nil
	}
	list, err := m.cfg.Skills.Available(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	for i := range list {
		if slices.Contains(read, list[i].Name) {
			if list[i].Tools == nil {
				return nil, nil, false, nil
			}
			names, tools, limited = append(names, list[i].Name), append(tools, list[i].Tools...), true
		}
	}
	return names, tools, limited, nil
}

// readIn are the skills whose SKILL.md was read in the turn.
func readIn(turn []message.Message) (names []string) {
	for i, msg := range turn {
		for _, c := range msg.ToolCalls {
			var in struct {
				Path string `json:"path"`
			}
			if c.Name != "read_file" || json.Unmarshal(c.Args, &in) != nil {
				continue
			}
			name := skills.At(path.Clean(in.Path))
			if name != "" && slices.ContainsFunc(turn[i:], func(r message.Message) bool {
				return r.Role == message.Tool && r.ToolCallID == c.ID && r.Status != message.StatusError
			}) {
				names = append(names, name)
			}
		}
	}
	return names
}
