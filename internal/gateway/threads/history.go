package threads

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// smallValue is how many bytes a value may have that is kept when Limits.History is reached.
	smallValue = 1 << 10
	// To fill a page by metadata, scanPage checkpoints are read together, and that maxScans times at most.
	scanPage, maxScans = 1000, 20
)

// past is what part of a thread's history is wanted, the newest first.
type past struct {
	limit int
	// before is a checkpoint that comes right before the page; empty means that the page begins with the newest.
	before string
	// only is the one checkpoint that is wanted; empty means any.
	only string
	// nowhere: no checkpoint can be meant.
	nowhere bool
	// match are members that the metadata of each must have.
	match map[string]json.RawMessage
}

type historyIn struct {
	ID     string                     `path:"thread_id"`
	Limit  int                        `body:"limit" default:"10" min:"1" max:"1000"`
	Before cursor                     `body:"before"`
	Match  map[string]json.RawMessage `body:"metadata"`
	At     place                      `body:"checkpoint"`
}

// postHistory lists states of a thread. A thread that is not there has none.
func (g *Group) postHistory(ctx context.Context, in *historyIn) (any, error) {
	p := past{limit: in.Limit, before: string(in.Before), match: in.Match, only: in.At.id,
		nowhere: in.At.check() != nil}
	list, err := g.history(ctx, in.ID, p)
	if err != nil || in.Limit > 1 || in.At.given || in.Before != "" {
		return list, err
	}
	bare := make([]bareStateJSON, len(list))
	for i := range list {
		bare[i].stateJSON = list[i]
	}
	return bare, nil
}

type historyQuery struct {
	ID     string `path:"thread_id"`
	Limit  int    `query:"limit" default:"10" min:"1" max:"1000"`
	Before string `query:"before"`
}

// getHistory is postHistory with a query.
func (g *Group) getHistory(ctx context.Context, in *historyQuery) ([]stateJSON, error) {
	return g.history(ctx, in.ID, past{limit: in.Limit, before: in.Before})
}

// cursor is a checkpoint's id, as a text or in one of the objects that clients make of it.
type cursor string

// ReadFrom implements [route.Reader].
func (c *cursor) ReadFrom(in *route.Input, name string) { *c = cursor(readCursor(in, name)) }

func readCursor(in *route.Input, name string) string {
	v := in.Raw(name)
	if v == nil || v[0] == '"' {
		return in.Str(name)
	}
	at := in.Object(name)
	id := at.Str("checkpoint_id")
	if id == "" {
		conf := at.Object("configurable")
		id = conf.Str("checkpoint_id")
		at.Take(conf)
	}
	if id == "" && len(at.Faults) == 0 && len(in.Faults) == 0 {
		at.Add("missing", "Field required", route.Quoted(v), at.Loc("checkpoint_id")...)
	}
	in.Take(at)
	return id
}

// history lists the states that are wanted of a thread, with what its messages are shown with.
func (g *Group) history(ctx context.Context, threadID string, p past) ([]stateJSON, error) {
	t, err := g.Mine(ctx).Thread(ctx, threadID)
	if errors.Is(err, store.ErrNotFound) {
		return []stateJSON{}, nil
	}
	if err != nil {
		return nil, err
	}
	v := g.newViewer(t)
	list, err := v.history(ctx, p)
	if err == nil && len(list) > 0 {
		err = v.turns(ctx, list[0].Values)
	}
	return list, err
}

// bareStateJSON is a state without its checkpoint objects. The web client asks for one entry to show it; found with a
// checkpoint, every message would start a branch there, even after somebody else has gone on.
type bareStateJSON struct {
	stateJSON

	Checkpoint       *struct{} `json:"checkpoint,omitempty"`
	ParentCheckpoint *struct{} `json:"parent_checkpoint,omitempty"`
}

// history lists the states that are wanted.
func (v *viewer) history(ctx context.Context, p past) ([]stateJSON, error) {
	list, err := v.checkpoints(ctx, p)
	if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
		return []stateJSON{}, nil
	}
	if err != nil {
		return nil, err
	}
	out := []stateJSON{}
	wentOn, size := make(map[[2]string]bool), 0 // which runs went on from which checkpoints
	for _, cp := range list {
		snap, err := v.snapshot(ctx, cp, wentOn[[2]string{cp.ID, cp.RunID}])
		if err != nil {
			return nil, err
		}
		st, err := v.state(ctx, snap)
		if err != nil {
			return nil, err
		}
		out = append(out, st)
		wentOn[[2]string{cp.ParentID, cp.RunID}] = true
		for _, v := range st.Values {
			size += len(v)
		}
		if size > v.Limits.History {
			maps.DeleteFunc(st.Values, func(name string, v json.RawMessage) bool {
				return name == agent.Messages.Name() || len(v) > smallValue
			})
		}
	}
	if n := len(list); n > 0 && n < p.limit && list[n-1].ParentID == "" && p.only == "" && len(p.match) == 0 {
		out = append(out, v.origin())
	}
	return out, nil
}

// snapshot reads a state. Where its own run went on from it nothing was asked: a run that asks ends there.
func (v *viewer) snapshot(ctx context.Context, cp store.Checkpoint, wentOn bool) (runs.Snapshot, error) {
	if !wentOn {
		return v.runs(ctx).Snapshot(ctx, v.thread.ID, cp.ID)
	}
	cp, err := v.Mine(ctx).Checkpoint(ctx, v.Manager.Schema(), v.thread.ID, cp.ID)
	return runs.Snapshot{Checkpoint: cp}, err
}

// checkpoints lists the checkpoints that are wanted, without their states.
func (v *viewer) checkpoints(ctx context.Context, p past) (out []store.Checkpoint, err error) {
	from := p.before
	if p.only != "" {
		from = p.only
	}
	if p.nowhere || from != "" && !shape.IsCheckpoint(from) {
		return nil, nil
	}
	if from != "" {
		at, err := v.Mine(ctx).Checkpoints(ctx, v.thread.ID, from+"~", 1) // the last one that is not behind it
		if err != nil || len(at) == 0 || at[0].ID != from {
			return nil, err
		}
		if p.only != "" {
			return v.keep(ctx, nil, at, p)
		}
	}
	size := p.limit
	if len(p.match) > 0 {
		size = scanPage
	}
	for range maxScans {
		list, err := v.Mine(ctx).Checkpoints(ctx, v.thread.ID, from, size)
		if err == nil {
			out, err = v.keep(ctx, out, list, p)
		}
		if err != nil || len(list) < size || len(out) == p.limit {
			return out, err
		}
		from = list[len(list)-1].ID
	}
	return out, nil
}

// keep adds those of a list that have the metadata that is wanted, until the page is full.
func (v *viewer) keep(ctx context.Context, out, list []store.Checkpoint, p past) ([]store.Checkpoint, error) {
	for _, cp := range list {
		ok, err := v.matches(ctx, cp, p.match)
		if err != nil {
			return nil, err
		}
		if ok && len(out) < p.limit {
			out = append(out, cp)
		}
	}
	return out, nil
}

func (v *viewer) matches(ctx context.Context, cp store.Checkpoint, match map[string]json.RawMessage) (bool, error) {
	by, err := v.maker(ctx, cp.RunID)
	return err == nil && shape.HasMembers(v.metadata(cp, by), match), err
}
