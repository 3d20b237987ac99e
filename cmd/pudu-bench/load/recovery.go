package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

const (
	framesBeforeKill = 5                      // of each run
	goOnBeforeKill   = 300 * time.Millisecond // after the last of them has begun
)

// recovery kills a server in the middle of its runs, starts it again on the same folder, and follows what becomes of
// them through clients that re-attach where they were.
func (b *bench) recovery(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, oneTimeout)
	defer cancel()
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	plan := Plan{Steps: 2, Tokens: b.sizes.recoveryTokens, Delay: tokenDelay}
	again, restarted := newClient(""), make(chan struct{})
	defer again.http.CloseIdleConnections()
	followers := make([]*follower, b.sizes.recoveryRuns)
	var all sync.WaitGroup
	for i := range followers { // some are in a tool step and some in the answer when all are under way
		f := &follower{seen: map[string]bool{}}
		followers[i] = f
		all.Go(func() { f.follow(ctx, s.client, plan, again, restarted) })
		sleep(ctx, 10*startGap)
	}
	underWay := waitUnderWay(ctx, followers)
	s.process.kill()
	p, err := b.start(ctx, s.dir)
	if err != nil {
		cancel()
		all.Wait()
		return fmt.Errorf("after kill -9: %w", err)
	}
	s.process, again.base = p, p.url
	close(restarted)
	all.Wait()
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	b.table.Add(measure.Time("start to ready, with runs to recover", p.ready, 0, nil))
	b.table.Add(measure.Figure{Name: "runs under way at the kill", Value: float64(underWay)})
	b.tellRecovery(ctx, again, followers, p.began)
	return nil
}

// waitUnderWay waits until each run has shown some frames, or has failed, and a little longer. It returns how many are
// still going on.
func waitUnderWay(ctx context.Context, followers []*follower) (n int) {
	for _, f := range followers {
		for f.frames.Load() < framesBeforeKill && !f.done.Load() && ctx.Err() == nil {
			sleep(ctx, time.Millisecond)
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

func (b *bench) tellRecovery(ctx context.Context, c *client, followers []*follower, began time.Time) {
	var resumed, ended []time.Time
	var failed error
	doubled, lost := 0, 0
	for _, f := range followers {
		if !f.resumed.IsZero() {
			resumed = append(resumed, f.resumed)
		}
		doubled += f.doubled
		if f.err == nil {
			var n int
			n, f.err = f.readAgain(ctx, c)
			lost += n
			ended = append(ended, f.ended)
		}
		if failed == nil && f.err != nil {
			failed = fmt.Errorf("run at %s: %w", f.path, f.err)
		}
	}
	if len(resumed) > 0 {
		first, last := slices.MinFunc(resumed, time.Time.Compare), slices.MaxFunc(resumed, time.Time.Compare)
		b.table.Add(measure.Time("start to the first recovered run", first.Sub(began), 0, measure.Within(2)))
		b.table.Add(measure.Time("start to the last recovered run", last.Sub(began), 0, nil))
	}
	if len(ended) > 0 {
		b.table.Add(measure.Time("start to the last run's end", slices.MaxFunc(ended, time.Time.Compare).Sub(began), 0,
			nil))
	}
	b.table.Add(measure.Errors("runs that did not end well", len(followers)-len(ended), failed))
	b.table.Add(measure.Errors("frames seen twice", doubled, nil))
	b.table.Add(measure.Errors("frames that only a later reader saw", lost, nil))
}

// follower starts a run and follows it to its end, from server to server.
type follower struct {
	frames atomic.Int64 // so many have been seen
	done   atomic.Bool  // nothing more comes

	path    string // of the run
	last    string // the id of the last frame, "<attempt>-<n>" or "<attempt>-<n>.<k>"
	seen    map[string]bool
	doubled int

	attempt        string    // the first one that was seen
	resumed, ended time.Time // resumed is the first frame of another attempt
	err            error     // why it did not come to its end
}

func (f *follower) follow(ctx context.Context, c *client, p Plan, again *client, restarted <-chan struct{}) {
	defer f.done.Store(true)
	resp, err := c.begin(ctx, p)
	if f.err = err; err != nil {
		return
	}
	f.path = resp.Header.Get("Content-Location")
	if _, f.err = follow(resp, time.Now(), f.see); !errors.Is(f.err, errCut) {
		return
	}
	select {
	case <-restarted:
	case <-ctx.Done():
		return
	}
	if resp, f.err = again.attach(ctx, f.path, f.last); f.err == nil {
		_, f.err = follow(resp, time.Now(), f.see)
	}
}

// attach follows a run from the frame after last; "-1", or none, is from its beginning.
func (c *client) attach(ctx context.Context, path, last string) (*http.Response, error) {
	last = cmp.Or(last, "-1")
	path = path[max(0, strings.Index(path, "/threads/")):]
	return send(ctx, c.http, http.MethodGet, c.base+path+"/stream", nil, http.Header{"Last-Event-Id": {last}})
}

func (f *follower) see(e event) {
	f.ended = time.Now()
	if len(e.id) == 0 {
		return
	}
	f.last = string(e.id)
	if f.seen[f.last] {
		f.doubled++
	}
	f.seen[f.last] = true
	attempt, _, _ := strings.Cut(f.last, "-")
	if f.attempt == "" {
		f.attempt = attempt
	}
	if f.resumed.IsZero() && attempt != f.attempt {
		f.resumed = time.Now()
	}
	f.frames.Add(1)
}

// readAgain reads the run from its beginning, as one who comes late, and returns how many frames only that one sees.
// What only the first reader saw of a killed attempt is no loss: it was not stored, and withdrawn.
func (f *follower) readAgain(ctx context.Context, c *client) (lost int, err error) {
	resp, err := c.attach(ctx, f.path, "")
	if err != nil {
		return 0, fmt.Errorf("read it again: %w", err)
	}
	_, err = follow(resp, time.Now(), func(e event) {
		if len(e.id) > 0 && !f.seen[string(e.id)] {
			lost++
		}
	})
	return lost, err
}
