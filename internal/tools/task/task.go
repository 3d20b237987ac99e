// Package task holds the task tool, by which an agent has a sub-agent do a part of its work. The sub-agent is a run of
// its own below the agent's (package subagents); the call waits for its end, tells clients of each of its messages
// meanwhile, and returns its last answer.
package task

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// Config is what the tool works with.
type Config struct {
	Delegate subagents.Delegate
	// Kinds are the sub-agents that there are.
	Kinds []subagents.Kind
}

const (
	// stopGrace is how long a task that was stopped is waited for: it then tells what it took. A run that is cancelled
	// gives its tools less than a second.
	stopGrace = 500 * time.Millisecond
	// maxAbout bounds what is said of a kind of sub-agent, in characters.
	maxAbout = 300
	// slack is how much longer a call may take than any task.
	slack = time.Minute
)

var errTimeout = errors.New("the task's time is up")

//go:embed task.md
var description string

type taskArgs struct {
	Description string `json:"description" doc:"What the task is, in three to five words, for the person who watches."`
	Prompt      string `json:"prompt" doc:"The whole task: what to do, what is known, which files, and what to report."`
	Kind        string `json:"subagent_type" doc:"The kind of sub-agent."`
}

// New returns the task tool.
func New(cfg Config) tool.Tool {
	longest := time.Duration(0)
	var about strings.Builder
	for _, k := range cfg.Kinds {
		longest = max(longest, k.Timeout)
		first, _, _ := strings.Cut(strings.TrimSpace(k.Description), "\n")
		fmt.Fprintf(&about, "\n- %s: %s", k.Name, excerpt.Bound(untrusted.Line(first), maxAbout))
	}
	spec := tool.Spec{
		Name: subagents.ToolName, Description: strings.TrimSpace(description) + about.String(), Effect: tool.Idempotent, Timeout: longest + slack,
	}
	return tool.MustNew(spec, cfg.run)
}

// run gives the task and waits for it. It may run twice: of the same key it is the same task.
func (cfg Config) run(ctx context.Context, call *tool.Call, in taskArgs) (*tool.Result, error) {
	kind, err := subagents.Find(cfg.Kinds, in.Kind)
	if err == nil && strings.TrimSpace(in.Prompt) == "" {
		err = errors.New("The prompt is empty; write what is to be done") //nolint:staticcheck // for a model
	}
	if err != nil {
		return failed(err.Error()), nil
	}
	t, err := cfg.Delegate.Start(ctx, subagents.Order{
		Kind: &kind, Description: in.Description, Prompt: in.Prompt, Call: call, Key: keyOf(call),
	})
	if err != nil {
		if ctx.Err() != nil || agent.IsFatal(err) {
			return nil, err
		}
		return failed(err.Error()), nil
	}
	teller := subagents.Teller{TaskID: call.ID, Model: t.Model(), Emit: call.Emit, Index: t.Before()}
	run, thread := t.Where()
	teller.Started(in.Description, &kind, run, thread)
	end, err := wait(ctx, t, &kind, teller.Said)
	if err != nil {
		return nil, err
	}
	if end.Question != nil {
		return nil, &tool.InterruptError{Value: end.Question}
	}
	teller.Ended(&end.Outcome)
	res := end.Tool()
	res.Update = end.Update
	return res, nil
}

// failed is the result of a task that was not begun.
func failed(why string) *tool.Result {
	o := subagents.Outcome{Status: threadstate.DelegationFailed, Error: why}
	return o.Tool()
}

// wait waits for the end of a task, within its time.
func wait(ctx context.Context, t subagents.Task, kind *subagents.Kind, said func(message.Message)) (subagents.End, error) {
	within, cancel := context.WithTimeoutCause(ctx, t.Left(), errTimeout)
	defer cancel()
	end, err := t.Wait(within, said)
	if err == nil || within.Err() == nil { // it is at its end, or this process's no more
		return end, err
	}
	t.Stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if after, err := t.Wait(grace, func(message.Message) {}); err == nil { // what it took, and what it was told
		end = after
	}
	end.Question = nil
	end.Outcome = subagents.Outcome{Status: threadstate.DelegationCancelled, Error: "The task was stopped with the run that gave it.",
		Model: t.Model(), Usage: end.Usage}
	if ctx.Err() == nil {
		end.Status, end.Error = threadstate.DelegationTimedOut, fmt.Sprintf("It did not end within %s and was stopped.", kind.Timeout)
	}
	return end, nil
}

// keyOf names the task: models use the ids of calls again, but not within an answer.
func keyOf(call *tool.Call) string {
	for _, m := range slices.Backward(agent.Messages.Get(call.State)) {
		if m.Role == message.AI {
			return call.ID + "@" + m.ID
		}
	}
	return call.ID
}
