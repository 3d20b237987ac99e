package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/tool"
)

// laned is a tool whose calls with the same x are of one lane.
type laned struct{ fakeTool }

func (laned) Lane(args json.RawMessage) string {
	var in struct{ X string }
	_ = json.Unmarshal(args, &in)
	return in.X
}

// TestCallsOfOneLaneKeepTheirOrder: three parts added to one file must not change places, also where calls that wait
// are more than run at once.
func TestCallsOfOneLaneKeepTheirOrder(t *testing.T) {
	for _, slots := range []int{1, 2, 8} {
		var mu sync.Mutex
		got := map[string][]string{}
		add := laned{newTool("add", tool.SideEffects, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			var in struct{ X string }
			_ = json.Unmarshal(c.Args, &in)
			mu.Lock()
			defer mu.Unlock()
			got[in.X] = append(got[in.X], c.ID)
			return tool.Text("ok"), nil
		})}
		var calls []string
		want := map[string][]string{}
		for i := range 30 {
			lane := fmt.Sprint("file", i%3)
			calls = append(calls, "add", `{"x":"`+lane+`"}`)
			want[lane] = append(want[lane], fmt.Sprint("c", i))
		}
		b := newBed()
		b.rt.Config.ParallelTools = slots
		b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call(calls...), say("done")), Tools: []tool.Tool{add}}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d at once: %s", slots, diff)
		}
	}
}

// TestACallWaitsForItsLane: while the first one runs the second one does not begin, although there is room and time.
func TestACallWaitsForItsLane(t *testing.T) {
	var running, both atomic.Int32
	alone := laned{newTool("alone", tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		if running.Add(1) > 1 {
			both.Add(1)
		}
		time.Sleep(10 * time.Millisecond) // in which the other one could begin
		running.Add(-1)
		return tool.Text("ok"), nil
	})}
	lane := []string{"alone", `{"x":"a"}`, "alone", `{"x":"a"}`, "alone", `{"x":"a"}`}
	free := laned{echo("free")}
	// of no lane, of another tool, of another lane
	for _, before := range [][]string{nil, {"free", `{}`}, {"plain", `{}`}, {"plain", `{}`, "free", `{"x":"b"}`}} {
		a := mustAgent(t, agent.Config{Model: turns(call(slices.Concat(before, lane)...), say("done")),
			Tools: []tool.Tool{alone, free, echo("plain")}})
		newBed().mustRun(t, a)
		if both.Load() != 0 {
			t.Errorf("behind %q two calls of one lane ran at once", before)
		}
	}
}

// TestOtherLanesGoOnSideBySide: each call waits for the other one to begin.
func TestOtherLanesGoOnSideBySide(t *testing.T) {
	var begun atomic.Int32
	both := make(chan struct{})
	meet := laned{newTool("meet", tool.ReadOnly, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		if begun.Add(1) == 4 {
			close(both)
		}
		select {
		case <-both:
			return tool.Text("met"), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})}
	calls := call("meet", `{"x":"a"}`, "meet", `{"x":"b"}`, "meet", `{}`, "meet", `{}`)
	b := newBed()
	lines := b.mustRun(t, mustAgent(t, agent.Config{Model: turns(calls, say("done")), Tools: []tool.Tool{meet}}))
	want := []string{"tool: met", "tool: met", "tool: met", "tool: met"}
	if diff := cmp.Diff(want, lines[2:6]); diff != "" {
		t.Error(diff)
	}
}
