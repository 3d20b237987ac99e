package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

const (
	// pause keeps clients from asking a server that is down as fast as they can.
	pause = 20 * time.Millisecond
	// slowest is the longest window of a server that is slow.
	slowest = time.Minute
	// oneTimeout bounds one run, whatever the server does.
	oneTimeout = 2 * time.Minute
)

// load is a closed loop: each client starts its next piece of work when the last one has ended.
type load struct {
	clients int
	// warm is not measured; then comes the window, which lasts until at least so many pieces have ended in it, but no
	// longer than slowest.
	warm, window time.Duration
	least        int
	one          func(ctx context.Context) (outcome, error)
	pid          int // whose processor time counts; 0 is nobody's
}

// result is what was seen, in one window or in several.
type result struct {
	window, cpu time.Duration
	took, first []time.Duration // of each piece
	errors      int
	firstError  error
}

func (r *result) perSecond() float64 { return float64(len(r.took)) / r.window.Seconds() }

// tally counts what ends while it is open.
type tally struct {
	mu   sync.Mutex
	open bool
	*result
}

// work does a piece of work within its time.
func (t *tally) work(ctx context.Context, one func(context.Context) (outcome, error)) {
	within, cancel := context.WithTimeout(ctx, oneTimeout)
	out, err := one(within)
	cancel()
	t.mu.Lock()
	switch {
	case !t.open:
	case err != nil:
		t.errors++
		if t.firstError == nil {
			t.firstError = err
		}
	default:
		t.took, t.first = append(t.took, out.took), append(t.first, out.first)
	}
	t.mu.Unlock()
	if err != nil {
		sleep(ctx, pause)
	}
}

// set opens or closes the window and returns how many pieces have ended in it.
func (t *tally) set(open bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = open
	return len(t.took)
}

// drive puts the load on and adds what was seen to the result. It returns when all work has ended.
func (r *result) drive(ctx context.Context, l load) error {
	t := tally{result: r}
	before, stopped := len(r.took), atomic.Bool{}
	var clients sync.WaitGroup
	for range l.clients {
		clients.Go(func() {
			for !stopped.Load() && ctx.Err() == nil {
				t.work(ctx, l.one)
			}
		})
	}
	sleep(ctx, l.warm)
	cpu, errBefore := l.cpu()
	start := time.Now()
	t.set(true)
	sleep(ctx, l.window)
	for t.set(true)-before < l.least && time.Since(start) < slowest && ctx.Err() == nil {
		sleep(ctx, pause)
	}
	ended := t.set(false) - before
	r.window += time.Since(start)
	after, errAfter := l.cpu()
	r.cpu += after - cpu
	stopped.Store(true)
	clients.Wait()
	if ended == 0 && ctx.Err() == nil {
		return fmt.Errorf("none of %d clients came to an end: %w", l.clients,
			errors.Join(context.DeadlineExceeded, r.firstError))
	}
	return errors.Join(ctx.Err(), errBefore, errAfter)
}

func (l *load) cpu() (time.Duration, error) {
	if l.pid == 0 {
		return 0, nil
	}
	return measure.ProcessorTime(l.pid)
}

// startGap lies between the starts of live streams: a thousand of them take a second to come in.
const startGap = time.Millisecond

// together does the work n times at once, each a little after the one before, and waits for all.
func together(ctx context.Context, n int, one func(context.Context) (outcome, error)) (r result) {
	t := tally{open: true, result: &r}
	var all sync.WaitGroup
	start := time.Now()
	for i := range n {
		all.Go(func() {
			sleep(ctx, time.Until(start.Add(time.Duration(i)*startGap))) // a busy machine does not move the later ones
			t.work(ctx, one)
		})
	}
	all.Wait()
	return r
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
