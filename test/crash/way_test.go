package crash

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// way is how the run of an order ends. All but the first have a short script, so that most of their writes are those of
// the ending.
type way string

const (
	wayAnswer   way = ""            // with an answer, after the long script
	wayFailed   way = "failed"      // by a tool's error, beside a tool with a result
	wayCancel   way = "cancelled"   // while its calls are open
	wayRollback way = "rolled-back" // in the same place
	wayLimit    way = "limit"       // of its steps
)

// ways are those of the short script.
var ways = []way{wayFailed, wayCancel, wayRollback, wayLimit}

const (
	// lastTurn is the turn at which a run of the short script is ended.
	lastTurn = 1
	// closing is how long the resources of such a run take to close: long enough that what waits to be written is.
	closing = 100 * time.Millisecond
)

// turns is the script.
func (w way) turns() [][]call {
	note, put := call{tool: "note"}, call{tool: "put"}
	switch w {
	case wayAnswer:
		return script()
	case wayFailed:
		return [][]call{{note}, {note, call{tool: "fatal"}}}
	}
	return [][]call{{note}, {put, note}, {note}}
}

// limits bound the run.
func (w way) limits() agent.RunConfig {
	if w == wayLimit {
		return agent.RunConfig{MaxSteps: 2 * (lastTurn + 1)}
	}
	return agent.RunConfig{}
}

// end is how the run has to end, however often its process dies.
func (w way) end() event.Run {
	switch w {
	case wayFailed:
		return event.Run{Status: event.StatusError, Error: "tools: fatal: the tool is out of order"}
	case wayCancel:
		return event.Run{Status: event.StatusInterrupted, StopReason: store.Cancelled}
	case wayRollback:
		return event.Run{Status: event.StatusError, Error: store.RolledBack, StopReason: store.Cancelled}
	case wayLimit:
		return event.Run{Status: event.StatusSuccess, StopReason: agent.ReasonTurns}
	}
	return event.Run{Status: event.StatusSuccess}
}

// stopper has its run stopped, as a user would, when the model has called the tools of the last turn.
type stopper struct {
	way     way
	manager func() *runs.Manager
}

var _ agent.AfterModelHook = stopper{}

// Name is "Stopper".
func (stopper) Name() string { return "Stopper" }

// AfterModel implements [agent.AfterModelHook].
func (s stopper) AfterModel(ctx context.Context, rt *agent.Runtime, st state.State) (agent.Command, error) {
	turns := 0
	for _, m := range agent.Messages.Get(st) {
		if m.Role == message.AI {
			turns++
		}
	}
	action := map[way]string{wayCancel: store.StopInterrupt, wayRollback: store.StopRollback}[s.way]
	if action == "" || turns <= lastTurn {
		return agent.Command{}, nil
	}
	_, err := s.manager().For(user()).Cancel(context.WithoutCancel(ctx), rt.RunID, action)
	return agent.Command{}, err
}
