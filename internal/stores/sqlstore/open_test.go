package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
)

// wantOpen opens the folder, which must fail with target and name each of the parts.
func wantOpen(t *testing.T, cfg Config, target error, parts ...string) {
	t.Helper()
	cfg.Features = feature.All()
	s, err := Open(t.Context(), cfg)
	if err == nil {
		s.Close()
		t.Fatalf("Open succeeded, want %v", target)
	}
	if target != nil && !errors.Is(err, target) {
		t.Errorf("Open: %v, want %v", err, target)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("Open: %q does not say %q", err, p)
		}
	}
}

// written makes a closed database that holds a thread with a few pages of talk.
func written(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	tk := newTalk(t, s, 1)
	for range 20 {
		tk.turn(2 << 10)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, FileName)
}

func TestOpenRefusesDamage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, file string)
	}{
		{"not a database", func(t *testing.T, file string) { overwrite(t, file, 0, strings.Repeat("hello ", 4000)) }},
		{"short text", func(t *testing.T, file string) { truncate(t, file, 0); overwrite(t, file, 0, "hello") }},
		{"cut in half", func(t *testing.T, file string) { truncate(t, file, 64<<10) }},
		{"cut in a page", func(t *testing.T, file string) { truncate(t, file, 64<<10+100) }},
		{"last page missing", func(t *testing.T, file string) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			truncate(t, file, info.Size()-pageSize)
		}},
		{"page overwritten", func(t *testing.T, file string) {
			for page := int64(1); page < 12; page++ {
				overwrite(t, file, page*pageSize, strings.Repeat("x", pageSize))
			}
		}},
		{"of another program", func(t *testing.T, file string) {
			truncate(t, file, 0)
			raw(t, file, "CREATE TABLE notes (text TEXT)")
		}},
		{"of another program with its mark",
			func(t *testing.T, file string) { raw(t, file, "PRAGMA application_id = 42") }},
		{"without version", func(t *testing.T, file string) { raw(t, file, "DROP TABLE goose_db_version") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, file := written(t)
			tt.damage(t, file)
			wantOpen(t, Config{Dir: dir}, store.ErrCorrupt, file, "backup", "move it away")
			wantOpen(t, Config{Dir: dir, ReadOnly: true}, store.ErrCorrupt, file)
		})
	}
}

// TestACheckThatIsCutOffIsNoDamage: a start that is stopped while it looks at the pages has found nothing.
func TestACheckThatIsCutOffIsNoDamage(t *testing.T) {
	_, file := written(t)
	if err := os.WriteFile(file+"-wal", []byte("x"), 0o600); err != nil { // so that nothing is asked before
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (sqlite{path: file}).check(ctx, nil, 1<<40); !errors.Is(err, context.Canceled) ||
		errors.Is(err, store.ErrCorrupt) {
		t.Errorf("error = %v", err)
	}
}

// A database too large for the check of every page still gets the check of its length.
func TestOpenLargeChecksLength(t *testing.T) {
	dir, file := written(t)
	truncate(t, file, 64<<10)
	wantOpen(t, Config{Dir: dir, CheckBytes: 1}, store.ErrCorrupt, file)
}

func overwrite(t *testing.T, file string, at int64, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(text), at); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, file string, size int64) {
	t.Helper()
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
}

// raw runs a statement on the file without the store.
func raw(t *testing.T, file, query string) {
	t.Helper()
	db := openDB(t, sqlite{path: file})
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatal(err)
	}
}

func TestOpenNewerVersion(t *testing.T) {
	dir, file := written(t)
	raw(t, file, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)")
	wantOpen(t, Config{Dir: dir}, store.ErrNewer, file, "version 99", "newer program")
	wantOpen(t, Config{Dir: dir, ReadOnly: true}, store.ErrNewer)
}

func TestOpenBadFolder(t *testing.T) {
	wantOpen(t, Config{}, nil, "no data folder")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantOpen(t, Config{Dir: file}, nil, file)
	wantOpen(t, Config{Dir: filepath.Join(t.TempDir(), "none"), ReadOnly: true}, store.ErrNotFound, "none")
}

