package runs

import (
	"context"
	"slices"
	"sync"
)

// seat is where a run is executed: its place, nil if it needs none, and the recorder of the run at the top of its tree,
// nil if it is that itself.
type seat struct {
	place *place
	root  *recorder
}

// place is a run's place among those that are executed side by side. A run that waits for others gives it back and
// takes one again before it goes on. A nil place is that of a run which needs none.
type place struct {
	m *Manager

	mu      sync.Mutex
	held    bool
	waiting int // calls that wait for others
}

// take waits for a place until ctx ends; without one the run goes on all the same.
func (p *place) take(ctx context.Context) {
	if p.m.await(ctx) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held = p.waiting == 0; !p.held { // the run waits once more
		p.m.giveBack()
		p.m.roomForNext()
	}
}

// lend gives the place back while a call waits, the first one of those that do.
func (p *place) lend() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	p.release()
}

// regain takes a place again when the last call has waited.
func (p *place) regain(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.waiting--
	goesOn := p.waiting == 0
	p.mu.Unlock()
	if goesOn {
		p.take(ctx)
	}
}

// drop gives up the place at the run's end.
func (p *place) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release()
}

// release gives the place back, if there is one. p.mu is held.
func (p *place) release() {
	if p.held {
		p.held = false
		p.m.giveBack()
		p.m.roomForNext()
	}
}

// await takes a place when there is one. Those who wait come before runs that have not begun: they are what those that
// have begun wait for, or have begun themselves.
func (m *Manager) await(ctx context.Context) error {
	m.mu.Lock()
	if m.stopped {
		m.mu.Unlock()
		return ErrStopped
	}
	if m.taken < m.cfg.Parallel {
		m.taken++
		m.background.Add(1)
		m.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	m.turns = append(m.turns, turn)
	m.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	i := slices.Index(m.turns, turn)
	if i >= 0 {
		m.turns = slices.Delete(m.turns, i, i+1)
	}
	m.mu.Unlock()
	if i < 0 { // it was its turn in the same moment
		m.giveBack()
	}
	return context.Cause(ctx)
}
