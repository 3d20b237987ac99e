package cli

import (
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// resumeRun is pudu run --resume: it goes on with the unfinished run of a thread, or with the last one of all.
func resumeRun(ctx context.Context, app App, o Options, f runFlags, stdio IO, args []string) error {
	thread := f.thread
	if len(args) == 1 && thread == "" {
		thread = args[0]
	} else if len(args) > 0 {
		return usageError("with --resume the only argument is the thread: pudu run --resume [THREAD]")
	}
	if f.cont || len(f.files) > 0 {
		return usageError("--resume goes on with a run as it was given; it takes neither --continue nor --file")
	}
	var err error
	if o.Mounts, err = parseMounts(f.mounts); err != nil {
		return err
	}
	session, err := openToRun(ctx, app, o, stdio)
	if err != nil {
		return err
	}
	defer closeSession(session)
	run, found, err := findUnfinished(ctx, session, thread)
	if err != nil {
		return &codeError{ExitFailed, err}
	}
	t := &turn{session: session, flags: f, io: stdio, options: o, thread: run.ThreadID}
	if !found {
		t.thread = thread
		return t.resumeWaiting(ctx)
	}
	return t.converse(ctx, t.resume(run))
}

// resumeWaiting goes on with a thread whose calls wait for approval, if they do.
func (t *turn) resumeWaiting(ctx context.Context) error {
	var asked []event.Interrupt
	var err error
	if t.thread != "" {
		asked, err = t.waiting(ctx)
	}
	if len(asked) == 0 {
		if err == nil {
			fmt.Fprintln(t.io.Err, "Nothing to resume.")
		}
		return err
	}
	if t.answers, err = t.approve(asked); err != nil {
		return err
	}
	return t.converse(ctx, t.carryOut)
}

// findUnfinished returns the unfinished run of a thread, or without one the last of all.
func findUnfinished(ctx context.Context, s *Session, thread string) (store.Run, bool, error) {
	if thread != "" {
		if _, err := s.List.Thread(ctx, thread); err != nil {
			return store.Run{}, false, err
		}
	}
	list, err := s.List.ListRuns(ctx, store.RunFilter{
		ThreadID: thread, Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1,
	})
	if err != nil || len(list) == 0 {
		return store.Run{}, false, err
	}
	return list[0], true, nil
}
