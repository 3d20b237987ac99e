package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

// errSlow is the cause of the end of a read that the database does not answer.
var errSlow = errors.New("the database does not answer")

// stmt prepares a text once; database/sql repeats that for each connection that it meets.
func (s *Store) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st, ok := s.stmts.Load(query); ok {
		return st.(*sql.Stmt), nil //nolint:forcetypeassert // nothing else is in it
	}
	st, err := s.readers.PrepareContext(ctx, s.dialect.rewrite(query))
	if err != nil {
		return nil, err
	}
	if first, raced := s.stmts.LoadOrStore(query, st); raced {
		st.Close()                    //nolint:sqlclosecheck // st may be kept
		return first.(*sql.Stmt), nil //nolint:forcetypeassert // nothing else is in it
	}
	return st, nil
}

// read runs a query and hands each row to scan until that returns false or an error. A read that has given no row yet
// is tried again when the database was lost, up to the limit of patience.
func (s *Store) read(ctx context.Context, query string, args []any, scan func(*sql.Rows) (more bool, err error)) error {
	if err := s.watch.err(); err != nil {
		return err
	}
	giveUp := time.Now().Add(store.Patience(ctx, s.tuning.patience))
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		given, err := s.readOnce(ctx, query, args, scan)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err() // whatever the driver calls being interrupted
		case given > 0, !s.dialect.unreachable(err), s.isClosed(), time.Now().After(giveUp):
			return s.readError(err)
		}
		select {
		case <-ctx.Done():
		case <-s.closed:
		case <-time.After(wait):
		}
	}
}

// readOnce returns how many rows it has given to scan. An error of scan is the caller's own and ends the read with it.
func (s *Store) readOnce(ctx context.Context, query string, args []any,
	scan func(*sql.Rows) (bool, error)) (given int, err error) {
	ctx, bound := bounded(ctx, s.tuning.timeout)
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), errSlow) {
			err = errSlow
		}
		bound.end()
	}()
	st, err := s.stmt(ctx, query) //nolint:sqlclosecheck // the store keeps it
	if err != nil {
		return 0, err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		given++
		bound.pause()
		if more, err := scan(rows); err != nil || !more {
			return given, err
		}
		bound.resume()
	}
	return given, rows.Err()
}

// bound ends a context when the database takes too long for one answer. It does not count while rows are worked on.
type bound struct {
	limit  time.Duration
	timer  *time.Timer // nil without a limit
	cancel context.CancelCauseFunc
}

func bounded(ctx context.Context, limit time.Duration) (context.Context, *bound) {
	if limit == 0 {
		return ctx, &bound{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &bound{limit, time.AfterFunc(limit, func() { cancel(errSlow) }), cancel}
}

func (b *bound) pause() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *bound) resume() {
	if b.timer != nil {
		b.timer.Reset(b.limit)
	}
}

func (b *bound) end() {
	if b.timer != nil {
		b.timer.Stop()
		b.cancel(nil)
	}
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// readError explains a failed read. database/sql has no error of its own for a database that was closed.
func (s *Store) readError(err error) error {
	if err != nil && s.isClosed() {
		return store.ErrClosed
	}
	if lost := s.watch.look(); err != nil && lost != nil {
		return lost
	}
	return s.dialect.explain(err)
}

// scanner is a row: *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

// exists reports whether a query finds anything.
func exists(ctx context.Context, from reader, query string, args ...any) (bool, error) {
	found := false
	err := from.read(ctx, query, args, func(*sql.Rows) (bool, error) {
		found = true
		return false, nil
	})
	return found, err
}
