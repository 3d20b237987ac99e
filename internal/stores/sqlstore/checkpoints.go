package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

const checkpointColumns = "l.checkpoint_id, l.parent_id, l.thread_id, l.run_id, l.attempt, l.next, l.step, " +
	"l.first_n, l.created_at"

func scanCheckpoint(r scanner, more ...any) (store.Checkpoint, error) {
	var c store.Checkpoint
	var created int64
	err := r.Scan(append([]any{&c.ID, &c.ParentID, &c.ThreadID, &c.RunID, &c.Attempt, &c.Next, &c.Step, &c.First,
		&created}, more...)...)
	c.CreatedAt = database.TimeOf(created)
	return c, err
}

// Checkpoint implements [store.Log].
func (d *userData) Checkpoint(ctx context.Context, schema state.Schema, threadID, id string) (store.Checkpoint, error) {
	c, err := d.checkpoint(ctx, schema, threadID, id)
	if err != nil {
		return store.Checkpoint{}, fmt.Errorf("read checkpoint %q of thread %q: %w", id, threadID, err)
	}
	return c, nil
}

func (d *userData) checkpoint(ctx context.Context, schema state.Schema, threadID, id string) (store.Checkpoint, error) {
	if id == "" || id == store.Origin {
		head, err := d.newest(ctx, threadID)
		if err != nil {
			return store.Checkpoint{}, err
		}
		if id == store.Origin || head == "" {
			st, err := schema.Load(nil)
			return store.Checkpoint{State: st}, err
		}
		id = head
	}
	if st, ok := d.s.cache.get(schema, id); ok {
		c, err := row(ctx, d, d.user.ID(), threadID, id)
		c.State = st
		return c, err
	}
	h, err := readHistory(ctx, d, d.user.ID(), threadID, id)
	if err != nil {
		return store.Checkpoint{}, err
	}
	h.checkpoint.State, err = h.replay(schema)
	if err == nil {
		d.s.cache.put(&cached{thread: threadID, id: id, state: h.checkpoint.State, bytes: h.size()})
	}
	return h.checkpoint, err
}

// newest is the head of a thread; empty if it has no checkpoint.
func (d *userData) newest(ctx context.Context, threadID string) (head string, err error) {
	found := false
	err = d.read(ctx, "SELECT head FROM threads WHERE id = $1 AND user_id = $2", []any{threadID, d.user.ID()},
		func(r *sql.Rows) (bool, error) {
			found = true
			return false, r.Scan(&head)
		})
	if err == nil && !found {
		err = store.ErrNotFound
	}
	if err != nil {
		err = fmt.Errorf("read thread %q: %w", threadID, err)
	}
	return head, err
}

// row reads a checkpoint without its state.
func row(ctx context.Context, from reader, user, threadID, id string) (c store.Checkpoint, err error) {
	err = from.read(ctx, "SELECT "+checkpointColumns+" FROM log l WHERE l.thread_id = $1 AND l.checkpoint_id = $2 AND "+
		threadOf("$3"),
		[]any{threadID, id, user}, func(r *sql.Rows) (bool, error) {
			c, err = scanCheckpoint(r)
			return false, err
		})
	if err == nil && c.ID == "" {
		err = store.ErrNotFound
	}
	return c, err
}

// FirstCheckpoint implements [store.Log]. The index of events finds it as good as always: nearly every checkpoint is
// written with events. From there the parents lead to one without.
func (d *userData) FirstCheckpoint(ctx context.Context, runID string) (store.Checkpoint, error) {
	c, err := d.firstWith(ctx, runID, "l.run_id = $1 AND l.last_n > 0", "l.attempt, l.last_n")
	if err == nil && c.ID == "" {
		c, err = d.firstWith(ctx, runID, "l.thread_id = (SELECT thread_id FROM runs WHERE id = $1) AND l.run_id = $1",
			"l.checkpoint_id")
	}
	for err == nil && c.ParentID != "" {
		var p store.Checkpoint
		if p, err = row(ctx, d, d.user.ID(), c.ThreadID, c.ParentID); err != nil || p.RunID != runID {
			break
		}
		c = p
	}
	if err == nil && c.ID == "" {
		var known bool
		if known, err = d.hasRun(ctx, runID); err == nil && !known {
			err = store.ErrNotFound
		}
	}
	if err != nil {
		return store.Checkpoint{}, fmt.Errorf("read first checkpoint of run %q: %w", runID, err)
	}
	return c, nil
}

func (d *userData) firstWith(ctx context.Context, runID, where, order string) (c store.Checkpoint, err error) {
	err = d.read(ctx, "SELECT "+checkpointColumns+" FROM log l WHERE "+where+" AND l.checkpoint_id IS NOT NULL AND "+
		runOf("$1", "$2")+
		" ORDER BY "+order+" LIMIT 1", []any{runID, d.user.ID()}, func(r *sql.Rows) (bool, error) {
		c, err = scanCheckpoint(r)
		return false, err
	})
	return c, err
}

