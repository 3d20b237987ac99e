package app

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// space is what one run gets of its thread's place: the files at once, the sandbox of the pool on first use. It
// implements sandbox.Space.
type space struct {
	files *sandbox.Files
	pool  *pool.Pool
	spec  sandbox.Spec
	off   string // why there is no sandbox; empty if there is one

	mu      sync.Mutex
	open    sandbox.Sandbox
	release func()
}

var (
	_ sandbox.Space    = (*space)(nil)
	_ sandbox.Resident = (*space)(nil)
)

// reapTimeout bounds the wait for processes of a killed server. It takes milliseconds.
const reapTimeout = 5 * time.Second

// space opens the place of a run's thread. Nothing of an earlier process works in it any more: no command still runs, and,
// when the run was taken over, no half-written file is left.
func (h *house) space(ctx context.Context, run store.Run) (*space, error) {
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
	return &space{files: files, pool: h.pool, spec: spec, off: h.box.off}, nil
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

// ID implements [sandbox.Space].
func (s *space) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return ""
	}
	return s.spec.ID
}

// Files implements [sandbox.Space].
func (s *space) Files() *sandbox.Files { return s.files }

// Sandbox implements [sandbox.Space].
func (s *space) Sandbox(ctx context.Context) (sandbox.Sandbox, error) {
	if s.off != "" {
		return nil, fmt.Errorf("%w: %s", sandbox.ErrUnavailable, s.off)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		if s.pool.Alive(s.spec.ID, sandbox.InstanceOf(s.open)) {
			return s.open, nil
		}
		s.giveBack()
	}
	box, release, err := s.pool.Acquire(ctx, s.spec)
	if err != nil {
		return nil, err
	}
	s.open, s.release = box, release
	return box, nil
}

// Park gives the sandbox back to the pool, where it waits for the thread's next run. Parking twice is fine.
func (s *space) Park() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack()
}

func (s *space) giveBack() {
	if s.release != nil {
		s.release()
		s.open, s.release = nil, nil
	}
}

// Alive implements [sandbox.Resident]. A sandbox that waits in the pool lives too.
func (s *space) Alive(instance string) bool { return s.pool.Alive(s.spec.ID, instance) }

// Close parks the sandbox and closes the files.
func (s *space) Close() error {
	s.Park()
	return s.files.Close()
}
