package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/state"
)

// noteTimeout bounds what is noted of files after the work itself is done.
const noteTimeout = time.Minute

// past is the history of a thread's files.
func (e *engine) past(place userdata.Space) *filehistory.Thread { return e.history.Of(place) }

// historyConfig is what the configuration says of the histories of files.
func historyConfig(c *config.Config) filehistory.Config {
	h := c.FileHistory
	return filehistory.Config{
		Bounds: filehistory.Bounds{Bytes: int64(h.Bytes), File: int64(h.FileBytes), Files: h.Files},
		Quota:  int64(c.Sandbox.Limits.Disk),
	}
}

// pastOf is that of a user's thread.
func (e *engine) pastOf(ctx context.Context, user access.User, threadID string) (*filehistory.Thread, error) {
	place, err := e.placeOf(ctx, user, threadID)
	if err != nil {
		return nil, err
	}
	return e.past(place), nil
}

// makers tells who has made which files of a user's thread, by their paths.
func (e *engine) makers(ctx context.Context, user access.User, thread string,
	_ []string) (map[string]threadfiles.Maker, error) {
	past, err := e.pastOf(ctx, user, thread)
	if err != nil {
		return nil, err
	}
	origins, err := past.Origins(ctx)
	out := make(map[string]threadfiles.Maker, len(origins))
	for p, o := range origins {
		if kind := o.Kind(); kind != "" {
			out[p] = threadfiles.Maker{Kind: kind, RunID: o.Run}
		}
	}
	return out, err
}

// finish notes what a run's background processes have changed. That of a child is its parent's.
func (e *engine) finish(ctx context.Context, past *filehistory.Thread, run store.Run) error {
	if run.Parent != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout) // the run's has ended
	defer cancel()
	if err := past.Finish(ctx, run.ID); err != nil {
		e.log.Warn("what the run's background processes have changed cannot be noted", "run", run.ID, "error", err)
	}
	return nil
}

// delivered is an error if a run has made outputs and the thread presents none of them. One that asks, or whose model
// failed, has not come to that yet.
func delivered(ctx context.Context, past *filehistory.Thread, run store.Run, last state.State) error {
	if _, failed := runs.Fallback(last); failed || run.Parent != "" || runs.Asks(last) {
		return nil
	}
	made, err := past.Outputs(ctx, run.ID)
	if err != nil || len(made) == 0 {
		return err
	}
	shown := threadstate.Artifacts.Get(last)
	if slices.ContainsFunc(made, func(p string) bool { return slices.Contains(shown, p) }) {
		return nil
	}
	return runs.ErrUndelivered
}

// note notes what somebody has done to files of a thread. What keeps it from that is logged: the work itself is done.
func (e *engine) note(ctx context.Context, user access.User, threadID, by string, paths ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	past, err := e.pastOf(ctx, user, threadID)
	if err == nil {
		err = past.Note(ctx, by, paths...)
	}
	if err != nil {
		e.log.Warn("a change of files cannot be noted", "thread", threadID, "by", by, "error", err)
	}
}

// undoing is the job of the system that does what is left of undos that were cut off.
func (e *engine) undoing() job.Kind {
	return job.Kind{Name: "unfinished-undos", Every: 6 * time.Hour, Timeout: time.Hour,
		Run: func(ctx context.Context, _ job.Job) (func(job.Tx) error, error) {
			folders, err := e.disk.Threads()
			for _, f := range folders {
				if err != nil || ctx.Err() != nil {
					break
				}
				if userdata.Removed(f.Name()) || !filehistory.Unfinished(f) {
					continue
				}
				t, errThread := e.store.System().Thread(ctx, f.Thread())
				if errThread != nil {
					continue // a folder without a thread
				}
				if past, errPast := e.pastOf(ctx, access.FromRow(t.UserID), t.ID); errPast == nil {
					err = past.Recover(ctx)
				}
			}
			return nil, errors.Join(err, ctx.Err())
		}}
}
