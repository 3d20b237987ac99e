package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

var (
	startGoal = &goal{limit: 0.3}
	freshGoal = &goal{limit: 80 << 20}
)

// settle is how long a server is left alone before its memory counts as that of an idle one.
const settle = 500 * time.Millisecond

// memory measures how fast a server starts and what it holds: fresh, with threads at rest and with live runs.
func (b *bench) memory(ctx context.Context) error {
	var ready []time.Duration
	var fresh []float64
	for range b.sizes.starts {
		took, rss, err := b.startOnce(ctx)
		if err != nil {
			return err
		}
		ready, fresh = append(ready, took), append(fresh, rss)
	}
	slices.Sort(ready)
	slices.Sort(fresh)
	b.report.duration(fmt.Sprintf("start to ready, median of %d", len(ready)), quantile(ready, 0.5), 0, startGoal)
	if rss := fresh[len(fresh)/2]; rss > 0 {
		b.report.add(Figure{Name: "memory, fresh", Value: rss, Unit: "B"}, freshGoal)
		return b.growth(ctx)
	}
	b.report.note("memory", errNoProcess.Error())
	return nil
}

// startOnce starts a server on an empty folder. Its memory is 0 where it cannot be looked at.
func (b *bench) startOnce(ctx context.Context) (ready time.Duration, rss float64, err error) {
	dir, err := os.MkdirTemp(b.Dir, "pudu-load-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := b.launcher.start(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	defer p.kill()
	sleep(ctx, settle/2)
	rss, err = residentMemory(p.cmd.Process.Pid)
	if errors.Is(err, errNoProcess) {
		rss, err = 0, p.alive()
	}
	return p.ready, rss, err
}

// growth measures what a thread with a finished run and a live run add.
func (b *bench) growth(ctx context.Context) (err error) {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	before, err := s.rested(ctx)
	if err != nil {
		return err
	}
	if err := b.finishedRuns(ctx, s, b.sizes.idleThreads); err != nil {
		return err
	}
	idle, err := s.rested(ctx)
	if err != nil {
		return err
	}
	n := b.sizes.idleThreads
	b.report.add(Figure{Name: fmt.Sprintf("memory with %d threads at rest", n), Value: idle, Unit: "B"}, nil)
	b.report.add(Figure{Name: "  per thread", Value: max(0, idle-before) / float64(n), Unit: "B"}, nil)
	return b.liveMemory(ctx, s)
}

// rested is the memory after a rest.
func (s *subject) rested(ctx context.Context) (float64, error) {
	sleep(ctx, settle)
	return residentMemory(s.pid)
}

// finishedRuns makes n threads with a short run each.
func (b *bench) finishedRuns(ctx context.Context, s *subject, n int) error {
	work := make(chan struct{})
	done := make(chan error, 16)
	for range cap(done) {
		go func() {
			var failed error
			for range work {
				one, cancel := context.WithTimeout(ctx, oneTimeout)
				_, err := s.client.stream(one, Plan{Tokens: b.sizes.answer})
				cancel()
				if failed == nil {
					failed = err
				}
			}
			done <- failed
		}()
	}
	for range n {
		if ctx.Err() != nil {
			break
		}
		work <- struct{}{}
	}
	close(work)
	var errs []error
	for range cap(done) {
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}

// liveMemory looks at the memory in the middle of many live runs, on the server that has the threads at rest.
func (b *bench) liveMemory(ctx context.Context, s *subject) error {
	before, err := residentMemory(s.pid)
	if err != nil {
		return err
	}
	n := b.sizes.liveRuns
	plan := Plan{Tokens: b.sizes.streamTokens, Delay: tokenDelay}
	stop := watchMemory(ctx, s.pid)
	served := together(ctx, n, func(ctx context.Context) (outcome, error) { return s.client.stream(ctx, plan) })
	peak := stop()
	if served.errors > 0 {
		return served.firstError
	}
	b.report.add(Figure{Name: fmt.Sprintf("memory with %d live runs besides, most", n), Value: peak, Unit: "B"}, nil)
	b.report.add(Figure{Name: "  per live run", Value: max(0, peak-before) / float64(n), Unit: "B"}, nil)
	return nil
}
