package subagents

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Order is a task as it is given.
type Order struct {
	Kind        *Kind
	Description string
	Prompt      string
	// Call is the call that gives it, and Key names the task among those of the run: of the same key it is the same task,
	// also for who goes on with the run after a crash.
	Call *tool.Call
	Key  string
}

// Delegate starts the tasks of a run.
type Delegate interface {
	// Start begins the task, or finds it if it was begun before. The error is why there can be none.
	Start(ctx context.Context, o Order) (Task, error)
}

// Task is a task that was given.
type Task interface {
	// Where names the run and the hidden thread in which the sub-agent works.
	Where() (run, thread string)
	// Model is the configured name of the model.
	Model() string
	// Before is how many messages the task had before a person was asked; 0 if nobody was.
	Before() int
	// Left is how much is left of the task's time; at 0 it is over.
	Left() time.Duration
	// Wait gives said each message of the task, the first one first, and returns at its end. The error says that the
	// context has ended, or that this process does not go on with the task.
	Wait(ctx context.Context, said func(message.Message)) (End, error)
	// Stop ends the task. It does not wait for that.
	Stop()
}

// End is what came of a task.
type End struct {
	Outcome

	// Question is what the sub-agent asks a person, if it stopped for that; then there is no outcome yet.
	Question json.RawMessage

	// Update goes into the state of who gave the task.
	Update state.Update
}
