package bin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	jobEmpty  = "bin-emptying"
	jobExpiry = "thread-expiry"
	// sweepEvery is how often is looked for threads that have had their time, sweepPage how many of them are read at
	// once.
	sweepEvery = 10 * time.Minute
	sweepPage  = 100
)

// Kinds are the jobs, for a [job.Runner].
func (b *Bin) Kinds() []job.Kind {
	return []job.Kind{
		{Name: jobEmpty, Tries: 5, Timeout: time.Hour, Run: func(ctx context.Context, _ job.Job) (func(job.Tx) error,
			error) {
			return nil, b.Sweep(ctx, store.Outlived{})
		}},
		{Name: jobExpiry, Every: sweepEvery, Timeout: time.Hour,
			Run: func(ctx context.Context, _ job.Job) (func(job.Tx) error, error) {
				return nil, b.Sweep(ctx, b.outlived())
			}},
	}
}

func (b *Bin) outlived() (o store.Outlived) {
	trashed, temporary := b.Keep()
	if trashed > 0 {
		o.Trashed = b.Now().Add(-trashed)
	}
	if temporary > 0 {
		o.Temporary = b.Now().Add(-temporary)
	}
	return o
}

// Sweep deletes the threads that have had their time, and those of emptied bins, with their files: each at once, or not
// if it was restored or used meanwhile. One that cannot be deleted keeps no other from it. It may be cut off anywhere
// and called again.
func (b *Bin) Sweep(ctx context.Context, o store.Outlived) error {
	for {
		list, err := b.Store.System().Outlived(ctx, o, sweepPage)
		if err != nil {
			return err
		}
		var failed []error
		for _, t := range list {
			err := b.Drop(ctx, access.FromRow(t.UserID), t.ID, o.Has)
			if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
				failed = append(failed, fmt.Errorf("delete thread %q: %w", t.ID, err))
			}
		}
		if err := errors.Join(failed...); err != nil || len(list) < sweepPage {
			return err
		}
	}
}
