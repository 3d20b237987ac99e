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

// settle is how long a server is left alone before its memory counts as that of a fresh one.
const settle = 250 * time.Millisecond

// memory measures how fast a server starts, what it holds then, and what it takes when nobody asks for anything.
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
		measure.Within(0.1)))
	b.table.Add(measure.Size("memory, fresh", fresh[len(fresh)/2], measure.Within(40<<20)))
	return b.inDir(ctx, b.idle)
}

// idle measures a server that was started, and that nobody asks for anything.
func (b *bench) idle(ctx context.Context, p *process) error {
	pid := p.cmd.Process.Pid
	sleep(ctx, settle)
	before, err := measure.ProcessorTime(pid)
	if err != nil {
		return err
	}
	sleep(ctx, b.sizes.idle)
	after, errTime := measure.ProcessorTime(pid)
	rss, errMemory := measure.Memory(pid)
	if err := errors.Join(errTime, errMemory); err != nil {
		return err
	}
	name := fmt.Sprintf("idle for %v: ", b.sizes.idle)
	b.table.Add(measure.Size(name+"memory", rss, measure.Within(40<<20)))
	b.table.Add(measure.Figure{Name: name + "of a processor", Unit: percent,
		Value: (after - before).Seconds() / b.sizes.idle.Seconds(), Goal: measure.Within(0.002)})
	return nil
}

// startOnce starts a server and looks at what it holds.
func (b *bench) startOnce(ctx context.Context) (ready time.Duration, rss float64, err error) {
	err = b.inDir(ctx, func(ctx context.Context, p *process) error {
		sleep(ctx, settle)
		ready = p.ready
		rss, err = measure.Memory(p.cmd.Process.Pid)
		return err
	})
	return ready, rss, err
}

// inDir starts a server on an empty folder, for as long as do takes.
func (b *bench) inDir(ctx context.Context, do func(context.Context, *process) error) (err error) {
	dir, err := os.MkdirTemp(b.Dir, "pudu-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := b.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.end()) }()
	return do(ctx, p)
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }
