// Package sqlstore keeps threads, runs and their log in an SQL database: SQLite in the data folder.
//
// It is where a run's steps become durable: the owner of a run hands each step to [Store.Commit]; the writer (writer.go)
// puts it into the database with what other runs want written at the same moment; every reader, from the terminal to
// the HTTP routes, reads it back through this package. commit.go is the way in, checkpoints.go and events.go the way
// out. The SQL texts are written once for all databases; dialect.go says what differs.
//
// A thread's state is stored as the deltas of its steps. A snapshot of the whole state is added when the deltas since
// the last one outweigh it, so that loading costs as much as the state is large and the file stays a small multiple of
// what was said. The states of the last checkpoints written and read are kept in memory (cache.go).
package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

var _ store.Store = (*Store)(nil)

// Config says where the data is. Only Dir is required.
type Config struct {
	// Dir is the data folder. It is made, readable by its owner alone, if it is not there.
	Dir string
	// ReadOnly opens for reading beside a process that owns the folder. It takes no lock, makes and migrates nothing.
	ReadOnly bool
	// Readers is how many reads run side by side; 0 means 4.
	Readers int
	// CheckBytes is the largest database that is checked page by page when it is opened; 0 means 64 MB, which takes
	// a tenth of a second. A larger one gets the checks that cost nothing.
	CheckBytes int64
	// Now is the clock that names backups; nil means time.Now.
	Now func() time.Time
	// Logger is told of migrations and backups; nil means slog.Default().
	Logger *slog.Logger
}

// Store is the database. Its methods may be called from many goroutines.
type Store struct {
	dialect dialect
	writer  *writer // nil when read-only
	readers *sql.DB
	stmts   sync.Map // query text -> *sql.Stmt of readers
	cache   *cache

	closing sync.Once
	closed  chan struct{}
	release []func() error // in the order of Close
}

// Open opens the database in the data folder, and makes or migrates it as needed. Its errors name the file and say
// what to do; they wrap [store.ErrLocked], [store.ErrNewer], [store.ErrCorrupt], or, for a read-only store without a
// database, [store.ErrNotFound].
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.Readers = cmp.Or(cfg.Readers, 4)
	cfg.CheckBytes = cmp.Or(cfg.CheckBytes, 64<<20)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Dir == "" {
		return nil, errors.New("open store: no data folder is named")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	cfg.Dir = dir
	d := sqlite{path: filepath.Join(dir, FileName)}
	s := &Store{dialect: d, cache: newCache(cacheStates, cacheBytes), closed: make(chan struct{})}
	if err := s.open(ctx, cfg, d); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", d.explain(err)), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, cfg Config, d sqlite) error {
	if cfg.ReadOnly {
		if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: there is no database at %s", store.ErrNotFound, d.path)
		}
	} else if err := s.own(cfg.Dir); err != nil {
		return err
	}
	if err := s.openReaders(d, cfg); err != nil {
		return err
	}
	if cfg.ReadOnly {
		return prepare(ctx, s.readers, d, cfg)
	}
	db, err := d.open(1, false)
	if err != nil {
		return err
	}
	s.release = append([]func() error{db.Close}, s.release...)
	if err := prepare(ctx, db, d, cfg); err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	s.release = append([]func() error{conn.Close}, s.release...)
	for _, probe := range []string{d.begin(), "ROLLBACK"} { // SQLite opens a file that cannot be written all the same
		if _, err := conn.ExecContext(ctx, probe); err != nil {
			return fmt.Errorf("begin first transaction: %w", err)
		}
	}
	s.writer = newWriter(conn, d)
	return nil
}

// own makes the data folder, if need be, and locks it.
func (s *Store) own(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return err
	}
	s.release = append(s.release, lock.Close)
	return nil
}

func (s *Store) openReaders(d sqlite, cfg Config) error {
	db, err := d.open(cfg.Readers, true)
	if err != nil {
		return err
	}
	s.readers = db
	s.release = append([]func() error{db.Close}, s.release...)
	return nil
}

// Close implements [store.Store].
func (s *Store) Close() error {
	var errs []error
	s.closing.Do(func() {
		close(s.closed)
		if s.writer != nil {
			s.writer.close()
		}
		for _, f := range s.release {
			errs = append(errs, f())
		}
	})
	return errors.Join(errs...)
}

// write runs a job of about size bytes in the writer.
func (s *Store) write(ctx context.Context, size int, run func(*tx) error) error {
	if s.writer == nil {
		return errors.New("store is open for reading only")
	}
	return s.writer.do(ctx, size, run)
}

// stmt prepares a text once; database/sql repeats that for each connection that it meets.
func (s *Store) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st, ok := s.stmts.Load(query); ok {
		return st.(*sql.Stmt), nil
	}
	st, err := s.readers.PrepareContext(ctx, s.dialect.rewrite(query))
	if err != nil {
		return nil, s.readError(err)
	}
	if first, raced := s.stmts.LoadOrStore(query, st); raced {
		st.Close() //nolint:sqlclosecheck // st may be kept
		return first.(*sql.Stmt), nil
	}
	return st, nil
}

// read runs a query and hands each row to scan until that returns false or an error.
func (s *Store) read(ctx context.Context, query string, args []any, scan func(*sql.Rows) (more bool, err error)) error {
	st, err := s.stmt(ctx, query) //nolint:sqlclosecheck // the store keeps it
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return s.readError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if more, err := scan(rows); err != nil || !more {
			return err
		}
	}
	if err := rows.Err(); err != nil && ctx.Err() != nil {
		return ctx.Err() // whatever the driver calls being interrupted
	}
	return s.readError(rows.Err())
}

// readError explains a failed read. database/sql has no error of its own for a database that was closed.
func (s *Store) readError(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.closed:
		return store.ErrClosed
	default:
		return s.dialect.explain(err)
	}
}

// scanner is a row: *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// exists reports whether a query finds anything.
func (s *Store) exists(ctx context.Context, query string, args ...any) (bool, error) {
	found := false
	err := s.read(ctx, query, args, func(*sql.Rows) (bool, error) {
		found = true
		return false, nil
	})
	return found, err
}
