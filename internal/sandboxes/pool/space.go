package pool

import (
	"context"
	"fmt"
	"sync"

	"github.com/pudu-ai/pudu/sandbox"
)

// Space is what one run gets of its thread's place: the files at once, the sandbox of the pool on first use.
type Space struct {
	files *sandbox.Files
	pool  *Pool
	spec  sandbox.Spec
	off   string

	mu      sync.Mutex
	open    sandbox.Sandbox
	release func()
}

var (
	_ sandbox.Space    = (*Space)(nil)
	_ sandbox.Resident = (*Space)(nil)
	_ sandbox.Private  = (*Space)(nil)
)

// Space makes the place of a run, which closes the files with it. off says why there is no sandbox; it is empty if
// there is one.
func (p *Pool) Space(spec sandbox.Spec, files *sandbox.Files, off string) *Space {
	return &Space{files: files, pool: p, spec: spec, off: off}
}

// ID implements [sandbox.Space].
func (s *Space) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return ""
	}
	return s.spec.ID
}

// Files implements [sandbox.Space].
func (s *Space) Files() *sandbox.Files { return s.files }

// Sandbox implements [sandbox.Space].
func (s *Space) Sandbox(ctx context.Context) (sandbox.Sandbox, error) {
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
	if err := s.files.Make(); err != nil {
		return nil, err
	}
	box, release, err := s.pool.Acquire(ctx, s.spec)
	if err != nil {
		return nil, err
	}
	s.open, s.release = box, release
	return box, nil
}

// Alone implements [sandbox.Private].
func (s *Space) Alone(ctx context.Context) (sandbox.Sandbox, error) {
	if s.off != "" {
		return nil, fmt.Errorf("%w: %s", sandbox.ErrUnavailable, s.off)
	}
	if err := s.files.Make(); err != nil {
		return nil, err
	}
	return s.pool.Alone(ctx, s.spec)
}

// Park gives the sandbox back to the pool, where it waits for the thread's next run. Parking twice is fine.
func (s *Space) Park() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack()
}

func (s *Space) giveBack() {
	if s.release != nil {
		s.release()
		s.open, s.release = nil, nil
	}
}

// Alive implements [sandbox.Resident]. A sandbox that waits in the pool lives too.
func (s *Space) Alive(instance string) bool { return s.pool.Alive(s.spec.ID, instance) }

// Close parks the sandbox and closes the files.
func (s *Space) Close() error {
	s.Park()
	return s.files.Close()
}
