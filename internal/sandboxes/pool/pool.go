// Package pool keeps the sandboxes of threads open between turns. A run acquires the sandbox of its thread on first use
// and releases it at its end; the pool opens it, opens it anew when it died, and closes it when nobody has used it for
// some time or when another thread needs the place.
package pool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// Config adjusts a [Pool]. Only Provider is needed.
type Config struct {
	// Provider opens the sandboxes.
	Provider sandbox.Provider
	// IdleTimeout is how long a sandbox stays open after its last release. Default 10 minutes; negative closes at once.
	IdleTimeout time.Duration
	// Max is how many sandboxes are open at once. Default 64. When it is reached, the one that has been idle for the
	// longest makes place; one in use never does, so Acquire waits when all are.
	Max int
	// Observe is told of each command that was run; nil is nobody.
	Observe func(res sandbox.Result, err error, took time.Duration)
}

// Stats are figures of a pool.
type Stats struct {
	// Open counts the sandboxes that are open, InUse those that a run uses, Waiting the runs that wait for a place.
	Open, InUse, Waiting int
	// Opened and Failed count, since the start, the sandboxes that were opened and that could not be.
	Opened, Failed int64
}

// Pool hands out sandboxes, one per [sandbox.Spec] ID. It is safe for concurrent use.
type Pool struct {
	cfg Config

	mu      sync.Mutex
	entries map[string]*entry
	closed  bool
	changed chan struct{} // closed and replaced whenever an Acquire that waits should look again
	alone   chan struct{} // has room for the sandboxes that one command has for itself
	lones   map[*lone]struct{}
	stats   Stats // the counts of what has happened; the others are looked up
	closing sync.WaitGroup
	waiting atomic.Int64 // runs that wait for a place
}

// entry is a sandbox in the pool. It goes from opening (box and err are nil) to open to closing, and is then removed.
type entry struct {
	spec   sandbox.Spec
	box    *tracked
	closed bool // closing has begun
	users  int
	since  time.Time // when the last user left
	timer  *time.Timer
}

// New returns an empty pool.
func New(cfg Config) *Pool {
	cfg.IdleTimeout = cmp.Or(cfg.IdleTimeout, 10*time.Minute)
	if cfg.Max <= 0 {
		cfg.Max = 64
	}
	return &Pool{cfg: cfg, entries: map[string]*entry{}, changed: make(chan struct{}),
		alone: make(chan struct{}, cfg.Max), lones: map[*lone]struct{}{}}
}

// Alone opens a sandbox that nobody else gets, and that its Close ends. There may be as many of them as of the others,
// and who waits for one holds none, so that each comes to its turn.
func (p *Pool) Alone(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	select {
	case p.alone <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a sandbox (at most %d are open for one command each): %w", p.cfg.Max,
			ctx.Err())
	}
	box, err := p.openAlone(ctx, spec)
	if err != nil {
		<-p.alone
		return nil, err
	}
	return box, nil
}

func (p *Pool) openAlone(ctx context.Context, spec sandbox.Spec) (*lone, error) {
	l := &lone{pool: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("open a sandbox for one command: pool is closed: %w", sandbox.ErrClosed)
	}
	p.closing.Add(1)
	p.mu.Unlock()
	box, err := p.cfg.Provider.Open(ctx, spec)
	p.mu.Lock()
	if err != nil {
		p.stats.Failed++
		p.closing.Done()
		return nil, err
	}
	p.stats.Opened++
	l.tracked = tracked{Sandbox: box, instance: rand.Text(), observe: p.cfg.Observe}
	p.lones[l] = struct{}{}
	if p.closed { // who asked for it finds it closed
		p.closing.Go(func() { _ = l.tracked.Close() })
	}
	return l, nil
}

// lone is a sandbox that one command has for itself.
type lone struct {
	tracked

	pool *Pool
	once sync.Once
}

// Close implements [sandbox.Sandbox].
func (l *lone) Close() (err error) {
	l.once.Do(func() {
		err = l.tracked.Close()
		l.pool.mu.Lock()
		delete(l.pool.lones, l)
		l.pool.mu.Unlock()
		<-l.pool.alone
		l.pool.closing.Done()
	})
	return err
}

// Acquire returns the sandbox of spec.ID, which others may be using too, and a function that must be called when it is
// no longer needed; calling that again does nothing. A sandbox that was opened with another spec is opened anew unless
// it is in use. After Close the error is [sandbox.ErrClosed].
func (p *Pool) Acquire(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, func(), error) {
	for {
		e, mine, wait, err := p.reserve(spec)
		switch {
		case err != nil:
			return nil, nil, err
		case mine:
			return p.open(ctx, e)
		case e != nil:
			return e.box, p.releaser(e), nil
		}
		if err := p.wait(ctx, wait); err != nil {
			return nil, nil, fmt.Errorf("wait for a sandbox (at most %d are open at once): %w", p.cfg.Max, err)
		}
	}
}

// wait waits until there may be a place.
func (p *Pool) wait(ctx context.Context, changed <-chan struct{}) error {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stats returns the figures as they are now.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.stats
	out.Open, out.Waiting = len(p.entries), int(p.waiting.Load())
	for _, e := range p.entries {
		if e.users > 0 {
			out.InUse++
		}
	}
	return out
}

