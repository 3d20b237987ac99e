// Package sqlstore keeps threads, runs and their log in an SQL database: SQLite in the data folder, which one process
// owns, or PostgreSQL, which any number of processes share.
//
// It is where a run's steps become durable: the owner of a run hands each step to [Store.Commit]; the writer
// (writer.go) puts it into the database with what other runs want written at the same moment; every reader, from the
// terminal to the HTTP routes, reads it back through this package. commit.go is the way in: fence.go says whether a
// step may be written, head.go where it stands, logrows.go writes it, jobs.go what is to follow. checkpoints.go and
// events.go are the way out; search.go finds threads. features.go and scope.go give features their tables. The SQL
// texts are written once for all databases; dialect.go says what differs.
//
// A thread's state is stored as the deltas of its steps. A snapshot of the whole state is added when the deltas since
// the last one are much more than it, so that loading reads at most three times what the state is large and the file
// stays a small multiple of what was said. The states of the last checkpoints written and read are kept in memory
// (cache.go).
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
	"slices"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

var _ store.Store = (*Store)(nil)

// Config says where the data is. Only Dir is required, or URL.
type Config struct {
	// Dir is the data folder, where SQLite's database is. It is made, readable by its owner alone, if it is not there.
	Dir string
	// URL is a PostgreSQL to use instead, such as postgres://user:password@host:5432/database?sslmode=require. Nothing
	// is then made or locked in Dir.
	URL string
	// Schema is the PostgreSQL schema of the tables; it is made if need be. Empty means the user's default.
	Schema string
	// Pool is how many connections PostgreSQL may be asked for; 0 means 10, and fewer than 3 are 3.
	Pool int
	// Recycle is after how long a connection to PostgreSQL is replaced; 0 means never.
	Recycle time.Duration
	// Timeout bounds each statement on PostgreSQL, and the wait for each row that is read; 0 means 30 seconds.
	Timeout time.Duration
	// Lease is the length of a lease on PostgreSQL; 0 means store.Lease. All processes must have the same.
	Lease time.Duration
	// ReadOnly opens for reading beside a process that owns the folder. It takes no lock, makes and migrates nothing.
	ReadOnly bool
	// Readers is how many reads run side by side; 0 means 4.
	Readers int
	// CheckBytes is the largest database that is checked page by page when it is opened; 0 means 64 MB, which takes
	// a tenth of a second. A larger one gets the checks that cost nothing.
	CheckBytes int64
	// VFS names a layer between SQLite and its files that was registered with the driver, such as one that lets them
	// fail in a test. Empty means none.
	VFS string
	// Features are those whose tables the database has. All processes that share it should have the same.
	Features []database.Feature
	// After make the jobs that follow the end of a run. They need the feature of package job.
	After []store.After
	// Changed make the jobs that follow other changes of a thread. They need it too.
	Changed []store.Changed
	// Now is the clock that names backups; nil means time.Now.
	Now func() time.Time
	// Logger is told of migrations and backups; nil means slog.Default().
	Logger *slog.Logger
}

// Store is the database. Its methods may be called from many goroutines.
type Store struct {
	dialect  dialect
	writer   *writer // nil when read-only
	readers  *sql.DB
	watch    *watch  // nil with a server, and when read-only
	leases   *sql.DB // nil with SQLite, and when read-only
	tuning   tuning
	stmts    sync.Map // query text -> *sql.Stmt of readers
	cache    *cache
	rooms    rooms
	backlog  *backlog
	newsroom *newsroom

	features map[string]*known
	tables   []database.Table // of the core and of the features
	schema   int              // the version of the schema, which is that of a dump too

	closing sync.Once
	closed  chan struct{}
	release []func() error // in the order of Close
}

