package calls

import (
	"context"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
)

// MaxSteps bounds a page of a timeline.
const MaxSteps = 1000

// Timeline is what happened in a run, a page of it.
type Timeline struct {
	ThreadID   string    `json:"thread_id"`
	RunID      string    `json:"run_id"`
	Status     string    `json:"status"`
	Error      string    `json:"error,omitempty"`
	StopReason string    `json:"stop_reason,omitempty"`
	Began      time.Time `json:"began"`
	Ended      time.Time `json:"ended,omitzero"` // of a run at its end
	Attempts   int       `json:"attempts"`
	// Calls and Tools count those of the whole run, and Usage, Cost and Times are of all of it too.
	Calls int    `json:"calls"`
	Tools int    `json:"tools"`
	Usage Usage  `json:"usage"`
	Cost  []Cost `json:"cost"` // of the calls that have a price, by currency
	Times Times  `json:"times"`
	Steps []Step `json:"steps"`
	// Next is what After is for the page behind; empty if there is none.
	Next string `json:"next"`
}

// Times are where a run's time went, in milliseconds. Tools that work side by side count each.
type Times struct {
	ModelMS int64 `json:"model_ms"`
	ToolsMS int64 `json:"tools_ms"`
}

// The kinds of steps.
const (
	StepAttempt    = "attempt"    // somebody began to work on the run
	StepCall       = "call"       // a call of the model
	StepTool       = "tool"       // a call of a tool
	StepNotice     = "notice"     // what the run told, such as that a call is tried again
	StepCompaction = "compaction" // the model sees less of the conversation from here on
	StepQuestion   = "question"   // the run waits for a person
	StepRun        = "run"        // a run below has committed something for the first time
	StepEnd        = "end"
)

// Step is one thing that happened. Of the members that name a kind the one of its own is set.
type Step struct {
	ID   string    `json:"id"`
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`
	// Checkpoint is the state that was committed with the step, or the one before it; empty before the first.
	Checkpoint string `json:"checkpoint_id,omitempty"`

	Attempt    int         `json:"attempt,omitempty"`
	N          int         `json:"n,omitempty"` // of the call
	Call       *Made       `json:"call,omitempty"`
	Tool       *Tooled     `json:"tool,omitempty"`
	Notice     *Notice     `json:"notice,omitempty"`
	Compaction *Compaction `json:"compaction,omitempty"`
	Question   *Question   `json:"question,omitempty"`
	RunID      string      `json:"run_id,omitempty"`
	End        *End        `json:"end,omitempty"`
}

// Tooled is a call of a tool. One that has not ended, that asked a person, or whose end nobody knows is unfinished.
type Tooled struct {
	Name       string `json:"name"`
	CallID     string `json:"call_id"`
	MessageID  string `json:"message_id"` // of the answer that asked
	TookMS     int64  `json:"took_ms"`
	Failed     bool   `json:"failed"`
	Unfinished bool   `json:"unfinished,omitempty"`
	ExitCode   *int   `json:"exit_code,omitempty"` // of a command
	Summary    string `json:"summary,omitempty"`
}

// Notice is what a run told while it worked.
type Notice struct {
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
	WaitMS  int64  `json:"wait_ms,omitempty"`
}

// Compaction is the thread's n-th, and about how many tokens the messages took then.
type Compaction struct {
	Number int `json:"number"`
	Tokens int `json:"tokens"`
}

// Question is what a person was asked about; without a call the run stopped at a breakpoint.
type Question struct {
	InterruptID string `json:"interrupt_id,omitempty"`
	CallID      string `json:"call_id,omitempty"`
}

// End is how a run ended.
type End struct {
	Status     string `json:"status"`
	Error      string `json:"error,omitempty"`
	StopReason string `json:"stop_reason,omitempty"`
}

// Timeline returns a page of what happened in a run, behind the step with the id after; empty is the beginning. limit
// is 1 to [MaxSteps]. [store.ErrNotFound] if the thread has no such run.
func (m *Mine) Timeline(ctx context.Context, thread, run, after string, limit int) (Timeline, error) {
	t, err := m.timeline(ctx, thread, run, after, limit)
	if err != nil {
		return Timeline{}, fmt.Errorf("look at what happened in run %.40q: %w", run, err)
	}
	return t, nil
}

func (m *Mine) timeline(ctx context.Context, thread, runID, after string, limit int) (t Timeline, err error) {
	var from event.ID
	if limit < 1 || limit > MaxSteps {
		return t, fmt.Errorf("limit %d is not between 1 and %d", limit, MaxSteps)
	}
	if after != "" {
		if from, err = event.ParseID(after); err != nil {
			return t, err
		}
	}
	run, err := m.run(ctx, thread, runID)
	if err != nil {
		return t, err
	}
	l := newTeller(m, run)
	l.from, l.limit = from, limit
	err = l.tell(ctx)
	return l.t, err
}

// add adds to what all calls took.
func (t *Timeline) add(made *Made) {
	t.Times.ModelMS += made.TookMS
	for _, try := range made.Tries[:max(len(made.Tries)-1, 0)] {
		t.Times.ModelMS += try.TookMS
	}
	if u := made.Usage; u != nil {
		t.Usage = *usageOf(plus(t.Usage.counts(), u.counts()))
	}
	if made.Cost != nil {
		t.Cost = paid(t.Cost, *made.Cost)
	}
}

// paid adds what something cost to what was paid, by currency.
func paid(all []Cost, c Cost) []Cost {
	for i := range all {
		if all[i].Currency == c.Currency {
			all[i].Amount += c.Amount
			return all
		}
	}
	return append(all, c)
}
