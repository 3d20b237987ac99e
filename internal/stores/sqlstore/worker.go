package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

// attempts is how often a job is run that loses against other transactions.
const attempts = 6

// worker is one goroutine that writes, with its connection. The connection is made again when it was lost; what was
// being written on it is never tried again by itself.
type worker struct {
	*writer
	conn  *sql.Conn // nil when there is none
	since time.Time // when conn was made
	stmts map[string]*sql.Stmt
	// busy is held from the begin of a transaction to its end.
	busy sync.Mutex
}

func (k *worker) loop() {
	for first := range k.jobs {
		k.serve(first)
	}
	k.disconnect()
}

// serve writes a job and what waits behind it. The way to the database is made sure of first: until then the jobs wait
// in the queue, and their callers can still leave.
func (k *worker) serve(first *job) {
	k.busy.Lock()
	defer k.busy.Unlock()
	t, err := k.begin()
	batch := k.gather(first)
	switch {
	case err != nil:
		k.fail(batch, fmt.Errorf("begin transaction: %w", err))
	case len(batch) == 0:
		t.rollback()
	default:
		k.write(t, batch)
	}
	for _, j := range batch {
		close(j.done)
	}
}

func (k *worker) fail(batch []*job, err error) {
	for _, j := range batch {
		j.err = k.dialect.explain(err)
	}
}

// write runs the batch in the transaction. If that fails as a whole, every job gets one of its own, so that a step too
// big for what is left of the disk harms no other; and so does a job that lost against other transactions.
func (k *worker) write(t *tx, batch []*job) {
	err := t.run(batch)
	switch {
	case err == nil:
		for _, j := range batch {
			if k.dialect.transient(j.err) {
				k.alone(j)
			}
		}
	case k.dialect.transient(err), len(batch) > 1 && k.dialect.retriable(err):
		for _, j := range batch {
			k.alone(j)
		}
	default:
		k.fail(batch, err)
	}
}

// alone runs a job in a transaction of its own, again while it loses against others.
func (k *worker) alone(j *job) {
	for n := range attempts {
		if n > 0 {
			time.Sleep(rand.N(5 * time.Millisecond << n)) //nolint:gosec // keeps two that met from meeting again
		}
		j.err = nil
		t, err := k.begin()
		if err == nil {
			err = t.run([]*job{j})
		}
		if err != nil {
			j.err = k.dialect.explain(err)
		}
		if !k.dialect.transient(j.err) {
			return
		}
	}
}

// probe makes the connection and finds out whether it can write: SQLite opens a file that cannot be written all the
// same. It asks at once for the transaction and its end: PostgreSQL gives up one that pauses, as on a busy machine.
func (k *worker) probe(ctx context.Context) error {
	if err := k.connect(ctx); err != nil {
		return err
	}
	if _, err := k.conn.ExecContext(ctx, k.dialect.begin()+"; ROLLBACK"); err != nil {
		return fmt.Errorf("begin first transaction: %w", err)
	}
	return nil
}

func (k *worker) connect(ctx context.Context) (err error) {
	if k.conn, err = k.db.Conn(ctx); err != nil {
		k.conn = nil
		return err
	}
	k.since, k.stmts = time.Now(), make(map[string]*sql.Stmt)
	return nil
}

// disconnect gives the connection back; the pool drops it if it is of no use any more.
func (k *worker) disconnect() {
	if k.conn == nil {
		return
	}
	for _, st := range k.stmts {
		st.Close()
	}
	_ = k.conn.Close() // says that it was lost, which is known
	k.conn, k.stmts = nil, nil
}

// begin opens a transaction. While the database cannot be reached it tries again with new connections, up to the limit
// of patience: nothing has been written yet.
func (k *worker) begin() (*tx, error) {
	giveUp := time.Now().Add(k.tuning.patience)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		t, err := k.tryBegin()
		if err == nil {
			k.begun.Add(1)
			return t, nil
		}
		if !k.dialect.unreachable(err) {
			return nil, err
		}
		k.disconnect()
		if k.closing.Load() || time.Now().After(giveUp) {
			return nil, err
		}
		time.Sleep(wait)
	}
}

func (k *worker) tryBegin() (*tx, error) {
	if k.tuning.recycle > 0 && time.Since(k.since) > k.tuning.recycle {
		k.disconnect()
	}
	if err := k.usable(); err != nil {
		return nil, err
	}
	t := &tx{ctx: context.Background(), k: k}
	if k.conn == nil {
		if err := t.bounded(t.ctx, k.connect); err != nil {
			return nil, err
		}
	}
	return t, t.exec(k.dialect.begin())
}

// tx is the open transaction, as a job sees it.
type tx struct {
	// ctx is nobody's: what has begun is brought to an end, whether its caller still waits or not.
	ctx context.Context
	k   *worker
	// failed is the first error of a statement since the last savepoint. A server then has to undo what came before it,
	// and would answer a COMMIT with silence and a rollback.
	failed error
	// following are the jobs that are stored with what was written.
	following []following
	// news are what is told of the threads that were changed.
	news []piece
}

