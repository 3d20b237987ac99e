package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestEveryTableIsDescribed: a table without a description would be in no backup, and stay when its user is deleted.
func TestEveryTableIsDescribed(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg     Config
		columns string // of a table, by name
		besides []string
	}{
		"sqlite": {Config{Dir: t.TempDir()},
			"SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'",
			[]string{"goose_db_version", "settings"}},
		"postgres": {postgresAt(t, t.TempDir()),
			"SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()",
			[]string{versionTable, "nodes", "settings"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, tt.cfg)
			defer s.Close()
			there, described := make(map[string][]string), make(map[string][]string)
			err := s.read(t.Context(), tt.columns, nil, func(r *sql.Rows) (bool, error) {
				var table, column string
				err := r.Scan(&table, &column)
				index := slices.ContainsFunc(feature.All(), func(f database.Feature) bool {
					return f.Index != "" && strings.HasPrefix(table, f.Index)
				})
				// the order of the records says it
				if table+"."+column != "log.seq" && !index && !slices.Contains(tt.besides, table) {
					there[table] = append(there[table], column)
				}
				return true, err
			})
			for _, table := range s.tables {
				described[table.Name] = strings.Split(names(table), ", ")
				slices.Sort(described[table.Name])
			}
			for _, columns := range there {
				slices.Sort(columns)
			}
			if d := cmp.Diff(there, described); d != "" || err != nil {
				t.Errorf("tables (-database +descriptions): %v\n%s", err, d)
			}
		})
	}
}

// TestStatementsOfFeatures: both databases take every statement of every feature, which has the user where it belongs.
func TestStatementsOfFeatures(t *testing.T) {
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		s := openWith(t, cfg)
		defer s.Close()
		for _, f := range s.features {
			for _, statements := range []map[string]statement{f.queries, f.system} {
				for of, st := range statements {
					if _, err := s.stmt(t.Context(), st.text); err != nil { //nolint:sqlclosecheck // the store keeps it
						t.Errorf("%s: %s of %s: %v", name, of, f.Name, err)
					}
				}
			}
		}
	}
}

func TestStatementsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"DROP TABLE items": "does not begin", "SELECT 1; SELECT 2": "more than one", "": "does not begin",
		"-- SELECT 1\nPRAGMA x": "does not begin",
	} {
		f := database.Feature{Name: "f", Files: fstest.MapFS{"queries/q.sql": {Data: []byte(text)}}}
		if _, err := Open(t.Context(), Config{Dir: t.TempDir(), Features: []database.Feature{f}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	f := database.Feature{Name: "f", Files: fstest.MapFS{}}
	if _, err := Open(t.Context(), Config{Dir: t.TempDir(), Features: []database.Feature{f, f}}); err == nil {
		t.Error("two features of one name")
	}
}

// TestFeaturesMigrate: the steps of features and of the core are one line, with the same numbers on both databases; who
// lacks a feature, whosever step was the last, is refused as an older program is.
func TestFeaturesMigrate(t *testing.T) {
	versions := make(map[string][]string)
	for _, folder := range []string{"sqlite", "postgres"} {
		all, err := lineOf(feature.All(), folder)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := all.Glob("*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range steps {
			text, err := fs.ReadFile(all, name)
			if err != nil || strings.Count(string(text), "\n-- +goose StatementBegin\n") != 1 {
				t.Errorf("%s/%s is not one statement of goose's, which takes every other apart line by line (%v)",
					folder, name, err)
			}
		}
		// there is no 1 on PostgreSQL
		versions[folder] = slices.DeleteFunc(steps, func(name string) bool { return name < "00003" })
	}
	if d := cmp.Diff(versions["sqlite"], versions["postgres"]); d != "" {
		t.Errorf("steps (-sqlite +postgres):\n%s", d)
	}
	more := append(feature.All(), notesOf(database.Quota{}))
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		openWith(t, cfg).Close()
		cfg.Features = more
		s, err := Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		cfg.Features = feature.All()
		if _, err := Open(t.Context(), cfg); !errors.Is(err, store.ErrNewer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// notesOf is a feature of these tests.
func notesOf(q database.Quota) database.Feature {
	step := &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE notes (user_id TEXT NOT NULL, key TEXT NOT NULL, note TEXT NOT NULL, " +
		"PRIMARY KEY (user_id, key));\n")}
	files := fstest.MapFS{
		"migrations/sqlite/99990_notes.sql": step, "migrations/postgres/99990_notes.sql": step,
		"queries/add.sql": {Data: []byte("INSERT INTO notes (user_id, key, note) VALUES ($1, $2, $3)")},
		"queries/put.sql": {Data: []byte("INSERT INTO notes (user_id, key, note) VALUES ($1, $2, $3) " +
			"ON CONFLICT (user_id, key) DO UPDATE SET note = excluded.note")},
		"queries/change.sql": {Data: []byte("UPDATE notes SET note = $3 WHERE user_id = $1 AND key = $2")},
		"queries/delete.sql": {Data: []byte("DELETE FROM notes WHERE user_id = $1 AND key = $2")},
		"queries/count.sql":  {Data: []byte("SELECT count(*) FROM notes WHERE user_id = $1")},
		"system/count.sql":   {Data: []byte("SELECT count(*) FROM notes")},
	}
	return database.Feature{Name: "notes", Files: fs.FS(files), Tables: []database.Table{{
		Name: "notes", Kind: "note", User: "user_id", Key: []string{"user_id", "key"}, Quota: q,
		Columns: []database.Column{database.Text.Column("user_id"), database.Text.Column("key"),
			database.Secret.Column("note")},
	}}}
}

// TestRowsThatHaveOutlivedTheirUse: they go, more than one transaction of them, and are counted; a dry run only counts.
func TestRowsThatHaveOutlivedTheirUse(t *testing.T) {
	const old, kept = trimRows*2 + 3, 3 // of those that are kept one is never old, one is fresh, one rests
	now := time.Now()
	step := &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE hints (id TEXT PRIMARY KEY, at BIGINT NOT NULL);\n")}
	hints := database.Feature{Name: "hints", Files: fstest.MapFS{
		"migrations/sqlite/99990_hints.sql": step, "migrations/postgres/99990_hints.sql": step,
		"system/add.sql":   {Data: []byte("INSERT INTO hints (id, at) VALUES ($1, $2)")},
		"system/count.sql": {Data: []byte("SELECT count(*) FROM hints")},
	}, Tables: []database.Table{{
		Name: "hints", Kind: "hint", Key: []string{"id"}, Age: database.Age{Column: "at", Keep: time.Hour},
		Columns: []database.Column{database.Text.Column("id"), database.Instant.Column("at")},
	}}}
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			cfg.Features = []database.Feature{hints}
			s, err := Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			system := s.Feature("hints").System()
			if err := system.Write(t.Context(), 0, func(tx database.Tx) error {
				for i := range old + kept {
					at := database.Micros(now.Add(-2 * time.Hour))
					if i >= old {
						at = []int64{0, database.Micros(now), database.Micros(now.Add(-59 * time.Minute))}[i-old]
					}
					if _, err := tx.Exec("add", fmt.Sprint(i), at); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				dry        bool
				told, left int64
			}{{true, old, old + kept}, {false, old, kept}, {false, 0, kept}} {
				c, err := s.Collect(t.Context(), store.Retention{Rows: now, DryRun: tt.dry})
				if err != nil || c.Rows != tt.told {
					t.Errorf("dry %v: told of %d, want %d, %v", tt.dry, c.Rows, tt.told, err)
				}
				var left int64
				if err := system.Read(t.Context(), "count", func(r database.Row) (bool, error) {
					return false, r.Scan(&left)
				}); err != nil || left != tt.left {
					t.Errorf("dry %v: %d are left, want %d, %v", tt.dry, left, tt.left, err)
				}
			}
		})
	}
}

// TestQuota: what a full user may do, and what not.
func TestQuota(t *testing.T) {
	for name, cfg := range map[string]Config{"sqlite": {Dir: t.TempDir()}, "postgres": postgresAt(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			cfg.Features = []database.Feature{notesOf(database.Quota{Rows: 10, Bytes: 1000})}
			s, err := Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			do := func(user, statement string, args ...any) error {
				return s.Feature("notes").For(access.FromRow(user)).Write(t.Context(), 0, func(tx database.Tx) error {
					_, err := tx.Exec(statement, args...)
					return err
				})
			}
			want := func(what string, err, want error) {
				t.Helper()
				if !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", what, err, want)
				}
			}
			for i := range 10 {
				want("add", do("ann", "add", fmt.Sprint(i), "1234567890"), nil)
			}
			want("one too many", do("ann", "add", "x", ""), database.ErrQuota)
			want("one too many, put", do("ann", "put", "x", ""), database.ErrQuota)
			want("put where one is", do("ann", "put", "3", "0987654321"), nil)
			want("put a longer one", do("ann", "put", "3", strings.Repeat("x", 100)), nil)
			want("another user", do("bob", "add", "x", ""), nil)
			want("too long", do("ann", "change", "4", strings.Repeat("x", 1000)), database.ErrQuota)
			want("long", do("ann", "change", "4", strings.Repeat("x", 750)), nil)
			want("delete", do("ann", "delete", "3"), nil)
			want("add in its place", do("ann", "add", "3", ""), nil)
			want("again too many", do("ann", "add", "x", ""), database.ErrQuota)
			want("too many at once", s.Feature("notes").For(ann()).Write(t.Context(), 0, func(tx database.Tx) error {
				_, err := tx.Exec("delete", "3")
				for _, key := range []string{"x", "y"} {
					if err == nil {
						_, err = tx.Exec("add", key, "")
					}
				}
				return err
			}), database.ErrQuota)
			n := 0
			err = s.Feature("notes").For(ann()).
				Read(t.Context(), "count", func(r database.Row) (bool, error) { return false, r.Scan(&n) })
			if n != 10 || err != nil {
				t.Errorf("%d rows, %v", n, err)
			}
			if dump := dumpOf(t, s, ""); !strings.Contains(dump, `"key":"4","note":""}`) {
				t.Error("a secret column is in the dump")
			}
		})
	}
}

