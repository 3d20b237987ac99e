package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

// settle is how long a server is left alone before its memory counts as that of an idle one.
const settle = 250 * time.Millisecond

// memory measures how fast a server starts and what it holds then.
func (b *bench) memory(ctx context.Context) error {
	var ready []time.Duration
	var fresh []float64
	for range b.sizes.starts {
		took, rss, err := b.startOnce(ctx)
		if errors.Is(err, measure.ErrNoProcess) {
			b.table.Missing("memory", err)
			return nil
		}
		if err != nil {
			return err
		}
		ready, fresh = append(ready, took), append(fresh, rss)
	}
	slices.Sort(fresh)
	b.table.Add(measure.Time(fmt.Sprintf("start to ready, median of %d", len(ready)), measure.Quantile(ready, 0.5), 0,
		measure.Within(0.3)))
	b.table.Add(measure.Size("memory, fresh", fresh[len(fresh)/2], measure.Within(80<<20)))
	return nil
}

// startOnce starts a server on an empty folder.
func (b *bench) startOnce(ctx context.Context) (ready time.Duration, rss float64, err error) {
	dir, err := os.MkdirTemp(b.Dir, "pudu-load-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := b.start(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	sleep(ctx, settle)
	rss, err = measure.Memory(p.cmd.Process.Pid)
	return p.ready, rss, err
}
