package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

const (
	answerTokens = 20
	rounds       = 3
	// Goals are of runs with 5 tool steps. A single client meets a server that does nothing else; 64 keep it busy.
	goalSteps   = 5
	busyClients = 64
)

// runs measures how many runs a second there are and how long one takes.
func (b *bench) runs(ctx context.Context) (err error) {
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, steps := range b.sizes.steps {
		plan := Plan{Steps: steps, Tokens: answerTokens}
		d, err := b.newDirect(ctx, s, plan)
		if err != nil {
			return err
		}
		for _, clients := range b.sizes.clients {
			if err := b.cell(ctx, s, d, plan, clients); err != nil {
				return fmt.Errorf("%d steps, c=%d: %w", steps, clients, err)
			}
		}
	}
	return nil
}

// cell measures one number of steps with one number of clients. Server and direct calls take turns, so that a machine
// that gets slower makes both slower. A slow server gets one round, for as many runs as there are clients.
func (b *bench) cell(ctx context.Context, s *subject, d *direct, plan Plan, clients int) error {
	under := load{clients: clients, warm: b.sizes.warm, window: b.sizes.window, least: max(clients, 5)}
	alone := under
	alone.one, alone.window = d.run, b.sizes.directWindow
	under.one = func(ctx context.Context) (outcome, error) { return s.run(ctx, plan, nil) }
	if s.process != nil {
		under.pid = s.process.cmd.Process.Pid
	}
	var served, bare result
	for round := 0; round < rounds && served.window <= time.Duration(round)*2*b.sizes.window; round++ {
		if err := served.drive(ctx, under); err != nil {
			return err
		}
		if err := bare.drive(ctx, alone); err != nil {
			return fmt.Errorf("direct calls: %w", err)
		}
	}
	b.tell(plan.Steps, clients, &served, &bare)
	return nil
}

func (b *bench) tell(steps, clients int, served, bare *result) {
	var throughput, latency, first, cpu *measure.Goal
	switch {
	case steps == goalSteps && clients == busyClients:
		throughput, cpu = measure.AtLeast(0.25), measure.Within(4e-3)
	case steps == goalSteps && clients == 1:
		latency, first = measure.AtMost(6), measure.Within(5e-3)
	}
	name := fmt.Sprintf("%d steps, c=%d", steps, clients)
	b.table.Add(measure.Figure{Name: name, Unit: measure.PerSecond, Value: served.perSecond(), Beside: bare.perSecond(),
		Goal: throughput})
	b.times("  p50", served, bare, 0.5, latency)
	b.times("  p95", served, bare, 0.95, nil)
	b.table.Add(measure.Time("  first event, p50", measure.Quantile(served.first, 0.5), 0, first))
	if served.cpu > 0 {
		b.table.Add(measure.Time("  processor time per run", served.cpu/time.Duration(len(served.took)), 0, cpu))
	}
	if served.errors > 0 {
		b.table.Add(measure.Errors("  errors", served.errors, served.firstError))
	}
}

// times adds how long the runs and the direct calls took.
func (b *bench) times(name string, served, bare *result, q float64, g *measure.Goal) {
	b.table.Add(measure.Time(name, measure.Quantile(served.took, q), measure.Quantile(bare.took, q), g))
}
