package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// lookEvery is how often a runner looks for what others have left to it, without being told.
	lookEvery = 5 * time.Second
	// longestWait is the longest wait for a next try.
	longestWait = time.Hour
	// maxError bounds the reason that is kept of a failure, in bytes.
	maxError = 2000
)

// Config is what a runner needs. Store and Owner are required.
type Config struct {
	Store database.Store
	// Owner is who renews the lease of this process; no other process, earlier ones included, has the same.
	Owner string
	Kinds []Kind
	// Lease is the length of a lease; 0 means store.Lease.
	Lease time.Duration
	// Observe is told of each try: done, failed, dead, later, stopped; nil is nobody.
	Observe func(kind, outcome string)
	Log     *slog.Logger
	Now     func() time.Time
	// Spread changes the wait before a next try a little, so that what failed together is not tried together; nil is by
	// a fifth at most.
	Spread func(time.Duration) time.Duration
}

// Runner does jobs. Its methods may be called from many goroutines.
type Runner struct {
	cfg     Config
	rows    database.Bound
	wake    chan struct{}
	running sync.WaitGroup

	mu    sync.Mutex
	taken map[string]int // jobs being done, by kind
	lost  context.CancelCauseFunc
	under context.Context // of the jobs; it ends when the lease does
}

// New makes a runner. It does nothing before [Runner.Work].
func New(cfg Config) *Runner {
	cfg.Lease = cmp.Or(cfg.Lease, store.Lease)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, string) {}
	}
	if cfg.Spread == nil {
		cfg.Spread = func(d time.Duration) time.Duration { return d - d/10 + rand.N(d/5+1) } //nolint:gosec // spreads load
	}
	for i, k := range cfg.Kinds {
		k.Slots, k.Tries = max(k.Slots, 1), max(k.Tries, 1)
		k.Timeout, k.Wait = cmp.Or(k.Timeout, time.Minute), cmp.Or(k.Wait, 2*time.Second)
		cfg.Kinds[i] = k
	}
	return &Runner{cfg: cfg, rows: cfg.Store.Feature(Feature().Name).System(), wake: make(chan struct{}, 1),
		taken: make(map[string]int)}
}

// LeaseLost stops the jobs that are being done: they may be another process's by now.
func (r *Runner) LeaseLost(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost != nil {
		r.lost(why)
		r.under, r.lost = context.WithCancelCause(context.Background())
	}
}

// Work does the jobs until ctx ends. Those under way are stopped then, and given back.
func (r *Runner) Work(ctx context.Context) {
	r.mu.Lock()
	r.under, r.lost = context.WithCancelCause(context.Background())
	r.mu.Unlock()
	defer r.running.Wait()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lost(ctx.Err())
	}()
	r.do(ctx, "prepare jobs", r.begin)
	var freed time.Time
	for {
		if now := r.cfg.Now(); now.Sub(freed).Abs() >= lookEvery {
			freed = now
			r.do(ctx, "free the jobs of processes that are gone", r.free)
		}
		next := lookEvery
		r.do(ctx, "look for jobs", func(ctx context.Context) (err error) {
			next, err = r.look(ctx)
			return err
		})
		timer := time.NewTimer(max(next, time.Millisecond))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-r.wake:
		case <-r.cfg.Store.Enqueued():
		}
		if timer.Stop(); ctx.Err() != nil {
			return
		}
	}
}

// do does a part of the work, and says that it cannot be done at present.
func (r *Runner) do(ctx context.Context, what string, part func(context.Context) error) {
	if err := part(ctx); err != nil && ctx.Err() == nil {
		r.cfg.Log.Warn("cannot "+what, "error", err)
	}
}

// begin sees to it that the system's own jobs are there.
func (r *Runner) begin(ctx context.Context) error {
	return r.rows.Write(ctx, 0, func(tx database.Tx) error {
		for _, k := range r.cfg.Kinds {
			if now := r.cfg.Now(); k.Every > 0 {
				if _, err := tx.Exec("seed", k.Name, database.Micros(now),
					database.Micros(now.Add(k.Every))); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// free frees what processes that are gone have begun.
func (r *Runner) free(ctx context.Context) error {
	held := false
	err := r.rows.Read(ctx, "held", func(database.Row) (bool, error) {
		held = true
		return false, nil
	}, r.cfg.Owner)
	if err != nil || !held {
		return err
	}
	return r.rows.Write(ctx, 0, func(tx database.Tx) error {
		_, err := tx.Exec("free", r.cfg.Owner, r.cfg.Lease.Microseconds())
		return err
	})
}

// look begins what may begin, and returns when the next may.
func (r *Runner) look(ctx context.Context) (time.Duration, error) {
	due := make(map[string]int64)
	err := r.rows.Read(ctx, "due", func(row database.Row) (bool, error) {
		var kind string
		var at int64
		err := row.Scan(&kind, &at)
		due[kind] = at
		return true, err
	})
	next := lookEvery
	for _, k := range r.cfg.Kinds {
		at, ok := due[k.Name]
		free := r.room(k)
		if err != nil || !ok || free == 0 {
			continue
		}
		if wait := database.TimeOf(at).Sub(r.cfg.Now()); wait > 0 {
			next = min(next, wait)
			continue
		}
		var list []Job
		if list, err = r.claim(ctx, k, free); len(list) > 0 {
			next = 0 // when those behind them may begin is not known yet
		}
		for _, j := range list {
			r.start(ctx, k, j)
		}
	}
	return next, err
}

// room is how many jobs of a kind may be begun.
func (r *Runner) room(k Kind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return k.Slots - r.taken[k.Name]
}

// claim takes at most n jobs of a kind.
func (r *Runner) claim(ctx context.Context, k Kind, n int) (list []Job, err error) {
	err = r.rows.Write(ctx, 0, func(tx database.Tx) error {
		list = nil
		for len(list) < n {
			j, user := Job{Kind: k.Name, rows: r.rows}, ""
			err := tx.Scan("claim", []any{&user, &j.Key, &j.Thread, &j.taken, &j.Attempt, &j.fence, &j.before,
				(*[]byte)(&j.Body)},
				k.Name, r.cfg.Owner, database.Micros(r.cfg.Now()))
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			j.User, j.Last = access.FromRow(user), j.Attempt >= k.Tries && k.Every == 0
			list = append(list, j)
		}
		return nil
	})
	return list, err
}

// start does a job in a goroutine of its own.
func (r *Runner) start(ctx context.Context, k Kind, j Job) {
	r.mu.Lock()
	r.taken[k.Name]++
	under := r.under
	r.mu.Unlock()
	r.running.Go(func() {
		r.cfg.Observe(k.Name, r.perform(ctx, under, k, j))
		r.mu.Lock()
		r.taken[k.Name]--
		r.mu.Unlock()
		select {
		case r.wake <- struct{}{}:
		default:
		}
	})
}

// try runs a job within its time. stop and under stop it; a panic is a failure.
func (r *Runner) try(
	stop, under context.Context, k Kind, j Job, run func(context.Context) (func(Tx) error, error),
) (write func(Tx) error, err error) {
	if j.Attempt > k.Tries && k.Every == 0 { // the tries before were counted, and none of them came to its end
		return nil, fmt.Errorf("the process ended while it was done, %d times at most; the last error before: %s",
			k.Tries, cmp.Or(j.before, "none"))
	}
	ctx, cancel := context.WithTimeoutCause(under, k.Timeout, fmt.Errorf("it took longer than %v", k.Timeout))
	defer cancel()
	defer context.AfterFunc(stop, cancel)()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return run(ctx)
}
