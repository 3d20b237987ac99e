package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// reapTimeout bounds the wait for processes of a killed server. It takes milliseconds.
const reapTimeout = 5 * time.Second

// space opens the place of a run's thread. Nothing of an earlier process works in it any more: no command still runs,
// and, when the run was taken over, no half-written file is left.
func (e *engine) space(ctx context.Context, run store.Run,
	mounts []sandbox.Mount) (*pool.Space, *filehistory.Thread, error) {
	if err := e.reap(ctx); err != nil {
		return nil, nil, err
	}
	place, err := e.place(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	past := e.past(place)
	if err := past.Recover(ctx); err != nil {
		return nil, nil, err
	}
	files, err := e.open(place, mounts)
	if err != nil {
		return nil, nil, fmt.Errorf("open the files of thread %s: %w", run.ThreadID, err)
	}
	if run.Attempt > 1 && run.Parent == "" { // else its parent has done so, and works on them too
		_, _ = files.Sweep(ctx) // what stays is hidden
	}
	spec := sandbox.Spec{ID: place.SandboxID(), Mounts: append(place.Mounts(), mounts...), Limits: e.box.limits}
	return e.pool.Space(spec, files, e.box.off), past, nil
}

// place is where a run works: below another one, on the files of the thread at the top.
func (e *engine) place(ctx context.Context, run store.Run) (userdata.Space, error) {
	if run.Parent == "" {
		return e.disk.Of(store.Thread{ID: run.ThreadID, UserID: run.UserID})
	}
	t, err := e.store.For(access.FromRow(run.UserID)).Thread(ctx, run.ThreadID)
	if err != nil {
		return userdata.Space{}, err
	}
	return e.disk.Of(t)
}

// open opens the files of a thread for who works in it.
func (e *engine) open(place userdata.Space, mounts []sandbox.Mount) (*sandbox.Files, error) {
	return place.Files(mounts, e.box.owner(place.SandboxID()))
}

// placeOf is where a user's thread works. The thread need not be there yet: files are uploaded before its first run.
func (e *engine) placeOf(ctx context.Context, user access.User, id string) (userdata.Space, error) {
	t, err := e.store.For(user).Thread(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return e.disk.User(user).Thread(id)
	}
	if err != nil {
		return userdata.Space{}, err
	}
	return e.disk.Of(t)
}

// files opens the files of a user's thread. The context bounds the wait for an undo that is to be finished first.
func (e *engine) files(ctx context.Context, user access.User, threadID string) (*sandbox.Files, error) {
	place, err := e.placeOf(ctx, user, threadID)
	if err != nil {
		return nil, err
	}
	if e.options.ReadOnly {
		return beside(place)
	}
	if err := e.past(place).Recover(ctx); err != nil {
		return nil, err
	}
	folder, err := e.folderMount(ctx, user, place.Thread())
	if err != nil {
		return nil, err
	}
	return e.open(place, slices.Concat(e.now().mounts, folder))
}

// beside opens the files of a thread to look at, beside who works with them. One that has none yet has its folders,
// empty, which are not made by that.
func beside(place userdata.Space) (*sandbox.Files, error) {
	files, err := place.Open(true)
	if err == nil && files == nil {
		files, err = place.Files(nil, sandbox.FilesOptions{})
	}
	return files, err
}

// reap waits for the end of the sandboxes of killed servers. Who alone works on the store does so once: the others died
// before it began.
func (e *engine) reap(ctx context.Context) error {
	p, ok := e.box.provider.(interface {
		Reap(ctx context.Context) error
	})
	if !ok || e.reaped.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reapTimeout)
	defer cancel()
	err := p.Reap(ctx)
	e.reaped.Store(err == nil && !e.shared)
	return err
}
