package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// queueLen bounds the jobs that wait. Who finds the queue full waits for room, or until its context ends.
const queueLen = 256

// writer is the queue of what is to be written, and the workers that do it: one with SQLite, a few with a server. A
// worker takes what waits, runs each job so that none undoes another, and commits them together, so that many commits
// cost one fsync.
type writer struct {
	db      *sql.DB
	dialect dialect
	tuning  tuning
	// beside are the tables of features that must be emptied by hand when a thread goes.
	beside   []database.Table
	backlog  *backlog
	newsroom *newsroom
	// usable says before each transaction why there can be none, and after it why what was written is lost.
	usable func() error
	// begun counts the transactions.
	begun atomic.Int64

	jobs    chan *job
	workers []*worker
	running sync.WaitGroup
	closing atomic.Bool
	tally   tally

	mu     sync.RWMutex // guards closed, and jobs against being closed during a send
	closed bool
}

// job is one piece of writing. run may be called again after a transaction that was rolled back.
type job struct {
	run  func(*tx) error
	size int
	// key is the run that the job is about, or empty. The jobs of a batch are run in the order of their keys: batches
	// that lock the same rows lock them in the same order and do not stop each other.
	key string

	taken atomic.Bool // set once: by the worker that takes the job, or by the caller that gives up
	err   error
	done  chan struct{}
}

// newWriter starts the workers. The first one's connection is tried at once.
func newWriter(
	ctx context.Context, db *sql.DB, d dialect, tuning tuning, b *backlog, n *newsroom, beside ...database.Table,
) (*writer, error) {
	w := &writer{db: db, dialect: d, tuning: tuning, backlog: b, newsroom: n, beside: beside,
		usable: func() error { return nil },
		jobs:   make(chan *job, queueLen)}
	for range tuning.writers {
		w.workers = append(w.workers, &worker{writer: w})
	}
	if err := w.workers[0].probe(ctx); err != nil {
		return nil, err
	}
	for _, k := range w.workers {
		w.running.Go(k.loop)
	}
	return w, nil
}

// do runs one job of about size bytes and returns when it is durable, or has left nothing behind. The context, and its
// patience with a database that cannot be reached, count while the job waits; once it runs, its end is waited for, so
// that the caller always knows the outcome.
func (w *writer) do(ctx context.Context, j *job) error {
	j.done = make(chan struct{})
	if err := w.enqueue(ctx, j); err != nil {
		return err
	}
	if err := w.wait(ctx, j); err != nil && j.taken.CompareAndSwap(false, true) {
		return fmt.Errorf("wait for the writer: %w", err)
	}
	<-j.done
	return j.err
}

// wait returns when the job is done, or with the reason not to wait for it any more.
func (w *writer) wait(ctx context.Context, j *job) error {
	patience := store.Patience(ctx, w.tuning.patience)
	if patience == w.tuning.patience { // which the workers have by themselves
		select {
		case <-j.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for {
		late := time.NewTimer(patience)
		since := w.begun.Load()
		select {
		case <-j.done:
			late.Stop()
			return nil
		case <-ctx.Done():
			late.Stop()
			return ctx.Err()
		case <-late.C:
		}
		if w.begun.Load() == since { // else the database is there, and has much to do
			return w.dialect.explain(context.DeadlineExceeded)
		}
	}
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

// close takes no more jobs, finishes those that wait, and ends the workers. It may be called twice.
func (w *writer) close() {
	w.closing.Store(true)
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	w.running.Wait()
}
