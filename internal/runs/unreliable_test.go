package runs_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

var errBroken = errors.New("the line broke")

// unreliable is a store of which one use fails, or all of a kind, if that is said. They do nothing then.
type unreliable struct {
	store.Store

	left atomic.Int64 // uses up to the one that fails
	hit  atomic.Value // what the use was that failed
	down atomic.Value // the use that fails each time; empty if none does
}

// breakAt lets the nth use from here on fail.
func (u *unreliable) breakAt(n int) {
	u.hit.Store("")
	u.left.Store(int64(n))
}

// heal returns the use that failed; empty if there were not that many.
func (u *unreliable) heal() string {
	u.left.Store(0)
	return u.hit.Load().(string)
}

// use does something with the store, unless it is the use that fails.
func use[T any](u *unreliable, what string, do func() (T, error)) (T, error) {
	if u.left.Add(-1) == 0 || u.down.Load() == what {
		u.hit.Store(what)
		var none T
		return none, fmt.Errorf("%s: %w", what, errBroken)
	}
	return do()
}

func newUnreliable(w *ward) *unreliable {
	u := &unreliable{Store: w.store}
	w.store = u
	return u
}

func (u *unreliable) Thread(ctx context.Context, id string) (store.Thread, error) {
	return use(u, "Thread", func() (store.Thread, error) { return u.Store.Thread(ctx, id) })
}

func (u *unreliable) Admit(ctx context.Context, a store.Admission) (store.Run, error) {
	return use(u, "Admit", func() (store.Run, error) { return u.Store.Admit(ctx, a) })
}

func (u *unreliable) Run(ctx context.Context, id string) (store.Run, error) {
	return use(u, "Run", func() (store.Run, error) { return u.Store.Run(ctx, id) })
}

func (u *unreliable) ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	return use(u, "ListRuns", func() ([]store.Run, error) { return u.Store.ListRuns(ctx, f) })
}

func (u *unreliable) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	return use(u, "ClaimRun", func() (store.Fence, error) { return u.Store.ClaimRun(ctx, id, owner, attempt, now) })
}

func (u *unreliable) StopRun(ctx context.Context, id, action string, now time.Time) (store.Run, error) {
	return use(u, "StopRun", func() (store.Run, error) { return u.Store.StopRun(ctx, id, action, now) })
}

func (u *unreliable) Stopping(ctx context.Context, owner string, limit int) ([]store.Run, error) {
	return use(u, "Stopping", func() ([]store.Run, error) { return u.Store.Stopping(ctx, owner, limit) })
}

func (u *unreliable) Waiting(ctx context.Context, now time.Time, limit int) ([]store.Run, error) {
	return use(u, "Waiting", func() ([]store.Run, error) { return u.Store.Waiting(ctx, now, limit) })
}

func (u *unreliable) Abandoned(ctx context.Context, owner string, limit int) ([]store.Run, error) {
	return use(u, "Abandoned", func() ([]store.Run, error) { return u.Store.Abandoned(ctx, owner, limit) })
}

func (u *unreliable) Unnotified(ctx context.Context, limit int) ([]store.Run, error) {
	return use(u, "Unnotified", func() ([]store.Run, error) { return u.Store.Unnotified(ctx, limit) })
}

func (u *unreliable) Notified(ctx context.Context, id string) error {
	_, err := use(u, "Notified", func() (struct{}, error) { return struct{}{}, u.Store.Notified(ctx, id) })
	return err
}

func (u *unreliable) Renew(ctx context.Context, owner string) (bool, error) {
	return use(u, "Renew", func() (bool, error) { return u.Store.Renew(ctx, owner) })
}

func (u *unreliable) Release(ctx context.Context, owner string) error {
	_, err := use(u, "Release", func() (struct{}, error) { return struct{}{}, u.Store.Release(ctx, owner) })
	return err
}

func (u *unreliable) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	return use(u, "CommitAll", func() ([]string, error) { return u.Store.CommitAll(ctx, f, steps) })
}

func (u *unreliable) Write(ctx context.Context, threadID string, s store.Step) (string, error) {
	return use(u, "Write", func() (string, error) { return u.Store.Write(ctx, threadID, s) })
}

func (u *unreliable) Checkpoint(ctx context.Context, schema state.Schema, threadID, id string) (store.Checkpoint, error) {
	return use(u, "Checkpoint", func() (store.Checkpoint, error) { return u.Store.Checkpoint(ctx, schema, threadID, id) })
}

func (u *unreliable) FirstCheckpoint(ctx context.Context, runID string) (store.Checkpoint, error) {
	return use(u, "FirstCheckpoint", func() (store.Checkpoint, error) { return u.Store.FirstCheckpoint(ctx, runID) })
}

func (u *unreliable) Checkpoints(ctx context.Context, threadID, before string, limit int) ([]store.Checkpoint, error) {
	return use(u, "Checkpoints", func() ([]store.Checkpoint, error) { return u.Store.Checkpoints(ctx, threadID, before, limit) })
}

func (u *unreliable) Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	return use(u, "Events", func() ([]event.Event, error) { return u.Store.Events(ctx, runID, after, limit) })
}
