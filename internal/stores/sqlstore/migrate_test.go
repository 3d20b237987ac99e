package sqlstore

import (
	"database/sql"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
)

// ofVersion2 are rows as version 2 wrote them: two threads, one with a run at its end and one that runs, the other with
// one that waits.
var ofVersion2 = []string{
	"INSERT INTO threads (id, user_id, title, head, created_at, updated_at, metadata) VALUES ('a', 'ann', 'A', '', 1, 2, '{}'), ('b', 'ann', 'B', '', 1, 2, '{}'), " +
		"('c', 'eve', '', '', 1, 2, '{\"deerflow_pinned\": true}'), ('d', 'eve', '', '', 1, 3, '{\"deerflow_pinned\":\"true\",\"n\":1}'), " +
		`('e', 'eve', '', '', 1, 4, '{"x":"\u0000","unpinned":1}')`,
	"INSERT INTO runs (id, thread_id, user_id, status, attempt, stalled, created_at, updated_at, owner, error, stop_reason, usage, request) VALUES " +
		"('done', 'a', 'ann', 'error', 2, 0, 3, 4, 'me', 'broke', 'limit', '{}', '[1]'), ('runs', 'a', 'ann', 'running', 1, 1, 5, 6, 'me', '', '', NULL, '[2]'), " +
		"('waits', 'b', 'ann', 'pending', 0, 0, 7, 8, '', '', '', NULL, NULL)",
}

// TestMigrationFromVersion2: what was there before runs could wait is there afterwards, and goes on by the new rules.
func TestMigrationFromVersion2(t *testing.T) {
	dir := t.TempDir()
	lite := openDB(t, sqlite{path: filepath.Join(dir, FileName)})
	writeVersion2(t, lite, goose.DialectSQLite3, "migrations/sqlite")
	url := pg.Database(t)
	d, err := newServer(Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	writeVersion2(t, d.open(2, false), goose.DialectPostgres, "migrations/postgres", goose.WithTableName(versionTable))
	for name, cfg := range map[string]Config{"sqlite": {Dir: dir, Logger: discard},
		"postgres": {URL: url, Logger: discard}} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, cfg)
			defer s.Close()
			testMigrated(t, s)
		})
	}
}

