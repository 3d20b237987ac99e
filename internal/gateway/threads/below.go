package threads

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// mostAbove is how many runs of a thread are looked below, the newest ones.
const mostAbove = 100

// path is where a sub-agent stands.
type path struct {
	// root is the thread at the top, and namespace the path from there, as the stream and the questions name it.
	root, namespace string
	// above are the present checkpoints of those above, by namespace; nil without any.
	above map[string]string
}

// under is the path of one below, whose namespace it is; head is the checkpoint here.
func (p path) under(head, namespace string) path {
	above := maps.Clone(p.above)
	if above == nil {
		above = make(map[string]string)
	}
	above[p.namespace] = head
	return path{p.root, namespace, above}
}

// agentBelow is a sub-agent that works, or waits for a person, in a call.
type agentBelow struct {
	call, namespace string
	thread          string // the hidden one
}

// below finds the sub-agents in the calls that come next in the present state: of each call the newest one.
func (v *viewer) below(ctx context.Context, snap runs.Snapshot) (list []agentBelow, err error) {
	asked := pathsOf(snap)
	if snap.ID != v.thread.Head || snap.Next != agent.NodeTools ||
		len(asked) == 0 && v.thread.Status != store.ThreadBusy {
		return nil, nil
	}
	above, err := v.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: v.thread.ID, Limit: mostAbove})
	if i := slices.IndexFunc(above, func(r store.Run) bool { return r.ID == snap.RunID }); i >= 0 {
		above = above[:i+1] // the later ones answer what this one has asked
	}
	if err != nil || len(above) == 0 {
		return nil, err
	}
	children, err := v.childrenOf(ctx, above)
	open := openCalls(snap, children)
	for _, run := range children {
		req, errRead := runs.RequestOf(run)
		if errRead != nil {
			continue
		}
		namespace, calls := strings.Join(req.Namespace, "|"), open[run.Key]
		if !run.Active() {
			calls = asked[namespace]
		}
		for _, call := range calls {
			if !slices.ContainsFunc(list, func(b agentBelow) bool { return b.call == call }) {
				list = append(list, agentBelow{call, namespace, run.ThreadID})
			}
		}
	}
	return list, err
}

// childrenOf lists the runs below some, the newest first.
func (g *Group) childrenOf(ctx context.Context, above []store.Run) ([]store.Run, error) {
	ids := make([]string, len(above))
	for i, run := range above {
		ids[i] = run.ID
	}
	return g.Mine(ctx).ListRuns(ctx, store.RunFilter{Parents: ids, Limit: store.MaxChildren})
}

// pathsOf are the calls whose questions somebody below has asked, by each path that leads to one.
func pathsOf(snap runs.Snapshot) map[string][]string {
	calls := make(map[string][]string)
	for _, q := range snap.Questions {
		var v struct {
			Namespace []string `json:"namespace"`
		}
		_ = json.Unmarshal(q.Value, &v) // one of another form has none
		for i := range v.Namespace {
			path := strings.Join(v.Namespace[:i+1], "|")
			calls[path] = append(calls[path], q.CallID)
		}
	}
	return calls
}

// openCalls are the calls of the last answer that give a task or wait for one, by the key of the task. The runs are
// those below.
func openCalls(snap runs.Snapshot, below []store.Run) map[string][]string {
	open := make(map[string][]string)
	for _, m := range slices.Backward(agent.Messages.Get(snap.State)) {
		if m.Role != message.AI {
			continue
		}
		for _, c := range m.ToolCalls {
			key := c.ID + "@" + m.ID
			if c.Name == subagents.WaitTool {
				key = keyOf(c, below)
			}
			open[key] = append(open[key], c.ID)
		}
		break
	}
	return open
}

// keyOf is the key of the task for which a call waits; empty if it is none of the runs'.
func keyOf(wait message.ToolCall, below []store.Run) string {
	var args struct {
		Task string `json:"task"`
	}
	_ = json.Unmarshal(wait.Args, &args) // of others there is no task
	if i := slices.IndexFunc(below, func(run store.Run) bool { return run.ID == args.Task }); i >= 0 {
		return below[i].Key
	}
	return ""
}

// fill tells of each task which sub-agent there is in it.
func (v *viewer) fill(ctx context.Context, tasks []taskJSON, below []agentBelow) error {
	for i := range tasks {
		n := slices.IndexFunc(below, func(b agentBelow) bool { return b.call == tasks[i].call })
		if n < 0 {
			continue
		}
		b := below[n]
		if !v.deep {
			tasks[i].Checkpoint = &pathJSON{v.path.root, b.namespace}
			continue
		}
		t, err := v.Mine(ctx).Thread(ctx, b.thread)
		if err != nil {
			return err
		}
		st, err := v.stateOf(ctx, &viewer{Group: v.Group, thread: t, makers: v.makers,
			path: v.path.under(v.thread.Head, b.namespace), deep: true}, "")
		if err != nil {
			return err
		}
		tasks[i].State = st
	}
	return nil
}

// stateBelow is the state of the sub-agent whose path is a namespace: that of the hidden thread on which it works. Its
// checkpoints are those of the namespace.
func (g *Group) stateBelow(ctx context.Context, t store.Thread, at place, deep bool) (stateJSON, error) {
	v, err := g.viewerBelow(ctx, t, at.namespace)
	if err != nil {
		return stateJSON{}, err
	}
	v.deep = deep
	return g.stateOf(ctx, v, at.id)
}

// viewerBelow finds the hidden thread of the newest run below one of the thread's that has the namespace.
func (g *Group) viewerBelow(ctx context.Context, t store.Thread, namespace string) (*viewer, error) {
	v, steps := g.newViewer(t), strings.Split(namespace, "|")
	above, err := g.Mine(ctx).ListRuns(ctx, store.RunFilter{ThreadID: t.ID, Limit: mostAbove})
	for depth := 1; err == nil && len(above) > 0 && depth <= len(steps); depth++ {
		above, err = g.childrenOf(ctx, above)
		above = slices.DeleteFunc(above, func(run store.Run) bool {
			req, err := runs.RequestOf(run)
			return err != nil || !slices.Equal(req.Namespace, steps[:depth])
		})
		if err == nil && len(above) > 0 {
			v.path = v.path.under(v.thread.Head, strings.Join(steps[:depth], "|"))
			v.thread, err = g.Mine(ctx).Thread(ctx, above[0].ThreadID)
		}
	}
	if err == nil && len(above) == 0 {
		err = shape.NoCheckpoint("")
	}
	return v, err
}
