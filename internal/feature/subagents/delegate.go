package subagents

import (
	"context"
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
	// Call is the call that gives it, and Key names the task among those of the run: of the same key it is the same
	// task, also for who goes on with the run after a crash.
	Call *tool.Call
	Key  string
}

// Delegate has the tasks of a run.
type Delegate interface {
	// Start begins the task, or finds it if it was begun before. The error is why there can be none.
	Start(ctx context.Context, o Order) (Task, error)
	// Find is the task whose first run has the id. If it stopped to ask a person, and the call brings the answer, it
	// goes on.
	Find(ctx context.Context, id string, call *tool.Call) (Task, error)
	// Unfinished are the tasks that were at work when an earlier owner of the run was cut off.
	Unfinished(ctx context.Context) ([]Task, error)
}

// Host is the run whose tasks they are. *runs.Children is one.
type Host interface {
	// Go has something done beside the run, whose end waits for it. It reports false when that has come.
	Go(do func(ctx context.Context)) bool
	// Await waits until done is closed. It returns ErrSpoken when somebody speaks to the run meanwhile.
	Await(ctx context.Context, done <-chan struct{}) error
	// Emit shows clients of the run an event.
	Emit(v any)
}

// About is what was said of a task when it was given.
type About struct {
	// Call is the call that gave it.
	Call, Description, Kind string
	// Timeout is how long it may take.
	Timeout time.Duration
	// Told says that clients were told of all of it in an earlier run.
	Told bool
}

// Task is a task that was given.
type Task interface {
	// Where names the run and the hidden thread in which the sub-agent works.
	Where() (run, thread string)
	About() About
	// Model is the configured name of the model.
	Model() string
	// Before is how many messages the task had before a person was asked; 0 if nobody was.
	Before() int
	// Left is how much is left of the task's time; at 0 it is over.
	Left() time.Duration
	// Watch gives said each message of the task, the first one first, and returns at its end. The error says that the
	// context has ended, or that this process does not go on with the task.
	Watch(ctx context.Context, said func(message.Message)) (End, error)
	// Tell says something to the sub-agent, which reads it before its next call of the model: once for a key. The call
	// is by which it is said. ErrEnded if the task is at its end.
	Tell(ctx context.Context, call *tool.Call, key, text string) error
	// Stop ends the task. It does not wait for that.
	Stop()
}

// End is what came of a task.
type End struct {
	Outcome

	// Questions are what the sub-agent asks a person, if it stopped for that; then there is no outcome yet.
	Questions []tool.Question

	// Update goes into the state of who gave the task.
	Update state.Update
}
