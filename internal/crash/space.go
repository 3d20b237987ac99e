package main

import (
	"context"
	"sync"

	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/sandbox"
)

// space is where the tools of a worker work: the workspace, and the sandbox of the pool on first use.
type space struct {
	files *sandbox.Files
	pool  *pool.Pool
	spec  sandbox.Spec

	mu      sync.Mutex
	open    sandbox.Sandbox
	release func()
}

var _ sandbox.Space = (*space)(nil)

func newSpace(p *pool.Pool, spec sandbox.Spec) (*space, error) {
	files, err := sandbox.NewFiles(spec.Mounts, sandbox.FilesOptions{})
	if err != nil {
		return nil, err
	}
	return &space{files: files, pool: p, spec: spec}, nil
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

// park gives the sandbox back.
func (s *space) park() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.release != nil {
		s.release()
		s.open, s.release = nil, nil
	}
}

// Close parks the sandbox and closes the files.
func (s *space) Close() error {
	s.park()
	return s.files.Close()
}
