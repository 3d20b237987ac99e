package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var errBroken = errors.New("the line broke")

// flaky is the way to a database, of which one use fails, and does nothing, if that is said.
type flaky struct {
	db   *sql.DB // lends its connections
	left *atomic.Int64
	hit  *atomic.Value // what the use was that failed
	void *atomic.Bool  // no use fails, but a row comes without its values
	late time.Duration // before each use
}

// use fails if it is the use that does. A ROLLBACK never does: where it did, the connection would be of no use any
// more.
func (f flaky) use(what string) error {
	time.Sleep(f.late)
	if f.void.Load() || strings.HasPrefix(what, "ROLLBACK") || f.left.Add(-1) != 0 {
		return nil
	}
	f.hit.Store(what)
	return fmt.Errorf("%.60s: %w", what, errBroken)
}

// breakAt lets the nth use from here on fail.
func (f flaky) breakAt(n int) {
	f.hit.Store("")
	f.left.Store(int64(n))
}

// heal returns the use that failed; empty if there were not that many.
func (f flaky) heal() string {
	f.left.Store(0)
	return f.hit.Load().(string)
}

func newFlaky() flaky {
	return flaky{left: new(atomic.Int64), hit: new(atomic.Value), void: new(atomic.Bool)}
}

// through is a pool of connections that are lent by db.
func (f flaky) through(db *sql.DB, conns int) *sql.DB {
	f.db = db
	out := sql.OpenDB(f)
	out.SetMaxOpenConns(conns)
	out.SetMaxIdleConns(conns)
	return out
}

// unreliable puts a flaky way between a store and its database.
func unreliable(t *testing.T, s *Store) flaky {
	t.Helper()
	f := newFlaky()
	through := func(db *sql.DB) *sql.DB {
		out := f.through(db, 4)
		t.Cleanup(func() { out.Close() })
		return out
	}
	s.readers = through(s.readers)
	err := s.write(t.Context(), 0, func(x *tx) error {
		x.rollback()
		x.k.disconnect()
		x.k.db = through(x.k.db)
		return errors.Join(x.k.connect(x.ctx), x.exec(x.k.dialect.begin()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f flaky) Driver() driver.Driver { return f.db.Driver() }

func (f flaky) Connect(ctx context.Context) (driver.Conn, error) {
	lent, err := f.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	c := &flakyConn{flaky: f, lent: lent}
	err = lent.Raw(func(raw any) error {
		c.Conn = raw.(driver.Conn)
		return nil
	})
	return c, err
}

// flakyConn is a connection, lent by another pool.
type flakyConn struct {
	driver.Conn
	flaky

	lent *sql.Conn
}

func (c *flakyConn) Close() error { return c.lent.Close() }

func (c *flakyConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.use(query); err != nil {
		return nil, err
	}
	st, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &flakyStmt{st, c.flaky, query}, nil
}

func (c *flakyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.use(query); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
}

func (c *flakyConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.use("begin"); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

type flakyStmt struct {
	driver.Stmt
	flaky

	query string
}

func (s *flakyStmt) CheckNamedValue(v *driver.NamedValue) error {
	return s.Stmt.(driver.NamedValueChecker).CheckNamedValue(v)
}

func (s *flakyStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.use(s.query); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *flakyStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.use(s.query); err != nil {
		return nil, err
	}
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	return &flakyRows{rows, s.flaky, s.query}, nil
}

type flakyRows struct {
	driver.Rows
	flaky

	query string
}

func (r *flakyRows) Next(dest []driver.Value) error {
	if err := r.use(r.query); err != nil {
		return err
	}
	err := r.Rows.Next(dest)
	if err == nil && r.void.Load() && r.left.Add(-1) == 0 {
		r.hit.Store(r.query)
		clear(dest)
	}
	return err
}
