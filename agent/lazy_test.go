package agent_test

import (
	"context"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/tool"
)

// TestOnlyResultsThatCannotBeHadAgainAreWaitedFor looks at the steps that hold the results of tools, which are the
// first of two siblings and then both.
func TestOnlyResultsThatCannotBeHadAgainAreWaitedFor(t *testing.T) {
	done := func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text("done"), nil }
	for _, c := range []struct {
		name          string
		first, second tool.Effect
		waits         bool
	}{
		{"two that read", tool.ReadOnly, tool.ReadOnly, false},
		{"two that are idempotent", tool.Idempotent, tool.Idempotent, false},
		{"one with side effects", tool.ReadOnly, tool.SideEffects, true},
		{"two with side effects", tool.SideEffects, tool.SideEffects, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed()
			a := mustAgent(t, agent.Config{
				Model: turns(call("a", `{}`, "b", `{}`), say("ok")),
				Tools: []tool.Tool{newTool("a", c.first, done), newTool("b", c.second, done)},
			})
			b.mustRun(t, a)
			results := 0
			for _, s := range b.steps {
				if len(s.Updates) > 0 && s.Updates[0].Node == agent.NodeTools {
					results++
					if s.Lazy == c.waits {
						t.Errorf("the step with the results has Lazy %v", s.Lazy)
					}
				}
			}
			if results != 1 {
				t.Errorf("%d steps hold results", results)
			}
		})
	}
}
