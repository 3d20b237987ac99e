package app

import (
	"context"

	"fmt"
	"sync"

	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
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

var _ sandbox.Space = (*space)(nil)

// space opens the place of a thread for one run.
func (h *house) space(threadID string) (*space, error) {
	mounts, err := h.mountsOf(threadID)
	if err != nil {
		return nil, err
	}
	files, err := h.files(threadID)
	if err != nil {
		return nil, fmt.Errorf("open the files of thread %s: %w", threadID, err)
	}
	spec := sandbox.Spec{ID: threadID, Mounts: mounts, Limits: h.box.limits}
	return &space{files: files, pool: h.pool, spec: spec, off: h.box.off}, nil
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
		return s.open, nil
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
	if s.release != nil {
		s.release()
		s.open, s.release = nil, nil
	}
}

// Close parks the sandbox and closes the files.
func (s *space) Close() error {
	s.Park()
	return s.files.Close()
}
