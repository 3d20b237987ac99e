package subagents

import (
	"encoding/json"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
)

// The types of the events that tell clients of a task. A client draws it by them alone: its beginning, each message of
// the sub-agent and of its tools, its end.
const (
	EventStarted   = "task_started"
	EventRunning   = "task_running"
	EventCompleted = "task_completed"
	EventFailed    = "task_failed"
	EventCancelled = "task_cancelled"
	EventTimedOut  = "task_timed_out"
)

// Started says that a task has begun.
type Started struct {
	Type        string `json:"type"`
	TaskID      string `json:"task_id"` // of the call that gave the task
	Description string `json:"description"`
	Model       string `json:"model_name"`
	// Kind is the sub-agent, and Run and Thread are where its own conversation is found.
	Kind   string `json:"subagent_type"`
	Run    string `json:"run_id"`
	Thread string `json:"thread_id"`
}

// Running tells of one message of the task.
type Running struct {
	Type    string          `json:"type"`
	TaskID  string          `json:"task_id"`
	Message json.RawMessage `json:"message"`
	// Index counts the messages from 1, and Total is how many there are by now.
	Index int    `json:"message_index"`
	Total int    `json:"total_messages"`
	Usage *Usage `json:"usage"`
	Model string `json:"model_name"`
}

// Ended says how the task ended.
type Ended struct {
	Type   string  `json:"type"`
	TaskID string  `json:"task_id"`
	Result *string `json:"result,omitempty"`
	Error  string  `json:"error,omitempty"`
	Usage  *Usage  `json:"usage"`
	Model  string  `json:"model_name"`
}

// Teller makes the events of one task.
type Teller struct {
	TaskID, Model string
	Emit          func(v any)
	// Index is how many messages were told of before.
	Index int

	took message.Usage
}

// Started tells that the task has begun.
func (t *Teller) Started(description, kind, run, thread string) {
	t.Emit(Started{Type: EventStarted, TaskID: t.TaskID, Description: description, Model: t.Model, Kind: kind, Run: run,
		Thread: thread})
}

// Said tells of a message of the task, if clients shall see it.
func (t *Teller) Said(m message.Message) {
	if m.Role != message.AI && m.Role != message.Tool {
		return
	}
	raw, err := m.AppendJSON(nil)
	if err != nil { // it was stored, so it can be written
		return
	}
	if m.Usage != nil {
		t.took = t.took.Add(*m.Usage)
	}
	t.Index++
	t.Emit(Running{
		Type: EventRunning, TaskID: t.TaskID, Message: raw, Index: t.Index, Total: t.Index, Usage: usageOf(t.took),
		Model: t.Model,
	})
}

// Ended tells how the task ended.
func (t *Teller) Ended(o *Outcome) {
	ev := Ended{TaskID: t.TaskID, Error: o.Error, Usage: usageOf(o.Usage), Model: o.Model}
	switch o.Status {
	case threadstate.DelegationCompleted:
		ev.Type, ev.Result = EventCompleted, &o.Result
	case threadstate.DelegationCancelled:
		ev.Type = EventCancelled
	case threadstate.DelegationTimedOut:
		ev.Type = EventTimedOut
	default:
		ev.Type = EventFailed
	}
	t.Emit(ev)
}
