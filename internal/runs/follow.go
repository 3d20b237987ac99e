package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// Follow shows the durable events of a run that another process executes, from the one after the id on, and returns the
// run's outcome when it has ended. It reads the log ten times a second. alive is asked every second whether it makes
// sense to wait on; its error ends the following.
func Follow(ctx context.Context, s store.UserData, runID string, after event.ID, alive func(store.Run) error, show func(event.Event)) (Outcome, error) {
	const page = 1000
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		run, err := s.Run(ctx, runID) // before the events: what is written before the end is read after it
		if err != nil {
			return Outcome{}, err
		}
		evs, err := s.Events(ctx, runID, after, page)
		if err != nil {
			return Outcome{Run: run}, err
		}
		for _, ev := range evs {
			show(ev)
			after = ev.ID
		}
		switch {
		case len(evs) == page:
			continue
		case !run.Active():
			return Ended(ctx, s, run)
		case n%10 == 0:
			if err := alive(run); err != nil {
				return Outcome{Run: run}, err
			}
		}
		select {
		case <-ctx.Done():
			return Outcome{Run: run}, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Ended reads the outcome of a run that is at its end and the last one of its thread.
func Ended(ctx context.Context, s store.UserData, run store.Run) (Outcome, error) {
	out := Outcome{Run: run}
	schema, err := state.NewSchema(append(agent.Channels(), threadstate.Channels()...)...)
	if err != nil {
		return out, err
	}
	cp, err := s.Checkpoint(ctx, schema, run.ThreadID, "")
	if err == nil && run.Usage != nil {
		err = json.Unmarshal(run.Usage, &out.Usage)
	}
	if err != nil {
		return out, fmt.Errorf("read the end of run %s: %w", run.ID, err)
	}
	out.State = cp.State
	return out, nil
}

// Working returns the tool calls that an unfinished run was at when its last event was written; none if the model was.
func Working(ctx context.Context, s store.UserData, run store.Run) ([]event.ToolStart, error) {
	heads, err := s.Checkpoints(ctx, run.ThreadID, "", 1)
	if err != nil || len(heads) == 0 || heads[0].RunID != run.ID || heads[0].Next != agent.NodeTools {
		return nil, err
	}
	head := heads[0]
	past := agent.Resume{Started: make(map[string]event.ToolStart), Ended: make(map[string]event.ToolEnd)}
	_, err = eachEvent(ctx, s, run.ID, event.ID{Attempt: head.Attempt, N: head.First}, past.Note)
	var open []event.ToolStart
	for id, start := range past.Started {
		if _, done := past.Ended[id]; !done {
			open = append(open, start)
		}
	}
	slices.SortFunc(open, func(a, b event.ToolStart) int { return strings.Compare(a.CallID, b.CallID) })
	return open, err
}
