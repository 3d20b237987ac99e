package sqlstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// What one database dumps the other loads, with the same bytes in the next dump; it is checked and trimmed there, and
// goes back.
func TestFromSQLiteToPostgresAndBack(t *testing.T) {
	lite, back := open(t, t.TempDir()), open(t, t.TempDir())
	defer lite.Close()
	defer back.Close()
	server := openWith(t, postgresAt(t, t.TempDir()))
	defer server.Close()
	talks := furnish(t, lite)
	forked := newTalk(t, lite, 10)
	forked.begin("hello")
	ids := forked.fork(t)

	first := dumpOf(t, lite, "")
	move(t, first, server)
	if second := dumpOf(t, server, ""); second != first {
		t.Error("PostgreSQL's dump differs from SQLite's")
	}
	if a, b := dumpOf(t, lite, talks[1].thread), dumpOf(t, server, talks[1].thread); a != b {
		t.Error("the dumps of one thread differ")
	}
	if found := faults(t, server); len(found) > 0 {
		t.Errorf("a sound store has faults:\n%s", strings.Join(found, "\n"))
	}
	move(t, first, back)
	if _, err := server.Load(t.Context(), strings.NewReader(first), nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("load over threads: %v", err)
	}

	all := store.Retention{Chunks: talks[0].now.Add(time.Hour), Snapshots: talks[0].now.Add(time.Hour), Shrink: true}
	a, b := collect(t, lite, all), collect(t, server, all)
	if a.Shrunk, b.Shrunk = 0, 0; a != b || a.Messages == 0 || a.Snapshots == 0 {
		t.Errorf("collected %+v from SQLite and %+v from PostgreSQL", a, b)
	}
	if again := collect(t, server, all); again != (store.Collected{}) {
		t.Errorf("collected again: %+v", again)
	}
	if dumpOf(t, lite, "") != dumpOf(t, server, "") {
		t.Error("they differ after collecting")
	}
	for _, id := range ids {
		want, errA := back.For(ann()).Checkpoint(t.Context(), schema, forked.thread, id)
		got, errB := server.For(ann()).Checkpoint(t.Context(), schema, forked.thread, id)
		if d := diff(chats.Get(want.State), chats.Get(got.State)); d != "" || errA != nil || errB != nil {
			t.Fatalf("%v %v checkpoint %s (-want +got):\n%.300s", errA, errB, id, d)
		}
	}
	if found := faults(t, server); len(found) > 0 {
		t.Errorf("faults after collecting:\n%s", strings.Join(found, "\n"))
	}
	server.exec(t, "DELETE FROM log WHERE step = 5")
	if found := strings.Join(faults(t, server), "\n"); !strings.Contains(found,
		"the checkpoint before it is not in the log") {
		t.Errorf("a missing row is not found:\n%s", found)
	}
}

func move(t *testing.T, dump string, to *Store) {
	t.Helper()
	if _, err := to.Load(t.Context(), strings.NewReader(dump), nil); err != nil {
		t.Fatal(err)
	}
}

// A server lets a dump and a load pause for longer than it lets the transactions of runs.
func TestKeepingMayPause(t *testing.T) {
	cfg := postgresAt(t, t.TempDir())
	cfg.Lease = testLease
	s := openWith(t, cfg)
	defer s.Close()
	begin := time.Now()
	empty := "{\"kind\":\"pudu\",\"version\":1}\n{\"kind\":\"end\",\"threads\":0,\"runs\":0,\"log\":0,\"snapshots\":0}\n"
	_, err := s.Load(t.Context(), strings.NewReader(empty), func() error {
		time.Sleep(testLease + 500*time.Millisecond) // what is tested is that time passes
		return nil
	})
	if err != nil || time.Since(begin) < testLease {
		t.Errorf("error = %v", err)
	}
}

// Text that only SQLite takes becomes text that both take.
func TestLoadMakesTextPlain(t *testing.T) {
	s := openWith(t, postgresAt(t, t.TempDir()))
	defer s.Close()
	line := `{"kind":"thread","id":"a","user_id":"u","title":"a\u0000b","head":"","created_at":0,"updated_at":0,"metadata":{}}`
	move(t, "{\"kind\":\"pudu\",\"version\":1}\n"+line+
		"\n{\"kind\":\"end\",\"threads\":1,\"runs\":0,\"log\":0,\"snapshots\":0}\n", s)
	if th, err := s.Thread(t.Context(), "a"); err != nil || th.Title != "a\uFFFDb" {
		t.Errorf("title = %q, %v", th.Title, err)
	}
}

// After a restore on PostgreSQL an unfinished run has no living owner, and is taken over.
func TestLoadedRunIsAbandoned(t *testing.T) {
	lite := open(t, t.TempDir())
	defer lite.Close()
	tk := newTalk(t, lite, 1)
	tk.begin("unfinished")
	tk.human("hello")
	s := openWith(t, postgresAt(t, t.TempDir()))
	defer s.Close()
	move(t, dumpOf(t, lite, ""), s)
	left, err := s.Abandoned(t.Context(), "another", 10)
	if err != nil || len(left) != 1 || left[0].Status != event.StatusRunning {
		t.Fatalf("%+v, %v", left, err)
	}
	tk.s = s
	tk.fence, err = s.ClaimRun(t.Context(), left[0].ID, "another", left[0].Attempt, tk.now)
	tk.must(err)
	tk.n = 0
	st := tk.step("model", "end", chats.Append(chat{ID: "new", Type: "ai", Content: "here I am"}))
	st.Events[0].ID.Attempt = tk.fence.Attempt
	tk.commit(st)
}