// Open opens the database, and makes or migrates it as needed. Its errors name the file or the server and say what to
// do; they wrap [store.ErrLocked], [store.ErrNewer], [store.ErrCorrupt], or, for a read-only store without a database,
// [store.ErrNotFound]. They never show a password.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.Readers = cmp.Or(cfg.Readers, 4)
	cfg.CheckBytes = cmp.Or(cfg.CheckBytes, 64<<20)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	variant := "sqlite"
	if cfg.URL != "" {
		variant = "postgres"
	}
	features, err := readFeatures(cfg.Features, variant)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	schema, err := newest(cfg.Features)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{
		schema: schema, cache: newCache(cacheStates, cacheBytes), closed: make(chan struct{}), features: features,
		tables: tablesOf(cfg.Features), backlog: newBacklog(features, cfg), newsroom: newNewsroom(features, cfg.Now),
	}
	if err := s.connect(ctx, cfg); err != nil {
		if s.dialect != nil {
			err = s.dialect.explain(err)
		}
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// connect opens the database that is meant.
func (s *Store) connect(ctx context.Context, cfg Config) (err error) {
	if cfg.URL != "" {
		var d *server
		if d, err = newServer(cfg); err != nil {
			return err
		}
		s.dialect = d
		err = s.openServer(ctx, cfg, d)
	} else {
		err = s.openFile(ctx, cfg)
	}
	if err == nil && !cfg.ReadOnly {
		err = s.adopt(ctx)
	}
	return err
}

func (s *Store) openFile(ctx context.Context, cfg Config) (err error) {
	if cfg.Dir == "" {
		return errors.New("no data folder is named")
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return err
	}
	d := sqlite{path: filepath.Join(cfg.Dir, FileName), vfs: cfg.VFS}
	s.dialect, s.tuning = d, d.tuning()
	return s.open(ctx, cfg, d)
}

func (s *Store) open(ctx context.Context, cfg Config, d sqlite) error {
	if cfg.ReadOnly {
		if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: there is no database at %s", store.ErrNotFound, d.path)
		}
	} else if err := s.own(d); err != nil {
		return err
	}
	readers, err := d.open(cfg.Readers, true)
	if err != nil {
		return err
	}
	s.readers = readers
	if cfg.ReadOnly {
		s.release = append(s.release, readers.Close)
		return prepare(ctx, readers, d, cfg)
	}
	db, err := d.open(1, false)
	if err != nil {
		return errors.Join(err, readers.Close())
	}
	s.release = slices.Insert(s.release, 0, func() error { return s.closePools(db, readers) })
	if err := prepare(ctx, db, d, cfg); err != nil {
		return err
	}
	if s.writer, err = newWriter(ctx, db, d, s.tuning, s.backlog, s.newsroom, s.beside()...); err != nil {
		return err
	}
	if s.watch, err = newWatch(d.path); err != nil {
		return err
	}
	r := rescue{writer: s.writer.workers[0], file: s.watch.file, dialect: d, now: cfg.Now, log: cfg.Logger}
	s.watch.start(r.save)
	s.release = slices.Insert(s.release, len(s.release)-1, s.watch.close) // the folder stays locked until then
	s.writer.usable = s.watch.names
	return nil
}

// own makes the data folder and the file of the database, if need be, and locks the folder.
func (s *Store) own(d sqlite) error {
	dir := filepath.Dir(d.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return err
	}
	s.release = append(s.release, unlock)
	f, err := os.OpenFile(d.path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// closePools closes the connections, but not over lost files: SQLite's last one would move its log into a file that
// nobody has, and remove the log. The end of the process closes them.
func (s *Store) closePools(pools ...*sql.DB) error {
	if s.watch.look() != nil {
		return nil //nolint:nilerr // its close tells
	}
	var errs []error
	for _, db := range pools {
		errs = append(errs, db.Close())
	}
	return errors.Join(errs...)
}

// Close implements [store.Store].
func (s *Store) Close() error {
	var errs []error
	s.closing.Do(func() {
		close(s.closed)
		s.watch.end()
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
	return s.writeRun(ctx, "", size, run)
}

// writeRun is write for a job about a run.
func (s *Store) writeRun(ctx context.Context, runID string, size int, run func(*tx) error) error {
	if s.writer == nil {
		return errors.New("store is open for reading only")
	}
	return s.writer.do(ctx, &job{run: run, size: size, key: runID})
}
