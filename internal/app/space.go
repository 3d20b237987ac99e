package app

import (
	"context"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// reapTimeout bounds the wait for processes of a killed server. It takes milliseconds.
const reapTimeout = 5 * time.Second

// space opens the place of a run's thread. Nothing of an earlier process works in it any more: no command still runs, and,
// when the run was taken over, no half-written file is left.
func (h *house) space(ctx context.Context, run store.Run) (*pool.Space, error) {
	if err := h.reap(ctx); err != nil {
		return nil, err
	}
	place, err := h.disk.User(access.FromRow(run.UserID)).Thread(run.ThreadID)
	if err != nil {
		return nil, err
	}
	files, err := h.open(place)
	if err != nil {
		return nil, fmt.Errorf("open the files of thread %s: %w", run.ThreadID, err)
	}
	if run.Attempt > 1 {
		_, _ = files.Sweep(ctx) // what stays is hidden
	}
	spec := sandbox.Spec{ID: place.SandboxID(), Mounts: append(place.Mounts(), h.mounts...), Limits: h.box.limits}
	return h.pool.Space(spec, files, h.box.off), nil
}

// open opens the files of a thread for who works in it.
func (h *house) open(place userdata.Space) (*sandbox.Files, error) {
	return place.Files(h.mounts, h.box.owner(place.SandboxID()))
}

// files opens the files of a user's thread, which need not be there yet.
func (h *house) files(user access.User, threadID string) (*sandbox.Files, error) {
	place, err := h.disk.User(user).Thread(threadID)
	if err != nil {
		return nil, err
	}
	return h.open(place)
}

// reap waits for the end of the sandboxes of killed servers. Who alone works on the store does so once: the others died
// before it began.
func (h *house) reap(ctx context.Context) error {
	p, ok := h.box.provider.(interface {
		Reap(ctx context.Context) error
	})
	if !ok || h.reaped.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reapTimeout)
	defer cancel()
	err := p.Reap(ctx)
	h.reaped.Store(err == nil && !h.shared)
	return err
}
