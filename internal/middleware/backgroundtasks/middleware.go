// Package backgroundtasks keeps a run from its end while tasks of it work in the background. An answer that would end
// the run is made one that waits for each of them, by calls of task_wait, as if the model had made them. So their
// results come to the model as those of any other call do, a person is asked what they ask, and a crash changes
// nothing.
//
//	answer without calls -> tasks at work (threadstate.Delegations) -> the answer with calls -> tools -> model
package backgroundtasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Middleware has answers wait.
type Middleware struct{}

var _ agent.AfterModelHook = (*Middleware)(nil)

// New makes the middleware.
func New() *Middleware { return &Middleware{} }

// Name implements [agent.Middleware].
func (*Middleware) Name() string { return "BackgroundTasksMiddleware" }

// AfterModel implements [agent.AfterModelHook]. The last answer of a run that a limit ends stays as it is: the tasks
// end with the run.
func (*Middleware) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	msgs := agent.Messages.Get(s)
	if len(msgs) == 0 || agent.StopState(s, rt.RunID).Reason != "" {
		return agent.Command{}, nil
	}
	answer, before := msgs[len(msgs)-1], msgs[:len(msgs)-1]
	if answer.Role != message.AI || len(answer.ToolCalls)+len(answer.InvalidToolCalls) > 0 {
		return agent.Command{}, nil
	}
	for _, d := range threadstate.Delegations.Get(s) {
		if d.Terminal() || d.TaskRun == "" || refused(before, d.TaskRun) {
			continue
		}
		args, err := json.Marshal(map[string]string{"task": d.TaskRun})
		if err != nil {
			return agent.Command{}, err
		}
		answer.ToolCalls = append(slices.Clip(answer.ToolCalls), message.ToolCall{
			ID: callID(answer.ID, d.TaskRun), Name: subagents.WaitTool, Args: args,
		})
	}
	if len(answer.ToolCalls) == 0 {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Messages.Replace(answer)}, nil
}

// refused reports whether the newest call that waited for a task was not made, as a rule forbids it: then it is not
// made again.
func refused(msgs []message.Message, task string) bool {
	for i, m := range slices.Backward(msgs) {
		if m.Role != message.AI {
			continue
		}
		for _, c := range m.ToolCalls {
			if c.ID != callID(m.ID, task) {
				continue
			}
			at := slices.IndexFunc(msgs[i:],
				func(r message.Message) bool { return r.Role == message.Tool && r.ToolCallID == c.ID })
			if at < 0 {
				return true
			}
			run, _ := rawjson.String(msgs[i:][at].Kwargs[toolmeta.KeySubagentRun])
			return run == ""
		}
	}
	return false
}

// callID is the id of the call that waits for a task: the same however often the hook runs.
func callID(answer, task string) string {
	sum := sha256.Sum256([]byte(answer + "\x00" + task))
	return "call_" + hex.EncodeToString(sum[:12])
}
