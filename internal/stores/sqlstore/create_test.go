package sqlstore

import (
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"github.com/pudu-ai/pudu/internal/feature"
)

// fresh is a database without tables, and how a store prepares it.
type fresh struct {
	name, versions string // the table of versions
	dialect        goose.Dialect
	schema         string // selects all that a database consists of, as lines
	open           func(t *testing.T) (*sql.DB, func(context.Context, fs.FS) error)
}

var freshes = []fresh{
	{"sqlite", goose.DefaultTablename, goose.DialectSQLite3,
		"SELECT type || name || coalesce(sql, '') FROM sqlite_schema UNION ALL SELECT application_id FROM " +
			"pragma_application_id UNION ALL SELECT key || value FROM settings ORDER BY 1",
		func(t *testing.T) (*sql.DB, func(context.Context, fs.FS) error) {
			d := sqlite{path: filepath.Join(t.TempDir(), FileName)}
			db := openDB(t, d)
			return db, func(ctx context.Context, files fs.FS) error {
				return migrate(ctx, db, d, Config{CheckBytes: 1 << 20, Logger: discard, Now: time.Now}, files)
			}
		}},
	{"postgres", versionTable, goose.DialectPostgres,
		"SELECT table_name || column_name || ordinal_position || data_type || is_nullable || coalesce(column_default, '') " +
			"|| coalesce(collation_name, '') FROM information_schema.columns WHERE table_schema = current_schema() " +
			"UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() " +
			"UNION ALL SELECT conrelid::regclass || conname || pg_get_constraintdef(oid) FROM pg_constraint " +
			"WHERE connamespace = current_schema()::regnamespace " +
			"UNION ALL SELECT key || value FROM settings ORDER BY 1",
		func(t *testing.T) (*sql.DB, func(context.Context, fs.FS) error) {
			d, err := newServer(Config{URL: pg.Database(t)})
			if err != nil {
				t.Fatal(err)
			}
			db := d.open(2, false)
			return db, func(ctx context.Context, files fs.FS) error {
				return d.migrate(ctx, db, Config{Features: feature.All(), Logger: discard}, files)
			}
		}},
}

// lines reads what a query selects.
func lines(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNewDatabaseIsAsAMigratedOne: made in one step or through all versions, it has the same tables and versions.
func TestNewDatabaseIsAsAMigratedOne(t *testing.T) {
	for _, f := range freshes {
		t.Run(f.name, func(t *testing.T) {
			files, err := lineOf(feature.All(), f.name)
			if err != nil {
				t.Fatal(err)
			}
			made, prepare := f.open(t)
			defer made.Close()
			if err := prepare(t.Context(), files); err != nil {
				t.Fatal(err)
			}
			migrated, _ := f.open(t)
			defer migrated.Close()
			provider, err := goose.NewProvider(f.dialect, migrated, files,
				goose.WithDisableGlobalRegistry(true), goose.WithSlog(discard), goose.WithTableName(f.versions))
			if err == nil {
				_, err = provider.Up(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			versions := "SELECT version_id || ' ' || is_applied FROM " + f.versions + " ORDER BY id"
			for _, query := range []string{f.schema, versions} {
				want := lines(t, migrated, query)
				if got := lines(t, made, query); len(want) < 20 || !cmp.Equal(got, want) {
					t.Errorf("%d lines; made (-), migrated (+):\n%s", len(want), cmp.Diff(got, want))
				}
			}
		})
	}
}

// TestNewDatabaseIsWholeOrEmpty: a first start that fails at its last version leaves no table, and the next one works.
func TestNewDatabaseIsWholeOrEmpty(t *testing.T) {
	for _, f := range freshes {
		t.Run(f.name, func(t *testing.T) {
			db, prepare := f.open(t)
			defer db.Close()
			if err := prepare(t.Context(), newer(t, f.name, "ALTER TABLE nobody ADD COLUMN extra TEXT;")); err == nil {
				t.Fatal("a bad migration went through")
			}
			tables := "SELECT name FROM sqlite_schema"
			if f.dialect == goose.DialectPostgres {
				tables = "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
			}
			if left := lines(t, db, tables); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if err := prepare(t.Context(), newer(t, f.name, "ALTER TABLE threads ADD COLUMN extra TEXT;")); err != nil {
				t.Error(err)
			}
		})
	}
}
