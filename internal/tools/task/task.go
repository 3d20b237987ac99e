// Package task holds the tools by which an agent has sub-agents do parts of its work. A sub-agent is a run of its own
// below the agent's (package subagents). A call of task waits for its end and returns its last answer, or leaves it to
// work in the background: then the others wait for it, say something to it, or stop it (background.go).
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

// Config is what the tools work with.
type Config struct {
	Desk *subagents.Desk
}

const (
	// maxAbout bounds what is said of a kind of sub-agent, in characters.
	maxAbout = 300
	// slack is how much longer a call may take than any task.
	slack = time.Minute
)

//go:embed task.md
var description string

type taskArgs struct {
	Description string `json:"description" doc:"What the task is, in three to five words, for the person who watches."`
	Prompt      string `json:"prompt" doc:"The whole task: what to do, what is known, which files, and what to report."`
	Kind        string `json:"subagent_type" doc:"The kind of sub-agent."`
	Background  bool   `json:"background,omitempty" doc:"Return at once; the task works while you go on."`
}

// New returns the tools: task, task_wait, task_message and task_stop.
func New(cfg Config) []tool.Tool {
	longest := time.Duration(0)
	var about strings.Builder
	for _, k := range cfg.Desk.Kinds {
		longest = max(longest, k.Timeout)
		first, _, _ := strings.Cut(strings.TrimSpace(k.Description), "\n")
		fmt.Fprintf(&about, "\n- %s: %s", k.Name, excerpt.Bound(untrusted.Line(first), maxAbout))
	}
	spec := tool.Spec{
		Name: subagents.ToolName, Description: strings.TrimSpace(description) + about.String(), Effect: tool.Idempotent,
		Timeout: longest + slack,
	}
	return append([]tool.Tool{tool.MustNew(spec, cfg.run)}, cfg.background(spec.Timeout)...)
}

// run gives the task and waits for it. It may run twice: of the same key it is the same task.
func (cfg Config) run(ctx context.Context, call *tool.Call, in taskArgs) (*tool.Result, error) {
	kind, err := subagents.Find(cfg.Desk.Kinds, in.Kind)
	if err == nil && strings.TrimSpace(in.Prompt) == "" {
		err = errors.New("The prompt is empty; write what is to be done") //nolint:staticcheck // for a model
	}
	if err != nil {
		return failed(err.Error()), nil
	}
	g, err := cfg.Desk.Start(ctx, subagents.Order{
		Kind: &kind, Description: in.Description, Prompt: in.Prompt, Call: call, Key: keyOf(call),
	})
	if err != nil {
		if ctx.Err() != nil || agent.IsFatal(err) {
			return nil, err
		}
		return failed(err.Error()), nil
	}
	id, _ := g.Where()
	if in.Background {
		return subagents.AtWork(id, fmt.Sprintf(
			"The task works in the background; its id is %s. Go on with what does not need its result. task_wait "+
				"brings it.", id)), nil
	}
	return cfg.wait(ctx, g, id, (*subagents.Outcome).Tool)
}

// wait waits for the end of a task, and makes the result of it. When a person speaks to the run the task goes on in the
// background.
func (cfg Config) wait(ctx context.Context, g *subagents.Given, id string,
	made func(*subagents.Outcome) *tool.Result) (*tool.Result, error) {
	end, err := cfg.Desk.Wait(ctx, g)
	if errors.Is(err, subagents.ErrSpoken) {
		return subagents.AtWork(id,
			fmt.Sprintf("You are spoken to: see the next message. The task goes on in the background (%s); its id is "+
				"%s. "+
				"task_wait brings its result.", g.Progress(), id)), nil
	}
	return resultOf(&end, err, made)
}

// resultOf is the result that is made of a task's end, or the questions that it ends with.
func resultOf(end *subagents.End, err error, made func(*subagents.Outcome) *tool.Result) (*tool.Result, error) {
	switch {
	case err != nil:
		return nil, err
	case len(end.Questions) > 0:
		return nil, &tool.InterruptError{Questions: end.Questions}
	}
	res := made(&end.Outcome)
	res.Update = end.Update
	return res, nil
}

// failed is the result of a task that was not begun.
func failed(why string) *tool.Result {
	o := subagents.Outcome{Status: threadstate.DelegationFailed, Error: why}
	return o.Tool()
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
