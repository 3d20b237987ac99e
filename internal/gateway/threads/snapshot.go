package threads

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/frames"
)

// stateJSON is the state of a thread at a checkpoint, as clients see it. LangGraph's clients read where it is from the
// checkpoint objects, DeerFlow's from the ids beside them.
type stateJSON struct {
	Values           map[string]json.RawMessage `json:"values"`
	Next             []string                   `json:"next"`
	Tasks            []taskJSON                 `json:"tasks"`
	Metadata         map[string]json.RawMessage `json:"metadata"`
	CreatedAt        *string                    `json:"created_at"`
	Checkpoint       *checkpointJSON            `json:"checkpoint"`
	ParentCheckpoint *checkpointJSON            `json:"parent_checkpoint"`
	CheckpointID     *string                    `json:"checkpoint_id"`
	ParentID         *string                    `json:"parent_checkpoint_id"`
	Interrupts       []shape.Interrupt          `json:"interrupts"`
}

// checkpointJSON names a checkpoint. That of a sub-agent is one of the thread at the top, with the path as namespace.
type checkpointJSON struct {
	ThreadID     string `json:"thread_id"`
	Namespace    string `json:"checkpoint_ns"`
	CheckpointID string `json:"checkpoint_id"`
	// CheckpointMap are, of a sub-agent, the present checkpoints down to it, by namespace; else null.
	CheckpointMap map[string]string `json:"checkpoint_map"`
	ID            string            `json:"id,omitempty"`
	Time          string            `json:"ts,omitempty"`
}

// pathJSON names the present checkpoint of a sub-agent.
type pathJSON struct {
	ThreadID  string `json:"thread_id"`
	Namespace string `json:"checkpoint_ns"`
}

// taskJSON is the execution of a node that comes next.
type taskJSON struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Path       []string          `json:"path"`
	Error      *string           `json:"error"`
	Interrupts []shape.Interrupt `json:"interrupts"`
	// Checkpoint is that of the sub-agent that works or waits in the task. Where states are asked for, State is its
	// own, a stateJSON (of which a schema cannot tell, as it would be in itself), and Checkpoint is null.
	Checkpoint *pathJSON `json:"checkpoint"`
	State      any       `json:"state"`
	Result     *string   `json:"result"` // always null

	call string
}

// tasksOf are what comes next: a node, or each tool call that asks a human or has one of the sub-agents below. failure
// is why it could not be done.
func tasksOf(snap runs.Snapshot, failure string, below []agentBelow) []taskJSON {
	node := frames.NextNode(snap.Next)
	if node == agent.Done {
		return []taskJSON{}
	}
	task := func(call string, asked ...event.Interrupt) taskJSON {
		return taskJSON{
			ID: frames.TaskID(snap.RunID, snap.Step+1, node, call), Name: node, Path: []string{"__pregel_pull", node},
			Error: shape.OrNil(failure), Interrupts: shape.Interrupts(asked), call: call,
		}
	}
	var out []taskJSON
	for rest := snap.Questions; len(rest) > 0; { // those of a call stand together
		n := slices.IndexFunc(rest, func(q event.Interrupt) bool { return q.CallID != rest[0].CallID })
		if n < 0 {
			n = len(rest)
		}
		out, rest = append(out, task(rest[0].CallID, rest[:n]...)), rest[n:]
	}
	for _, b := range below {
		if !slices.ContainsFunc(out, func(t taskJSON) bool { return t.call == b.call }) {
			out = append(out, task(b.call))
		}
	}
	if len(out) == 0 {
		out = append(out, task(""))
	}
	return out
}

func interruptsByTask(snap runs.Snapshot) map[string][]shape.Interrupt {
	out := make(map[string][]shape.Interrupt)
	for _, t := range tasksOf(snap, "", nil) {
		if len(t.Interrupts) > 0 {
			out[t.ID] = t.Interrupts
		}
	}
	return out
}

// viewer makes the JSON of states of one thread. It remembers what it has read of the runs that made them.
type viewer struct {
	*Group

	thread store.Thread
	makers map[string]maker
	// path is that of the sub-agent whose thread it is; empty if it is none's. deep shows the states of those below.
	path path
	deep bool
}

// maker is what a state tells of the run that made it.
type maker struct {
	metadata map[string]json.RawMessage
	// first is the run's first checkpoint, input whether it brought an input.
	first string
	input bool
	error string
}

func (g *Group) newViewer(t store.Thread) *viewer {
	return &viewer{Group: g, thread: t, makers: make(map[string]maker), path: path{root: t.ID}}
}

