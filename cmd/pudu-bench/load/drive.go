package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// load is a closed loop: each client starts its next piece of work when the last one has ended.
type load struct {
	clients int
	// warm is not measured; then comes the window, which lasts until at least so many pieces have ended in it, but no
	// longer than most.
	warm, window, most time.Duration
	least              int
	// timeout bounds one piece.
	timeout time.Duration
	one     func(ctx context.Context) (outcome, error)
	// cpu is read at both ends of the window; nil means not at all.
	cpu func() (time.Duration, error)
}

// result is what was seen in the window.
type result struct {
	window, cpu time.Duration
	took, first []time.Duration // of each piece; sorted by drive and together
	errors      int
	firstError  error
}

func (r *result) perSecond() float64 { return float64(len(r.took)) / r.window.Seconds() }

func (r *result) cpuPerRun() time.Duration { return r.cpu / time.Duration(len(r.took)) }

func (r *result) sort() {
	slices.Sort(r.took)
	slices.Sort(r.first)
}

// add joins the windows of two rounds into one.
func (r *result) add(o result) {
	r.window, r.cpu, r.errors = r.window+o.window, r.cpu+o.cpu, r.errors+o.errors
	r.took, r.first = append(r.took, o.took...), append(r.first, o.first...)
	if r.firstError == nil {
		r.firstError = o.firstError
	}
	r.sort()
}

// pause keeps clients from asking a server that is down as fast as they can.
const pause = 20 * time.Millisecond

// tally counts what ends while it is open.
type tally struct {
	mu   sync.Mutex
	open bool
	result
}

func (t *tally) add(out outcome, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
}

func (t *tally) set(open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = open
}

func (t *tally) ended() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.took)
}

// drive puts the load on and returns what was seen. It returns when all work has ended.
func drive(ctx context.Context, l load) (result, error) {
	var (
		t       tally
		workers sync.WaitGroup
		stop    = make(chan struct{})
	)
	for range l.clients {
		workers.Go(func() { l.work(ctx, stop, &t) })
	}
	window, cpu, err := l.measure(ctx, &t)
	close(stop)
	workers.Wait()
	if err != nil {
		return result{}, err
	}
	r := t.result
	if len(r.took) == 0 {
		return result{}, fmt.Errorf("none of %d clients came to an end within %s: %w", l.clients, window.Round(time.Millisecond), orTimeout(r.firstError))
	}
	r.window, r.cpu = window, cpu
	r.sort()
	return r, nil
}

func orTimeout(err error) error {
	if err == nil {
		return context.DeadlineExceeded
	}
	return err
}

func (l *load) work(ctx context.Context, stop <-chan struct{}, t *tally) {
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		default:
		}
		one, cancel := context.WithTimeout(ctx, l.timeout)
		out, err := l.one(one)
		cancel()
		t.add(out, err)
		if err != nil {
			sleep(ctx, pause)
		}
	}
}

// measure opens the window and closes it.
func (l *load) measure(ctx context.Context, t *tally) (took, cpu time.Duration, err error) {
	sleep(ctx, l.warm)
	before, err := l.readCPU()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	t.set(true)
	sleep(ctx, l.window)
	for t.ended() < l.least && time.Since(start) < l.most && ctx.Err() == nil {
		sleep(ctx, pause)
	}
	t.set(false)
	took = time.Since(start)
	after, err := l.readCPU()
	if err == nil {
		err = ctx.Err()
	}
	return took, after - before, err
}

func (l *load) readCPU() (time.Duration, error) {
	if l.cpu == nil {
		return 0, nil
	}
	return l.cpu()
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// quantile of sorted durations; 0 if there are none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
