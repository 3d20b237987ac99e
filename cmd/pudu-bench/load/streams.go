package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

const (
	tokenDelay  = 20 * time.Millisecond
	goalStreams = 1000
)

// streams measures live runs: of a token every 20 ms, more and more at a time.
func (b *bench) streams(ctx context.Context) (err error) {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	plan := Plan{Tokens: b.sizes.streamTokens, Delay: tokenDelay}
	d, err := b.newDirect(ctx, s, plan)
	if err != nil {
		return err
	}
	for _, n := range b.sizes.streams {
		if err := b.live(ctx, s, d, plan, n); err != nil {
			return fmt.Errorf("n=%d: %w", n, err)
		}
	}
	return nil
}

// live measures n streams at a time.
func (b *bench) live(ctx context.Context, s *subject, d *direct, p Plan, n int) error {
	stop := s.process.watchMemory(ctx)
	served := together(ctx, n, func(ctx context.Context) (outcome, error) { return s.run(ctx, p, nil) })
	peak := stop()
	bare := together(ctx, n, d.run)
	if err := ctx.Err(); err != nil {
		return err
	}
	if bare.errors > 0 || len(served.took) == 0 {
		return errors.Join(served.firstError, bare.firstError)
	}
	var slow, memory *measure.Goal
	if n == goalStreams {
		slow, memory = measure.AtMost(1.25), measure.Within(600<<20)
	}
	b.times(fmt.Sprintf("n=%d: p50 of the whole answer", n), &served, &bare, 0.5, slow)
	b.times("  p95", &served, &bare, 0.95, nil)
	b.table.Add(measure.Time("  first event, p50", measure.Quantile(served.first, 0.5), 0, nil))
	if peak > 0 {
		b.table.Add(measure.Size("  memory of the server, most", peak, memory))
	}
	b.table.Add(measure.Errors("  errors", served.errors, served.firstError))
	return nil
}
