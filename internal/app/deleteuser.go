package app

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// stopping is how long the runs of a user who is deleted may take to end.
const stopping = 15 * time.Second

// DeleteUser implements cli.App. A server that holds the data folder does it.
func (a App) DeleteUser(ctx context.Context, o cli.Options, user string) (f store.Forgotten, err error) {
	err = a.here(ctx, o, func(c *client.Client) (err error) {
		f.Threads, f.Rows, err = c.DeleteUser(ctx, user)
		return err
	})
	return f, err
}

// deleteUser removes all that a user has, after the user's runs have ended, here and on other nodes.
func (e *engine) deleteUser(ctx context.Context, u access.User) (store.Forgotten, error) {
	err := stopRuns(ctx, e.store.For(u), func(id string) (store.Run, error) {
		return e.manager.For(u).Cancel(ctx, id, store.StopInterrupt)
	}, func(run store.Run) (bool, error) {
		owner, err := leaseholder(ctx, e.store, run)
		return owner != "", err
	})
	if err != nil {
		return store.Forgotten{}, err
	}
	defer e.calls.Forget(u)
	return removeUser(ctx, e.store, e.disk, u, e.pool.Drop)
}

// removeUser removes a user's rows, then his sandboxes, which drop closes by their ids, and his files.
func removeUser(ctx context.Context, st store.Store, disk userdata.Disk, u access.User, drop func(sandboxID string)) (
	f store.Forgotten, err error,
) {
	var threads []store.Thread
	for more := true; more; {
		const most = 1000
		list, err := st.For(u).SearchThreads(ctx, store.ThreadFilter{Shelf: store.Everywhere, Limit: most,
			Offset: len(threads)})
		if err != nil {
			return f, err
		}
		threads, more = append(threads, list...), len(list) == most
	}
	if f, err = st.System().DeleteUser(ctx, u); err != nil {
		return f, err
	}
	for _, t := range threads {
		if at, err := disk.User(u).Thread(t.ID); err == nil {
			drop(at.SandboxID())
		}
	}
	return f, disk.User(u).Remove()
}

// stopRuns ends the runs of a user by stop, and waits for those that somebody works on. One that does not end is fenced
// off when its rows go.
func stopRuns(ctx context.Context, data store.UserData, stop func(id string) (store.Run, error),
	working func(store.Run) (bool, error),
) error {
	active := store.RunFilter{Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1000}
	for end := time.Now().Add(stopping); ; {
		list, err := data.ListRuns(ctx, active)
		held := false
		for i := 0; err == nil && i < len(list); i++ {
			var run store.Run
			if run, err = stop(list[i].ID); err != nil {
				break
			}
			var works bool
			works, err = working(run)
			held = held || works
		}
		if err != nil || !held || time.Now().After(end) {
			return err
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}
