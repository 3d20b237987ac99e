package summarization

import (
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Request asks for a compaction outside of a run.
type Request struct {
	// State is the thread's.
	State state.State
	// Keep is how much stays; the zero value means what is configured.
	Keep Amount
	// OnlyIfDue compacts only what a run would compact before its next model call.
	OnlyIfDue bool
}

// Report is what came of a [Request].
type Report struct {
	// Update changes the thread's state; empty if there was nothing to compact.
	Update state.Update
	// Compacted is false when there are not enough messages, or none is due.
	Compacted bool
	// Removed and Kept count messages that the model no longer sees and those that it still does.
	Removed, Kept int
	// NewSummary says that the thread has a new summary.
	NewSummary bool
	// Tokens guesses the size of the messages that are sent now.
	Tokens int
	// Usage is what the summarizing model took. It is also set with an error.
	Usage message.Usage
}

// Compact makes a compaction that somebody asks for. An error says that there was something to compact and no model
// could sum it up; the thread is then as it was.
func (m *Middleware) Compact(ctx context.Context, r Request) (Report, error) {
	j, due := m.due(r.State)
	if r.OnlyIfDue && !due {
		return Report{}, nil
	}
	keep := r.Keep
	if keep == (Amount{}) {
		keep = m.cfg.Keep
	}
	if meter := meterChannel.Get(r.State); !due {
		j = newJob(r.State, keep)
		j.meter = meter
	}
	j.keep, j.cut, j.must = keep, true, 0
	out, err := m.do(ctx, j)
	if err != nil {
		return Report{Usage: out.spent.total()}, fmt.Errorf("compact conversation: %w", err)
	}
	if !out.changed {
		return Report{}, nil
	}
	size := out.meter.Raw - out.meter.Fixed
	return Report{
		Update: out.update(), Compacted: true, Removed: out.removed, Kept: out.kept, NewSummary: out.summary != "",
		Tokens: size, Usage: out.spent.total(),
	}, nil
}
