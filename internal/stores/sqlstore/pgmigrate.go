package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// versionTable holds the schema's version, and its name marks the tables beside it as ours.
const versionTable = "pudu_schema_version"

// migrationLock is the advisory lock of who changes the schema.
const migrationLock = applicationID

// pgTables are the tables with the columns that a damaged or foreign schema lacks.
func pgTables(features []database.Feature) (tables [][2]string) {
	for _, t := range tablesOf(features) {
		tables = append(tables, [2]string{t.Name, names(t)})
	}
	return append(tables, [2]string{"nodes", "owner, renewed_at"}, [2]string{"settings", "key, value"})
}

// prepare checks the schema and brings it to this program's version. A migration is one transaction of the server,
// which needs no copy to undo it; backups are the server's.
func (d *server) prepare(ctx context.Context, db *sql.DB, cfg Config) error {
	files, err := lineOf(cfg.Features, "postgres")
	if err != nil {
		return err
	}
	return d.migrate(ctx, db, cfg, files)
}

func (d *server) migrate(ctx context.Context, db *sql.DB, cfg Config, files fs.FS) error {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(cfg.Logger), goose.WithTableName(versionTable))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sources := provider.ListSources()
	newest := sources[len(sources)-1].Version
	done, err := d.current(ctx, db, cfg, newest)
	if done || err != nil {
		return err
	}
	return d.locked(ctx, db, func() error { // without the lock, tables may come between two questions about them
		done, err := d.current(ctx, db, cfg, newest) // another process may have been faster
		if done || err != nil {
			return err
		}
		version, err := d.version(ctx, db)
		if err == nil && version == 0 {
			err = d.free(ctx, db, cfg)
		}
		if err != nil {
			return err
		}
		if cfg.ReadOnly {
			return fmt.Errorf("%w: %s has no tables of this version of Pudu; start the server once to make them",
				store.ErrNotFound, d.name)
		}
		if err := d.createSchema(ctx, db); err != nil {
			return err
		}
		if version == 0 {
			err = create(ctx, db, goose.DialectPostgres, versionTable, files, sources)
		} else {
			_, err = provider.Up(ctx)
		}
		if err != nil {
			return fmt.Errorf("migrate %s to version %d: %w", d.name, newest, err)
		}
		return d.check(ctx, db, cfg)
	})
}

// current reports whether the schema is this program's. An error means that it cannot become that.
func (d *server) current(ctx context.Context, db *sql.DB, cfg Config, newest int64) (bool, error) {
	version, err := d.version(ctx, db)
	switch {
	case err != nil:
		return false, err
	case version > newest:
		return false,
			fmt.Errorf("%w: %s has schema version %d, this program knows %d; use the newer program, or restore a "+
				"backup",
				store.ErrNewer, d.name, version, newest)
	case version < newest:
		return false, nil
	}
	return true, d.check(ctx, db, cfg)
}

// locked runs f while no other process changes the schema.
func (d *server) locked(ctx context.Context, db *sql.DB, f func() error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return fmt.Errorf("wait for another process that changes the schema: %w", err)
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock) //nolint:errcheck // ends with the session
	return f()
}

func (d *server) createSchema(ctx context.Context, db *sql.DB) error {
	if d.schema == "" {
		return nil
	}
	var usable bool
	err := db.QueryRowContext(ctx, "SELECT has_schema_privilege(oid, 'USAGE') AND has_schema_privilege(oid, 'CREATE') "+
		"FROM pg_namespace WHERE nspname = $1", d.schema).Scan(&usable)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		_, err = db.ExecContext(ctx, "CREATE SCHEMA "+pgx.Identifier{d.schema}.Sanitize())
	case err == nil && !usable: // who may not create schemas can be given one
		err = d.forbidden(fmt.Errorf("no right to use schema %q", d.schema))
	}
	return err
}

// version returns the schema's version: 0 for one that is new, or whose first migration never ended.
func (d *server) version(ctx context.Context, db *sql.DB) (version int64, err error) {
	err = db.QueryRowContext(ctx, "SELECT COALESCE(max(version_id), 0) FROM "+versionTable).Scan(&version)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "42P01" {
		err = nil // it is new
	}
	if err != nil {
		return 0, fmt.Errorf("read version of the schema: %w", err)
	}
	return version, nil
}

// free makes sure that a schema without a version has no table that is in the way of ours. The caller holds the lock:
// the tables that another process is making have their version with them.
func (d *server) free(ctx context.Context, db *sql.DB, cfg Config) error {
	var taken []string
	for _, t := range pgTables(cfg.Features) {
		var there bool
		if err := db.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", t[0]).Scan(&there); err != nil {
			return fmt.Errorf("read %s: %w", d.name, err)
		}
		if there {
			taken = append(taken, t[0])
		}
	}
	if len(taken) > 0 {
		return d.corrupt(errors.New("it has tables of another program: " + strings.Join(taken, ", ")))
	}
	return nil
}

// check asks each table for its columns, in one question.
func (d *server) check(ctx context.Context, db *sql.DB, cfg Config) error {
	var parts []string
	for _, t := range pgTables(cfg.Features) {
		parts = append(parts, "EXISTS (SELECT "+t[1]+" FROM "+t[0]+" LIMIT 0)")
	}
	var found bool
	if err := db.QueryRowContext(ctx, "SELECT "+strings.Join(parts, " OR ")).Scan(&found); err != nil {
		return fmt.Errorf("check tables: %w", err)
	}
	return nil
}
