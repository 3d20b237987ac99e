package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a provider of sandboxes that do nothing; opening and closing take a while, on synctest's clock.
type memory struct {
	mu     sync.Mutex
	fail   error
	opened int
	open   map[*empty]bool
	most   int
}

type empty struct {
	p    *memory
	id   string
	done chan struct{}
	once sync.Once
}

func (*memory) Name() string                { return "memory" }
func (*memory) Isolated() bool              { return false }
func (*memory) Probe(context.Context) error { return nil }

func (m *memory) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	select {
	case <-time.After(time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return nil, m.fail
	}
	e := &empty{p: m, id: spec.ID, done: make(chan struct{})}
	if m.open == nil {
		m.open = map[*empty]bool{}
	}
	m.open[e] = true
	m.opened++
	m.most = max(m.most, len(m.open))
	return e, nil
}

func (m *memory) count() (open, opened int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.open), m.opened
}

func (e *empty) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	select {
	case <-e.done:
		return sandbox.Result{}, fmt.Errorf("run: %w", sandbox.ErrClosed)
	default:
		return sandbox.Result{}, nil
	}
}

func (e *empty) die() { e.once.Do(func() { close(e.done) }) }

func (e *empty) Close() error {
	time.Sleep(time.Millisecond)
	e.die()
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	delete(e.p.open, e)
	return nil
}

// loud also tells of its death.
type loud struct{ *memory }

type loudEmpty struct{ *empty }

func (l loud) Open(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
	box, err := l.memory.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	return loudEmpty{box.(*empty)}, nil
}

func (l loudEmpty) Done() <-chan struct{} { return l.done }

func acquire(t *testing.T, p *Pool, id string) (sandbox.Sandbox, func()) {
	t.Helper()
	box, release, err := p.Acquire(t.Context(), sandbox.Spec{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return box, release
}

// within runs the test with a fake clock and a pool that is closed at its end.
func within(t *testing.T, cfg Config, m *memory, test func(*testing.T, *Pool)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if cfg.Provider == nil {
			cfg.Provider = m
		}
		p := New(cfg)
		test(t, p)
		p.Close()
		if open, _ := m.count(); open != 0 {
			t.Errorf("%d sandboxes are open after Close", open)
		}
	})
}

func TestReuse(t *testing.T) {
	m := &memory{}
	within(t, Config{}, m, func(t *testing.T, p *Pool) {
		a, release := acquire(t, p, "a")
		again, release2 := acquire(t, p, "a")
		other, release3 := acquire(t, p, "b")
		if a != again || a == other {
			t.Error("one per id")
		}
		release()
		release()
		release2()
		release3()
		time.Sleep(9 * time.Minute)
		if back, release := acquire(t, p, "a"); back != a {
			t.Error("closed too early")
		} else {
			time.Sleep(time.Hour) // in use, however long
			release()
		}
		time.Sleep(9 * time.Minute)
		if open, opened := m.count(); open != 1 || opened != 2 {
			t.Errorf("%d open of %d", open, opened)
		}
		time.Sleep(2 * time.Minute)
		if open, _ := m.count(); open != 0 {
			t.Errorf("%d open after the idle time", open)
		}
	})
}

func TestReleaseTwiceIsNotForOthers(t *testing.T) {
	m := &memory{}
	within(t, Config{IdleTimeout: -1}, m, func(t *testing.T, p *Pool) {
		_, release := acquire(t, p, "a")
		_, release2 := acquire(t, p, "a")
		release()
		release()
		time.Sleep(time.Second)
		if open, _ := m.count(); open != 1 {
			t.Error("closed while in use")
		}
		release2()
		time.Sleep(time.Second)
		if open, _ := m.count(); open != 0 {
			t.Error("still open")
		}
	})
}

func TestConcurrentAcquiresOpenOnce(t *testing.T) {
	m := &memory{}
	within(t, Config{}, m, func(t *testing.T, p *Pool) {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, release := acquire(t, p, "a")
				release()
			})
		}
		wg.Wait()
		if _, opened := m.count(); opened != 1 {
			t.Errorf("opened %d times", opened)
		}
	})
}

