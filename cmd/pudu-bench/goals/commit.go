package goals

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

const (
	committers     = 64
	commitsInRound = 50 // of one run alone; side by side each does a few
)

// measureCommit measures a model's step on its way into the store, one run alone and 64 side by side, which share
// their fsyncs.
func measureCommit(ctx context.Context, e env, r *measure.Table) (err error) {
	dir := filepath.Join(e.dir, "commit")
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	floor, closeFloor, err := syncFloor(dir, commitsInRound)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFloor()) }()
	p := newProse(4)
	text := p.text(700)
	alone := func(ctx context.Context) ([]time.Duration, error) {
		w, err := newWriter(ctx, st)
		if err != nil {
			return nil, err
		}
		return timed(commitsInRound, func(ctx context.Context) error { return w.commit(ctx, text) })(ctx)
	}
	average := func(ctx context.Context) ([]time.Duration, error) { // as it is taken of those side by side
		ds, err := alone(ctx)
		var sum time.Duration
		for _, d := range ds {
			sum += d
		}
		return []time.Duration{sum / commitsInRound}, err
	}
	together := func(ctx context.Context) ([]time.Duration, error) { return commitTogether(ctx, st, text) }
	took, err := compare(ctx, 20, alone, floor, average, together)
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "durable commit beside one fsync",
		Unit: units.Seconds, Value: took[0], Beside: took[1], Goal: measure.Within(1e-3)})
	r.Add(measure.Figure{Name: "64 committers beside one",
		Unit: measure.PerSecond, Value: 1 / took[3], Beside: 1 / took[2], Goal: measure.AtLeast(3)})
	return nil
}

// commitTogether lets all committers commit side by side and returns the time per commit.
func commitTogether(ctx context.Context, st store.Store, text string) ([]time.Duration, error) {
	const each = 10
	var all [committers]*writer
	for i := range all {
		var err error
		if all[i], err = newWriter(ctx, st); err != nil {
			return nil, err
		}
	}
	var wg sync.WaitGroup
	var failed [committers]error
	start := time.Now()
	for i, w := range all {
		wg.Go(func() {
			for range each {
				failed[i] = errors.Join(failed[i], w.commit(ctx, text))
			}
		})
	}
	wg.Wait()
	return []time.Duration{time.Since(start) / (committers * each)}, errors.Join(failed[:]...)
}

// writer is the owner of a run on a thread of its own, who commits answers.
type writer struct {
	store store.System
	fence store.Fence
	state state.State
	n     int64
}

func newWriter(ctx context.Context, st store.Store) (*writer, error) {
	thread, run, now := newID(), newID(), time.Now()
	r, err := st.For(benchUser()).Admit(ctx, store.Admission{
		Thread: store.Thread{ID: thread, CreatedAt: now, UpdatedAt: now},
		Run: store.Run{ID: run, ThreadID: thread, Owner: "bench", Request: []byte("{}"), CreatedAt: now,
			UpdatedAt: now},
	})
	return &writer{store: st.System(), fence: store.Fence{RunID: run, Attempt: r.Attempt}}, err
}

// commit writes the step of an answer that was streamed in 20 chunks.
func (w *writer) commit(ctx context.Context, text string) error {
	now := time.Now()
	m := message.New(message.AI, text)
	m.ID = newID()
	update := agent.Messages.Append(m)
	next, _, err := w.state.Apply(update)
	if err != nil {
		return err
	}
	w.state = next
	cuts := make([]event.Cut, 20)
	for i := range cuts {
		cuts[i].Text = len(text) / len(cuts)
	}
	_, err = w.store.Commit(ctx, w.fence, store.Step{
		Updates: []store.NodeUpdate{{Node: agent.NodeModel, Update: update}}, Next: agent.NodeTools, State: w.state,
		Now: now, Events: []event.Event{w.event(now, event.State{}),
			w.event(now, event.Message{MessageID: m.ID, Chunks: cuts})},
	})
	return err
}

func (w *writer) event(now time.Time, d event.Data) event.Event {
	w.n++
	return event.Event{ID: event.ID{Attempt: w.fence.Attempt, N: w.n}, Time: now, Node: agent.NodeModel, Data: d}
}
