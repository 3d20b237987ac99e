package runs_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

var errBroken = errors.New("the line broke")

// unreliable is a store of which one use fails, or all of a kind, if that is said. They do nothing then.
type unreliable struct {
	store.Store
	system

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

func (u *unreliable) For(user access.User) store.UserData {
	return unreliableData{u.Store.For(user), u}
}
func (u *unreliable) System() store.System { return u }

// unreliableData is what a user has in it.
type unreliableData struct {
	store.UserData
	u *unreliable
}

func (u *unreliable) Run(ctx context.Context, id string) (store.Run, error) {
	return use(u, "Run", func() (store.Run, error) { return u.system.Run(ctx, id) })
}

func (u *unreliable) ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	return use(u, "ListRuns", func() ([]store.Run, error) { return u.system.ListRuns(ctx, f) })
}

func newUnreliable(w *ward) *unreliable {
	u := &unreliable{Store: w.store, system: w.store.System()}
	w.store = u
	return u
}

func (d unreliableData) Thread(ctx context.Context, id string) (store.Thread, error) {
	return use(d.u, "Thread", func() (store.Thread, error) { return d.UserData.Thread(ctx, id) })
}

func (d unreliableData) Admit(ctx context.Context, a store.Admission) (store.Run, error) {
	return use(d.u, "Admit", func() (store.Run, error) { return d.UserData.Admit(ctx, a) })
}

func (d unreliableData) Run(ctx context.Context, id string) (store.Run, error) {
	return use(d.u, "Run", func() (store.Run, error) { return d.UserData.Run(ctx, id) })
}

func (d unreliableData) ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	return use(d.u, "ListRuns", func() ([]store.Run, error) { return d.UserData.ListRuns(ctx, f) })
}

func (u *unreliable) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	return use(u, "ClaimRun", func() (store.Fence, error) { return u.system.ClaimRun(ctx, id, owner, attempt, now) })
}

func (d unreliableData) StopRun(ctx context.Context, id, action string, now time.Time) (store.Run, error) {
	return use(d.u, "StopRun", func() (store.Run, error) { return d.UserData.StopRun(ctx, id, action, now) })
}

func (u *unreliable) Stopping(ctx context.Context, owner string, limit int) ([]store.Run, error) {
	return use(u, "Stopping", func() ([]store.Run, error) { return u.system.Stopping(ctx, owner, limit) })
}

func (u *unreliable) Waiting(ctx context.Context, now time.Time, limit int) ([]store.Run, error) {
	return use(u, "Waiting", func() ([]store.Run, error) { return u.system.Waiting(ctx, now, limit) })
}

func (u *unreliable) Abandoned(ctx context.Context, owner string, limit int) ([]store.Run, error) {
	return use(u, "Abandoned", func() ([]store.Run, error) { return u.system.Abandoned(ctx, owner, limit) })
}

func (u *unreliable) Renew(ctx context.Context, owner string) (bool, error) {
	return use(u, "Renew", func() (bool, error) { return u.system.Renew(ctx, owner) })
}

func (u *unreliable) Release(ctx context.Context, owner string) error {
	_, err := use(u, "Release", func() (struct{}, error) { return struct{}{}, u.system.Release(ctx, owner) })
	return err
}

func (u *unreliable) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	return use(u, "CommitAll", func() ([]string, error) { return u.system.CommitAll(ctx, f, steps) })
}

func (d unreliableData) Write(ctx context.Context, threadID string, s store.Step) (string, error) {
	return use(d.u, "Write", func() (string, error) { return d.UserData.Write(ctx, threadID, s) })
}

func (d unreliableData) Checkpoint(ctx context.Context, schema state.Schema, threadID,
	id string) (store.Checkpoint, error) {
	return use(d.u, "Checkpoint",
		func() (store.Checkpoint, error) { return d.UserData.Checkpoint(ctx, schema, threadID, id) })
}

func (d unreliableData) FirstCheckpoint(ctx context.Context, runID string) (store.Checkpoint, error) {
	return use(d.u, "FirstCheckpoint",
		func() (store.Checkpoint, error) { return d.UserData.FirstCheckpoint(ctx, runID) })
}

func (d unreliableData) Checkpoints(ctx context.Context, threadID, before string,
	limit int) ([]store.Checkpoint, error) {
	return use(d.u, "Checkpoints",
		func() ([]store.Checkpoint, error) { return d.UserData.Checkpoints(ctx, threadID, before, limit) })
}

func (d unreliableData) Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	return use(d.u, "Events", func() ([]event.Event, error) { return d.UserData.Events(ctx, runID, after, limit) })
}