// Any name of a folder works, and is made if need be.
func TestOpenOddFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c=1&d#e%41+ä", "deep")
	s := open(t, dir)
	newTalk(t, s, 1).turn(1000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, FileName)); err != nil {
		t.Error(err)
	}
	s = open(t, dir)
	defer s.Close()
	if ts, err := readThreads(t.Context(), s, "SELECT "+threadFields+" FROM threads t"); err != nil || len(ts) != 1 {
		t.Errorf("%d threads, %v", len(ts), err)
	}
}

// version is the newest that this program knows.
var version, _ = newest(feature.All())

// newer is the program's migrations and one more.
func newer(t *testing.T, folder, query string) fs.FS {
	all := fstest.MapFS{fmt.Sprintf("%05d_more.sql", version+1): {Data: []byte("-- +goose Up\n" + query)}}
	own, err := lineOf(feature.All(), strings.TrimPrefix(folder, "migrations/"))
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(own, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(own, name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: data}
	}
	return all
}

func TestMigrationKeepsBackup(t *testing.T) {
	dir, file := written(t)
	cfg := Config{Features: feature.All(), Dir: dir, CheckBytes: 1 << 30,
		Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }}
	cfg.Logger = discard
	d := sqlite{path: file}
	db := openDB(t, d)
	if err := migrate(t.Context(), db, d, cfg,
		newer(t, "migrations/sqlite", "ALTER TABLE threads ADD COLUMN extra TEXT;")); err != nil {
		t.Fatal(err)
	}
	if v, err := d.version(t.Context(), db); err != nil || int(v) != version+1 {
		t.Errorf("version = %d, %v", v, err)
	}
	db.Close()
	wantOpen(t, Config{Dir: dir}, store.ErrNewer) // this program does not know that version

	backup := fmt.Sprintf("%s.v%d-20260304T050607Z.bak", file, version)
	if err := os.Rename(backup, file); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	defer s.Close()
	ts, err := readThreads(t.Context(), s, "SELECT "+threadFields+" FROM threads t")
	if err != nil || len(ts) != 1 {
		t.Fatalf("%d threads in the backup, %v", len(ts), err)
	}
	if cs, err := s.For(ann()).Checkpoints(t.Context(), ts[0].ID, "", 1000); err != nil || len(cs) != 40 {
		t.Errorf("%d checkpoints in the backup, %v", len(cs), err)
	}
}

// A migration that fails leaves the database as it was; a backup of the same second is not overwritten.
func TestMigrationFails(t *testing.T) {
	dir, file := written(t)
	cfg := Config{Features: feature.All(), Dir: dir, CheckBytes: 1 << 30,
		Now: func() time.Time { return time.Unix(0, 0) }, Logger: discard}
	d := sqlite{path: file}
	db := openDB(t, d)
	defer db.Close()
	bad := newer(t, "migrations/sqlite",
		"ALTER TABLE threads ADD COLUMN extra TEXT;\nALTER TABLE nobody ADD COLUMN extra TEXT;")
	if err := migrate(t.Context(), db, d, cfg, bad); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("from version %d to %d", version, version+1)) {
		t.Errorf("migrate: %v", err)
	}
	if err := migrate(t.Context(), db, d, cfg, bad); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("from version %d to %d", version, version+1)) {
		t.Errorf("second migrate: %v", err)
	}
	if kept, err := filepath.Glob(file + ".v*.bak"); err != nil || len(kept) != 2 {
		t.Errorf("backups %v, %v: want that of each try", kept, err)
	}
	open(t, dir).Close()

	cfg.ReadOnly = true
	if err := migrate(t.Context(), db, d, cfg, bad); err == nil || !strings.Contains(err.Error(), "start the server") {
		t.Errorf("read-only migrate: %v", err)
	}
}

