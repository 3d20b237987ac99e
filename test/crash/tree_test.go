package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/middleware/danglingtoolcall"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// delegating are the turns of a run that delegates.
func delegating() [][]call {
	note, delegate := call{tool: "note"}, call{tool: "delegate"}
	return [][]call{{note}, {delegate}, {delegate, note, delegate}, {call{tool: "slow"}}}
}

// delegated are those of a run below. The deepest one delegates nothing.
func delegated(depth int) [][]call {
	turns := [][]call{{{tool: "note"}}, {{tool: "put"}, {tool: "look"}}, {{tool: "slow"}}}
	if depth < 2 {
		turns = append(turns, []call{{tool: "delegate"}})
	}
	return turns
}

// inTree makes the agent of a run in a tree. The calls of a run below are named after the one that began it.
func (w *worker) inTree(job runs.Job) (*agent.Agent, error) {
	m := robot{turns: delegating()}
	if job.Run.Parent != "" {
		m = robot{turns: delegated(job.Run.Depth), prefix: job.Run.Key + "."}
	}
	var tools []tool.Tool
	for _, t := range append(newTools(effects{filepath.Join(w.Dir, effectsName)}), delegate(job.Children)) {
		tools = append(tools, marked{Tool: t, hold: w.Hold})
	}
	return agent.New(agent.Config{Model: m, Tools: tools}, danglingtoolcall.New(), toolerror.New())
}

// delegate is a tool that has a run below do something.
func delegate(below *runs.Children) tool.Tool {
	spec := tool.Spec{Name: "delegate", Description: "Has another do it.", Effect: tool.Idempotent}
	return tool.MustNew(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
		child, err := below.Start(ctx, c.ID, runs.Request{Input: []message.Message{message.New(message.Human, "Do "+
			"your part.")}})
		if err != nil {
			return nil, err
		}
		out, err := child.Wait(ctx, nil)
		if err != nil {
			return nil, err
		}
		msgs := agent.Messages.Get(out.State)
		return tool.Text(out.Run.Status + ": " + msgs[len(msgs)-1].Text()), nil
	})
}

// readBelow reads the runs below the run.
func (e *ending) readBelow(ctx context.Context, st store.Store) error {
	for above := []string{e.run.ID}; len(above) > 0; above = above[1:] {
		list, err := st.For(user()).ListRuns(ctx, store.RunFilter{Parent: above[0]})
		if err != nil {
			return err
		}
		for _, run := range list {
			if run.Status != event.StatusSuccess {
				return fmt.Errorf("run %s below has ended as %s: %s", run.ID, run.Status, run.Error)
			}
			cp, err := st.For(user()).Checkpoint(ctx, e.schema, run.ThreadID, "")
			if err != nil {
				return err
			}
			e.below = append(e.below, cp.State)
			above = append(above, run.ID)
		}
	}
	return nil
}

// checkBelow compares how many runs there are below, and looks whether each message of theirs was told of once, in
// order.
func (v *verdict) checkBelow(got, want ending) {
	if len(got.below) != len(want.below) {
		v.breachf("%d runs were begun below, undisturbed %d", len(got.below), len(want.below))
	}
	told := make(map[string][]event.ID)
	for _, ev := range got.events {
		if d, ok := ev.Data.(event.Child); ok {
			told[d.RunID] = append(told[d.RunID], d.At())
		}
	}
	for id, list := range told {
		if !slices.IsSortedFunc(list, event.ID.Compare) || len(slices.Compact(slices.Clone(list))) != len(list) {
			v.breachf("of run %s was told: %v", id, list)
		}
	}
	if len(told) != len(got.below) {
		v.breachf("%d runs were told of, %d were begun", len(told), len(got.below))
	}
}
