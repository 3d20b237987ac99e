package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

var recoveryGoal = &goal{limit: 2}

const (
	framesBeforeKill = 5                      // of each run
	goOnBeforeKill   = 300 * time.Millisecond // after the last of them has begun
)

// recovery kills a server in the middle of its runs, starts it again on the same folder, and follows what becomes of
// them through clients that re-attach where they were.
func (b *bench) recovery(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(b.Dir, "pudu-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := b.launcher.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { p.kill() }()
	ctx, cancel := context.WithTimeout(ctx, oneTimeout)
	defer cancel()

	where := newPlace(b.newClient(p.url))
	defer where.close()
	plan := Plan{Steps: 2, Tokens: b.sizes.recoveryTokens, Delay: tokenDelay}
	followers, followed := b.follow(ctx, where, plan)
	underWay := waitUnderWay(ctx, followers)
	p.kill()
	old := p
	if p, err = b.launcher.start(ctx, dir); err != nil {
		p = old // it has ended
		cancel()
		followed.Wait()
		return fmt.Errorf("after kill -9: %w", err)
	}
	where.move(b.newClient(p.url))
	followed.Wait()
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	b.report.duration("start to ready, with runs to recover", p.ready, 0, nil)
	b.tellRecovery(ctx, where, followers, underWay, p.started)
	return nil
}

// follow starts the runs and a follower of each. Some are in a tool step and some in the answer when all are under way.
func (b *bench) follow(ctx context.Context, where *place, p Plan) ([]*follower, *sync.WaitGroup) {
	var all sync.WaitGroup
	followers := make([]*follower, b.sizes.recoveryRuns)
	for i := range followers {
		f := &follower{plan: p}
		followers[i] = f
		all.Go(func() { f.follow(ctx, where) })
		sleep(ctx, 10*startGap)
	}
	return followers, &all
}

// waitUnderWay waits until each run has shown some frames, or has failed, and a little longer. It returns how many are
// still going on.
func waitUnderWay(ctx context.Context, followers []*follower) (n int) {
	for _, f := range followers {
		for f.frames.Load() < framesBeforeKill && !f.done.Load() && ctx.Err() == nil {
			sleep(ctx, pollTime)
		}
	}
	sleep(ctx, goOnBeforeKill)
	for _, f := range followers {
		if !f.done.Load() {
			n++
		}
	}
	return n
}

func (b *bench) tellRecovery(ctx context.Context, where *place, followers []*follower, underWay int, restarted time.Time) {
	var resumed, ended []time.Time
	var failed error
	frames, disordered, missed := 0, 0, 0
	for _, f := range followers {
		if !f.resumed.IsZero() {
			resumed = append(resumed, f.resumed)
		}
		frames += len(f.ids)
		disordered += disorder(f.ids)
		err := f.err
		if err == nil {
			ended = append(ended, f.ended)
			var late []frameID
			if late, err = f.readAgain(ctx, where); err == nil {
				missed += missing(f.ids, late)
			}
		}
		if failed == nil && err != nil {
			failed = fmt.Errorf("run %s: %w", f.run, err)
		}
	}
	r := b.report
	r.add(Figure{Name: "runs under way at the kill", Value: float64(underWay)}, nil)
	if len(resumed) == 0 {
		r.note("recovered runs", "none went on")
	} else {
		r.duration("start to the first recovered run", earliest(resumed).Sub(restarted), 0, recoveryGoal)
		r.duration("start to the last recovered run", latest(resumed).Sub(restarted), 0, nil)
	}
	if len(ended) > 0 {
		r.duration("start to the last run's end", latest(ended).Sub(restarted), 0, nil)
	}
	all := Figure{Name: "runs that ended well", Value: float64(len(ended))}
	if failed != nil {
		all.Note = failed.Error()
	}
	r.add(all, &goal{limit: float64(len(followers)), least: true, strict: true})
	r.add(Figure{Name: "frames that the clients saw", Value: float64(frames)}, nil)
	r.errors("frames seen twice or out of order", disordered, nil)
	r.errors("frames that only one of two readers saw", missed, nil)
}

func earliest(ts []time.Time) time.Time {
	first := ts[0]
	for _, t := range ts {
		if t.Before(first) {
			first = t
		}
	}
	return first
}

func latest(ts []time.Time) time.Time {
	last := ts[0]
	for _, t := range ts {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// place is where the server is. It moves when the server is started again.
type place struct {
	mu    sync.Mutex
	at    *client
	moved chan struct{} // closed when at is not the last place any more
}

func newPlace(c *client) *place { return &place{at: c, moved: make(chan struct{})} }

func (p *place) now() (*client, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, p.moved
}

func (p *place) move(c *client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at.http.CloseIdleConnections()
	close(p.moved)
	p.at, p.moved = c, make(chan struct{})
}

func (p *place) close() {
	c, _ := p.now()
	c.http.CloseIdleConnections()
}
