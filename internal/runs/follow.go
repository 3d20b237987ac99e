package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

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
