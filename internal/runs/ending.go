package runs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/middleware/durablecontext"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// ErrUndelivered is what [Built].Check finds if a run presents none of the outputs that it made.
var ErrUndelivered = errors.New(store.Undelivered) //nolint:staticcheck // as clients get it

// ending is the status that a run ends with.
func ending(ctx context.Context, runID string, last state.State, err error) event.Run {
	var waiting *agent.Interrupted
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), ErrRolledBack):
		return event.Run{Status: event.StatusError, Error: store.RolledBack, StopReason: store.Cancelled}
	case errors.As(err, &waiting):
		return event.Run{Status: event.StatusInterrupted}
	case errors.Is(err, ErrUndelivered):
		return event.Run{Status: event.StatusError, Error: store.Undelivered,
			StopReason: agent.StopState(last, runID).Reason}
	case ctx.Err() != nil:
		return event.Run{Status: event.StatusInterrupted, StopReason: store.Cancelled}
	default:
		return event.Run{Status: event.StatusError, Error: err.Error()}
	}
	end := event.Run{Status: event.StatusSuccess, StopReason: agent.StopState(last, runID).Reason}
	if text, failed := Fallback(last); failed {
		end.Status, end.Error = event.StatusError, text
	}
	return end
}

// waits reports whether a run that ends so waits for a person.
func waits(end event.Run) bool { return end.Status == event.StatusInterrupted && end.StopReason == "" }

// Fallback reports whether the run's answer only stands in for a failed model call, and what that says. The last
// answer is the run's own: a run that ended without error has added one.
func Fallback(s state.State) (string, bool) {
	msgs := agent.Messages.Get(s)
	for _, m := range slices.Backward(msgs) {
		if m.Role == message.AI {
			var failed bool
			_ = json.Unmarshal(m.Kwargs[message.KeyErrorFallback], &failed) // absent is false
			return m.Text(), failed
		}
	}
	return "", false
}

// Asks reports whether the conversation ends with a question to the user.
func Asks(s state.State) bool {
	questions, _ := clarification.Open(agent.Messages.Get(s))
	return len(questions) > 0
}

// titleOf is what a new thread is called until it has a title: the start of the first thing a human said, but for what
// a client says for the model alone.
func titleOf(input []message.Message) string {
	const most = 60
	for _, m := range input {
		title := strings.Join(strings.Fields(m.Text()), " ")
		if m.Role != message.Human || string(m.Kwargs[message.KeyHidden]) == "true" || title == "" {
			continue
		}
		return excerpt.Clip(title, most)
	}
	return ""
}

// closeTasks ends, in the state of a run that comes to its end so, the tasks that are still in progress there, and
// returns the state. Those of a run that waits for a person go on with the answer, or are told of with it; a run that
// could not begin, such as one with an answer to no question, leaves them waiting.
func (r *recorder) closeTasks(last state.State, end event.Run) state.State {
	if waits(end) || r.asks || r.unbegun {
		return last
	}
	u := durablecontext.Close(last)
	next, _, err := last.Apply(u)
	if len(u) == 0 || err != nil {
		return last
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.Updates = append(r.last.Updates, agent.NodeUpdate{Node: nodeCloseTasks, Update: u})
	r.last.State, r.last.Next = next, agent.Done
	return next
}

// nodeCloseTasks is the node name of what closeTasks writes.
const nodeCloseTasks = "DurableContextMiddleware.after_agent"
