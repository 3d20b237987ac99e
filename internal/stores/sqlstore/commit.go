package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// snapshotFloor is how many bytes of deltas a load may always have to apply: less is not worth a snapshot.
	snapshotFloor = 32 << 10
	// maxStepBytes bounds one step's updates and events.
	maxStepBytes = 64 << 20
)

// errSnapshotDue sends the caller of Commit back to encode its state: the writer itself only runs SQL.
var errSnapshotDue = errors.New("a snapshot is due")

// errHeadMoved has the step made again on the thread's new head.
var errHeadMoved = errors.New("the head of the thread was moved at the same time")

// commit is one step on its way into the database.
type commit struct {
	fence    store.Fence
	step     store.Step
	body     body
	snapshot []byte // of the state, once one was due
	keep     bool   // the snapshot is written
	random   [8]byte

	// What run finds and makes.
	thread  string
	user    string
	head    string
	touched int64 // when the thread was last used, in microseconds
	lastN   int64 // the number of the last event of the attempt
	base    parent
	id      string // of the new checkpoint
	from    string // the checkpoint that it stands on
	above   string // the run above its own; empty if there is none
}

// parent is what a new checkpoint needs to know of the one it stands on.
type parent struct{ step, since, snap int64 }

// Commit implements [store.Work].
func (s *Store) Commit(ctx context.Context, f store.Fence, step store.Step) (string, error) {
	ids, err := s.CommitAll(ctx, f, []store.Step{step})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// CommitAll implements [store.Work].
func (s *Store) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	return s.commitAll(ctx, checkFence, f, steps)
}

func (s *Store) commitAll(ctx context.Context, may check, f store.Fence, steps []store.Step) ([]string, error) {
	all := make([]*commit, len(steps))
	for i, step := range steps {
		all[i] = &commit{fence: f, step: step}
	}
	if err := s.commit(ctx, may, all...); err != nil {
		return nil, fmt.Errorf("commit step of run %q: %w", f.RunID, err)
	}
	ids := make([]string, len(all))
	for i, c := range all {
		ids[i] = cmp.Or(c.id, c.head)
	}
	return ids, nil
}

// Write implements [store.Log]. Its row in the log is of no run and no attempt.
func (d *userData) Write(ctx context.Context, threadID string, step store.Step) (string, error) {
	c := &commit{step: step, thread: threadID}
	err := d.check()
	if len(step.Updates) == 0 || len(step.Events) > 0 || step.Run != nil || step.Jobs != nil {
		err = errors.New("a step outside of a run has updates, no events and no jobs, and changes no run")
	}
	if err == nil {
		err = d.s.commit(ctx, func(t *tx, all []*commit) error {
			t.changed(d.user.ID(), threadID, nil)
			return d.checkIdle(t, all)
		}, c)
	}
	if err != nil {
		return "", fmt.Errorf("write checkpoint of thread %q: %w", threadID, err)
	}
	return c.id, nil
}

// cacheHead keeps the last new state, and drops the one that the first grew out of: they share most of their memory,
// which must not be counted twice.
func (s *Store) cacheHead(all []*commit) {
	var last *commit
	for _, c := range all {
		if c.id == "" {
			continue
		}
		if last == nil {
			s.cache.forget(c.from)
		}
		last = c
	}
	if last != nil {
		s.cache.put(&cached{thread: last.thread, id: last.id, state: last.step.State,
			bytes: max(last.base.snap, last.base.since)})
	}
}

// commit writes steps in one transaction. It tries again with a snapshot as often as one is due.
func (s *Store) commit(ctx context.Context, may check, all ...*commit) error {
	for i, c := range all {
		var err error
		if i > 0 && len(c.step.Updates) > 0 && c.step.Parent != "" {
			if slices.ContainsFunc(all[:i], func(c *commit) bool { return len(c.step.Updates) > 0 }) {
				return errors.New("only the first of several steps may name its parent; the others follow it")
			}
		}
		if c.body, err = encodeStep(c.fence, c.step); err != nil {
			return err
		}
		if _, err := rand.Read(c.random[:]); err != nil {
			return err
		}
	}
	for moved := 0; ; {
		size := 0
		for _, c := range all {
			size += c.size()
		}
		var due *commit
		err := s.writeRun(ctx, all[0].fence.RunID, size, func(t *tx) (err error) {
			due, err = writeSteps(t, may, all)
			return err
		})
		if errors.Is(err, errHeadMoved) && moved < attempts {
			moved++
			continue
		}
		if err == nil {
			s.cacheHead(all)
		}
		if !errors.Is(err, errSnapshotDue) {
			return err
		}
		if due.snapshot, err = due.step.State.AppendSnapshot(nil); err != nil {
			return err
		}
	}
}

func (c *commit) size() int { return len(c.body.updates) + len(c.body.events) + len(c.snapshot) }

// writeSteps writes steps of one run, each on the one before, behind one check of the fence and with one move of the
// head. It can be called again after a rollback. With an error comes the step that it is about.
func writeSteps(t *tx, may check, all []*commit) (*commit, error) {
	first := all[0]
	if err := may(t, all); err != nil {
		return first, err
	}
	for i, c := range all {
		if i > 0 {
			c.follow(all[i-1]) //nolint:gosec // i is above 0
		}
		if err := c.take(t); err != nil {
			return c, err
		}
		if err := c.place(t); err != nil {
			return c, err
		}
	}
	if err := insertLog(t, all); err != nil {
		return first, err
	}
	for _, c := range all {
		if err := c.insertSnapshot(t); err != nil {
			return c, err
		}
	}
	for _, c := range all {
		t.follow(first.user, c.thread, c.step.Now, c.step.Jobs...)
	}
	return first, moveHead(t, all)
}

// follow takes over what the step before knows of the thread.
func (c *commit) follow(before *commit) {
	c.thread, c.touched, c.base = before.thread, before.touched, before.base
	c.head, c.lastN = cmp.Or(before.id, before.head), max(before.lastN, before.body.last)
}

// place finds where the step belongs: its checkpoint, if it makes one, behind its parent and its events behind those
// that are there.
func (c *commit) place(t *tx) error {
	if c.body.first > 0 && c.body.first <= c.lastN {
		return fmt.Errorf("%w: event %d-%d comes after a later one, or is there already", store.ErrConflict,
			c.fence.Attempt, c.body.first)
	}
	if len(c.body.updates) == 0 {
		return nil
	}
	if err := c.findParent(t); err != nil {
		return err
	}
	return c.newCheckpoint()
}