func TestDeadIsReplaced(t *testing.T) {
	t.Run("noticed by Run", func(t *testing.T) {
		m := &memory{}
		within(t, Config{}, m, func(t *testing.T, p *Pool) {
			box, release := acquire(t, p, "a")
			box.(*tracked).Sandbox.(*empty).die()
			if _, err := box.Run(t.Context(), sandbox.Command{}); !errors.Is(err, sandbox.ErrClosed) {
				t.Fatal(err)
			}
			fresh, release2 := acquire(t, p, "a") // although the dead one was not released
			if _, err := fresh.Run(t.Context(), sandbox.Command{}); err != nil || fresh == box {
				t.Errorf("got the dead one: %v", err)
			}
			release()
			release2()
		})
	})
	t.Run("told by Done", func(t *testing.T) {
		m := &memory{}
		within(t, Config{Provider: loud{m}}, m, func(t *testing.T, p *Pool) {
			box, release := acquire(t, p, "a")
			release()
			box.(*tracked).Sandbox.(loudEmpty).die()
			fresh, release := acquire(t, p, "a")
			defer release()
			if _, err := fresh.Run(t.Context(), sandbox.Command{}); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestAnotherSpecOpensAnew(t *testing.T) {
	m := &memory{}
	within(t, Config{}, m, func(t *testing.T, p *Pool) {
		a, release := acquire(t, p, "a")
		changed := sandbox.Spec{ID: "a", Mounts: []sandbox.Mount{{Host: "/x", Path: "/mnt/x"}}}
		same, release2, err := p.Acquire(t.Context(), changed)
		if err != nil || same != a {
			t.Fatalf("in use: %v", err)
		}
		release()
		release2()
		fresh, release, err := p.Acquire(t.Context(), changed)
		if err != nil || fresh == a {
			t.Fatalf("idle: %v", err)
		}
		release()
	})
}

func TestMaxClosesTheOldestIdle(t *testing.T) {
	m := &memory{}
	within(t, Config{Max: 3}, m, func(t *testing.T, p *Pool) {
		_, releaseA := acquire(t, p, "a")
		b, releaseB := acquire(t, p, "b")
		c, releaseC := acquire(t, p, "c")
		releaseC()
		time.Sleep(time.Second)
		releaseB()
		_, releaseD := acquire(t, p, "d")
		if _, err := c.Run(t.Context(), sandbox.Command{}); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("the oldest idle one lives: %v", err)
		}
		if _, err := b.Run(t.Context(), sandbox.Command{}); err != nil {
			t.Errorf("the younger one does not: %v", err)
		}
		_, releaseE := acquire(t, p, "e") // b goes

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, _, err := p.Acquire(ctx, sandbox.Spec{ID: "f"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("all are in use: %v", err)
		}
		time.AfterFunc(time.Minute, releaseA)
		_, releaseF := acquire(t, p, "f") // waits for a
		for _, release := range []func(){releaseD, releaseE, releaseF} {
			release()
		}
		if m.most > 3 {
			t.Errorf("%d were open at once", m.most)
		}
	})
}

func TestOpenFails(t *testing.T) {
	m := &memory{fail: sandbox.ErrUnavailable}
	within(t, Config{Max: 1}, m, func(t *testing.T, p *Pool) {
		for range 3 {
			if _, _, err := p.Acquire(t.Context(), sandbox.Spec{ID: "a"}); !errors.Is(err, sandbox.ErrUnavailable) {
				t.Fatalf("got %v", err)
			}
		}
		m.fail = nil
		_, release := acquire(t, p, "b") // no place was lost
		release()
	})
}

func TestCancelledOpenIsNotForOthers(t *testing.T) {
	m := &memory{}
	within(t, Config{}, m, func(t *testing.T, p *Pool) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := p.Acquire(ctx, sandbox.Spec{ID: "a"}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			_, release := acquire(t, p, "a")
			release()
		})
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}

func TestClose(t *testing.T) {
	m := &memory{}
	within(t, Config{}, m, func(t *testing.T, p *Pool) {
		box, release := acquire(t, p, "a")
		var wg sync.WaitGroup
		wg.Go(func() { // is opening when Close comes
			if _, _, err := p.Acquire(t.Context(), sandbox.Spec{ID: "b"}); !errors.Is(err, sandbox.ErrClosed) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		p.Close()
		wg.Wait()
		if _, err := box.Run(t.Context(), sandbox.Command{}); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if _, _, err := p.Acquire(t.Context(), sandbox.Spec{ID: "a"}); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("got %v", err)
		}
		release()
		p.Close()
	})
}

// TestAnyOrder: whatever is acquired, released and waited for in whatever order, no more than Max are open, none in use
// is closed, and all are closed in the end.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 1, 40).Draw(rt, "steps")
		var problem string
		synctest.Test(t, func(*testing.T) { problem = anyOrder(steps) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

func anyOrder(steps []int) (problem string) {
	m := &memory{}
	p := New(Config{Provider: m, Max: 3, IdleTimeout: time.Minute})
	type held struct {
		box     sandbox.Sandbox
		release func()
	}
	var mine []held
	for _, step := range steps {
		n := step / 4
		switch step % 4 {
		case 0, 1:
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			box, release, err := p.Acquire(ctx, sandbox.Spec{ID: string(rune('a' + n%5))})
			cancel()
			if err == nil {
				mine = append(mine, held{box, release})
			}
		case 2:
			if len(mine) > 0 {
				i := n % len(mine)
				mine[i].release()
				mine = append(mine[:i], mine[i+1:]...)
			}
		case 3:
			time.Sleep(time.Duration(n%100) * time.Second)
		}
		for _, h := range mine {
			if _, err := h.box.Run(context.Background(), sandbox.Command{}); err != nil {
				problem = "one was closed in use"
			}
		}
	}
	for _, h := range mine {
		h.release()
	}
	p.Close()
	if open, _ := m.count(); open != 0 || m.most > 3 {
		return fmt.Sprintf("%d open, at most %d", open, m.most)
	}
	return problem
}

func TestAlive(t *testing.T) {
	m := &memory{}
	within(t, Config{Provider: loud{m}, IdleTimeout: time.Minute}, m, func(t *testing.T, p *Pool) {
		box, release := acquire(t, p, "a")
		first := sandbox.InstanceOf(box)
		if first == "" || !p.Alive("a", first) || p.Alive("b", first) || p.Alive("a", "x") || p.Alive("a", "") {
			t.Errorf("instance %q: %v", first, p.Alive("a", first))
		}
		release()
		if !p.Alive("a", first) {
			t.Error("a parked sandbox lives")
		}
		time.Sleep(time.Minute + time.Second)
		if p.Alive("a", first) {
			t.Error("an expired one does not")
		}
		box, release = acquire(t, p, "a")
		defer release()
		second := sandbox.InstanceOf(box)
		if second == first || !p.Alive("a", second) || p.Alive("a", first) {
			t.Errorf("the next sandbox is %q after %q", second, first)
		}
		box.(*tracked).Sandbox.(loudEmpty).die()
		if p.Alive("a", second) {
			t.Error("a dead one does not live")
		}
	})
}

func TestDrop(t *testing.T) {
	m := &memory{}
	within(t, Config{}, m, func(t *testing.T, p *Pool) {
		a, release := acquire(t, p, "a")
		_, releaseB := acquire(t, p, "b")
		defer releaseB()
		p.Drop("none")
		p.Drop("a")
		if _, err := a.Run(t.Context(), sandbox.Command{}); err != nil {
			t.Errorf("one in use was dropped: %v", err)
		}
		release()
		var dropping sync.WaitGroup
		for range 3 {
			dropping.Go(func() {
				p.Drop("a")
				if _, err := a.Run(t.Context(), sandbox.Command{}); !errors.Is(err, sandbox.ErrClosed) {
					t.Errorf("it lives: %v", err)
				}
			})
		}
		dropping.Wait()
		if open, _ := m.count(); open != 1 {
			t.Errorf("%d are open", open)
		}
	})
}

// TestAlone: a sandbox for one command is no other's, has a bound of its own, and ends with its Close, or with the
// pool.
func TestAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		p := New(Config{Provider: m, Max: 1})
		shared, release, err := p.Acquire(t.Context(), sandbox.Spec{ID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		first, err := p.Alone(t.Context(), sandbox.Spec{ID: "a"})
		if err != nil || sandbox.InstanceOf(first) == sandbox.InstanceOf(shared) ||
			p.Alive("a", sandbox.InstanceOf(first)) {
			t.Fatalf("%v", err)
		}
		second := make(chan sandbox.Sandbox)
		go func() {
			box, err := p.Alone(t.Context(), sandbox.Spec{ID: "a"})
			if err != nil {
				t.Error(err)
			}
			second <- box
		}()
		synctest.Wait()
		if open, _ := m.count(); open != 2 {
			t.Errorf("%d are open", open)
		}
		_, _ = first.Close(), first.Close()
		box := <-second
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Alone(ctx, sandbox.Spec{ID: "a"}); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled wait: %v", err)
		}
		release()
		done := make(chan struct{})
		go func() { p.Close(); close(done) }()
		time.Sleep(time.Second) // on the clock of the test
		if _, err := box.Run(t.Context(), sandbox.Command{}); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("the pool is closed, and a command runs: %v", err)
		}
		box.Close()
		<-done
		if open, _ := m.count(); open != 0 {
			t.Errorf("%d are left", open)
		}
		if _, err := p.Alone(t.Context(), sandbox.Spec{ID: "a"}); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("from a closed pool: %v", err)
		}
		q := New(Config{Provider: &memory{fail: errors.New("no")}, Max: 1})
		for range 2 { // a failure gives its place back
			if _, err := q.Alone(t.Context(), sandbox.Spec{ID: "a"}); err == nil || errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		q.Close()
	})
}
