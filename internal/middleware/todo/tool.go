package todo

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/tool"
)

// ToolName is the tool that writes the plan.
const ToolName = "write_todos"

// Bounds of a plan.
const (
	maxItems   = 100
	maxContent = 1000 // bytes of an item
)

//go:embed write_todos.md
var description string

type args struct {
	Todos []item `json:"todos"`
}

type item struct {
	Content string `json:"content"`
	Status  string `json:"status" enum:"pending,in_progress,completed"`
}

// newTool makes write_todos.
func newTool() tool.Tool {
	return tool.MustNew(tool.Spec{Name: ToolName, Description: strings.TrimSpace(description), Effect: tool.Idempotent},
		write)
}

// write replaces the plan, and remembers that this run works on it.
func write(_ context.Context, call *tool.Call, in args) (*tool.Result, error) {
	if len(in.Todos) > maxItems {
		return tool.Error(fmt.Sprintf("The plan was not changed: it has %d items, more than %d. Join small ones.",
			len(in.Todos), maxItems)), nil
	}
	list := make([]threadstate.Todo, 0, len(in.Todos)) // not nil: an empty plan takes the place of the old one
	for i, it := range in.Todos {
		text := strings.TrimSpace(it.Content)
		if text == "" || len(text) > maxContent {
			return tool.Error(fmt.Sprintf("The plan was not changed: the content of item %d has %d bytes; 1 to %d "+
				"are possible.",
				i+1, len(text), maxContent)), nil
		}
		list = append(list, threadstate.Todo{Content: text, Status: it.Status})
	}
	res := tool.Text(describe(list))
	res.Update = threadstate.Todos.Put(list).With(works.Put(workOf(call.State, call.RunID)))
	return res, nil
}

// describe says in a line how far the plan is.
func describe(list []threadstate.Todo) string {
	if len(list) == 0 {
		return "The plan is empty now."
	}
	n := make(map[string]int)
	for _, t := range list {
		n[t.Status]++
	}
	return fmt.Sprintf("Plan saved: %d completed, %d in progress, %d pending.",
		n[threadstate.TodoCompleted], n[threadstate.TodoInProgress], n[threadstate.TodoPending])
}