// TestQuotaWithoutMeasuring: a user who is far from full is not counted at each write; writes side by side do not pass
// the quota.
func TestQuotaWithoutMeasuring(t *testing.T) {
	s, err := Open(t.Context(),
		Config{Dir: t.TempDir(), Features: []database.Feature{notesOf(database.Quota{Rows: 300})}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.exec(t, "PRAGMA synchronous = off")
	add := func(i int) error {
		return s.Feature("notes").For(ann()).Write(t.Context(), 0, func(tx database.Tx) error {
			_, err := tx.Exec("add", fmt.Sprint(i), "")
			return err
		})
	}
	done := make(chan error)
	for i := range 400 {
		go func() { done <- add(i) }()
	}
	full := 0
	for range 400 {
		if err := <-done; errors.Is(err, database.ErrQuota) {
			full++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if full != 100 {
		t.Errorf("%d were refused, want 100", full)
	}
	measures := 0
	s.exec(t, "DELETE FROM notes")
	s.rooms = rooms{}
	for i := range 100 {
		if err := add(i); err != nil {
			t.Fatal(err)
		}
	}
	s.rooms.mu.Lock()
	if left := slices.Collect(maps.Values(s.rooms.left)); len(left) != 1 || left[0].rows != 149-99 {
		t.Errorf("room %v after %d measures", left, measures)
	}
	s.rooms.mu.Unlock()
}

// TestBound: a user's statements are his, the system's are the system's, and what is not known is named.
func TestBound(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	none := func(database.Row) (bool, error) { return true, nil }
	nothing := func(database.Tx) error { return nil }
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"nobody": {s.Feature("items").For(access.User{}).Read(t.Context(), "namespaces", none),
			access.ErrNoUser.Error()},
		"nobody writes": {s.Feature("items").For(access.User{}).Write(t.Context(), 0, nothing),
			access.ErrNoUser.Error()},
		"no feature":         {s.Feature("deer").For(ann()).Read(t.Context(), "x", none), `without the feature "deer"`},
		"no feature written": {s.Feature("deer").System().Write(t.Context(), 0, nothing), `without the feature "deer"`},
		"no statement":       {s.Feature("items").For(ann()).Read(t.Context(), "deer", none), `no statement "deer"`},
		"the system's":       {s.Feature("items").For(ann()).Read(t.Context(), "all", none), `no statement "all"`},
		"a user's":           {s.Feature("items").System().Read(t.Context(), "search", none), `no statement "search"`},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: %v", name, tt.err)
		}
	}
}

// TestAcrossIsAllOrNothing: what features wrote together is undone when whoever wrote it says that it failed, and he is
// told.
func TestAcrossIsAllOrNothing(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	for _, failed := range []error{errBroken, nil} {
		err := s.Across(t.Context(), func(j database.Joint) error {
			n, err := j.For("items", ann()).Exec("put", "space", "key", 1, 1, 0, 0, "{}")
			if err != nil || n != 1 {
				t.Errorf("%d, %v", n, err)
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Errorf("%v, want %v", err, failed)
		}
		there := 0
		if err := s.read(t.Context(), "SELECT count(*) FROM items", nil,
			func(rows *sql.Rows) (bool, error) { return false, rows.Scan(&there) }); err != nil {
			t.Fatal(err)
		}
		if (there == 0) != (failed != nil) {
			t.Errorf("after %v there are %d items", failed, there)
		}
	}
}

// TestStatementsOfFeaturesAreRead: what a file does, and to which table.
func TestStatementsOfFeaturesAreRead(t *testing.T) {
	for text, want := range map[string]statement{
		"-- a note\nSELECT 1\n\t-- another\nFROM notes;\n": {"SELECT 1\nFROM notes", "SELECT", ""},
		"INSERT INTO notes_2(a) VALUES (1)": {"INSERT INTO notes_2(a) VALUES (1)", "INSERT INTO",
			"notes_2"},
		"UPDATE notes\nSET a = 1": {"UPDATE notes\nSET a = 1", "UPDATE", "notes"},
		"DELETE FROM notes;":      {"DELETE FROM notes", "DELETE FROM", "notes"},
	} {
		if got, err := newStatement("a.sql", text); got != want || err != nil {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"SELECT 1; SELECT 2": "more than one statement", "DROP TABLE notes": "does not begin with",
		"UPDATE": "does not begin with", "-- SELECT 1": "does not begin with", "SELECTION": "does not begin with",
	} {
		if _, err := newStatement("a.sql", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
