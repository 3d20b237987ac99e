package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// Runtime is what a run gives to the loop, its hooks and its tools. It is made by the run's owner, passed explicitly,
// and not changed while the run lasts.
type Runtime struct {
	ThreadID, RunID, UserID string
	// Env is what tools and hooks may use. The loop fills in the ids that its Ref leaves open.
	Env    tool.Env
	Config RunConfig
	// Input enters the state before the first node. A run that resumes has its input in the state already.
	Input state.Update
	// Emit shows an event. It numbers the event, keeps the order and never waits for a reader.
	Emit func(node string, data event.Data)
	// Commit makes a step durable before it returns; calls may come side by side. The step whose Next is [Done] is the
	// last one: who records how the run ended writes it together with that. An error ends the run at once, without
	// another commit. nil keeps nothing.
	Commit func(ctx context.Context, step Step) error
	// Now is the clock.
	Now func() time.Time
	// NewID makes a fresh id for a message.
	NewID func() string
	// Spend adds what a model call beside the loop's own took, such as that for a summary, to the run's usage. The loop
	// sets it; hooks, wrappers and tools call it, also side by side.
	Spend func(message.Usage)
	// Sent, if it is set, is told what a model was given, when the call is over and before its answer is committed.
	// What it returns is kept with the answer, as JSON; nil is nothing. Of a run one goroutine calls it.
	Sent func(ctx context.Context, s *Sent) json.RawMessage
	// Steers is what people have said to the run since it began and it has not taken yet, in order. It is asked before
	// each call of the model; a step that has the messages takes them ([Step].Takes). What cannot be found out now it
	// has the next time. nil is nothing.
	Steers func(ctx context.Context) []Steer
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
	// InterruptBefore and InterruptAfter are breakpoints: nodes (NodeModel, NodeTools ... or AllNodes) before or after
	// which the run stops as one that waits for a human, without a question. Names of no node have no effect.
	InterruptBefore, InterruptAfter []string
}

// Defaults of [RunConfig].
const (
	DefaultMaxSteps      = 1000
	DefaultToolTimeout   = 15 * time.Minute
	DefaultParallelTools = 8
)

// Steer is what a person says to a run while it works.
type Steer struct {
	ID       string
	Messages []message.Message
}

// ErrTakenBack says that a [Steer] that a step takes does not wait any more.
var ErrTakenBack = errors.New("the message was taken back")

// Step is what the loop wants written together: the updates of its nodes since the last step, the events that belong
// to them, and the node that comes next.
type Step struct {
	Updates []NodeUpdate
	Next    string
	State   state.State
	Events  []Emitted
	// Jobs are to be stored with the step.
	Jobs []tool.Job
	// Takes are the ids of [Steer]s whose messages stand in the updates: with the step they wait no more.
	// [ErrTakenBack] if one of them has not waited any more; then nothing is written, and the run goes on without the
	// step.
	Takes []string
	// Spent is what the run has used so far.
	Spent Spent
	// Lazy says that the step need not be durable when Commit returns, only before any later one is: nothing outside
	// depends on it yet. A failure is then the next Commit's.
	Lazy bool
}

// empty reports whether nothing has happened.
func (s Step) empty() bool { return len(s.Updates) == 0 && len(s.Events) == 0 }

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
	// Answers are the human's answers to the questions of each call, by call id and interrupt id.
	Answers map[string]map[string]json.RawMessage
	// Passed says that the run was begun to go on behind the breakpoint before Next.
	Passed bool
	// Paused says that the run has stopped at a breakpoint there, which is in the log, and its end is not.
	Paused bool
}

// Note adds what an event of the step under way tells of its calls. It returns true, so that it can take a log of
// events.
func (r *Resume) Note(ev event.Event) bool {
	switch d := ev.Data.(type) {
	case event.ToolStart:
		r.Started[d.CallID] = d
	case event.ToolEnd:
		r.Ended[d.CallID] = d
	case event.Interrupt: // the call stopped to ask before it did anything; without a call it is a breakpoint
		delete(r.Started, d.CallID)
		r.Paused = r.Paused || d.CallID == ""
	}
	return true
}

// Interrupted is returned by [Agent.Run] when tools wait for a human, or, without Interrupts, at a breakpoint. The run
// goes on with a Resume that holds the Answers.
type Interrupted struct { //nolint:errname // a run that waits has not failed
	Interrupts []event.Interrupt
}

func (e *Interrupted) Error() string {
	if len(e.Interrupts) == 0 {
		return "the run stopped at a breakpoint"
	}
	return fmt.Sprintf("the run waits for an answer to %d question(s)", len(e.Interrupts))
}

const commitTimeout = 30 * time.Second

// commitError is a failed commit: nothing more may be written.
type commitError struct{ err error }

func (e *commitError) Error() string { return "commit: " + e.err.Error() }
func (e *commitError) Unwrap() error { return e.err }

// withDefaults returns a copy in which nothing is missing.
func (rt *Runtime) withDefaults() *Runtime {
	c := *rt
	if c.Emit == nil {
		c.Emit = func(string, event.Data) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() string { return deriveID(c.RunID, rand.Text()) }
	}
	c.Config.MaxSteps = cmp.Or(c.Config.MaxSteps, DefaultMaxSteps)
	c.Config.ToolTimeout = cmp.Or(c.Config.ToolTimeout, DefaultToolTimeout)
	c.Config.ParallelTools = cmp.Or(c.Config.ParallelTools, DefaultParallelTools)
	return &c
}
