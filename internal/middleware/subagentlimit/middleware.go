// Package subagentlimit bounds how many tasks the lead agent gives to sub-agents: so many with one answer, and so many
// in one run. A call above the limit stays in the conversation and is answered with an error that names the limit, so
// that the model knows what was not done and can do it later or by itself. Only a model that goes on asking for nothing
// else is stopped, and sums up what it has.
package subagentlimit

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Config holds the limits.
type Config struct {
	// MaxConcurrent is how many tasks one answer may give; 0 means 3. It is kept within 1 and 4.
	MaxConcurrent int
	// MaxPerRun is how many tasks a run may give; 0 means 6. It is kept within 1 and 50.
	MaxPerRun int
}

// Reason is the stop_reason of a run that was stopped because it asked for nothing but more tasks.
const Reason = "subagent_limit_capped"

const (
	taskTool = "task"
	// patience is the number of answers that ask in vain for nothing but tasks; the last of them stops the run.
	patience = 3
)

// counts are the tasks of the run that it names. They are counted here and not in the list of delegations, which holds
// refused tasks too and only the newest of a thread.
var counts = state.LastValue[count]("subagent_limit").AsPrivate()

type count struct {
	RunID   string `json:"run_id"`
	Started int    `json:"started"` // those of the answer included
	// AnswerID is the newest answer with tasks, of which the first Allowed may run.
	AnswerID string `json:"answer_id"`
	Allowed  int    `json:"allowed"`
	InVain   int    `json:"in_vain"` // answers that asked for nothing but tasks when none was left
}

// Middleware counts after each answer and refuses before each call.
type Middleware struct{ cfg Config }

var (
	_ agent.AfterModelHook  = (*Middleware)(nil)
	_ agent.ToolCallWrapper = (*Middleware)(nil)
	_ agent.StateProvider   = (*Middleware)(nil)
)

// New makes the middleware.
func New(cfg Config) *Middleware {
	return &Middleware{cfg: Config{
		MaxConcurrent: min(max(cmp.Or(cfg.MaxConcurrent, 3), 1), 4),
		MaxPerRun:     min(max(cmp.Or(cfg.MaxPerRun, 6), 1), 50),
	}}
}

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "SubagentLimitMiddleware" }

// Channels implements [agent.StateProvider].
func (*Middleware) Channels() []state.AnyChannel { return []state.AnyChannel{counts} }

// AfterModel implements [agent.AfterModelHook].
func (m *Middleware) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	answer := lastAnswer(s)
	if answer == nil || len(tasks(answer)) == 0 {
		return agent.Command{}, nil
	}
	c := m.judge(s, rt.RunID, answer)
	update := counts.Put(c)
	if c.InVain >= patience {
		update = update.With(agent.Stop(rt, Reason))
	}
	return agent.Command{Update: update}, nil
}

// judge says how many tasks of the answer may run. It says so again of an answer that was counted.
func (m *Middleware) judge(s state.State, runID string, answer *message.Message) count {
	c := counts.Get(s)
	if c.RunID != runID {
		c = count{RunID: runID}
	}
	if c.AnswerID == answer.ID {
		return c
	}
	asked, left := len(tasks(answer)), max(0, m.cfg.MaxPerRun-c.Started)
	c.AnswerID, c.Allowed = answer.ID, min(asked, m.cfg.MaxConcurrent, left)
	c.Started += c.Allowed
	if left == 0 && asked == len(answer.ToolCalls)+len(answer.InvalidToolCalls) {
		c.InVain++
	}
	return c
}

// WrapToolCall implements [agent.ToolCallWrapper].
func (m *Middleware) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	if req.Call.Name != taskTool || req.Invalid != "" {
		return next(ctx, req)
	}
	answer := lastAnswer(req.Call.State)
	if answer == nil {
		return next(ctx, req)
	}
	given := tasks(answer)
	c := m.judge(req.Call.State, req.Runtime.RunID, answer)
	if slices.Index(given, req.Call.ID) < c.Allowed {
		return next(ctx, req)
	}
	return refusal(m.why(c, len(given))), nil
}

// why tells the model which limit it met and what is left.
func (m *Middleware) why(c count, asked int) string {
	left := m.cfg.MaxPerRun - c.Started
	if left > 0 {
		return fmt.Sprintf("No sub-agent was started for this task: a message may start at most %d, and this one "+
			"asked for %d. "+
			"Ask again in your next message; this run has %d of its %d tasks left.", m.cfg.MaxConcurrent, asked, left,
			m.cfg.MaxPerRun)
	}
	with := ""
	if c.Allowed > 0 {
		with = "with the others of this message "
	}
	return fmt.Sprintf("No sub-agent was started for this task: %sthe limit of %d tasks in one run is reached. Do it "+
		"yourself "+
		"with your other tools, or answer with the results that there are.", with, m.cfg.MaxPerRun)
}

// refusal is an error that clients and the list of delegations know as a failed task.
func refusal(text string) *tool.Result {
	res := tool.Error(text)
	raw, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return res
	}
	res.Kwargs = message.Fields{toolmeta.KeySubagentStatus: json.RawMessage(`"failed"`), toolmeta.KeySubagentError: raw}
	return res
}

// tasks are the ids of the answer's calls that give a task, in order.
func tasks(answer *message.Message) []string {
	var ids []string
	for _, c := range answer.ToolCalls {
		if c.Name == taskTool {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// lastAnswer is the newest answer of the model; nil if there is none.
func lastAnswer(s state.State) *message.Message {
	msgs := agent.Messages.Get(s)
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == message.AI {
			return &msgs[i]
		}
	}
	return nil
}
