package load

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Goals of the runs, for 5 tool steps. A single client meets a server that does nothing else; 64 keep it busy.
var (
	throughputGoal = &goal{limit: 0.25, least: true, ofRatio: true, aim: 0.5, strict: true}
	latencyGoal    = &goal{limit: 6, ofRatio: true, strict: true}
	firstGoal      = &goal{limit: 5e-3}
	cpuGoal        = &goal{limit: 4e-3}
)

const (
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
		d, err := s.newDirect(ctx, b.model, Plan{Steps: steps, Tokens: b.sizes.answer})
		if err != nil {
			return err
		}
		for _, clients := range b.sizes.clients {
			if err := b.cell(ctx, s, d, steps, clients); err != nil {
				return fmt.Errorf("%s: %w", cellName(steps, clients), err)
			}
		}
	}
	return nil
}

func cellName(steps, clients int) string { return fmt.Sprintf("%d steps, c=%d", steps, clients) }

// cell measures one number of steps with one number of clients. Server and direct calls take turns, so that a machine
// that gets slower makes both slower.
func (b *bench) cell(ctx context.Context, s *subject, d *direct, steps, clients int) error {
	plan := Plan{Steps: steps, Tokens: b.sizes.answer}
	under := load{clients: clients, warm: b.sizes.warm, window: b.sizes.window, most: b.sizes.most, least: max(clients, 5), timeout: oneTimeout}
	alone := under
	alone.one, alone.window = d.run, b.sizes.directWindow
	under.one = func(ctx context.Context) (outcome, error) { return s.client.stream(ctx, plan) }
	if b.Wait {
		under.one = func(ctx context.Context) (outcome, error) { return s.client.wait(ctx, plan) }
	}
	if s.pid != 0 {
		under.cpu = func() (time.Duration, error) { return cpuTime(s.pid) }
	}
	var served, bare result
	for range b.sizes.rounds {
		got, err := drive(ctx, under)
		if err != nil {
			return err
		}
		served.add(got)
		if got, err = drive(ctx, alone); err != nil {
			return fmt.Errorf("direct calls: %w", err)
		}
		bare.add(got)
		if served.window > time.Duration(b.sizes.rounds)*b.sizes.window {
			break
		}
	}
	b.tell(cellName(steps, clients), served, bare, s.pid != 0, goalsOf(steps, clients))
	return nil
}

// cellGoals are nil where a figure is only told.
type cellGoals struct{ throughput, latency, first, cpu *goal }

func goalsOf(steps, clients int) (g cellGoals) {
	switch {
	case steps == goalSteps && clients == busyClients:
		g.throughput, g.cpu = throughputGoal, cpuGoal
	case steps == goalSteps && clients == 1:
		g.latency, g.first = latencyGoal, firstGoal
	}
	return g
}

func (b *bench) tell(name string, served, bare result, owned bool, g cellGoals) {
	r := b.report
	r.add(Figure{Name: name, Value: served.perSecond(), Direct: bare.perSecond(), Unit: "/s"}, g.throughput)
	r.duration("  p50", quantile(served.took, 0.5), quantile(bare.took, 0.5), g.latency)
	r.duration("  p95", quantile(served.took, 0.95), quantile(bare.took, 0.95), nil)
	if !b.Wait {
		r.duration("  first event, p50", quantile(served.first, 0.5), 0, g.first)
	}
	if owned {
		r.duration("  processor time per run", served.cpuPerRun(), 0, g.cpu)
	}
	if served.errors > 0 {
		r.errors("  errors", served.errors, served.firstError)
	}
}
