package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// Source is where runs are read from.
type Source struct {
	Store store.UserData
	// Files are the thread's files; nil records none.
	Files *sandbox.Files
}

// UnfitError is why a run cannot be played again.
type UnfitError string

// Error implements error.
func (u UnfitError) Error() string { return string(u) }

// Record makes a recording of a finished run. An empty run id means the thread's last finished run. It refuses a run
// that cannot be played again: one that is not at its end, and one whose course hangs on a crash, on a cancel while
// tools ran, or on an answer to a question of an earlier run.
func Record(ctx context.Context, src Source, threadID, runID string) (*Recording, error) {
	run, err := find(ctx, src.Store, threadID, runID)
	if err != nil {
		return nil, err
	}
	t := &tape{src: src, run: run, rec: &Recording{
		Version: Version, Thread: run.ThreadID, Run: run.ID,
		After: After{Status: run.Status, Error: Str(run.Error), StopReason: run.StopReason},
	}}
	if run.Error == store.Undelivered { // whether outputs are new hangs on what other runs have left
		t.rec.After.Status, t.rec.After.Error = event.StatusSuccess, ""
	}
	if err := t.record(ctx); err != nil {
		return nil, fmt.Errorf("record run %s: %w", run.ID, err)
	}
	return t.rec, nil
}

// find chooses the run.
func find(ctx context.Context, s store.UserData, threadID, runID string) (store.Run, error) {
	if _, err := s.Thread(ctx, threadID); errors.Is(err, store.ErrNotFound) {
		return store.Run{}, fmt.Errorf("there is no thread %q; `pudu threads` lists them", threadID)
	} else if err != nil {
		return store.Run{}, err
	}
	if runID == "" {
		list, err := s.ListRuns(ctx, store.RunFilter{ThreadID: threadID, Limit: 1, Statuses: []string{
			event.StatusSuccess, event.StatusError, event.StatusInterrupted,
		}})
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("thread %s has no finished run yet; wait for its end", threadID)
		}
		if err != nil {
			return store.Run{}, err
		}
		return list[0], nil
	}
	run, err := s.Run(ctx, runID)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && run.ThreadID != threadID:
		return store.Run{}, fmt.Errorf("thread %s has no run %q", threadID, runID)
	case err != nil:
		return store.Run{}, err
	case run.Active():
		return store.Run{},
			UnfitError(fmt.Sprintf("run %s is not at its end (%s); wait for it, or let it end with `pudu run "+
				"--resume %s`",
				run.ID, run.Status, threadID))
	}
	return run, nil
}

// record fills the recording.
func (t *tape) record(ctx context.Context) error {
	req, err := runs.RequestOf(t.run)
	if err != nil {
		return err
	}
	if len(req.Answers) > 0 || len(req.Input) == 0 {
		return UnfitError("it goes on with an answer to a question of the run before it; record that run, or one " +
			"that begins with a task")
	}
	t.rec.Model, t.rec.MaxSteps = req.Model, req.MaxSteps
	t.rec.At = t.run.CreatedAt.Local() //nolint:gosmopolitan // the day of a run is that of the clock it had
	t.rec.Config, t.rec.Context = Value(req.Config), Value(req.Context)
	t.input = req.Input
	for _, m := range req.Input {
		raw, err := brief(m)
		if err != nil {
			return err
		}
		t.rec.Input = append(t.rec.Input, raw)
	}
	if err := t.events(ctx); err != nil {
		return err
	}
	if err := t.ended(); err != nil {
		return err
	}
	if err := t.after(ctx); err != nil {
		return err
	}
	return t.files(ctx)
}

// events reads the log.
func (t *tape) events(ctx context.Context) error {
	const page = 1000
	for after := (event.ID{}); ; {
		evs, err := t.src.Store.Events(ctx, t.run.ID, after, page)
		if err != nil {
			return err
		}
		for _, ev := range evs {
			if err := t.event(ctx, ev); err != nil {
				return err
			}
		}
		if len(evs) < page {
			return nil
		}
		after = evs[len(evs)-1].ID
	}
}
