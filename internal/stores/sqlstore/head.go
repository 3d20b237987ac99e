package sqlstore

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// What a step needs to know of its thread t.
const (
	headColumns = "t.head, t.updated_at, COALESCE(l.step, -1), COALESCE(l.since, 0), COALESCE(l.snap, 0)"
	joinHead    = " LEFT JOIN log l ON l.thread_id = t.id AND l.checkpoint_id = t.head"
)

// headCells are where headColumns are read to.
func (c *commit) headCells() []any {
	return []any{&c.head, &c.touched, &c.base.step, &c.base.since, &c.base.snap}
}

// findHead reads where the thread stands.
func (c *commit) findHead(t *tx) error {
	err := t.scan("SELECT "+headColumns+" FROM threads t"+joinHead+" WHERE t.id = $1", []any{c.thread},
		c.headCells()...)
	if err != nil {
		return fmt.Errorf("read head of thread %q: %w", c.thread, err)
	}
	return c.checkHead()
}

// checkHead makes sure of what was read of the head.
func (c *commit) checkHead() error {
	switch {
	case c.head == "":
		c.base = parent{}
	case c.base.step < 0:
		return fmt.Errorf("checkpoint %q, the head of thread %q, is missing: %w", c.head, c.thread, store.ErrCorrupt)
	}
	return nil
}

// findParent puts the step on its parent, if that is not the head.
func (c *commit) findParent(t *tx) error {
	if c.step.OnHead && c.step.Parent != cmp.Or(c.head, store.Origin) {
		return fmt.Errorf("%w: the head of the thread has moved", store.ErrConflict)
	}
	c.from = c.head
	switch c.step.Parent {
	case "", c.head:
		return nil
	case store.Origin:
		c.from, c.base = "", parent{}
		return nil
	}
	c.from = c.step.Parent
	err := t.scan("SELECT step, since, snap FROM log WHERE thread_id = $1 AND checkpoint_id = $2",
		[]any{c.thread, c.from}, &c.base.step, &c.base.since, &c.base.snap)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("checkpoint %q: %w", c.from, store.ErrNotFound)
	}
	return err
}

// newCheckpoint names the checkpoint and decides about a snapshot. One is due when the deltas since the last are more
// than twice as much as the state, and on a fork, so that the deltas to be read for a state always stand side by side.
// A state that has only grown is hardly less than its deltas: a snapshot would be all of it once more, and is put off
// until there are half as many deltas again.
func (c *commit) newCheckpoint() (err error) {
	if c.id, err = nextCheckpointID(c.head, c.step.Now, c.random); err != nil {
		return err
	}
	c.base.step++
	c.base.since += int64(len(c.body.updates))
	fork := c.from != c.head
	if c.snapshot == nil {
		if fork || c.base.since > max(2*c.base.snap, snapshotFloor) {
			return errSnapshotDue
		}
		return nil
	}
	size := int64(len(c.snapshot))
	if c.keep = fork || c.base.since > 2*size; c.keep {
		c.base.since, c.base.snap = 0, size
	} else {
		c.base.snap = max(size, c.base.since*3/4)
	}
	return nil
}

// touchEvery is how exact the time is at which a thread was last used. Each change of it costs a page of an index.
const touchEvery = time.Second

// moveHead is the last statement of steps that change their thread. It finds no row if another transaction has moved
// the head since findParent, or removed the thread.
func moveHead(t *tx, all []*commit) error {
	first, last := all[0], all[len(all)-1]
	head := cmp.Or(last.id, last.head)
	var title any
	ended := false
	for _, c := range all {
		if c.step.Title != nil {
			title = database.Plain(*c.step.Title)
		}
		ended = ended || c.ends()
	}
	touch := ended || last.step.Now.Sub(database.TimeOf(first.touched)).Abs() >= touchEvery
	if head == first.head && title == nil && !touch {
		return nil
	}
	text, args := "UPDATE threads SET head = $2", []any{first.thread, head, first.head}
	set := func(column string, value any) {
		args = append(args, value)
		text += ", " + column + " = $" + strconv.Itoa(len(args))
	}
	if title != nil {
		set("title", title)
	}
	if touch {
		set("updated_at", database.Micros(last.step.Now))
	}
	if title != nil {
		t.isNew(first.user, first.thread, nil)
	}
	n, err := t.change(text+" WHERE id = $1 AND head = $3", args...)
	if err == nil && n == 0 {
		err = errHeadMoved
	}
	return err
}
