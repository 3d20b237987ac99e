package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pressly/goose/v3"
	gooseversions "github.com/pressly/goose/v3/database"

	"github.com/pudu-ai/pudu/internal/store"
)

//go:embed migrations/sqlite/*.sql migrations/postgres/*.sql
var migrations embed.FS

// applicationID marks a file as a Pudu database, in SQLite's header field for that: "Pudu" in ASCII.
const applicationID = 0x50756475

// prepare checks the database and brings it to this program's version.
func prepare(ctx context.Context, db *sql.DB, d sqlite, cfg Config) error {
	files, err := lineOf(cfg.Features, "sqlite")
	if err != nil {
		return err
	}
	return migrate(ctx, db, d, cfg, files)
}

func migrate(ctx context.Context, db *sql.DB, d sqlite, cfg Config, files fs.FS) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(cfg.Logger))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sources := provider.ListSources()
	newest := sources[len(sources)-1].Version
	version, err := d.version(ctx, db)
	if err != nil {
		return err
	}
	if version > newest {
		return fmt.Errorf("%w: %s has schema version %d, this program knows %d; use the newer program, or put back "+
			"the "+
			"backup that it made beside the database", store.ErrNewer, d.path, version, newest)
	}
	if err := d.check(ctx, db, cfg.CheckBytes); err != nil {
		return err
	}
	if version == newest {
		return nil
	}
	if cfg.ReadOnly {
		return fmt.Errorf("%s has schema version %d, this program needs %d; start the server once to migrate it",
			d.path, version, newest)
	}
	if version == 0 {
		err = create(ctx, db, goose.DialectSQLite3, goose.DefaultTablename, files, sources)
	} else if err = d.backup(ctx, db, version, cfg); err == nil {
		_, err = provider.Up(ctx)
	}
	if err != nil {
		return fmt.Errorf("migrate %s from version %d to %d: %w", d.path, version, newest, err)
	}
	return nil
}

// create brings a new database to the newest version in one transaction: all tables are there, or none. Through the
// versions one by one, as an older database goes, Open takes twice as long (BenchmarkOpen/new).
func create(ctx context.Context, db *sql.DB, of goose.Dialect, table string, files fs.FS, all []*goose.Source) error {
	versions, err := gooseversions.NewStore(of, table)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // what was committed stays
	// The first start of an older program may have been cut off behind this table.
	_, err = tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+table)
	if err == nil {
		err = versions.CreateVersionTable(ctx, tx)
	}
	if err == nil {
		err = versions.Insert(ctx, tx, gooseversions.InsertRequest{}) // goose counts from version 0
	}
	for i := 0; err == nil && i < len(all); i++ {
		var text []byte
		if text, err = fs.ReadFile(files, all[i].Path); err == nil {
			_, err = tx.ExecContext(ctx, string(text))
		}
		if err == nil {
			err = versions.Insert(ctx, tx, gooseversions.InsertRequest{Version: all[i].Version})
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// version returns the database's schema version: 0 for one that is new, or whose first migration never ended.
func (d sqlite) version(ctx context.Context, db *sql.DB) (version int64, err error) {
	var app, tables int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, fmt.Errorf("read %s: %w", d.path, err)
	}
	const others = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> " +
		"'goose_db_version'"
	if err := db.QueryRowContext(ctx, others).Scan(&tables); err != nil {
		return 0, fmt.Errorf("read %s: %w", d.path, err)
	}
	if app != applicationID {
		if app == 0 && tables == 0 {
			return 0, nil
		}
		return 0, d.corrupt(errors.New("it is the database of another program"))
	}
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version)
	if err != nil {
		return 0, d.corrupt(fmt.Errorf("it has no schema version: %w", err))
	}
	return version, nil
}

// check looks for damage: whether the file was cut off, always, and in every page when it is no larger than limit.
func (d sqlite) check(ctx context.Context, db *sql.DB, limit int64) error {
	info, err := os.Stat(d.path)
	if err != nil {
		return fmt.Errorf("read %s: %w", d.path, err)
	}
	wal, err := os.Stat(d.path + "-wal")
	if err != nil || wal.Size() == 0 { // else the missing pages may stand in the log
		var pages int64
		if err := db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
			return fmt.Errorf("check %s: %w", d.path, err)
		}
		if want := pages * pageSize; info.Size() < want {
			return d.corrupt(fmt.Errorf("it has %d bytes and should have %d", info.Size(), want))
		}
	}
	if info.Size() > limit {
		return nil
	}
	plain, err := d.openWith(1, true, stablePlans) // an index takes seconds, and can be made again
	if err != nil {
		return err
	}
	defer plain.Close()
	var result string
	if err := plain.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return fmt.Errorf("check %s: %w", d.path, err)
	}
	if result != "ok" {
		return d.corrupt(fmt.Errorf("check says: %s", result))
	}
	return nil
}

// backup copies the database to a file beside it, named after its version and the time. One that is there, of a start
// that was killed in the same second, is not touched.
func (d sqlite) backup(ctx context.Context, db *sql.DB, version int64, cfg Config) error {
	name := fmt.Sprintf("%s.v%d-%s", d.path, version, cfg.Now().UTC().Format("20060102T150405Z"))
	path := name + ".bak"
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return fmt.Errorf("back up %s: %w", d.path, err)
		}
		path = fmt.Sprintf("%s-%d.bak", name, n)
	}
	start := time.Now()
	if _, err := db.ExecContext(ctx, d.rewrite("VACUUM INTO $1"), path); err != nil {
		return fmt.Errorf("back up %s to %s: %w", d.path, path, err)
	}
	cfg.Logger.Info("database backed up before migration", "file", path, "took", time.Since(start))
	return nil
}
