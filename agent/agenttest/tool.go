package agenttest

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/pudu-ai/pudu/tool"
)

// Tool is a tool that only reads, with any arguments.
type Tool struct {
	// Name is what the model calls it by. Required.
	Name string
	// Do makes the result of a call; nil says "ok".
	Do func(c *tool.Call) (*tool.Result, error)

	ran atomic.Int64
}

var _ tool.Tool = (*Tool)(nil)

// Spec implements [tool.Tool].
func (f *Tool) Spec() tool.Spec {
	return tool.Spec{
		Name:       f.Name,
		Effect:     tool.ReadOnly,
		Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`),
	}
}

// Run implements [tool.Tool].
func (f *Tool) Run(_ context.Context, c *tool.Call) (*tool.Result, error) {
	f.ran.Add(1)
	if f.Do != nil {
		return f.Do(c)
	}
	return tool.Text("ok"), nil
}

// Ran is how often it was run.
func (f *Tool) Ran() int { return int(f.ran.Load()) }

// Tools are tools that say "ok", one for each name.
func Tools(names ...string) []tool.Tool {
	var out []tool.Tool
	for _, name := range names {
		out = append(out, &Tool{Name: name})
	}
	return out
}
