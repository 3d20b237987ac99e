package threads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

type stateIn struct {
	ofThread

	Subgraphs bool `query:"subgraphs" doc:"with the states of the sub-agents that work or wait"`
}

// state shows the state of a thread as it is now.
func (g *Group) state(ctx context.Context, in *stateIn) (stateJSON, error) {
	v := g.newViewer(in.Thread)
	v.deep = in.Subgraphs
	return g.stateOf(ctx, v, "")
}

type stateAtIn struct {
	ofThread

	Checkpoint string `path:"checkpoint_id"`
	Subgraphs  bool   `query:"subgraphs" doc:"with the states of the sub-agents that work or wait"`
}

// stateAt shows the state of a thread at a checkpoint.
func (g *Group) stateAt(ctx context.Context, in *stateAtIn) (stateJSON, error) {
	if !shape.IsCheckpoint(in.Checkpoint) {
		return stateJSON{}, shape.NoCheckpoint(in.Checkpoint)
	}
	v := g.newViewer(in.Thread)
	v.deep = in.Subgraphs
	return g.stateOf(ctx, v, in.Checkpoint)
}

type statePlaceIn struct {
	ofThread

	At        place `body:"checkpoint"`
	Subgraphs bool  `body:"subgraphs" doc:"with the states of the sub-agents that work or wait"`
}

// statePlace shows the state of a thread at the checkpoint that the body names; without an id that is the present one.
func (g *Group) statePlace(ctx context.Context, in *statePlaceIn) (stateJSON, error) {
	if at := in.At; at.namespace != "" && (!at.named || shape.IsCheckpoint(at.id)) {
		return g.stateBelow(ctx, in.Thread, at, in.Subgraphs)
	}
	if err := in.At.check(); err != nil {
		return stateJSON{}, err
	}
	v := g.newViewer(in.Thread)
	v.deep = in.Subgraphs
	return g.stateOf(ctx, v, in.At.id)
}

// place is where a client wants to look: a checkpoint, or the present if it names none.
type place struct {
	named bool
	id    string
	// namespace is that of a sub-agent; only looking at a state takes one.
	namespace string
	// given says that the client said anything of a place, be it that it is the present.
	given bool
}

// ReadFrom implements [route.Reader]: it reads the checkpoint, and the member "checkpoint_id" beside it, which wins.
func (at *place) ReadFrom(in *route.Input, name string) {
	cp := in.Object(name)
	*at = place{
		id: cp.Str("checkpoint_id"), namespace: cp.Str("checkpoint_ns"),
		given: in.Raw(name) != nil || in.Raw("checkpoint_id") != nil,
	}
	at.named = at.id != ""
	if other := cp.Str("thread_id"); other != "" && other != in.Request().PathValue("thread_id") {
		cp.Add("value_error", "Value error, the checkpoint is of another thread", route.Quoted(cp.Raw("thread_id")),
			cp.Loc("thread_id")...)
	}
	in.Take(cp)
	if in.Raw("checkpoint_id") != nil {
		at.named, at.id = true, in.Str("checkpoint_id")
	}
}

// check refuses what can be no checkpoint of a thread.
func (at place) check() error {
	if at.namespace != "" || at.named && !shape.IsCheckpoint(at.id) {
		return shape.NoCheckpoint(at.id)
	}
	return nil
}

// stateOf is the state of a thread at a checkpoint; empty is the present.
func (g *Group) stateOf(ctx context.Context, v *viewer, checkpoint string) (stateJSON, error) {
	if checkpoint == store.Origin {
		return v.origin(), nil
	}
	snap, err := g.runs(ctx).Snapshot(ctx, v.thread.ID, checkpoint)
	if errors.Is(err, store.ErrNotFound) && checkpoint != "" {
		return stateJSON{}, shape.NoCheckpoint(checkpoint)
	}
	if err != nil {
		return stateJSON{}, err
	}
	return v.state(ctx, snap)
}

type updateIn struct {
	ofThread

	At     place      `body:"checkpoint"`
	Values route.Rest `body:"values"`
}

