package pgtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// TB is what of testing.TB a [Lazy] server needs.
type TB interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
}

// Lazy is one server for all tests of a process, started by the first that asks for it. It ends with the process, or
// by Stop. Its zero value is ready for use.
type Lazy struct {
	Config Config

	once   sync.Once
	server *Server
	err    error
	names  atomic.Int64

	prepare     sync.Once
	prepared    string // the name of what Copy copies
	errPrepared error
	copying     sync.Mutex // guards copier
	copier      *pgx.Conn  // a session of the superuser; nil before the first copy
}

// settings are those of a server whose databases live for seconds and are copied by the hundred: to look which of them
// are in need of a VACUUM starts a process for each, and without statistics a query looks as if it were worth to be
// compiled, which takes longer than any of a test.
func (l *Lazy) settings() Config {
	c := l.Config
	c.Settings = append([]string{"autovacuum = off", "jit = off"}, c.Settings...)
	return c
}

// Server returns the server. Without one the test fails: a store that was not tested is not known to work.
func (l *Lazy) Server(tb TB) *Server {
	tb.Helper()
	l.once.Do(func() { l.server, l.err = Start(context.Background(), l.settings()) })
	if l.err != nil {
		tb.Fatal(l.err)
	}
	return l.server
}

// Database makes a database for one test and returns its URL. It goes away with the server.
func (l *Lazy) Database(tb TB) string {
	tb.Helper()
	url, err := l.Server(tb).CreateDatabase(tb.Context(), l.Name())
	if err != nil {
		tb.Fatal(err)
	}
	return url
}

// Copy makes a database for one test, as Database does, but a copy of one that prepare has filled: it is called once,
// and no session of its may be left when it returns. To migrate each test's database took half of the time of tests
// that do little else.
func (l *Lazy) Copy(tb TB, prepare func(ctx context.Context, url string) error) string {
	tb.Helper()
	server := l.Server(tb)
	l.prepare.Do(func() {
		ctx := context.WithoutCancel(tb.Context())
		l.prepared = l.Name()
		url, err := server.CreateDatabase(ctx, l.prepared)
		if err == nil {
			err = prepare(ctx, url)
		}
		l.errPrepared = err
	})
	if l.errPrepared != nil {
		tb.Fatal(l.errPrepared)
	}
	name := l.Name()
	if err := l.copyTo(tb.Context(), name); err != nil {
		tb.Fatal(err)
	}
	return server.URL(name)
}

// copyTo copies the prepared database over one session that is kept.
func (l *Lazy) copyTo(ctx context.Context, name string) (err error) {
	l.copying.Lock()
	defer l.copying.Unlock()
	if l.copier == nil {
		if l.copier, err = pgx.Connect(ctx, l.server.URL("postgres")); err != nil {
			return err
		}
	}
	if _, err = l.copier.Exec(ctx, l.server.copyStatement(l.prepared, name)); err != nil {
		err = fmt.Errorf("create database %s: %w", name, errors.Join(err, l.copier.Close(context.WithoutCancel(ctx))))
		l.copier = nil
	}
	return err
}

// Kept leaves the session that a [Lazy] server keeps out of the leaks: after a slow write, pgx reads in the background
// until something comes.
func Kept() goleak.Option {
	return goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn/internal/bgreader.(*BGReader).bgRead")
}

// Name returns a name for a database or a schema that nobody else of this process has.
func (l *Lazy) Name() string { return fmt.Sprintf("test_%d", l.names.Add(1)) }

// Stop ends the server, if there is one.
func (l *Lazy) Stop() error {
	if l.server == nil {
		return nil
	}
	if l.copier != nil {
		_ = l.copier.Close(context.Background()) // the server ends anyway
	}
	return l.server.Stop()
}
