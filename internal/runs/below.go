package runs

import (
	"context"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// commitAll commits the steps of a batch. Where a run below another commits messages, or its end, the log of the run at
// the top of the tree tells of each in the same transaction.
func (r *recorder) commitAll(ctx context.Context, batch []*write, steps []store.Step) ([]string, error) {
	var told []agent.Emitted
	if r.root != nil {
		told = r.told(batch)
	}
	if len(told) == 0 {
		return r.store.CommitAll(ctx, r.fence, steps)
	}
	b := &below{fence: r.fence, steps: steps}
	if err := r.root.wait(ctx, &write{below: b, in: r.namespace}, told); err != nil {
		return nil, err
	}
	return b.checkpoints, b.err
}

// told is what the log of the root tells of a batch: where each message stands, and the end.
func (r *recorder) told(batch []*write) (told []agent.Emitted) {
	tell := func(ev *event.Event) {
		told = append(told, agent.Emitted{Node: ev.Node, Data: event.Child{RunID: r.fence.RunID,
			Attempt: ev.ID.Attempt, N: ev.ID.N}})
	}
	for _, w := range batch {
		for i, u := range w.step.Updates {
			writes, _ := u.Update.Writes() // which could not be committed either
			if slices.ContainsFunc(writes, func(w state.Write) bool { return w.Channel == agent.Messages.Name() }) {
				tell(w.events[i])
			}
		}
		if w.end != nil {
			tell(w.events[len(w.events)-1])
		}
	}
	return told
}

// writeBelow commits what a run below has asked for.
func (r *recorder) writeBelow(w *write) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	events := make([]event.Event, len(w.events))
	for i, ev := range w.events {
		events[i] = *ev
	}
	w.below.checkpoints, w.below.err = r.store.CommitChild(ctx, r.fence, events, w.below.fence, w.below.steps)
}
