package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// Runtime is what a run gives to the loop, its hooks and its tools. It is made by the run's owner, passed explicitly,
// and not changed while the run lasts.
type Runtime struct {
	ThreadID, RunID, UserID string
	Config                  RunConfig
	// Emit shows an event. It numbers the event, keeps the order and never waits for a reader.
	Emit func(node string, data event.Data)
	// Commit makes a step durable before it returns. nil keeps nothing.
	Commit func(ctx context.Context, step Step) error
	// Now is the clock.
	Now func() time.Time
	// NewID makes a fresh id for a message.
	NewID func() string
	// Resume is where an earlier attempt of this run, or an interrupted run of this thread, left off. nil starts anew.
	Resume *Resume
}

// RunConfig bounds and tunes one run.
type RunConfig struct {
	// MaxSteps bounds the model and tools nodes of the run; 0 means DefaultMaxSteps. At the limit the model gets one
	// last call without tools.
	MaxSteps int
	// ToolTimeout bounds a call whose tool names no time-out; 0 means DefaultToolTimeout.
	ToolTimeout time.Duration
	// ParallelTools bounds how many calls of one message run side by side; 0 means DefaultParallelTools.
	ParallelTools int
}

// Defaults of [RunConfig].
const (
	DefaultMaxSteps      = 1000
	DefaultToolTimeout   = 15 * time.Minute
	DefaultParallelTools = 8
)

// Step is what the loop wants written together: the updates of its nodes since the last step, the events that belong
// to them, and the node that comes next.
type Step struct {
	Updates []NodeUpdate
	Next    string
	State   state.State
	Events  []Emitted
	// Usage is what the model calls of the run took so far.
	Usage message.Usage
}

// NodeUpdate is what one node wrote to the state.
type NodeUpdate struct {
	Node   string
	Update state.Update
}

// Emitted is an event that has no number yet.
type Emitted struct {
	Node string
	Data event.Data
}

// Resume is the durable past of a run that goes on.
type Resume struct {
	// Next is the node of the last checkpoint.
	Next string
	// Started are the intents of the step that was under way, by call id; Ended are the known results.
	Started map[string]event.ToolStart
	Ended   map[string]event.ToolEnd
	// Answers are the human's answers, by call id.
	Answers map[string]json.RawMessage
}
