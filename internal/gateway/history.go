package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"

	"github.com/pudu-ai/pudu/agent"
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
	// bare leaves the checkpoint objects out. The web client asks for one entry to show it; found with a checkpoint, every
	// message would start a branch there, even after somebody else has gone on.
	bare bool
}

// postHistory lists states of a thread. A thread that is not there has none.
func (s *Server) postHistory(w http.ResponseWriter, r *http.Request) error {
	id, in, err := s.threadBody(w, r, true)
	if err != nil {
		return err
	}
	p := past{limit: in.integer("limit", 10, 1, 1000), before: in.cursor("before"), match: in.membersOf("metadata")}
	at := in.place(id)
	if err := in.err(); err != nil {
		return err
	}
	p.only, p.nowhere = at.id, at.check() != nil
	p.bare = p.limit == 1 && in.raw("checkpoint") == nil && in.raw("checkpoint_id") == nil && p.before == ""
	return s.replyHistory(w, r, p)
}

// getHistory is postHistory with a query.
func (s *Server) getHistory(w http.ResponseWriter, r *http.Request) error {
	if _, err := thread(r); err != nil {
		return err
	}
	q := query{r: r}
	p := past{limit: q.integer("limit", 10, 1, 1000), before: q.str("before")}
	if err := q.err(); err != nil {
		return err
	}
	return s.replyHistory(w, r, p)
}

// cursor reads a checkpoint's id, as a text or in one of the objects that clients make of it.
func (in *input) cursor(name string) string {
	v := in.raw(name)
	if v == nil || v[0] == '"' {
		return in.str(name)
	}
	at := in.object(name)
	id := at.str("checkpoint_id")
	if id == "" {
		conf := at.object("configurable")
		id = conf.str("checkpoint_id")
		at.faults = append(at.faults, conf.faults...)
	}
	if id == "" && len(at.faults) == 0 && len(in.faults) == 0 {
		at.add("missing", "Field required", quoted(v), at.loc("checkpoint_id")...)
	}
	in.faults = append(in.faults, at.faults...)
	return id
}

func (s *Server) replyHistory(w http.ResponseWriter, r *http.Request, p past) error {
	t, err := s.mine(r.Context()).Thread(r.Context(), r.PathValue("thread_id"))
	if errors.Is(err, store.ErrNotFound) {
		return reply(w, http.StatusOK, []stateJSON{})
	}
	if err != nil {
		return err
	}
	v := s.newViewer(t)
	list, err := v.history(r.Context(), p)
	if err == nil && len(list) > 0 {
		err = v.turns(r.Context(), list[0].Values)
	}
	if err != nil {
		return err
	}
	if !p.bare {
		return reply(w, http.StatusOK, list)
	}
	bare := make([]bareStateJSON, len(list))
	for i := range list {
		bare[i].stateJSON = list[i]
	}
	return reply(w, http.StatusOK, bare)
}

// bareStateJSON is a state without its checkpoint objects.
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
	cp, err := v.mine(ctx).Checkpoint(ctx, v.Manager.Schema(), v.thread.ID, cp.ID)
	return runs.Snapshot{Checkpoint: cp}, err
}

// checkpoints lists the checkpoints that are wanted, without their states.
func (v *viewer) checkpoints(ctx context.Context, p past) (out []store.Checkpoint, err error) {
	from := p.before
	if p.only != "" {
		from = p.only
	}
	if p.nowhere || from != "" && !checkpointID.MatchString(from) {
		return nil, nil
	}
	if from != "" {
		at, err := v.mine(ctx).Checkpoints(ctx, v.thread.ID, from+"~", 1) // the last one that is not behind it
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
		list, err := v.mine(ctx).Checkpoints(ctx, v.thread.ID, from, size)
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
	return err == nil && hasMembers(v.metadata(cp, by), match), err
}

// hasMembers reports whether each member that is wanted is there with an equal value.
func hasMembers(has, want map[string]json.RawMessage) bool {
	for name, value := range want {
		if has[name] == nil || !equalJSON(has[name], value) {
			return false
		}
	}
	return true
}

// equalJSON compares values that were checked to be JSON.
func equalJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
