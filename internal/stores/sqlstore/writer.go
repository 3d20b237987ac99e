package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pudu-ai/pudu/internal/store"
)

// Bounds of the writer: jobs that wait, and jobs and bytes that share one transaction. Who finds the queue full waits
// for room, or until its context ends.
const (
	queueLen   = 256
	batchJobs  = 128
	batchBytes = 16 << 20
)

// writer is the one goroutine that writes. It takes what waits, runs each job in a savepoint of its own, and commits
// them together, so that many commits cost one fsync.
type writer struct {
	conn    *sql.Conn
	dialect dialect
	stmts   map[string]*sql.Stmt

	jobs chan *job
	done chan struct{} // closed when the goroutine has ended

	mu     sync.RWMutex // guards closed, and jobs against being closed during a send
	closed bool
}

// job is one piece of writing. run may be called again after a transaction that was rolled back.
type job struct {
	run  func(*tx) error
	size int

	taken atomic.Bool // set once: by the writer that takes the job, or by the caller that gives up
	err   error
	done  chan struct{}
}

func newWriter(conn *sql.Conn, d dialect) *writer {
	w := &writer{conn: conn, dialect: d, stmts: make(map[string]*sql.Stmt),
		jobs: make(chan *job, queueLen), done: make(chan struct{})}
	go w.loop()
	return w
}

// do runs one job of about size bytes and returns when it is durable, or has left nothing behind. The context counts
// while the job waits; once it runs, its end is waited for, so that the caller always knows the outcome.
func (w *writer) do(ctx context.Context, size int, run func(*tx) error) error {
	j := &job{run: run, size: size, done: make(chan struct{})}
	if err := w.enqueue(ctx, j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	if j.taken.CompareAndSwap(false, true) {
		return fmt.Errorf("wait for the writer: %w", ctx.Err())
	}
	<-j.done
	return j.err
}

func (w *writer) enqueue(ctx context.Context, j *job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return store.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("wait for the writer: %w", err)
	}
	select {
	case w.jobs <- j:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the writer: %w", ctx.Err())
	}
}

// close takes no more jobs, finishes those that wait, and ends the goroutine. It may be called twice.
func (w *writer) close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *writer) loop() {
	defer close(w.done)
	for j := range w.jobs {
		batch := w.gather(j)
		w.write(batch)
		for _, j := range batch {
			close(j.done)
		}
	}
	for _, st := range w.stmts {
		st.Close()
	}
}

// gather takes the jobs that wait behind the first, without waiting for more.
func (w *writer) gather(first *job) []*job {
	var batch []*job
	size := 0
	for j, ok := first, true; ok && j != nil; {
		if j.taken.CompareAndSwap(false, true) {
			batch = append(batch, j)
			size += j.size
		}
		if len(batch) >= batchJobs || size >= batchBytes {
			break
		}
		select {
		case j, ok = <-w.jobs:
		default:
			ok = false
		}
	}
	return batch
}

// write runs the batch in one transaction. If the transaction as a whole fails, every job gets one of its own, so that
// a step too big for what is left of the disk harms no other.
func (w *writer) write(batch []*job) {
	if len(batch) == 0 {
		return
	}
	err := w.transact(batch)
	if err == nil {
		return
	}
	if len(batch) > 1 && w.dialect.retriable(err) {
		for i := range batch {
			w.write(batch[i : i+1])
		}
		return
	}
	for _, j := range batch {
		j.err = w.dialect.explain(err)
	}
}

// transact sets the error of each job, and returns the error of the transaction, which concerns all of them.
func (w *writer) transact(batch []*job) error {
	t := &tx{ctx: context.Background(), w: w}
	if err := t.exec(w.dialect.begin()); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	if len(batch) == 1 { // needs no protection from others
		if err := batch[0].run(t); err != nil {
			t.rollback()
			batch[0].err = w.dialect.explain(err)
			return nil
		}
		batch = nil
	}
	for _, j := range batch {
		if err := t.savepoint(j); err != nil {
			t.rollback()
			return err
		}
	}
	if err := t.exec("COMMIT"); err != nil {
		t.rollback()
		return fmt.Errorf("commit transaction: %w", err)
	}
	return nil
}

// tx is the open transaction, as a job sees it.
type tx struct {
	ctx context.Context
	w   *writer
}

// savepoint runs a job so that its failure undoes nothing else. An error means that the transaction is lost.
func (t *tx) savepoint(j *job) error {
	if err := t.exec("SAVEPOINT job"); err != nil {
		return fmt.Errorf("begin savepoint: %w", err)
	}
	cause := j.run(t)
	if cause != nil {
		if err := t.exec("ROLLBACK TO SAVEPOINT job"); err != nil {
			return cause // the database has rolled everything back by itself, and this is why
		}
	}
	j.err = t.w.dialect.explain(cause)
	if err := t.exec("RELEASE SAVEPOINT job"); err != nil {
		return fmt.Errorf("end savepoint: %w", err)
	}
	return nil
}

// rollback ends a failed transaction. The database may have ended it already; then there is nothing to do.
func (t *tx) rollback() { _ = t.exec("ROLLBACK") }

// stmt prepares a text once for the life of the connection.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if st, ok := t.w.stmts[query]; ok {
		return st, nil
	}
	st, err := t.w.conn.PrepareContext(t.ctx, t.w.dialect.rewrite(query))
	if err != nil {
		return nil, err
	}
	t.w.stmts[query] = st
	return st, nil
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.change(query, args...)
	return err
}

// change runs a statement and returns how many rows it changed.
func (t *tx) change(query string, args ...any) (int64, error) {
	st, err := t.stmt(query) //nolint:sqlclosecheck // the writer keeps it
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// scan reads the one row of a query; sql.ErrNoRows if there is none.
func (t *tx) scan(query string, args []any, dest ...any) error {
	st, err := t.stmt(query) //nolint:sqlclosecheck // the writer keeps it
	if err != nil {
		return err
	}
	return st.QueryRowContext(t.ctx, args...).Scan(dest...)
}
