package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/store"
)

// committer writes what waits until nothing does.
func (r *recorder) committer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commitUntil(nil)
	r.committing = false
}

// commitUntil commits batch after batch until done is closed or nothing waits. r.mu is held, and released meanwhile.
func (r *recorder) commitUntil(done <-chan struct{}) {
	for len(r.queue) > 0 {
		select {
		case <-done:
			return
		default:
			r.commitBatch(r.take())
		}
	}
}

func (r *recorder) commitBatch(batch []*write) {
	if r.lost == nil {
		r.mu.Unlock()
		states, err := r.write(batch)
		r.mu.Lock()
		switch {
		case errors.Is(err, store.ErrTakenBack):
			batch[0].refused = fmt.Errorf("%w (%w)", agent.ErrTakenBack, err)
		case err != nil:
			r.lost = err
		}
		for i, w := range batch[:len(states)] {
			for j, st := range states[i] {
				w.events[j].Data = st
			}
		}
	}
	if b := batch[0].below; b != nil && b.err != nil || batch[0].refused != nil { // its failure is not this run's
		r.unseen = slices.DeleteFunc(r.unseen,
			func(ev *event.Event) bool { return slices.Contains(batch[0].events, ev) })
	}
	if r.lost == nil {
		r.safe = max(r.safe, lastNumber(batch))
		r.showReady()
	}
	for _, w := range batch {
		if w.done != nil {
			close(w.done)
		}
	}
}

// take removes the writes that go into the next commit. Those that may fail by themselves go alone: that of a run
// below, and what takes a message that may be taken back. r.mu is held.
func (r *recorder) take() []*write {
	alone := func(w *write) bool { return w.below != nil || len(w.step.Takes) > 0 }
	n := slices.IndexFunc(r.queue[:min(len(r.queue), batchWrites)], alone)
	if n < 0 {
		n = min(len(r.queue), batchWrites)
	}
	n = max(n, 1)
	batch := r.queue[:n:n]
	r.queue = r.queue[n:]
	return batch
}

func lastNumber(batch []*write) int64 {
	for _, w := range slices.Backward(batch) {
		if evs := w.events; len(evs) > 0 {
			return evs[len(evs)-1].ID.N
		}
	}
	return 0
}

// write commits a batch and returns, for each of its writes, the data of its state events, which are its first ones.
func (r *recorder) write(batch []*write) ([][]event.State, error) {
	if batch[0].below != nil {
		r.writeBelow(batch[0])
		return nil, nil
	}
	steps, of, err := r.steps(batch)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	checkpoints, err := r.commitAll(ctx, batch, steps)
	if err != nil {
		return nil, err
	}
	states := make([][]event.State, len(batch))
	for i, w := range batch {
		states[i] = make([]event.State, len(w.step.Updates))
		for j, u := range w.step.Updates {
			states[i][j] = event.State{
				Writes: steps[of[i]].Updates[j].Raw, Update: u.Update,
				Checkpoint: checkpoints[of[i]], Next: w.step.Next, Last: j == len(states[i])-1,
			}
		}
	}
	return states, nil
}

// steps turns writes into steps of the store: one for each write with updates, which takes the events without updates
// around it along. of tells which step each write is in.
func (r *recorder) steps(batch []*write) (steps []store.Step, of []int, err error) {
	full := true // the last step has updates, or there is none
	steps, of = make([]store.Step, 0, len(batch)+1), make([]int, 0, len(batch))
	for _, w := range batch {
		if w.undo != nil {
			r.retitle(w.undo)
			// without events: it is no step of a run
			steps, full = append(steps, *w.undo, store.Step{Now: r.now()}), false
		}
		updates := len(w.step.Updates) > 0
		if len(steps) == 0 || updates && full {
			steps = append(steps, store.Step{Now: r.now()})
			full = false
		}
		step := &steps[len(steps)-1]
		of = append(of, len(steps)-1)
		for _, ev := range w.events {
			step.Events = append(step.Events, *ev)
		}
		for _, j := range w.step.Jobs {
			step.Jobs = append(step.Jobs, store.NewJob(j))
		}
		if updates {
			full = true
			step.Next, step.State, step.Takes = w.step.Next, w.step.State, w.step.Takes
			step.Parent, r.parent = r.parent, ""
			r.retitle(step)
			for _, u := range w.step.Updates {
				raw, err := u.Update.AppendJSON(nil)
				if err != nil {
					return nil, nil, fmt.Errorf("encode update of %s: %w", u.Node, err)
				}
				step.Updates = append(step.Updates, store.NodeUpdate{Node: u.Node, Update: u.Update, Raw: raw})
			}
		}
		if w.end != nil {
			step.Run = &store.RunChange{Status: w.end.Status, Error: w.end.Error, StopReason: w.end.StopReason,
				Asks: r.asks}
		}
	}
	r.keepUsage(&steps[len(steps)-1])
	return steps, of, nil
}

// retitle gives the thread's row the title that the state has got, so that lists and searches show it.
func (r *recorder) retitle(step *store.Step) {
	if title := threadstate.Title.Get(step.State); title != "" && title != r.title {
		r.title = title
		step.Title = new(title)
	}
}

// keepUsage writes what the run has used with the last step of a batch, at the end and else at most once a
// second: an attempt that is cut off has spent it all the same.
func (r *recorder) keepUsage(step *store.Step) {
	spent, now := r.used(), r.now()
	if spent == r.kept || step.Run == nil && now.Sub(r.keptAt).Abs() < usageEvery {
		return
	}
	raw, _ := json.Marshal(spent) // numbers can be encoded
	if step.Run == nil {
		step.Run = &store.RunChange{Status: event.StatusRunning}
	}
	step.Run.Usage, r.kept, r.keptAt = raw, spent, now
}
