package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// faults verifies the store and returns what was found, a line each.
func faults(t *testing.T, s *Store) (found []string) {
	t.Helper()
	err := s.Verify(t.Context(), schema, store.Visitor{Problem: func(p store.Problem) {
		line := fmt.Sprintf("%s %s: %s", p.ThreadID, p.Row, p.Text)
		if p.Slow {
			line = "slow: " + line
		}
		found = append(found, line)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestVerifySound(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	talks := furnish(t, s)
	rewritten := newTalk(t, s, 9)
	rewritten.begin("hello")
	for i := range 40 {
		rewritten.commit(rewritten.step("model", "model", chats.Reset(chat{ID: "a", Content: rewritten.text(5000)}).
			With(turns.Put(i))))
	}
	forked := newTalk(t, s, 10)
	forked.begin("hello")
	forked.fork(t)
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("a sound store has faults:\n%s", strings.Join(found, "\n"))
	}
	heads := map[string]int{}
	err := s.Verify(t.Context(), schema, store.Visitor{Head: func(th store.Thread, st state.State) error {
		heads[th.ID] = len(chats.Get(st))
		return nil
	}})
	want := map[string]int{rewritten.thread: 1, forked.thread: len(chats.Get(forked.state))}
	for _, tk := range talks {
		want[tk.thread] = len(chats.Get(tk.state))
	}
	if d := cmp.Diff(want, heads); d != "" || err != nil {
		t.Errorf("heads (-want +got): %v\n%s", err, d)
	}
	stop := errors.New("stop")
	if err := s.Verify(t.Context(), schema,
		store.Visitor{Head: func(store.Thread, state.State) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("error = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Verify(ctx, schema, store.Visitor{}); err == nil {
		t.Error("a cancelled check succeeded")
	}
}

// fork writes two branches of a few checkpoints.
func (tk *talk) fork(t *testing.T) (ids []string) {
	t.Helper()
	on := func(parent string, from state.State) (string, state.State) {
		tk.state = from
		c := forkOf(tk.fence, tk.step("model", "model", chats.Append(chat{ID: tk.uuid(), Content: tk.text(3000)})),
			parent)
		tk.must(tk.s.commit(t.Context(), checkFence, c))
		ids = append(ids, c.id)
		return c.id, tk.state
	}
	root, at := on("", tk.state)
	left, right := root, root
	leftState, rightState := at, at
	for range 15 {
		left, leftState = on(left, leftState)
		right, rightState = on(right, rightState)
	}
	return ids
}

// TestVerifyFindsDamage changes a database behind the store's back, in ways that opening and reading elsewhere do not
// notice.
func TestVerifyFindsDamage(t *testing.T) {
	tests := []struct {
		name, damage string
		want         []string
	}{
		{"a byte of an update", // behind which a snapshot tells the truth
			"UPDATE log SET updates = CAST(replace(CAST(updates AS TEXT), 'first words', 'worst words') AS BLOB)",
			[]string{"its snapshot: it and the log differ in messages"}},
		{"a bracket of an update",
			"UPDATE log SET updates = CAST(replace(CAST(updates AS TEXT), '}]}]', '}]}}') AS BLOB) WHERE step = 12",
			[]string{": decode stored updates", ": decode stored updates", "cannot be continued"}},
		{"a value of an update", `UPDATE log SET updates = CAST(replace(CAST(updates AS TEXT), '"op":"append"', '"op":"apend"') AS BLOB) WHERE step = 12`,
			[]string{`: decode update: write 0: channel "messages" has no operation "apend"`, "cannot be continued"}},
		{"a row in the middle", "DELETE FROM log WHERE step = 12",
			[]string{"the checkpoint before it is not in the log",
				"cannot be continued: database is damaged: its ancestor"}},
		{"the newest row", "DELETE FROM log WHERE step = (SELECT max(step) FROM log)",
			[]string{"the thread's newest checkpoint is not in the log"}},
		{"the head", "UPDATE threads SET head = ''", []string{"does not know its newest"}},
		{"the newest snapshot", "DELETE FROM snapshots",
			[]string{"slow: ", "snapshot, the thread's newest, is missing"}},
		{"a byte of a snapshot",
			"UPDATE snapshots SET state = CAST(replace(CAST(state AS TEXT), 'first words', 'worst words') AS BLOB)",
			[]string{"its snapshot:"}},
		{"the form of a snapshot", "UPDATE snapshots SET state = x'00'", []string{"unknown format"}},
		{"a snapshot of nothing", "UPDATE snapshots SET checkpoint_id = 'x'",
			[]string{"belongs to a checkpoint that is not in the log"}},
		{"a byte of an event",
			`UPDATE log SET events = CAST(replace(CAST(events AS TEXT), '"kind":', '"kin":') AS BLOB) WHERE step = 2`,
			[]string{"kind"}},
		{"events", "UPDATE log SET events = NULL WHERE step = 2", []string{"are missing"}},
		{"numbers of events", "UPDATE log SET first_n = first_n + 1 WHERE step = 2",
			[]string{"its events are not those from"}},
		{"the order of events", "UPDATE log SET first_n = 1, last_n = 1 WHERE step = 3 OR step = 4",
			[]string{"do not come after those before", "its events are not those"}},
		{"an attempt", "UPDATE runs SET attempt = 0", []string{"attempt that never was"}},
		{"a run", "DELETE FROM runs", []string{"no run of the thread"}},
		{"a thread", "DELETE FROM threads",
			[]string{"the run belongs to no thread", "the log row belongs to no thread"}},
		{"a step", "UPDATE log SET step = 17 WHERE step = 3", []string{"does not follow"}},
		{"updates", "UPDATE log SET updates = NULL WHERE step = 3", []string{"checkpoint without updates"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, t.TempDir())
			defer s.Close()
			tk := newTalk(t, s, 1)
			tk.begin("hello")
			tk.human("my first words")
			tk.rewrite()
			for range 12 {
				tk.ai(tk.text(5000), true)
			}
			if found := faults(t, s); len(found) > 0 {
				t.Fatalf("faults before: %s", found)
			}
			s.exec(t, "PRAGMA foreign_keys = off")
			s.exec(t, tt.damage)
			all := strings.Join(faults(t, s), "\n")
			for _, want := range tt.want {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not found:\n%s", want, all)
				}
			}
			if !strings.Contains(all, tk.thread) {
				t.Errorf("the thread is not named:\n%s", all)
			}
			if slow := strings.HasPrefix(tt.want[0], "slow"); slow != strings.HasPrefix(all, "slow") {
				t.Errorf("slow = %v:\n%s", !slow, all)
			}
		})
	}
}

// An index that lost an entry is found by reading every page, which opening a large database does not do.
func TestVerifyReadsPages(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	newTalk(t, s, 1).turn(1000)
	s.exec(t, "PRAGMA writable_schema = on")
	s.exec(t, "DELETE FROM sqlite_schema WHERE name = 'runs_by_user'") // its pages belong to nothing now
	s.Close()
	s, err := Open(t.Context(), Config{Features: feature.All(), Dir: dir, CheckBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if found := faults(t, s); len(found) == 0 || !strings.Contains(found[0], "the database file is damaged") {
		t.Errorf("found %q", found)
	}
}
