package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Schema is of the channels that every agent declares: it reads the state of any thread. Channels beyond them pass
// through as they are stored.
func (m *Manager) Schema() state.Schema { return m.schema }

// Snapshot is a thread's state at one checkpoint.
type Snapshot struct {
	store.Checkpoint
	// Questions are what calls ask a human at this checkpoint.
	Questions []event.Interrupt
}

// Snapshot reads the state of a thread at a checkpoint; an empty id means the head. A thread without checkpoints has
// the zero Snapshot, with an empty state.
func (u *UserRuns) Snapshot(ctx context.Context, threadID, checkpoint string) (Snapshot, error) {
	cp, err := u.data.Checkpoint(ctx, u.schema(), threadID, checkpoint)
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{Checkpoint: cp}
	s.Questions, err = u.questions(ctx, cp)
	return s, err
}

// Base is the state that a run began on, or begins on if it is still to: that of its request's checkpoint, else the
// head.
func (u *UserRuns) Base(ctx context.Context, run store.Run, req Request) (store.Checkpoint, error) {
	if base, ok := u.m.baseHere(run.ID); ok {
		return base, nil
	}
	for {
		first, err := u.data.FirstCheckpoint(ctx, run.ID)
		if err != nil {
			return first, err
		}
		at := req.Checkpoint
		if first.ID != "" {
			at = cmp.Or(first.ParentID, store.Origin)
		}
		base, err := u.data.Checkpoint(ctx, u.schema(), run.ThreadID, at)
		if err == nil && first.ID == "" && base.RunID == run.ID {
			continue // the run has made its first one in between
		}
		if base.ThreadID == "" {
			base.ThreadID = run.ThreadID
		}
		return base, err
	}
}

// began remembers what a run began on, for the readers that come while it is executed here. A run that goes on behind a
// checkpoint of its own has begun elsewhere.
func (m *Manager) began(run store.Run, on store.Checkpoint) {
	st, same := on.State.ReadBy(m.schema)
	if on.RunID == run.ID || !same {
		return
	}
	on.State = st
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.active[run.ID]; l != nil {
		l.base = &on
	}
}

func (m *Manager) baseHere(runID string) (store.Checkpoint, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.active[runID]
	if l == nil || l.base == nil {
		return store.Checkpoint{}, false
	}
	return *l.base, true
}

// Result is the state that a run has ended with; the head if the run has changed nothing.
func (u *UserRuns) Result(ctx context.Context, run store.Run) (Snapshot, error) {
	const page = 100
	first, err := u.data.FirstCheckpoint(ctx, run.ID)
	if err != nil {
		return Snapshot{}, err
	}
	for before := ""; first.ID != ""; {
		list, err := u.data.Checkpoints(ctx, run.ThreadID, before, page)
		if err != nil {
			return Snapshot{}, err
		}
		for _, cp := range list {
			if cp.RunID == run.ID {
				return u.Snapshot(ctx, run.ThreadID, cp.ID)
			}
		}
		if len(list) == 0 { // its checkpoints have gone meanwhile
			break
		}
		before = list[len(list)-1].ID
	}
	return u.Snapshot(ctx, run.ThreadID, "")
}

// StateUpdate is a change of a thread's state from outside of a run.
type StateUpdate struct {
	// Messages and Values are merged by the rules of their channels, as a run's input is.
	Messages []message.Message
	Values   map[string]json.RawMessage
	// Checkpoint is the one to change; empty means the head. The new one becomes the head.
	Checkpoint string
	// AsNode is the node that the change counts as, which decides what comes next. Empty, or no node of the agent,
	// leaves that as it is.
	AsNode string
	// Title, if not nil, becomes the thread's.
	Title *string
}

// manualNode is the node name of a change that counts as no node.
const manualNode = "manual_state_update"

// ErrBadUpdate says that a state update cannot be made, and which part of it.
var ErrBadUpdate = errors.New("invalid state update")

// UpdateState changes a thread's state and returns the new checkpoint. [ErrBadUpdate] if the update does not fit the
// state, store.ErrConflict if the thread has an active run.
func (u *UserRuns) UpdateState(ctx context.Context, threadID string, change StateUpdate) (string, error) {
	one := &u.m.updating[maphash.String(u.m.seed, threadID)%uint64(len(u.m.updating))]
	one.Lock() // what is read here is what the next one stands on
	defer one.Unlock()
	for try := 1; ; try++ {
		id, err := u.updateState(ctx, threadID, change)
		if change.Checkpoint != "" || try == updateTries || !errors.Is(err, store.ErrConflict) {
			return id, err
		}
	}
}

// updateTries is how often a change of the head is made that meets runs and changes by other processes.
const updateTries = 4

// updateState makes the change once. The head may have moved since it was read; then it is store.ErrConflict.
func (u *UserRuns) updateState(ctx context.Context, threadID string, change StateUpdate) (string, error) {
	cp, err := u.data.Checkpoint(ctx, u.schema(), threadID, change.Checkpoint)
	if err != nil {
		return "", err
	}
	update, err := agent.AddMessages(cp.State, change.Messages, u.m.newID)
	if err != nil {
		return "", fmt.Errorf("%w: messages: %w", ErrBadUpdate, err)
	}
	values, err := Values(u.schema(), change.Values)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadUpdate, err)
	}
	update = update.With(values)
	next, _, err := cp.State.Apply(update)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadUpdate, err)
	}
	node := change.AsNode
	if node == "" {
		node = manualNode
	}
	return u.data.Write(ctx, threadID, store.Step{
		Parent: cmp.Or(cp.ID, store.Origin), OnHead: change.Checkpoint == "",
		Updates: []store.NodeUpdate{{Node: node, Update: update}}, State: next,
		Next: agent.After(change.AsNode, next, cp.Next), Title: change.Title, Now: u.m.cfg.Now(),
	})
}
