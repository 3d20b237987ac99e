package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/lib/id"
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
		Bounds: filehistory.Bounds{Bytes: int64(h.Bytes), File: int64(h.FileBytes), Files: h.Files}, Quota: int64(c.Sandbox.Limits.Disk),
	}
}

// pastOf is that of a user's thread.
func (e *engine) pastOf(ctx context.Context, user access.User, threadID string) (*filehistory.Thread, error) {
	return pastIn(e.store, e.disk, e.history)(ctx, user, threadID)
}

// pastIn finds the histories of the files of users' threads.
func pastIn(st store.Store, disk userdata.Disk, history *filehistory.History) filehistory.Find {
	return func(ctx context.Context, user access.User, threadID string) (*filehistory.Thread, error) {
		place, err := placeOf(ctx, st, disk, user, threadID)
		if err != nil {
			return nil, err
		}
		return history.Of(place), nil
	}
}

// makersIn tells who has made which files of a thread, by their paths.
func makersIn(find filehistory.Find) threadfiles.Makers {
	return func(ctx context.Context, user access.User, thread string, _ []string) (map[string]threadfiles.Maker, error) {
		past, err := find(ctx, user, thread)
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

// delivered is an error if a run has made outputs and the thread presents none of them. One that asks, or whose model failed, has
// not come to that yet.
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
	return job.Kind{Name: "unfinished-undos", Every: 6 * time.Hour, Timeout: time.Hour, Run: func(ctx context.Context, _ job.Job) (func(job.Tx) error, error) {
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

// FileHistory implements cli.App.
func (a App) FileHistory(ctx context.Context, o cli.Options, do func(cli.FileHistory) error) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.FileHistory{Client: p.server}))
	}
	return p.close(do(pastHere{filehistory.New(historyConfig(p.cfg)), p}))
}

// pastHere is the history of the files of the user's threads here.
type pastHere struct {
	history *filehistory.History
	at      place
}

func (h pastHere) of(ctx context.Context, thread string) (*filehistory.Thread, error) {
	if _, err := h.at.store.For(access.Default()).Thread(ctx, thread); err != nil {
		return nil, err
	}
	return pastIn(h.at.store, h.at.disk, h.history)(ctx, access.Default(), thread)
}

// Runs are the ids of a thread's runs, the newest first.
func (h pastHere) Runs(ctx context.Context, thread string, limit int) ([]string, error) {
	return runIDs(h.at.store.For(access.Default()).ListRuns(ctx, store.RunFilter{ThreadID: thread, Limit: limit}))
}

func runIDs(list []store.Run, err error) ([]string, error) {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return ids, err
}

// Changes tells what a run has changed.
func (h pastHere) Changes(ctx context.Context, thread, run string) (filehistory.Report, error) {
	past, err := h.of(ctx, thread)
	if err != nil {
		return filehistory.Report{}, err
	}
	list, err := past.Changes(ctx, run)
	return list.Report(true, true), err
}

// Undo takes back what a run has changed.
func (h pastHere) Undo(ctx context.Context, thread string, u filehistory.Undo) (filehistory.Undone, error) {
	past, err := h.of(ctx, thread)
	if err != nil {
		return filehistory.Undone{}, err
	}
	u.ID = id.New(time.Now())
	u.Idle = func(ctx context.Context) error { return idle(ctx, h.at.store.For(access.Default()), thread) }
	out, err := past.Undo(ctx, u)
	if out.ID != "" {
		h.at.record(ctx, audit.Change, "files", thread+"/"+u.Run)
	}
	return out, err
}

// idle is nil while no run of a thread is at work.
func idle(ctx context.Context, mine store.UserData, thread string) error {
	list, err := mine.ListRuns(ctx, store.RunFilter{ThreadID: thread, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1})
	if err == nil && len(list) > 0 {
		err = fmt.Errorf("%w: run %s of the thread is at work; undo when it has ended", store.ErrConflict, list[0].ID)
	}
	return err
}