// openDB opens the file without the store, and makes it if it is not there.
func openDB(t *testing.T, d sqlite) *sql.DB {
	t.Helper()
	f, err := os.OpenFile(d.path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	db, err := d.open(1, false)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// A first start that was cut off before the schema was made is begun again.
func TestOpenAfterInterruptedFirstStart(t *testing.T) {
	dir := t.TempDir()
	raw(t, filepath.Join(dir, FileName), "CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, "+
		"version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now'))); INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)")
	s := open(t, dir)
	defer s.Close()
	newTalk(t, s, 1).turn(1000)
}

func TestReadOnlyBesideOwner(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	tk := newTalk(t, s, 1)
	tk.turn(1000)
	reader, err := Open(t.Context(), Config{Features: feature.All(), Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	tk.turn(1000) // the reader sees what is written after it was opened
	c, err := reader.For(ann()).Checkpoint(t.Context(), schema, tk.thread, "")
	if err != nil || len(chats.Get(c.State)) != 4 {
		t.Errorf("%d messages, %v", len(chats.Get(c.State)), err)
	}
	if err := reader.For(ann()).CreateThread(t.Context(), store.Thread{ID: "x"}); err == nil ||
		!strings.Contains(err.Error(), "reading only") {
		t.Errorf("CreateThread: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Thread(t.Context(), tk.thread); err != nil {
		t.Errorf("read after the owner closed: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}

	// Alone, it changes nothing: no lock is taken and the database's bytes stay.
	before, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	reader, err = Open(t.Context(), Config{Features: feature.All(), Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Thread(t.Context(), tk.thread); err != nil {
		t.Error(err)
	}
	open(t, dir).Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("reading changed the database, %v", err)
	}
}

// A step that does not fit is refused with a clear error; smaller ones still go in, and so does it when there is room.
func TestDatabaseFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	s.exec(t, "PRAGMA max_page_count = 60")
	before := tk.state
	big := tk.step("model", "tools", chats.Append(chat{ID: "big", Content: tk.text(1 << 20)}))
	_, err := s.Commit(t.Context(), tk.fence, big)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, FileName)) ||
		!strings.Contains(err.Error(), "free some space") {
		t.Fatalf("Commit: %v", err)
	}
	tk.state = before
	tk.ai("small", true)
	if c, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, ""); err != nil ||
		len(chats.Get(c.State)) != 1 {
		t.Errorf("%d messages, %v", len(chats.Get(c.State)), err)
	}
	s.exec(t, "PRAGMA max_page_count = 100000")
	tk.commit(tk.step("model", "tools", chats.Append(chat{ID: "big", Content: tk.text(1 << 20)})))
}

// TestDatabaseFullHarmsNoOther puts a step that does not fit in one transaction with one that does.
func TestDatabaseFullHarmsNoOther(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	small, big := newTalk(t, s, 1), newTalk(t, s, 2)
	small.begin("hello")
	big.begin("hello")
	s.exec(t, "PRAGMA max_page_count = 60")
	fits := &commit{fence: small.fence,
		step: small.step("model", "tools", chats.Append(chat{ID: "a", Content: "small"}))}
	tooBig := &commit{fence: big.fence,
		step: big.step("model", "tools", chats.Append(chat{ID: "big", Content: big.text(1 << 20)}))}
	errs := []error{errors.New("not run"), errors.New("not run")}
	var wg sync.WaitGroup
	gate, busy := make(chan struct{}), make(chan struct{})
	wg.Go(func() { s.write(t.Context(), 0, func(*tx) error { close(busy); <-gate; return nil }) })
	<-busy
	for i, c := range []*commit{fits, tooBig} {
		var err error
		if c.body, err = encodeStep(c.fence, c.step); err != nil {
			t.Fatal(err)
		}
		if c.snapshot, err = c.step.State.AppendSnapshot(nil); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { errs[i] = s.write(t.Context(), c.size(), func(x *tx) error { return writeStep(x, c) }) })
	}
	for len(s.writer.jobs) < 2 { // both wait for the writer
		runtime.Gosched()
	}
	close(gate)
	wg.Wait()
	if errs[0] != nil {
		t.Errorf("small step: %v", errs[0])
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), "free some space") {
		t.Errorf("big step: %v", errs[1])
	}
	if c, err := s.For(ann()).Checkpoint(t.Context(), schema, small.thread, ""); err != nil || c.ID != fits.id ||
		c.ID == "" {
		t.Errorf("head = %q, %v, want %q", c.ID, err, fits.id)
	}
}