// reserve finds an open sandbox, or makes a place that the caller has to fill (mine), or says what to wait for.
func (p *Pool) reserve(spec sandbox.Spec) (e *entry, mine bool, wait <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, nil, fmt.Errorf("acquire sandbox: pool is closed: %w", sandbox.ErrClosed)
	}
	e = p.entries[spec.ID]
	if e == nil {
		if len(p.entries) >= p.cfg.Max {
			p.evict()
			return nil, false, p.changed, nil
		}
		e = &entry{spec: spec, users: 1}
		p.entries[spec.ID] = e
		return e, true, nil, nil
	}
	if e.box == nil || e.closed {
		return nil, false, p.changed, nil
	}
	if e.box.isDead() || e.users == 0 && !reflect.DeepEqual(e.spec, spec) {
		p.shut(e)
		return nil, false, p.changed, nil
	}
	e.users++
	if e.timer != nil {
		e.timer.Stop()
	}
	return e, false, nil, nil
}

func (p *Pool) open(ctx context.Context, e *entry) (sandbox.Sandbox, func(), error) {
	box, err := p.cfg.Provider.Open(ctx, e.spec)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.wake()
	if err != nil {
		p.stats.Failed++
		delete(p.entries, e.spec.ID)
		return nil, nil, err
	}
	p.stats.Opened++
	e.box = &tracked{Sandbox: box, instance: rand.Text(), observe: p.cfg.Observe}
	if p.closed {
		p.shut(e)
		return nil, nil, fmt.Errorf("acquire sandbox: pool is closed: %w", sandbox.ErrClosed)
	}
	return e.box, p.releaser(e), nil
}

// Alive reports whether the sandbox of this id is open and is the instance that was asked for.
func (p *Pool) Alive(id, instance string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[id]
	return e != nil && e.box != nil && !e.closed && e.box.instance == instance && !e.box.isDead()
}

func (p *Pool) releaser(e *entry) func() {
	var once sync.Once
	return func() { once.Do(func() { p.release(e) }) }
}

func (p *Pool) release(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.users--
	if e.users > 0 || e.closed {
		return
	}
	if p.cfg.IdleTimeout < 0 {
		p.shut(e)
		return
	}
	e.since = time.Now()
	e.timer = time.AfterFunc(p.cfg.IdleTimeout, func() { p.expire(e) })
	p.wake()
}

// expire closes a sandbox that is still idle; one that was used again since gets another timer at its release.
func (p *Pool) expire(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.users == 0 && !e.closed && time.Since(e.since) >= p.cfg.IdleTimeout {
		p.shut(e)
	}
}

// evict makes place by closing the sandbox that is idle for the longest, if a place is not becoming free already.
func (p *Pool) evict() {
	var oldest *entry
	for _, e := range p.entries {
		switch {
		case e.closed:
			return
		case e.users > 0:
		case oldest == nil || e.since.Before(oldest.since):
			oldest = e
		}
	}
	if oldest != nil {
		p.shut(oldest)
	}
}

// shut closes a sandbox in the background. Until that is done its place counts and its id cannot be opened again.
// The lock is held.
func (p *Pool) shut(e *entry) {
	if e.closed {
		return
	}
	e.closed = true
	if e.timer != nil {
		e.timer.Stop()
	}
	p.closing.Go(func() {
		e.box.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.entries, e.spec.ID)
		p.wake()
	})
}

// Drop closes the sandbox of this id, unless a run uses it, and returns when it is gone.
func (p *Pool) Drop(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.entries[id]; e != nil && (e.users == 0 || e.closed); e = p.entries[id] {
		p.shut(e)
		changed := p.changed
		p.mu.Unlock()
		<-changed
		p.mu.Lock()
	}
}

func (p *Pool) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Close closes all sandboxes, also those in use, and waits until they are gone. Closing twice is fine.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, e := range p.entries {
		if e.box != nil {
			p.shut(e)
		}
	}
	for l := range p.lones {
		p.closing.Go(func() { _ = l.tracked.Close() }) // its command ends; who asked for it gives up its place
	}
	p.wake()
	for len(p.entries) > 0 {
		changed := p.changed
		p.mu.Unlock()
		<-changed
		p.mu.Lock()
	}
	p.mu.Unlock()
	p.closing.Wait()
	return nil
}

// tracked notices the death of a sandbox, and gives it a name of its own.
type tracked struct {
	sandbox.Sandbox
	instance string // random, so that no other process gives out the same
	observe  func(sandbox.Result, error, time.Duration)
	dead     atomic.Bool
}

var _ sandbox.Identified = (*tracked)(nil)

// Instance implements [sandbox.Identified].
func (t *tracked) Instance() string { return t.instance }

// mortal is a sandbox that can say that it died before anybody tries to run something.
type mortal interface{ Done() <-chan struct{} }

func (t *tracked) isDead() bool {
	if m, ok := t.Sandbox.(mortal); ok {
		select {
		case <-m.Done():
			return true
		default:
		}
	}
	return t.dead.Load()
}

// Run implements [sandbox.Sandbox].
func (t *tracked) Run(ctx context.Context, cmd sandbox.Command) (sandbox.Result, error) {
	begun := time.Now()
	res, err := t.Sandbox.Run(ctx, cmd)
	if t.observe != nil {
		t.observe(res, err, time.Since(begun))
	}
	if errors.Is(err, sandbox.ErrClosed) {
		t.dead.Store(true)
	}
	return res, err
}

// Close implements [sandbox.Sandbox]; the next Acquire opens a new one.
func (t *tracked) Close() error {
	t.dead.Store(true)
	return t.Sandbox.Close()
}
