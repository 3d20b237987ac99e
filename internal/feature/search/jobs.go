package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
)

// The kinds of jobs. The key of the first is the thread's id.
const (
	jobIndex = "search-index"
	jobFill  = "search-fill"
)

const (
	// fillEvery is how often is looked for threads that no job was enqueued for, and fillLong how long one turn of it
	// lasts.
	fillEvery, fillLong = 10 * time.Minute, time.Minute
	longest             = 5 * time.Minute
)

// After is what follows the end of a run: its thread is indexed. Hidden threads are not. It is for the store to call.
func After(run store.Run) []store.NewJob {
	if run.Parent != "" {
		return nil
	}
	return Changed(run.ThreadID)
}

// Changed is what follows any other change of a thread. It is for the store to call.
func Changed(thread string) []store.NewJob {
	return []store.NewJob{{Kind: jobIndex, Key: thread}}
}

// Kinds are the jobs that keep the index, for a [job.Runner].
func (x *Indexer) Kinds() []job.Kind {
	return []job.Kind{
		{
			Name: jobIndex, Slots: 1, Tries: 5, Timeout: longest,
			Run: func(ctx context.Context, j job.Job) (func(job.Tx) error, error) {
				begun := time.Now()
				err := x.Index(ctx, j.User, j.Key)
				rest(ctx, time.Since(begun))
				return nil, err
			},
		},
		{
			Name: jobFill, Every: fillEvery, Timeout: longest,
			Run: func(ctx context.Context, _ job.Job) (func(job.Tx) error, error) { return nil, x.fill(ctx) },
		},
	}
}

// rest waits after work, so that an index takes a small part of a processor while many runs end.
func rest(ctx context.Context, worked time.Duration) {
	const times, most = 6, time.Second
	select {
	case <-ctx.Done():
	case <-time.After(min(times*worked, most)):
	}
}

// fill is a turn of the job that finds what is not indexed yet.
func (x *Indexer) fill(ctx context.Context) error {
	turn, cancel := context.WithTimeout(ctx, fillLong)
	defer cancel()
	err := x.Fill(turn, access.User{})
	if errors.Is(turn.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return job.LaterError(time.Second)
	}
	return err
}

// Fill indexes the threads that were changed since they were indexed, or never were; those of the user, or of all for
// nobody. One that cannot be indexed keeps no other from it.
func (x *Indexer) Fill(ctx context.Context, of access.User) error {
	var failed error
	at, last := int64(math.MinInt64), ""
	for {
		var found [][2]string
		err := x.db.System().Read(ctx, "stale", func(r database.Row) (bool, error) {
			found = append(found, [2]string{})
			t := &found[len(found)-1]
			return true, r.Scan(&t[0], &t[1], &at)
		}, at, last, of.ID())
		if err != nil || len(found) == 0 {
			return errors.Join(err, failed)
		}
		for _, t := range found {
			last = t[0]
			if err := x.Index(ctx, access.FromRow(t[1]), t[0]); err != nil && failed == nil {
				failed = fmt.Errorf("at least one thread is not found by a search: %w", err)
			}
			if ctx.Err() != nil {
				return errors.Join(ctx.Err(), failed)
			}
		}
	}
}
