package job

import (
	"context"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

// Queue is what operators see of the jobs of all users, and do with them.
type Queue struct {
	rows database.Bound
}

// NewQueue makes the queue of a store.
func NewQueue(st database.Store) *Queue {
	return &Queue{rows: st.Feature(Feature().Name).System()}
}

// Entry is a job as an operator sees it.
type Entry struct {
	Kind   string `json:"kind"`
	Key    string `json:"key"`
	User   string `json:"user"`
	Thread string `json:"thread,omitempty"`
	// Tries counts those since the last success, Error is why the last of them failed.
	Tries int    `json:"tries"`
	Error string `json:"error,omitempty"`
	// Begun says that somebody does it now.
	Begun bool `json:"begun,omitempty"`
	// NotBefore is when it may begin. Dead is since when it is given up; zero if it is not.
	NotBefore time.Time `json:"not_before"`
	Created   time.Time `json:"created"`
	Dead      time.Time `json:"dead,omitzero"`
}

// Filter selects jobs; empty fields select all.
type Filter struct {
	Kind, User string
	Dead       bool // those alone
	Limit      int  // 1 to 1000; 0 means 1000
}

// List returns jobs: those that run, those that wait, the next first, then the dead, the newest first.
func (q *Queue) List(ctx context.Context, f Filter) (list []Entry, err error) {
	if f.Limit == 0 {
		f.Limit = 1000
	}
	if err = database.CheckLimit(f.Limit, 1000); err == nil {
		err = q.rows.Read(ctx, "list", func(row database.Row) (bool, error) {
			var e Entry
			var owner string
			var begin, created, dead int64
			err := row.Scan(&e.Kind, &e.Key, &e.User, &e.Thread, &e.Tries, &e.Error, &owner, &begin, &created, &dead)
			e.Begun, e.NotBefore, e.Created = owner != "", database.TimeOf(begin), database.TimeOf(created)
			if dead > 0 {
				e.Dead = database.TimeOf(dead)
			}
			list = append(list, e)
			return true, err
		}, f.Kind, f.User, number(f.Dead), f.Limit)
	}
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", err)
	}
	return list, nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Retry has a job done at once, with all its tries before it, and returns how many there were of the kind and key: one,
// or one of each user who has one of them; with a user, that user's alone. One that runs is none.
func (q *Queue) Retry(ctx context.Context, kind, key, user string) (int64, error) {
	return q.change(ctx, "retry", kind, key, user, database.Micros(time.Now()))
}

// Drop removes a job, as [Queue.Retry] finds it, also one that runs: it has no effect any more.
func (q *Queue) Drop(ctx context.Context, kind, key, user string) (int64, error) {
	return q.change(ctx, "drop", kind, key, user)
}

func (q *Queue) change(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = q.rows.Write(ctx, 0, func(tx database.Tx) (err error) {
		n, err = tx.Exec(statement, args...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s the job %.40q: %w", statement, args[1], err)
	}
	return n, nil
}

// Count is what there is of a kind.
type Count struct {
	Kind string
	// Waiting counts those that are done or to be done, Dead those that are given up.
	Waiting, Dead int64
	// Oldest is since when the one is due that waits for the longest; it may be in the future, and is zero if none
	// waits.
	Oldest time.Time
}

// Counts counts the jobs by their kinds.
func (q *Queue) Counts(ctx context.Context) (list []Count, err error) {
	err = q.rows.Read(ctx, "counts", func(row database.Row) (bool, error) {
		var c Count
		var all, oldest int64
		err := row.Scan(&c.Kind, &all, &c.Dead, &oldest)
		if c.Waiting = all - c.Dead; oldest > 0 {
			c.Oldest = database.TimeOf(oldest)
		}
		list = append(list, c)
		return true, err
	})
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", err)
	}
	return list, nil
}