// run runs the jobs and commits. It sets the error of each job, and returns the error of the transaction, which
// concerns all of them. Jobs that succeed need no protection from each other; so the first that fails undoes them all,
// and they are run again, now with savepoints.
func (t *tx) run(batch []*job) error {
	for _, j := range batch {
		err := t.job(j)
		if err == nil {
			continue
		}
		t.rollback()
		if len(batch) > 1 {
			return t.again(batch)
		}
		j.err = t.k.dialect.explain(err)
		return nil
	}
	return t.commit()
}

// again runs the jobs so that one that fails undoes nothing else.
func (t *tx) again(batch []*job) error {
	t.failed, t.following, t.news = nil, nil, nil
	if err := t.exec(t.k.dialect.begin()); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	for _, j := range batch {
		if err := t.savepoint(j); err != nil {
			t.rollback()
			return err
		}
	}
	return t.commit()
}

func (t *tx) commit() error {
	err := t.enqueue()
	if err == nil {
		err = t.announce()
	}
	if err != nil {
		t.rollback()
		return err
	}
	begun := time.Now()
	err = t.exec("COMMIT")
	t.k.tally.count(begun, err)
	if err == nil {
		if err := t.k.usable(); err != nil {
			return fmt.Errorf("%w: %w", store.ErrUnknown, err)
		}
		t.k.backlog.told(t.following)
		t.k.newsroom.told(t.news)
		return nil
	}
	t.rollback()
	if !t.k.dialect.retriable(err) {
		err = fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	return fmt.Errorf("commit transaction: %w", err)
}

// job runs a job. A statement that failed is the end of it, whether it minds or not. Nothing follows one that failed.
func (t *tx) job(j *job) error {
	before, news := len(t.following), len(t.news)
	err := j.run(t)
	if err == nil {
		err = t.failed
	}
	if err != nil {
		t.following, t.news = t.following[:before], t.news[:news]
	}
	return err
}

// savepoint runs a job so that its failure undoes nothing else. An error means that the transaction is lost.
func (t *tx) savepoint(j *job) error {
	if err := t.exec("SAVEPOINT job"); err != nil {
		return fmt.Errorf("begin savepoint: %w", err)
	}
	cause := t.job(j)
	if cause != nil {
		if err := t.exec("ROLLBACK TO SAVEPOINT job"); err != nil {
			return cause // the database has rolled everything back by itself, and this is why
		}
		t.failed = nil
	}
	j.err = t.k.dialect.explain(cause)
	if err := t.exec("RELEASE SAVEPOINT job"); err != nil {
		return fmt.Errorf("end savepoint: %w", err)
	}
	return nil
}

// rollback ends a failed transaction. The database may have ended it already; then there is nothing to do.
func (t *tx) rollback() { _ = t.exec("ROLLBACK") }

// bounded runs one statement with its deadline.
func (t *tx) bounded(ctx context.Context, run func(context.Context) error) error {
	if limit := t.k.tuning.timeout; limit > 0 {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return run(limited)
	}
	return run(ctx)
}

// stmt prepares a text once for the life of the connection.
func (t *tx) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	if st, ok := t.k.stmts[query]; ok {
		return st, nil
	}
	st, err := t.k.conn.PrepareContext(ctx, t.k.dialect.rewrite(query))
	if err != nil {
		return nil, err
	}
	t.k.stmts[query] = st
	return st, nil
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// change runs a statement and returns how many rows it changed.
func (t *tx) change(query string, args ...any) (n int64, err error) {
	defer func() { t.note(err) }()
	err = t.bounded(t.ctx, func(ctx context.Context) error {
		st, err := t.stmt(ctx, query) //nolint:sqlclosecheck // the worker keeps it
		if err != nil {
			return err
		}
		res, err := st.ExecContext(ctx, args...)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return n, err
}

// scan reads the one row of a query; sql.ErrNoRows if there is none.
func (t *tx) scan(query string, args []any, dest ...any) error {
	err := t.bounded(t.ctx, func(ctx context.Context) error {
		st, err := t.stmt(ctx, query) //nolint:sqlclosecheck // the worker keeps it
		if err != nil {
			return err
		}
		return st.QueryRowContext(ctx, args...).Scan(dest...)
	})
	if !errors.Is(err, sql.ErrNoRows) {
		t.note(err)
	}
	return err
}

// rows reads the rows that a statement returns.
func (t *tx) rows(query string, args []any, scan func(*sql.Rows) error) error {
	err := t.bounded(t.ctx, func(ctx context.Context) error {
		st, err := t.stmt(ctx, query) //nolint:sqlclosecheck // the worker keeps it
		if err != nil {
			return err
		}
		rows, err := st.QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	t.note(err)
	return err
}

func (t *tx) note(err error) {
	if t.failed == nil {
		t.failed = err
	}
}
