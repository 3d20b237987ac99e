package app

import (
	"context"
	"errors"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// rewind gives a run that asks for it the files as they were where it goes on from: before the run in whose place it
// stands, or at its checkpoint.
func (e *engine) rewind(ctx context.Context, past *filehistory.Thread, job runs.Job) error {
	about := job.Request.Replays()
	if about.Files != runs.FilesThen || job.Run.Parent != "" {
		return nil
	}
	to, err := e.momentOf(ctx, job, about.Run)
	if err != nil || to.At.IsZero() {
		return err
	}
	out, err := past.Rewind(ctx, job.Run.ID, to)
	for _, n := range out.NotRestorable {
		e.log.Warn("a file is not what it was then", "run", job.Run.ID, "path", n.Path, "reason", n.Reason)
	}
	return err
}

// momentOf is when a run goes on from; the zero moment if that is now.
func (e *engine) momentOf(ctx context.Context, job runs.Job, instead string) (m filehistory.Moment, err error) {
	mine := e.store.For(access.FromRow(job.Run.UserID))
	if instead != "" {
		run, err := mine.Run(ctx, instead)
		if err == nil && run.ThreadID == job.Run.ThreadID {
			return filehistory.Moment{Run: run.ID, At: run.CreatedAt}, nil
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return m, err
		}
	}
	switch at := job.Request.Checkpoint; at {
	case "":
		return m, nil
	case store.Origin:
		t, err := mine.Thread(ctx, job.Run.ThreadID)
		return filehistory.Moment{At: t.CreatedAt}, err
	default:
		cp, err := mine.Checkpoint(ctx, e.manager.Schema(), job.Run.ThreadID, at)
		return filehistory.Moment{At: cp.CreatedAt}, err
	}
}
