package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// DeleteThread implements cli.App.
func (a App) DeleteThread(ctx context.Context, o cli.Options, id string) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(thereIs(p.server.DeleteThread(ctx, id), id))
	}
	if err = deleteThread(ctx, p.store.For(access.Default()), p.disk, id); err == nil {
		p.record(ctx, audit.Delete, "thread", id)
	}
	return p.close(err)
}

// deleteThread removes a thread for the command.
func deleteThread(ctx context.Context, s store.UserData, disk userdata.Disk, id string) error {
	if err := userdata.CheckThreadID(id); err != nil {
		return err
	}
	return thereIs(removeThread(ctx, s, disk, id, func(string) {}), id)
}

// thereIs says what is in the way of removing a thread.
func thereIs(err error, id string) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("there is no thread %q; `pudu threads` lists them", id)
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("thread %s has an unfinished run; end it first: pudu run --resume %[1]s (Ctrl-C cancels it)", id)
	}
	return err
}

// removeThread removes a thread: its rows, then its sandbox, which drop closes by its id, and its files. When it is cut off in
// between, the next start does the rest; see [finishDeletions].
func removeThread(ctx context.Context, s store.UserData, disk userdata.Disk, id string, drop func(sandboxID string)) error {
	return dropThread(ctx, s, disk, id, func(store.Thread) bool { return true }, drop)
}

// dropThread is removeThread if still says so of the thread, else [store.ErrConflict].
func dropThread(ctx context.Context, s store.UserData, disk userdata.Disk, id string, still func(store.Thread) bool,
	drop func(sandboxID string),
) error {
	t, err := s.Thread(ctx, id)
	if err != nil {
		return err
	}
	place, errPlace := disk.User(access.FromRow(t.UserID)).Thread(id)
	if errPlace != nil { // a thread whose user or id can have no folder has no files
		return s.DropThread(ctx, id, still)
	}
	if err = place.Going(); err == nil {
		err = s.DropThread(ctx, id, still)
	}
	if err != nil {
		if _, there := s.Thread(ctx, id); there == nil { // else it may be that only the answer was lost
			err = errors.Join(err, place.Stay())
		}
		return err
	}
	drop(place.SandboxID())
	return place.Remove()
}
