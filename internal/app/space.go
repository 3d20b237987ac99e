package app

import (
	"context"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// reapTimeout bounds the wait for processes of a killed server. It takes milliseconds.
const reapTimeout = 5 * time.Second

// space opens the place of a run's thread. Nothing of an earlier process works in it any more: no command still runs, and,
// when the run was taken over, no half-written file is left.
func (h *house) space(ctx context.Context, run store.Run) (*pool.Space, error) {
	threadID := run.ThreadID
	if err := h.reap(ctx); err != nil {
		return nil, err
	}
	mounts, err := h.mountsOf(threadID)
	if err != nil {
		return nil, err
	}
	files, err := h.files(threadID)
	if err != nil {
		return nil, fmt.Errorf("open the files of thread %s: %w", threadID, err)
	}
	if run.Attempt > 1 {
		_, _ = files.Sweep(ctx) // what stays is hidden
	}
	spec := sandbox.Spec{ID: threadID, Mounts: mounts, Limits: h.box.limits}
	return h.pool.Space(spec, files, h.box.off), nil
}

// reap waits for the end of the sandboxes of killed servers.
func (h *house) reap(ctx context.Context) error {
	p, ok := h.box.provider.(interface {
		Reap(ctx context.Context) error
	})
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reapTimeout)
	defer cancel()
	return p.Reap(ctx)
}
