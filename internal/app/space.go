package app

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
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
	files, err := h.files(threadID)
	if err != nil {
		return nil, fmt.Errorf("open the files of thread %s: %w", threadID, err)
	}
	if run.Attempt > 1 {
		_, _ = files.Sweep(ctx) // what stays is hidden
	}
	spec := sandbox.Spec{ID: threadID, Mounts: h.mountsOf(threadID), Limits: h.box.limits}
	return h.pool.Space(spec, files, h.box.off), nil
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

// threadFolders are a thread's own, below its user-data.
var threadFolders = []string{"workspace", "uploads", "outputs"}

// mountsOf are the folders that a thread's sandbox sees.
func (h *house) mountsOf(threadID string) []sandbox.Mount {
	base := filepath.Join(h.dir, "users", config.UserFolder(DefaultUser), "threads", threadID, "user-data")
	mounts := make([]sandbox.Mount, 0, len(threadFolders)+len(h.mounts))
	for _, name := range threadFolders {
		mounts = append(mounts, sandbox.Mount{Host: filepath.Join(base, name), Path: sandbox.UserData + "/" + name})
	}
	return append(mounts, h.mounts...)
}

// files opens the files of a thread. Its folders are made when they are first used.
func (h *house) files(threadID string) (*sandbox.Files, error) {
	if err := config.CheckThreadID(threadID); err != nil {
		return nil, err
	}
	options := h.box.owner(threadID)
	options.Make = true
	return sandbox.NewFiles(h.mountsOf(threadID), options)
}
