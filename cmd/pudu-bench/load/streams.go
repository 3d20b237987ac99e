package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Goals of live streams, for a thousand of them.
var (
	liveGoal   = &goal{limit: 1.25, ofRatio: true, strict: true}
	memoryGoal = &goal{limit: 600 << 20}
)

const (
	goalStreams = 1000
	tooSlow     = 1.1 // where the search for the limit ends
	hopeless    = 3   // where it ends even before the goal's number
	filesEach   = 2   // connections of this process per stream: the client's, and the model's
)

// streams measures how many live runs a server carries before they get slow.
func (b *bench) streams(ctx context.Context) (err error) {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	plan := Plan{Tokens: b.sizes.streamTokens, Delay: tokenDelay}
	d, err := s.newDirect(ctx, b.model, plan)
	if err != nil {
		return err
	}
	files := raiseFileLimit()
	for i, n := 0, 0; ; i++ {
		if n = b.streamCount(i, n); n == 0 {
			return nil
		}
		if need := n*filesEach + 200; files > 0 && need > files {
			b.report.note(fmt.Sprintf("n=%d", n), fmt.Sprintf("not measured: needs %d open files, the system allows %d", need, files))
			return nil
		}
		ratio, err := b.live(ctx, s, d, plan, n)
		if err != nil {
			return fmt.Errorf("n=%d: %w", n, err)
		}
		if ratio > hopeless || ratio > tooSlow && i >= len(b.sizes.streams)-1 {
			b.report.note("limit", fmt.Sprintf("at n=%d the delay that was added exceeds 10 %%", n))
			return nil
		}
	}
}

// streamCount is the number of streams of a round; 0 after the last.
func (b *bench) streamCount(round, before int) int {
	if round < len(b.sizes.streams) {
		return b.sizes.streams[round]
	}
	if before*2 > b.sizes.maxStreams {
		return 0
	}
	return before * 2
}

// live measures n streams at a time and returns the ratio of their median times.
func (b *bench) live(ctx context.Context, s *subject, d *direct, p Plan, n int) (float64, error) {
	stop := watchMemory(ctx, s.pid)
	served := together(ctx, n, func(ctx context.Context) (outcome, error) { return s.client.stream(ctx, p) })
	peak := stop()
	bare := together(ctx, n, d.run)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if bare.errors > 0 || len(served.took) == 0 {
		return 0, errors.Join(served.firstError, bare.firstError)
	}
	var slow, memory *goal
	if n == goalStreams {
		slow, memory = liveGoal, memoryGoal
	}
	name, median, floor := fmt.Sprintf("n=%d", n), quantile(served.took, 0.5), quantile(bare.took, 0.5)
	b.report.duration(name+": p50 of the whole answer", median, floor, slow)
	b.report.duration("  p95", quantile(served.took, 0.95), quantile(bare.took, 0.95), nil)
	b.report.duration("  first event, p50", quantile(served.first, 0.5), 0, nil)
	if peak > 0 {
		b.report.add(Figure{Name: "  memory of the server, most", Value: peak, Unit: "B"}, memory)
	}
	b.report.errors("  errors", served.errors, served.firstError)
	return median.Seconds() / floor.Seconds(), nil
}

// together does the work n times at once, each a little after the one before, and waits for all.
func together(ctx context.Context, n int, one func(context.Context) (outcome, error)) result {
	t := tally{open: true}
	var all sync.WaitGroup
	start := time.Now()
	for i := range n {
		all.Go(func() {
			sleep(ctx, time.Until(start.Add(time.Duration(i)*startGap))) // a busy machine does not move the later ones
			ctx, cancel := context.WithTimeout(ctx, oneTimeout)
			defer cancel()
			t.add(one(ctx))
		})
	}
	all.Wait()
	t.sort()
	return t.result
}
