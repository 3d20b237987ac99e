package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// checkpointID is what the id of a checkpoint looks like. Any other text names none.
var checkpointID = regexp.MustCompile(`^[0-9a-f-]{1,64}$`)

func noCheckpoint(id string) error {
	return failf(http.StatusNotFound, "%s", strings.Join(strings.Fields("Checkpoint "+clip(id)+" not found"), " "))
}

// getState shows the state of a thread as it is now.
func (s *Server) getState(w http.ResponseWriter, r *http.Request) error {
	t, err := s.ownThread(r)
	if err != nil {
		return err
	}
	return s.replyState(w, r, t, "")
}

// getStateAt shows the state of a thread at a checkpoint.
func (s *Server) getStateAt(w http.ResponseWriter, r *http.Request) error {
	t, err := s.ownThread(r)
	if err != nil {
		return err
	}
	id := r.PathValue("checkpoint_id")
	if !checkpointID.MatchString(id) {
		return noCheckpoint(id)
	}
	return s.replyState(w, r, t, id)
}

// postStateAt shows the state of a thread at the checkpoint that the body names; without an id that is the present one.
func (s *Server) postStateAt(w http.ResponseWriter, r *http.Request) error {
	id, in, err := s.threadBody(w, r, true)
	if err != nil {
		return err
	}
	at := in.place(id)
	if err := in.err(); err != nil {
		return err
	}
	t, err := s.ownThread(r)
	if err == nil {
		err = at.check()
	}
	if err != nil {
		return err
	}
	return s.replyState(w, r, t, at.id)
}

// place is where a client wants to look: a checkpoint, or the present if it names none.
type place struct {
	named bool
	id    string
	// namespace is that of a subgraph. There are none, so no state is there.
	namespace string
}

// place reads the member "checkpoint", and "checkpoint_id", which wins.
func (in *input) place(threadID string) place {
	cp := in.object("checkpoint")
	at := place{id: cp.str("checkpoint_id"), namespace: cp.str("checkpoint_ns")}
	at.named = at.id != ""
	if other := cp.str("thread_id"); other != "" && other != threadID {
		cp.add("value_error", "Value error, the checkpoint is of another thread", quoted(cp.raw("thread_id")), cp.loc("thread_id")...)
	}
	in.faults = append(in.faults, cp.faults...)
	if in.raw("checkpoint_id") != nil {
		at.named, at.id = true, in.str("checkpoint_id")
	}
	return at
}

// check refuses what can be no checkpoint of a thread.
func (at place) check() error {
	if at.namespace != "" || at.named && !checkpointID.MatchString(at.id) {
		return noCheckpoint(at.id)
	}
	return nil
}

func (s *Server) replyState(w http.ResponseWriter, r *http.Request, t store.Thread, checkpoint string) error {
	if checkpoint == store.Origin {
		return reply(w, http.StatusOK, s.newViewer(t).origin())
	}
	snap, err := s.runs(r.Context()).Snapshot(r.Context(), t.ID, checkpoint)
	if errors.Is(err, store.ErrNotFound) && checkpoint != "" {
		return noCheckpoint(checkpoint)
	}
	if err != nil {
		return err
	}
	out, err := s.newViewer(t).state(r.Context(), snap)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, out)
}

// postState changes the state of a thread: one update, or several that are made one after the other. It answers with the
// state that comes of it.
func (s *Server) postState(w http.ResponseWriter, r *http.Request) error {
	id, in, err := s.threadBody(w, r, false)
	if err != nil {
		return err
	}
	at := in.place(id)
	updates, err := s.changes(in, in.raw("values"))
	if err = errors.Join(in.err(), err); err != nil {
		return err
	}
	t, err := s.ownThread(r)
	if err == nil {
		err = at.check()
	}
	if err != nil {
		return err
	}
	updates[0].Checkpoint = at.id
	if err := s.update(r.Context(), t.ID, updates); err != nil {
		return err
	}
	if t, err = s.mine(r.Context()).Thread(r.Context(), t.ID); err != nil {
		return err
	}
	return s.replyState(w, r, t, "")
}

// update makes changes one after the other.
func (s *Server) update(ctx context.Context, threadID string, updates []runs.StateUpdate) error {
	for _, u := range updates {
		_, err := s.runs(ctx).UpdateState(ctx, threadID, u)
		switch {
		case errors.Is(err, store.ErrConflict):
			return failf(http.StatusConflict, "Thread has a run in flight. Update state after the run finishes.")
		case errors.Is(err, store.ErrNotFound) && u.Checkpoint != "":
			return noCheckpoint(u.Checkpoint)
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
func (s *Server) changes(in *input, values json.RawMessage) ([]runs.StateUpdate, error) {
	node := in.text("as_node", maxNode)
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
		in.add("too_long", fmt.Sprintf("List should have at most %d items", maxSupersteps), nil, in.loc("values")...)
		return nil, nil
	}
	out := make([]runs.StateUpdate, len(list))
	for i, raw := range list {
		u, err := s.change(in, raw)
		if err != nil {
			return nil, err
		}
		u.AsNode = node
		out[i] = u
	}
	return out, nil
}

// change reads one update: an object of channels.
func (s *Server) change(in *input, raw json.RawMessage) (u runs.StateUpdate, err error) {
	if raw == nil || string(raw) == "null" {
		return u, nil
	}
	members, ok := rawjson.Members(raw)
	if !ok {
		in.add("dict_type", "Input should be a valid dictionary", quoted(raw), in.loc("values")...)
		return u, nil
	}
	if err := s.checkChannels(members); err != nil {
		return u, err
	}
	if raw := members[agent.Messages.Name()]; raw != nil && string(raw) != "null" {
		if u.Messages, err = message.DecodeInput(raw); err != nil {
			in.add("value_error", "Value error, "+err.Error(), nil, append(in.loc("values"), agent.Messages.Name())...)
		}
	}
	delete(members, agent.Messages.Name())
	if _, err := runs.Values(s.Manager.Schema(), members); err != nil {
		in.add("value_error", "Value error, "+err.Error(), nil, in.loc("values")...)
	}
	u.Values = members
	if title, ok := rawjson.String(members[threadstate.Title.Name()]); ok && title != "" {
		u.Title = &title
	}
	if u.Title != nil && utf8.RuneCountInString(*u.Title) > maxTitle {
		in.add("string_too_long", fmt.Sprintf("String should have at most %d characters", maxTitle), nil, append(in.loc("values"), "title")...)
	}
	return u, nil
}

// checkChannels refuses channels that no client can write.
func (s *Server) checkChannels(members map[string]json.RawMessage) error {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if ch, ok := s.Manager.Schema()[name]; !ok || ch.Private() {
			unknown = append(unknown, clip(name))
		}
	}
	if unknown == nil {
		return nil
	}
	return failf(http.StatusUnprocessableEntity, "Unknown thread-state field(s): %s", excerpt.Bound(strings.Join(unknown, ", "), 1000))
}
