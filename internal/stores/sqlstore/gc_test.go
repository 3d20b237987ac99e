package sqlstore

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

func collect(t *testing.T, s *Store, r store.Retention) store.Collected {
	t.Helper()
	c, err := s.Collect(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A message loses the boundaries of its chunks and nothing else; events of other kinds lose nothing.
func TestCollectChunks(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.turn(2000)
	tk.begin("with chunks in other places")
	tk.commit(tk.step("model", "end", turns.Put(1), event.Custom{Value: json.RawMessage(`{"x":1,"chunks":[1]}`)},
		event.Message{MessageID: `m,"chunks":[`, First: 3, Chunks: []event.Cut{{Text: 3, Args: []int{0, 1}}}}))
	middle := tk.now.Add(time.Millisecond)
	tk.ai(tk.text(500), true)
	run := tk.fence.RunID
	want, err := s.For(ann()).Events(t.Context(), run, event.ID{}, 100)
	tk.must(err)

	dry := collect(t, s, store.Retention{Chunks: middle, DryRun: true})
	if again, err := s.For(ann()).Events(t.Context(), run, event.ID{}, 100); err != nil || !cmp.Equal(want, again) {
		t.Errorf("a dry run changed the events, %v", err)
	}
	got := collect(t, s, store.Retention{Chunks: middle})
	if got != dry || got.Messages != 2 || got.Bytes <= 0 {
		t.Errorf("collected %+v, dry %+v", got, dry)
	}
	for i, e := range want {
		if m, ok := e.Data.(event.Message); ok && e.Time.Before(middle) {
			m.Chunks = nil
			want[i].Data = m
		}
	}
	have, err := s.For(ann()).Events(t.Context(), run, event.ID{}, 100)
	if d := diff(want, have); d != "" || err != nil {
		t.Errorf("events (-want +got): %v\n%s", err, d)
	}
	if again := collect(t, s, store.Retention{Chunks: middle}); again != (store.Collected{}) {
		t.Errorf("collected again: %+v", again)
	}
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("faults: %s", found)
	}
}

// A log of more rows than go into one transaction is done to its end.
func TestCollectManyChunks(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	s.exec(t, "PRAGMA synchronous = off")
	tk.begin("hello")
	for range trimRows*2 + 3 {
		tk.ai(tk.text(200), true)
	}
	if c := collect(t, s, store.Retention{Chunks: tk.now.Add(time.Second)}); c.Messages != trimRows*2+3 {
		t.Errorf("collected %+v", c)
	}
}

// FuzzTrimChunks: whatever is in the column, what comes out has the same events but for their chunks.
func FuzzTrimChunks(f *testing.F) {
	f.Add([]byte(`[{"id":"1-1","time":"2026-01-01T00:00:00Z","kind":"message","data":{"message_id":"a","first":1,"chunks":[{"t":1},{"a":[0,2]}]}}]`))
	f.Add([]byte(`[{"id":"1-1","time":"2026-01-01T00:00:00Z","kind":"custom","data":{"value":{"a":1,"chunks":[]}}}]`))
	f.Add([]byte(`[{"kind":"message","x":{"y":1,"chunks":[1]},"data":{}}, 7]`))
	f.Add([]byte(`,"chunks":[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, n := trimChunks(raw)
		if n == 0 {
			if string(out) != string(raw) {
				t.Error("changed without trimming")
			}
			return
		}
		var before, after []event.Event
		if json.Unmarshal(raw, &before) != nil {
			return
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%s became %s: %v", raw, out, err)
		}
		if _, again := trimChunks(out); again >= n && strings.Count(string(out), "chunks") == strings.Count(string(raw),
			"chunks") {
			t.Errorf("nothing was trimmed: %s", out)
		}
		for i := range before {
			if m, ok := before[i].Data.(event.Message); ok {
				m.Chunks = nil
				before[i].Data = m
			}
			if m, ok := after[i].Data.(event.Message); ok {
				m.Chunks = nil
				after[i].Data = m
			}
		}
		if d := diff(before, after); d != "" {
			t.Error(d)
		}
	})
}

// history is a random tree of checkpoints with the states that were committed.
type randomTree struct {
	*talk
	ids    []string
	states map[string]state.State
	times  map[string]time.Time
}

func grow(t *testing.T, rt *rapid.T, s *Store, seed uint64) *randomTree {
	g := &randomTree{talk: newTalk(t, s, seed), states: map[string]state.State{}, times: map[string]time.Time{}}
	g.begin("hello")
	for range rapid.IntRange(1, 40).Draw(rt, "checkpoints") {
		parent := ""
		if len(g.ids) > 0 {
			parent = g.ids[len(g.ids)-1]
			if rapid.IntRange(0, 5).Draw(rt, "fork") == 0 {
				parent = rapid.SampledFrom(g.ids).Draw(rt, "parent")
			}
		}
		g.state = g.states[parent]
		u := chats.Append(chat{ID: g.uuid(), Content: g.text(rapid.IntRange(10, 20_000).Draw(rt, "bytes"))})
		if rapid.IntRange(0, 3).Draw(rt, "reset") == 0 {
			u = chats.Reset(chat{ID: g.uuid(), Content: g.text(9000)})
		}
		c := forkOf(g.fence, g.step("model", "model", u), parent)
		g.must(s.commit(t.Context(), checkFence, c))
		g.ids = append(g.ids, c.id)
		g.states[c.id], g.times[c.id] = g.state, g.now
	}
	return g
}

// Whatever the history and the retention: every checkpoint loads as before, the head and later ones as quickly as
// before, a second time nothing is left to do, and the thread goes on.
func TestCollectKeepsEveryCheckpoint(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	s.exec(t, "PRAGMA synchronous = off")
	dropped, seed := int64(0), uint64(0)
	keeps := func(rt *rapid.T) {
		seed++ // no two threads have one id
		g := grow(t, rt, s, seed)
		before := g.times[rapid.SampledFrom(g.ids).Draw(rt, "cutoff")].Add(time.Duration(rapid.IntRange(-1, 1).
			Draw(rt, "more")) * time.Second)
		base := map[string]string{}
		tree, err := s.tree(t.Context(), g.thread)
		g.must(err)
		for _, id := range g.ids {
			base[id] = tree.base(id)
		}
		r := store.Retention{Snapshots: before, Chunks: before}
		dropped += collect(t, s, r).Snapshots
		if again := collect(t, s, r); again != (store.Collected{}) {
			rt.Errorf("collected again: %+v", again)
		}
		if tree, err = s.tree(t.Context(), g.thread); err != nil {
			rt.Fatal(err)
		}
		s.cache.forgetThread(g.thread)
		for i, id := range g.ids {
			c, err := s.For(ann()).Checkpoint(t.Context(), schema, g.thread, id)
			if err != nil {
				rt.Fatal(err)
			}
			if d := diff(chats.Get(g.states[id]), chats.Get(c.State)); d != "" {
				rt.Fatalf("checkpoint %d (-want +got):\n%.300s", i, d)
			}
			if recent := !g.times[id].Before(before); (recent || id == tree.head) && tree.base(id) != base[id] {
				rt.Errorf("checkpoint %d was read from %q and is now from %q", i, base[id], tree.base(id))
			}
		}
		g.state = g.states[g.ids[len(g.ids)-1]]
		g.human("and on it goes")
		if c, err := s.For(ann()).Checkpoint(t.Context(), schema, g.thread, ""); err != nil ||
			len(chats.Get(c.State)) != len(chats.Get(g.state)) {
			rt.Errorf("%d messages, %v", len(chats.Get(c.State)), err)
		}
	}
	for tries := 20; dropped == 0 && tries > 0; tries-- { // few threads have a snapshot that can go
		rapid.Check(t, keeps)
	}
	if dropped == 0 {
		t.Error("no snapshot was ever dropped")
	}
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("faults: %s", found)
	}
}

// TestCollectBesideABranch: the newest snapshot is one of a side branch, as after a restore that left the head's own
// out. It stays, and so does the older one that the head is read from; one that serves neither goes.
func TestCollectBesideABranch(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	on := func(parent string, u state.Update) string {
		c := forkOf(tk.fence, tk.step("model", "model", u), parent)
		tk.must(s.commit(t.Context(), checkFence, c))
		return c.id
	}
	short := func() state.Update { return chats.Reset(chat{ID: tk.uuid(), Content: tk.text(1000)}) }
	root, left := on("", short()), on("", short())
	idle := on(root, short()) // a branch begins with a snapshot
	served := on(left, short())
	main := on("", short())
	side := on(idle, short())
	head := on(main, short())
	s.exec(t, "DELETE FROM snapshots WHERE checkpoint_id = '"+head+"'")
	if c := collect(t, s, store.Retention{Snapshots: tk.now.Add(time.Hour)}); c.Snapshots != 1 {
		t.Errorf("%d snapshots dropped, want 1", c.Snapshots)
	}
	tree, err := s.tree(t.Context(), tk.thread)
	tk.must(err)
	for id, want := range map[string]string{head: served, side: side, idle: ""} {
		if got := tree.base(id); got != want {
			t.Errorf("%q is read from %q, want %q", id, got, want)
		}
	}
}

// Free room goes back to the disk when it is much, while the store stays in use.
func TestCollectShrinks(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	keep := newTalk(t, s, 1)
	keep.turn(1000)
	gone := newTalk(t, s, 2)
	for range 100 {
		gone.turn(10_000)
	}
	s.exec(t, "PRAGMA wal_checkpoint(TRUNCATE)")
	keep.must(s.For(ann()).DeleteThread(t.Context(), gone.thread))
	before := fileSize(t, dir)
	if c := collect(t, s, store.Retention{Shrink: true, DryRun: true}); c.Shrunk != 0 || fileSize(t, dir) != before {
		t.Errorf("a dry run shrank the file: %+v", c)
	}
	c := collect(t, s, store.Retention{Shrink: true})
	if after := fileSize(t, dir); c.Shrunk < 1<<20 || after > before-1<<20 {
		t.Errorf("%+v; the file had %d bytes and has %d", c, before, after)
	}
	keep.turn(1000)
	if c := collect(t, s, store.Retention{Shrink: true}); c.Shrunk != 0 {
		t.Errorf("shrank again: %+v", c)
	}
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("faults: %s", found)
	}
}

func fileSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A store that is open for reading only counts and drops nothing.
func TestCollectReadOnly(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.turn(2000)
	reader, err := Open(t.Context(), Config{Features: feature.All(), Dir: dir, ReadOnly: true})
	tk.must(err)
	defer reader.Close()
	later := tk.now.Add(time.Hour)
	if c := collect(t, reader, store.Retention{Chunks: later, DryRun: true}); c.Messages != 1 {
		t.Errorf("%+v", c)
	}
	if _, err := reader.Collect(t.Context(), store.Retention{Chunks: later}); err == nil ||
		!strings.Contains(fmt.Sprint(err), "reading only") {
		t.Errorf("error = %v", err)
	}
}