// state is the JSON of a state. A thread without checkpoints has an empty one, without a place.
func (v *viewer) state(ctx context.Context, snap runs.Snapshot) (stateJSON, error) {
	out := stateJSON{
		Values: make(map[string]json.RawMessage), Next: []string{}, Tasks: []taskJSON{},
		Metadata: make(map[string]json.RawMessage), Interrupts: shape.Interrupts(snap.Questions),
	}
	if snap.ID == "" {
		return out, nil
	}
	by, err := v.maker(ctx, snap.RunID)
	if err != nil {
		return out, err
	}
	if out.Values, err = frames.VisibleValues(snap.State); err != nil {
		return out, err
	}
	failure := ""
	if snap.ID == v.thread.Head {
		addTitle(out.Values, v.thread)
		failure = by.error
	}
	if node := frames.NextNode(snap.Next); node != agent.Done {
		out.Next = []string{node}
	}
	below, err := v.below(ctx, snap)
	if err != nil {
		return out, err
	}
	out.Tasks = tasksOf(snap, failure, below)
	if err := v.fill(ctx, out.Tasks, below); err != nil {
		return out, err
	}
	out.Metadata = v.metadata(snap.Checkpoint, by)
	v.place(&out, snap.Checkpoint)
	return out, nil
}

// place says where the state is.
func (v *viewer) place(out *stateJSON, cp store.Checkpoint) {
	at := shape.Stamp(cp.CreatedAt)
	out.CreatedAt, out.CheckpointID, out.ParentID = &at, &cp.ID, shape.OrNil(cp.ParentID)
	out.Checkpoint = &checkpointJSON{ThreadID: v.path.root, Namespace: v.path.namespace, CheckpointID: cp.ID, ID: cp.ID,
		Time: at}
	if v.path.above != nil {
		out.Checkpoint.CheckpointMap = maps.Clone(v.path.above)
		out.Checkpoint.CheckpointMap[v.path.namespace] = cp.ID
	}
	if cp.ID != store.Origin {
		out.ParentCheckpoint = &checkpointJSON{ThreadID: v.path.root, Namespace: v.path.namespace,
			CheckpointID: cmp.Or(cp.ParentID, store.Origin)}
	}
}

// origin is the empty state before a thread's first checkpoint: what a branch that changes the first message stands on.
func (v *viewer) origin() stateJSON {
	out := stateJSON{
		Values: make(map[string]json.RawMessage), Next: []string{agent.NodeInput}, Tasks: []taskJSON{},
		Interrupts: []shape.Interrupt{}, Metadata: map[string]json.RawMessage{"source": json.RawMessage(`"input"`),
			"step": json.RawMessage("0"), "parents": json.RawMessage("{}")},
	}
	v.place(&out, store.Checkpoint{ID: store.Origin, CreatedAt: v.thread.CreatedAt})
	return out
}

// metadata says how a checkpoint came to be: what the run was started with, and LangGraph's own members.
func (v *viewer) metadata(cp store.Checkpoint, by maker) map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(by.metadata)+6)
	maps.Copy(out, by.metadata)
	source := "loop"
	switch {
	case cp.RunID == "":
		source = "update"
	case cp.First == 0: // a rollback, which goes back to another state
		source = "fork"
	case cp.ID == by.first && by.input:
		source = "input"
	}
	out["source"] = rawjson.AppendString(nil, source)
	out["step"] = json.RawMessage(strconv.Itoa(cp.Step))
	out["parents"] = json.RawMessage("{}")
	if v.path.above != nil {
		out["parents"], _ = json.Marshal(v.path.above) // texts can be encoded
	}
	out["thread_id"] = rawjson.AppendString(nil, v.path.root)
	if cp.RunID != "" {
		out["run_id"] = rawjson.AppendString(nil, cp.RunID)
	}
	return out
}

// maker reads what a state tells of its run. A run that was deleted tells nothing.
func (v *viewer) maker(ctx context.Context, runID string) (maker, error) {
	if known, ok := v.makers[runID]; ok || runID == "" {
		return known, nil
	}
	run, err := v.Mine(ctx).Run(ctx, runID)
	if errors.Is(err, store.ErrNotFound) {
		return maker{}, nil
	}
	if err != nil {
		return maker{}, err
	}
	first, err := v.Mine(ctx).FirstCheckpoint(ctx, runID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return maker{}, err
	}
	by := maker{first: first.ID}
	if run.Broke() {
		by.error = run.Error
	}
	err = by.read(run)
	v.makers[runID] = by
	return by, err
}

func (by *maker) read(run store.Run) error {
	req, err := runs.RequestOf(run)
	if err != nil {
		return err
	}
	by.metadata, _ = rawjson.Members(shape.OrEmpty(req.Metadata))
	if req.AssistantID != "" {
		by.metadata["assistant_id"] = rawjson.AppendString(nil, req.AssistantID)
	}
	by.metadata["graph_id"] = rawjson.AppendString(nil, shape.GraphID)
	by.input = len(req.Input) > 0 || len(req.Values) > 0
	return nil
}
