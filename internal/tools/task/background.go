package task

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/tool"
)

// maxMessage bounds what is said to a task at once, in bytes.
const maxMessage = 64 << 10

type idArgs struct {
	Task string `json:"task" doc:"The id that task has returned."`
}

type messageArgs struct {
	Task    string `json:"task" doc:"The id that task has returned."`
	Message string `json:"message" doc:"What the sub-agent is to know."`
}

// background are the tools for tasks that work in the background.
func (cfg Config) background(timeout time.Duration) []tool.Tool {
	spec := func(name, about string) tool.Spec {
		return tool.Spec{Name: name, Description: about, Effect: tool.Idempotent, Timeout: timeout}
	}
	return []tool.Tool{
		tool.MustNew(spec(subagents.WaitTool, "Waits for a task in the background and returns its result."),
			cfg.result),
		tool.MustNew(spec(subagents.MessageTool,
			"Says something to a task in the background, which reads it before its next step."), cfg.tell),
		tool.MustNew(spec(subagents.StopTool, "Stops a task in the background and returns how far it came."), cfg.stop),
	}
}

// result waits for a task.
func (cfg Config) result(ctx context.Context, call *tool.Call, in idArgs) (*tool.Result, error) {
	g, unknown, err := cfg.find(ctx, call, in.Task)
	if g == nil {
		return unknown, err
	}
	return cfg.wait(ctx, g, in.Task, later(in.Task))
}

// stop ends a task.
func (cfg Config) stop(ctx context.Context, call *tool.Call, in idArgs) (*tool.Result, error) {
	g, unknown, err := cfg.find(ctx, call, in.Task)
	if g == nil {
		return unknown, err
	}
	end, err := cfg.Desk.End(ctx, g)
	return resultOf(&end, err, later(in.Task))
}

// tell says something to a task.
func (cfg Config) tell(ctx context.Context, call *tool.Call, in messageArgs) (*tool.Result, error) {
	switch {
	case strings.TrimSpace(in.Message) == "":
		return tool.Error("The message is empty; write what the sub-agent is to know."), nil
	case len(in.Message) > maxMessage:
		return tool.Error(fmt.Sprintf("The message has %d bytes, %d are the most; put it into a file and say where.",
			len(in.Message), maxMessage)), nil
	}
	g, unknown, err := cfg.find(ctx, call, in.Task)
	if g == nil {
		return unknown, err
	}
	err = g.Tell(ctx, call, "say:"+in.Task+":"+keyOf(call), in.Message)
	switch {
	case errors.Is(err, subagents.ErrEnded):
		return tool.Error("The task is at its end, or waits for a person, and was not told. task_wait says how it " +
			"went."), nil
	case err != nil && (ctx.Err() != nil || agent.IsFatal(err)):
		return nil, err
	case err != nil:
		return tool.Error("The task was not told: " + err.Error()), nil
	}
	return tool.Text("The task reads it before its next step."), nil
}

// find is the task of an id. Without one there is the result that says so, or an error.
func (cfg Config) find(ctx context.Context, call *tool.Call, id string) (*subagents.Given, *tool.Result, error) {
	g, err := cfg.Desk.Find(ctx, id, call)
	switch {
	case err == nil:
		return g, nil, nil
	case ctx.Err() != nil || agent.IsFatal(err):
		return nil, nil, err
	}
	res := failed(fmt.Sprintf("There is no task %.60q in the background; use the id that task has returned.", id))
	res.Kwargs = nil
	if call.Name == subagents.WaitTool {
		o := subagents.Outcome{Status: "failed", Error: "It is not there any more."}
		res.Kwargs = o.Later(id).Kwargs
	}
	res.IsError = true
	return nil, res, nil
}

func later(id string) func(*subagents.Outcome) *tool.Result {
	return func(o *subagents.Outcome) *tool.Result { return o.Later(id) }
}
