package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/store"
)

// stopping is how long the runs of a user who is deleted may take to end.
const stopping = 15 * time.Second

// DeleteUser implements cli.App.
func (a App) DeleteUser(ctx context.Context, o cli.Options, user string) (f store.Forgotten, err error) {
	k, err := a.openOwned(ctx, o)
	if errors.Is(err, store.ErrLocked) {
		err = fmt.Errorf("%w: stop it first, then delete the user", err)
	}
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, k.store.Close()) }()
	u := access.FromRow(user)
	if err := stopRuns(ctx, k.store, u); err != nil {
		return f, err
	}
	if f, err = k.store.System().DeleteUser(ctx, u); err != nil {
		return f, err
	}
	return f, k.disk.User(u).Remove()
}

// stopRuns ends the runs of a user, and waits for those that another process works on. One that does not end is fenced off when
// its rows go.
func stopRuns(ctx context.Context, st store.Store, u access.User) error {
	active := store.RunFilter{Statuses: []string{event.StatusPending, event.StatusRunning}, Limit: 1000}
	for end := time.Now().Add(stopping); ; {
		list, err := st.For(u).ListRuns(ctx, active)
		if err != nil {
			return err
		}
		held := false
		for _, run := range list {
			if run, err = st.For(u).StopRun(ctx, run.ID, store.StopInterrupt, time.Now()); err != nil {
				return err
			}
			owner, err := leaseholder(ctx, st, run)
			if err != nil {
				return err
			}
			held = held || owner != ""
		}
		if !held || time.Now().After(end) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