// history is what makes a state: a snapshot (nil means the empty state) and the deltas after it, newest first.
type history struct {
	checkpoint store.Checkpoint
	snapshot   []byte
	deltas     [][]byte
}

// readHistory walks from a checkpoint up its parents to the nearest snapshot. Ids grow from parent to child, so a scan
// downwards meets all of them; what it meets between them belongs to another branch. A scan ends at the next snapshot
// below, since a server sends the rest even if nobody reads it; when that was of another branch, there is one more
// scan.
func readHistory(ctx context.Context, from reader, user, threadID, id string) (h history, err error) {
	for want := id; ; {
		next, err := ancestors(ctx, from, user, threadID, want, &h)
		switch {
		case err != nil || next == "":
			return h, err
		case next != want:
			want = next
			continue
		}
		if _, err := row(ctx, from, user, threadID, id); err != nil {
			return h, err // deleted meanwhile, or never there
		}
		return h, fmt.Errorf("%w: its ancestor %q is missing", store.ErrCorrupt, want)
	}
}

// ancestors adds the checkpoint named want and those above it to the history, as far as one scan meets them. It
// returns the one to go on with: empty at the end, want itself if it is not there.
func ancestors(ctx context.Context, from reader, user, threadID, want string, h *history) (next string, err error) {
	err = from.read(ctx, "SELECT "+checkpointColumns+", l.updates, s.state FROM log l LEFT JOIN snapshots s "+
		"ON s.thread_id = l.thread_id AND s.checkpoint_id = l.checkpoint_id "+
		"WHERE l.thread_id = $1 AND l.checkpoint_id <= $2 AND l.checkpoint_id >= COALESCE("+
		"(SELECT max(checkpoint_id) FROM snapshots WHERE thread_id = $1 AND checkpoint_id <= $2), '') AND "+
		threadOf("$3")+
		" ORDER BY l.checkpoint_id DESC", []any{threadID, want, user}, func(r *sql.Rows) (bool, error) {
		var updates, snapshot []byte
		c, err := scanCheckpoint(r, &updates, &snapshot)
		if err != nil || c.ID != want {
			return true, err
		}
		if h.checkpoint.ID == "" {
			h.checkpoint = c
		}
		if h.snapshot = snapshot; snapshot == nil {
			h.deltas = append(h.deltas, updates)
		}
		if want = c.ParentID; snapshot != nil {
			want = ""
		}
		return want != "", nil
	})
	return want, err
}

// size is how many bytes the state was made of.
func (h history) size() int64 {
	n := len(h.snapshot)
	for _, d := range h.deltas {
		n += len(d)
	}
	return int64(n)
}

// replay makes the state.
func (h history) replay(schema state.Schema) (state.State, error) {
	st, err := schema.Load(nil)
	if h.snapshot != nil {
		st, err = schema.LoadSnapshot(h.snapshot)
	}
	if err != nil {
		return st, err
	}
	updates := make([][]byte, 0, len(h.deltas))
	for _, d := range slices.Backward(h.deltas) {
		us, err := decodeUpdates(d)
		if err != nil {
			return st, err
		}
		for _, u := range us {
			updates = append(updates, u.Writes)
		}
	}
	return st.Replay(updates...)
}

// Checkpoints implements [store.Log].
func (d *userData) Checkpoints(ctx context.Context, threadID, before string, limit int) ([]store.Checkpoint, error) {
	cs, err := d.checkpoints(ctx, threadID, before, limit)
	if err == nil && len(cs) == 0 {
		_, err = d.newest(ctx, threadID) // which tells whether there is such a thread
	}
	if err != nil {
		return nil, fmt.Errorf("list checkpoints of thread %q: %w", threadID, err)
	}
	return cs, nil
}

func (d *userData) checkpoints(ctx context.Context, threadID, before string, limit int) ([]store.Checkpoint, error) {
	if err := database.CheckLimit(limit, 1000); err != nil {
		return nil, err
	}
	if before == "" {
		before = "g" // greater than every UUID
	}
	var out []store.Checkpoint
	err := d.read(ctx, "SELECT "+checkpointColumns+" FROM log l WHERE l.thread_id = $1 AND l.checkpoint_id < $2 AND "+
		threadOf("$4")+
		" ORDER BY l.checkpoint_id DESC LIMIT $3", []any{threadID, before, limit, d.user.ID()},
		func(r *sql.Rows) (bool, error) {
			c, err := scanCheckpoint(r)
			out = append(out, c)
			return true, err
		})
	return out, err
}
