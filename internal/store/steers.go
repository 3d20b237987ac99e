package store

import (
	"context"
	"errors"
	"fmt"
)

// Strategy says what becomes of a new run on a thread that has an active one (LangGraph's multitask strategies).
type Strategy string

// The strategies.
const (
	// Reject refuses the new run.
	Reject Strategy = "reject"
	// Enqueue lets it wait behind the others.
	Enqueue Strategy = "enqueue"
	// Interrupt and Rollback let it wait, and stop the others: those that wait end at once, the running one is asked
	// for [StopInterrupt] or [StopRollback].
	Interrupt Strategy = "interrupt"
	Rollback  Strategy = "rollback"
)

// Steer is the strategy that says the message to the run that is active, or has stopped to ask: that run, or the one
// that answers, takes it before its next call of the model. See [Run].Steers. A run that ends without makes it the next
// run of the thread, before those that wait; one that asks at its end keeps it for the run that answers. [Interrupt]
// and [Rollback] let it wait for their own run.
const Steer Strategy = "steer"

// Bounds of what waits to be said to the runs of a thread: how many messages, and the bytes of the request with one.
const (
	MaxSteers = 20
	MaxSteer  = 256 << 10
)

// Taken is the stop reason of a steer that a run has taken, and Unread the error of one that a run below another has
// not taken before its end.
const (
	Taken  = "taken"
	Unread = "the task came to its end before it read this"
)

var (
	// ErrSteers is that as much waits already to be said to the runs of the thread as may.
	ErrSteers = fmt.Errorf("%w: too much is said to the run at work", ErrFull)
	// ErrTakenBack is that what a step was to take ([Step].Takes) does not wait any more. Nothing was written.
	ErrTakenBack = errors.New("the message was taken back")
)

// Steers is what a user's runs are told while they work.
type Steers interface {
	// Steers lists what waits to be said to the runs of a thread, in the order in which it came: at most [MaxSteers].
	Steers(ctx context.Context, threadID string) ([]Run, error)
	// TakeBack removes one of them. [ErrConflict] if it was taken or has become a run.
	TakeBack(ctx context.Context, threadID, id string) error
}

// IsSteer reports whether this is what was said to a run, see Steers.
func (r Run) IsSteer() bool { return r.Steers != "" && r.Attempt == 0 }