func writeVersion2(t *testing.T, db *sql.DB, dialect goose.Dialect, folder string, o ...goose.ProviderOption) {
	t.Helper()
	defer db.Close()
	old := fstest.MapFS{}
	for _, name := range []string{"00001_init.sql", "00002_init.sql", "00002_recovery.sql"} {
		if data, err := fs.ReadFile(migrations, folder+"/"+name); err == nil {
			old[name] = &fstest.MapFile{Data: data}
		}
	}
	provider, err := goose.NewProvider(dialect, db, old,
		append(o, goose.WithDisableGlobalRegistry(true), goose.WithSlog(discard))...)
	if err == nil {
		_, err = provider.Up(t.Context())
	}
	for _, query := range ofVersion2 {
		if err == nil {
			_, err = db.ExecContext(t.Context(), query)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDatabaseOfVersion4 opens a file that a program of version 4 has written: a thread of four runs of 12 messages,
// whose snapshot came at the first 32 KB of deltas, and one run that was cut off behind its question; two items.
func TestDatabaseOfVersion4(t *testing.T) {
	const thread, run = "ff4ae39f-4fb8-7bb4-1a3d-1e601c115a0b", "c15000cb-ebe2-727f-f286-76973aa2c94e"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), unzipped(t, "version4.db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openWith(t, Config{Dir: dir, Logger: discard})
	defer s.Close()
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("faults: %v", found)
	}
	th, err := s.Thread(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.For(access.FromRow(th.UserID)).Checkpoint(t.Context(), schema, thread, "")
	if err != nil || len(chats.Get(c.State)) != 49 {
		t.Fatalf("%d messages, %v", len(chats.Get(c.State)), err)
	}
	is, err := items.New(s).For(ann()).
		Search(t.Context(), items.Filter{Query: "deer", Access: items.Access{Now: time.Now()}})
	if err != nil || len(is) != 2 {
		t.Errorf("%d items, %v", len(is), err)
	}
	tk := &talk{tb: t, s: s, thread: thread, n: 2, state: c.State, now: c.CreatedAt, rnd: rand.New(rand.NewPCG(2, 1))}
	tk.fence = store.Fence{RunID: run, Attempt: 1}
	for range 60 {
		tk.ai(tk.text(1000), true)
	}
	tk.end()
	s.cache.forgetThread(thread)
	if c, err = s.For(access.FromRow(th.UserID)).Checkpoint(t.Context(), schema, thread, ""); err != nil ||
		len(chats.Get(c.State)) != 49+60 {
		t.Errorf("%d messages, %v", len(chats.Get(c.State)), err)
	}
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("faults: %v", found)
	}
}

// TestMigrationOfItems: an item of version 4 stays, for ever, and what is found by it too.
func TestMigrationOfItems(t *testing.T) {
	dir, url := t.TempDir(), pg.Database(t)
	d, err := newServer(Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	lite := openDB(t, sqlite{path: filepath.Join(dir, FileName)})
	for _, old := range []struct {
		db      *sql.DB
		dialect goose.Dialect
		folder  string
		options []goose.ProviderOption
	}{
		{lite, goose.DialectSQLite3, "migrations/sqlite", nil},
		{d.open(2, false), goose.DialectPostgres, "migrations/postgres",
			[]goose.ProviderOption{goose.WithTableName(versionTable)}},
	} {
		files, err := fs.Sub(migrations, old.folder)
		if err != nil {
			t.Fatal(err)
		}
		provider, err := goose.NewProvider(old.dialect, old.db, files,
			append(old.options, goose.WithDisableGlobalRegistry(true), goose.WithSlog(discard))...)
		if err == nil {
			_, err = provider.UpTo(t.Context(), 4)
		}
		if err == nil {
			_, err = old.db.ExecContext(t.Context(), "INSERT INTO items (user_id, namespace, key, created_at, updated_at, value) VALUES ('ann', '\x01a\x01', 'k', 1, 2, '{\"t\": \"x\"}')")
		}
		if err != nil {
			t.Fatal(err)
		}
		old.db.Close()
	}
	want := items.Item{Namespace: []string{"a"}, Key: "k", Value: []byte(`{"t": "x"}`), CreatedAt: database.TimeOf(1),
		UpdatedAt: database.TimeOf(2), Score: 1}
	for name, cfg := range map[string]Config{"sqlite": {Dir: dir, Logger: discard},
		"postgres": {URL: url, Logger: discard}} {
		s := openWith(t, cfg)
		defer s.Close()
		is, err := items.New(s).For(ann()).
			Search(t.Context(), items.Filter{Query: "X", Access: items.Access{Now: time.Now(), Refresh: true}})
		if d := cmp.Diff([]items.Item{want}, is); d != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", name, err, d)
		}
		if found := faults(t, s); len(found) > 0 {
			t.Errorf("%s: faults: %v", name, found)
		}
	}
}

func testMigrated(t *testing.T, s *Store) {
	testMigratedThreads(t, s)
	rs, err := s.ListRuns(t.Context(), store.RunFilter{})
	want := []store.Run{
		{ID: "waits", ThreadID: "b", UserID: "ann", Status: event.StatusPending, CreatedAt: database.TimeOf(7),
			UpdatedAt: database.TimeOf(8)},
		{ID: "runs", ThreadID: "a", UserID: "ann", Status: event.StatusRunning, Attempt: 1, Stalled: 1, Owner: "me",
			Request:   []byte("[2]"),
			CreatedAt: database.TimeOf(5), UpdatedAt: database.TimeOf(6)},
		{ID: "done", ThreadID: "a", UserID: "ann", Status: event.StatusError, Attempt: 2, Owner: "me", Error: "broke",
			StopReason: "limit",
			Usage:      []byte("{}"), Request: []byte("[1]"), CreatedAt: database.TimeOf(3),
			UpdatedAt: database.TimeOf(4)},
	}
	if d := cmp.Diff(want, rs); d != "" || err != nil {
		t.Fatalf("runs (-want +got): %v\n%s", err, d)
	}
	for _, thread := range []string{"a", "b"} {
		a := admission("next-"+thread, thread)
		a.Thread.UserID, a.Run.UserID, a.Run.Owner, a.Strategy = "ann", "ann", "me", store.Enqueue
		if r, err := s.For(ann()).Admit(t.Context(), a); err != nil || r.Status != event.StatusPending {
			t.Errorf("admitted behind: %+v, %v", r, err)
		}
	}
	if rs, err := s.Waiting(t.Context(), time.Now(), 10); err != nil || len(rs) != 1 || rs[0].ID != "waits" {
		t.Errorf("waiting: %+v, %v", rs, err)
	}
	if found := faults(t, s); len(found) > 0 {
		t.Errorf("faults: %v", found)
	}
}
