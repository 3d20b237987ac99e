package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	jobs "github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
)

// backlog is how jobs come into the database: at the end of the transaction that causes them.
type backlog struct {
	insert, room string // empty without the feature
	after        []store.After
	// changed are those of changes outside of runs, now their clock.
	changed []store.Changed
	now     func() time.Time
	stored  chan struct{} // has room for one: there are new jobs
	log     *slog.Logger
	full    atomic.Int64 // jobs that were left out

	mu        sync.Mutex
	uncounted map[queue]int // how many more jobs are let in before they are counted again
}

// queue is what holds a limited number of jobs.
type queue struct{ user, kind string }

// maxQueues bounds for how many queues a process remembers that they have room.
const maxQueues = 10_000

func newBacklog(features map[string]*known, cfg Config) *backlog {
	b := &backlog{after: cfg.After, changed: cfg.Changed, now: cfg.Now, stored: make(chan struct{}, 1), log: cfg.Logger,
		uncounted: make(map[queue]int)}
	if f := features[jobs.Feature().Name]; f != nil {
		b.insert, b.room = f.system["enqueue"].text, f.system["room"].text
	}
	return b
}

// following is a job on its way into the database.
type following struct {
	store.NewJob

	user, thread string
	at           time.Time
	dropped      error
}

// Enqueued implements [database.Store].
func (s *Store) Enqueued() <-chan struct{} { return s.backlog.stored }

// follow has jobs stored with what the transaction writes.
func (t *tx) follow(user, thread string, at time.Time, list ...store.NewJob) {
	for _, j := range list {
		t.following = append(t.following, following{NewJob: j, user: user, thread: thread, at: at, dropped: j.Check()})
	}
}

// errFullQueue is why a job is left out.
var errFullQueue = errors.New("too many jobs of its kind and user wait")

// enqueue stores the jobs of the transaction, in one order, so that no two transactions wait for each other. What
// cannot be stored is left out: the step that it follows is worth more.
func (t *tx) enqueue() error {
	if len(t.following) > 0 && t.k.backlog.insert == "" {
		return errors.New("jobs cannot be stored: the store was opened without their feature")
	}
	slices.SortStableFunc(t.following, func(a, b following) int {
		return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	for i, f := range t.following {
		if f.dropped != nil {
			continue
		}
		now, begin := database.Micros(f.at), database.Micros(f.at)
		if f.NotBefore.After(f.at) {
			begin = database.Micros(f.NotBefore)
		}
		latest := begin
		if f.Latest.After(f.NotBefore) {
			latest = max(begin, database.Micros(f.Latest))
		}
		full, err := t.full(queue{f.user, f.Kind})
		if err != nil {
			return err
		}
		n, err := t.change(t.k.backlog.insert, f.user, f.Kind, f.Key, f.thread, begin, latest, now, jsonText(f.Body),
			number01(full))
		if err != nil {
			return err
		}
		if n == 0 {
			t.following[i].dropped = errFullQueue
		}
	}
	return nil
}

// full reports whether no new job may come into a queue. The jobs are counted again when as many as a sixteenth of the
// room have come in through this process: so near the limit each time, and a few processes do not fill it unseen.
func (t *tx) full(q queue) (bool, error) {
	if t.k.backlog.letIn(q) {
		return false, nil
	}
	var n int
	err := t.scan(t.k.backlog.room, []any{q.user, q.kind, jobs.MaxWaiting}, &n)
	if err == nil {
		t.k.backlog.counted(q, (jobs.MaxWaiting-n)/16)
	}
	return n >= jobs.MaxWaiting, err
}

func (b *backlog) letIn(q queue) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.uncounted[q]
	if n > 0 {
		b.uncounted[q] = n - 1
	}
	return n > 0
}

func (b *backlog) counted(q queue, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.uncounted) >= maxQueues {
		clear(b.uncounted)
	}
	b.uncounted[q] = more
}

// told wakes who does the jobs, and says which of them were left out.
func (b *backlog) told(list []following) {
	if len(list) == 0 {
		return
	}
	select {
	case b.stored <- struct{}{}:
	default:
	}
	for _, f := range list {
		if f.dropped != nil {
			b.full.Add(1)
			b.log.Error("A JOB IS LEFT OUT", "kind", f.Kind, "key", f.Key, "user", f.user, "error", f.dropped)
		}
	}
}

// endOne changes a run so that it is at its end, and stores what follows. It and endSome are the only ways there. n is
// 0 if the condition of the change did not hold.
func (t *tx) endOne(id, query string, args ...any) (n int64, err error) {
	if n, err = t.change(query, args...); err != nil || n == 0 {
		return n, err
	}
	var r runRow
	if err := t.scan("SELECT "+runColumns+" FROM runs WHERE id = $1", []any{id}, r.cells()...); err != nil {
		return n, err
	}
	t.ended(r.run())
	return n, nil
}

// endSome is endOne for a change of several runs that none were at their end, of which some may be then.
func (t *tx) endSome(query string, args ...any) (n int64, err error) {
	err = t.rows(query+" RETURNING "+runColumns, args, func(rows *sql.Rows) error {
		var r runRow
		err := rows.Scan(r.cells()...)
		n++
		if run := r.run(); err == nil && !run.Active() {
			t.ended(run)
		}
		return err
	})
	return n, err
}

// ended stores what follows the end of a run, and tells of it.
func (t *tx) ended(r store.Run) {
	if r.Active() {
		return // it was given back
	}
	if r.Root == "" {
		t.isNew(r.UserID, r.ThreadID, afterRun(r))
	}
	for _, after := range t.k.backlog.after {
		t.follow(r.UserID, r.ThreadID, r.UpdatedAt, after(r)...)
	}
}

// changed stores what follows a change of a thread outside of a run, and tells of it: its state, unless that is nil.
func (t *tx) changed(user, thread string, state any) {
	t.isNew(user, thread, state)
	for _, changed := range t.k.backlog.changed {
		t.follow(user, thread, t.k.backlog.now(), changed(thread)...)
	}
}

// followed reports whether anything follows the end of a run.
func (b *backlog) followed(r store.Run) bool {
	return slices.ContainsFunc(b.after, func(after store.After) bool { return len(after(r)) > 0 })
}

// adopt stores what follows the ends of runs that a program without jobs has ended: it left the column notify at 1.
func (s *Store) adopt(ctx context.Context) error {
	const some, left = 100, " FROM runs WHERE notify = 1 AND status NOT IN ('pending', 'running')"
	for found := some; found == some && len(s.backlog.after) > 0; {
		if there, err := exists(ctx, s, "SELECT 1"+left); err != nil || !there {
			return err
		}
		err := s.write(ctx, 0, func(t *tx) error {
			found = 0
			return t.rows("UPDATE runs SET notify = 0 WHERE id IN (SELECT id"+left+" LIMIT $1) RETURNING "+runColumns,
				[]any{some},
				func(rows *sql.Rows) error {
					var r runRow
					err := rows.Scan(r.cells()...)
					found++
					t.ended(r.run())
					return err
				})
		})
		if err != nil {
			return fmt.Errorf("take over what follows the ends of runs: %w", err)
		}
	}
	return nil
}