// updateState changes the state of a thread: one update, or several that are made one after the other. It answers with
// the state that comes of it.
func (g *Group) updateState(ctx context.Context, in *updateIn) (stateJSON, error) {
	updates, err := g.changes(in.Values.Input, in.Values.Raw("values"))
	if err = errors.Join(in.Values.Err(), err, in.At.check()); err != nil {
		return stateJSON{}, err
	}
	updates[0].Checkpoint = in.At.id
	if err := g.update(ctx, in.Thread.ID, updates); err != nil {
		return stateJSON{}, err
	}
	t, err := g.Mine(ctx).Thread(ctx, in.Thread.ID)
	if err != nil {
		return stateJSON{}, err
	}
	return g.stateOf(ctx, g.newViewer(t), "")
}

// update makes changes one after the other.
func (g *Group) update(ctx context.Context, threadID string, updates []runs.StateUpdate) error {
	for _, u := range updates {
		_, err := g.runs(ctx).UpdateState(ctx, threadID, u)
		switch {
		case errors.Is(err, store.ErrConflict):
			return route.Failf(http.StatusConflict, "Thread has a run in flight. Update state after the run finishes.")
		case errors.Is(err, store.ErrNotFound) && u.Checkpoint != "":
			return shape.NoCheckpoint(u.Checkpoint)
		case err != nil:
			return err
		}
	}
	return nil
}

const (
	maxNode  = 128  // bytes of a node's name
	maxTitle = 1000 // characters
)

// changes reads the values of an update, an object or a list of objects, and the node that it counts as. There is one
// change at least: an update without values moves the thread on. The error is about channels; faults are the input's.
func (g *Group) changes(in *route.Input, values json.RawMessage) ([]runs.StateUpdate, error) {
	node := in.Text("as_node", maxNode)
	if node == "__input__" {
		node = agent.NodeInput
	}
	list, isList := rawjson.Elements(values)
	switch {
	case !isList:
		list = []json.RawMessage{values}
	case len(list) == 0:
		list = []json.RawMessage{nil}
	case len(list) > maxSupersteps:
		in.Add("too_long", fmt.Sprintf("List should have at most %d items", maxSupersteps), nil, in.Loc("values")...)
		return nil, nil
	}
	out := make([]runs.StateUpdate, len(list))
	for i, raw := range list {
		u, err := g.change(in, raw)
		if err != nil {
			return nil, err
		}
		u.AsNode = node
		out[i] = u
	}
	return out, nil
}

// change reads one update: an object of channels.
func (g *Group) change(in *route.Input, raw json.RawMessage) (u runs.StateUpdate, err error) {
	if raw == nil || string(raw) == "null" {
		return u, nil
	}
	members, ok := rawjson.Members(raw)
	if !ok {
		in.Add("dict_type", "Input should be a valid dictionary", route.Quoted(raw), in.Loc("values")...)
		return u, nil
	}
	if err := g.checkChannels(members); err != nil {
		return u, err
	}
	if raw := members[agent.Messages.Name()]; raw != nil && string(raw) != "null" {
		if u.Messages, err = message.DecodeInput(raw); err != nil {
			in.Add("value_error", "Value error, "+err.Error(), nil, append(in.Loc("values"), agent.Messages.Name())...)
		}
	}
	delete(members, agent.Messages.Name())
	if _, err := runs.Values(g.Manager.Schema(), members); err != nil {
		in.Add("value_error", "Value error, "+err.Error(), nil, in.Loc("values")...)
	}
	u.Values = members
	if title, ok := rawjson.String(members[threadstate.Title.Name()]); ok && title != "" {
		u.Title = &title
	}
	if u.Title != nil && utf8.RuneCountInString(*u.Title) > maxTitle {
		in.Add("string_too_long", fmt.Sprintf("String should have at most %d characters", maxTitle), nil,
			append(in.Loc("values"), "title")...)
	}
	return u, nil
}

// checkChannels refuses channels that no client can write.
func (g *Group) checkChannels(members map[string]json.RawMessage) error {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if ch, ok := g.Manager.Schema()[name]; !ok || ch.Private() {
			unknown = append(unknown, route.Clip(name))
		}
	}
	if unknown == nil {
		return nil
	}
	return route.Failf(http.StatusUnprocessableEntity, "Unknown thread-state field(s): %s",
		excerpt.Bound(strings.Join(unknown, ", "), 1000))
}
