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
	return [][]call{{note, call{tool: "leave"}}, {delegate}, {delegate, note}, {call{tool: "slow"}},
		{call{tool: "gather"}, note}}
}

// delegated are those of a run below: ten steps of calls and answers. The deepest one delegates nothing.
func delegated(depth int) [][]call {
	turns := [][]call{{{tool: "note"}}, {{tool: "put"}, {tool: "look"}}, {{tool: "slow"}}, {{tool: "note"}},
		{{tool: "look"}}}
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
	for _, t := range append(newTools(effects{filepath.Join(w.Dir, effectsName)}), delegates(job.Children)...) {
		tools = append(tools, marked{Tool: t, hold: w.Hold})
	}
	return agent.New(agent.Config{Model: m, Tools: tools}, danglingtoolcall.New(), toolerror.New())
}

// delegates are tools that have runs below do something: delegate waits for its own, leave lets one work on, for which
// gather waits.
func delegates(below *runs.Children) []tool.Tool {
	begin := func(ctx context.Context, key string) (*runs.Child, error) {
		return below.Start(ctx, key,
			runs.Request{Input: []message.Message{message.New(message.Human, "Do your part.")}})
	}
	made := func(name, about string, run func(ctx context.Context, c *tool.Call) (string, error)) tool.Tool {
		spec := tool.Spec{Name: name, Description: about, Effect: tool.Idempotent}
		return tool.MustNew(spec, func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			text, err := run(ctx, c)
			if err != nil {
				return nil, err
			}
			return tool.Text(text), nil
		})
	}
	const left = "left"
	return []tool.Tool{
		made("delegate", "Has another do it.", func(ctx context.Context, c *tool.Call) (string, error) {
			child, err := begin(ctx, c.ID)
			if err != nil {
				return "", err
			}
			out, err := child.Wait(ctx, nil)
			return said(out), err
		}),
		made("leave", "Has another do it meanwhile.", func(ctx context.Context, _ *tool.Call) (string, error) {
			_, err := begin(ctx, left)
			return "it works", err
		}),
		made("gather", "Waits for what was left.", func(ctx context.Context, _ *tool.Call) (string, error) {
			child, err := begin(ctx, left)
			if err != nil {
				return "", err
			}
			var out runs.Outcome
			errWatch, done := error(nil), make(chan struct{})
			if !below.Go(func(ctx context.Context) {
				defer close(done)
				out, errWatch = child.Watch(ctx, nil)
			}) {
				return "", store.ErrConflict
			}
			if err := below.Await(ctx, done); err != nil {
				return "", err
			}
			return said(out), errWatch
		}),
	}
}

// said is how a run below has ended, and its last words.
func said(out runs.Outcome) string {
	text := out.Run.Status
	if msgs := agent.Messages.Get(out.State); len(msgs) > 0 {
		text += ": " + msgs[len(msgs)-1].Text()
	}
	return text
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
