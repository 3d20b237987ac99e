package sqlstore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// snapshots returns the sizes of what is kept, oldest first.
func (tk *talk) snapshots() (sizes []int64) {
	tk.tb.Helper()
	rows, err := tk.s.readers.QueryContext(tk.tb.Context(),
		"SELECT bytes FROM snapshots WHERE thread_id = ?1 ORDER BY checkpoint_id", tk.thread)
	tk.must(err)
	defer rows.Close()
	for rows.Next() {
		var n int64
		tk.must(rows.Scan(&n))
		sizes = append(sizes, n)
	}
	tk.must(rows.Err())
	return sizes
}

// A state that only grows needs no snapshot: loading reads no more deltas than three times the state.
func TestSnapshotsOfGrowingState(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	for range 300 {
		tk.human(tk.text(1000))
		th, err := s.Thread(t.Context(), tk.thread)
		tk.must(err)
		h, err := readHistory(t.Context(), s, tk.user, tk.thread, th.Head)
		tk.must(err)
		whole, err := tk.state.AppendSnapshot(nil)
		tk.must(err)
		if limit := max(snapshotFloor, 3*len(whole)); h.size() > int64(limit) {
			t.Fatalf("%d bytes are read for a state of %d", h.size(), len(whole))
		}
	}
	if got := tk.snapshots(); len(got) != 0 {
		t.Errorf("snapshots of %v bytes are kept, want none", got)
	}
}

// A state that is rewritten all the time keeps its snapshots, each paid for by the deltas after it.
func TestSnapshotsOfRewrittenState(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	var deltas int64
	for range 100 {
		u := chats.Reset(chat{ID: "a", Content: tk.text(5000)})
		raw, err := u.AppendJSON(nil)
		tk.must(err)
		deltas += int64(len(raw))
		tk.commit(tk.step("model", "model", u))
	}
	kept := tk.snapshots()
	var total int64
	for _, n := range kept {
		total += n
	}
	if len(kept) < 5 || total > deltas {
		t.Errorf("%d snapshots of %d bytes for %d bytes of deltas", len(kept), total, deltas)
	}
}

// A fork stands on an older checkpoint; both branches load as they were written, from wherever one looks.
func TestForks(t *testing.T) {
	for name, s := range map[string]*Store{"sqlite": open(t, t.TempDir()), "postgres": dial(t)} {
		t.Run(name, func(t *testing.T) {
			defer s.Close()
			testForks(t, s)
		})
	}
}

func testForks(t *testing.T, s *Store) {
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	type point struct {
		id    string
		state state.State
		step  int
	}
	var all []point
	on := func(parent point) point {
		tk.state = parent.state
		c := forkOf(tk.fence, tk.step("model", "model", chats.Append(chat{ID: tk.uuid(), Content: tk.text(3000)})),
			parent.id)
		tk.must(s.commit(t.Context(), checkFence, c))
		p := point{id: c.id, state: tk.state, step: parent.step + 1}
		all = append(all, p)
		return p
	}
	root := on(point{})
	left, right := root, root
	for range 15 {
		left = on(left)
	}
	right = on(right)
	if h, err := readHistory(t.Context(), s, tk.user, tk.thread, right.id); err != nil || h.snapshot == nil ||
		len(h.deltas) > 0 {
		t.Errorf("a fork reads %d deltas and a snapshot of %d bytes, %v; want a snapshot of its own", len(h.deltas),
			len(h.snapshot), err)
	}
	for range 60 { // grows until the snapshot at the fork is dropped
		right = on(right)
	}
	left = on(left)
	on(right)
	on(left)
	s.cache.forgetThread(tk.thread) // read them all from the database
	for i, p := range all {
		c, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, p.id)
		tk.must(err)
		if c.Step != p.step {
			t.Errorf("checkpoint %d has step %d, want %d", i, c.Step, p.step)
		}
		if d := diff(chats.Get(p.state), chats.Get(c.State)); d != "" {
			t.Fatalf("checkpoint %d (-want +got):\n%.500s", i, d)
		}
	}
	c := forkOf(tk.fence, tk.step("model", "model", turns.Put(1)), "nobody")
	if err := s.commit(t.Context(), checkFence, c); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("fork of nothing: %v", err)
	}
}

// A log with a hole is reported, not loaded as another state.
func TestMissingAncestor(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	for i := range 4 {
		tk.human(fmt.Sprint(i))
	}
	s.exec(t, "DELETE FROM log WHERE step = 2")
	s.cache.forgetThread(tk.thread)
	if _, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, ""); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error = %v, want %v", err, store.ErrCorrupt)
	}
}
