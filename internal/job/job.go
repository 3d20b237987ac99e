// Package job does the work that follows a transaction: webhooks, the removal of threads, clean-up. What causes such
// work stores a row of the table jobs in its own transaction ([store.NewJob]: a run's step by Step.Jobs, a run's end by
// [store.After]), and a [Runner], one in each process, does what is there.
//
//	asked for -> waits -> claimed, which counts a try -> done: the row goes, or waits for its next turn if it was asked for again
//	                                                  -> failed: it waits longer each time, and is dead after its last try
//
// What a job writes is written with its row's removal in one transaction, if the job is still the runner's. Who acts
// outside may act twice, when a process dies in between, and says by [Job.ID] that it is the same.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
)

// Kind is a kind of jobs and who does them.
type Kind struct {
	Name string
	// Slots is how many of them are done side by side in a process, Tries how often one is tried; 0 means 1.
	Slots, Tries int
	// Timeout bounds one try; 0 means a minute.
	Timeout time.Duration
	// Wait is the wait before the second try, which doubles with each, up to an hour; 0 means 2 seconds.
	Wait time.Duration
	// Every has one job of the kind done by the system, again and again so long after its end. It never dies.
	Every time.Duration
	// Run does the work outside of any transaction, and returns what is to be written then, or nil. An error is a try
	// that has failed; [LaterError] is none, and neither is a [ChangedError] of the write.
	Run func(ctx context.Context, j Job) (write func(Tx) error, err error)
	// Done is told of a job when what it wrote is stored; nil is nobody. A crash right behind that leaves it untold.
	Done func(j Job)
}

// Job is a job that is being done.
type Job struct {
	Kind, Key string
	// User is whose it is: nobody's if it is the system's. Thread is empty if it is about none.
	User   access.User
	Thread string
	Body   json.RawMessage
	// Attempt counts the tries, from 1; Last says that no other follows if this one fails.
	Attempt int
	Last    bool

	fence, taken int64
	before       string // the last error
	rows         database.Bound
}

// Waits reports whether another job of the same user is still to be done; a dead one is not.
func (j Job) Waits(ctx context.Context, kind, key string) (waits bool, err error) {
	err = j.rows.Read(ctx, "waiting", func(database.Row) (bool, error) {
		waits = true
		return false, nil
	}, j.User.ID(), kind, key)
	return waits, err
}

// ID names the job for who acts outside: it is the same at each try, and another when the job was asked for again.
func (j Job) ID() string { return fmt.Sprintf("%s/%s/%d", j.Kind, j.Key, j.taken) }

// Tx is the transaction that a job's end is written in.
type Tx struct {
	joint database.Joint
	user  access.User
}

// Of is what a feature may do in it for the job's user, or for the system.
func (t Tx) Of(feature string) database.Tx {
	if t.user == (access.User{}) {
		return t.joint.System(feature)
	}
	return t.joint.For(feature, t.user)
}

// ChangedError is that of a write when what it was decided by has changed meanwhile. It decides anew, without the work
// that came before; the try goes on with what is to be written then.
type ChangedError func(ctx context.Context) (write func(Tx) error, err error)

// Error implements error.
func (ChangedError) Error() string { return "what it was decided by has changed" }

// LaterError is that of a job whose time has not come: it is done after a while, and the try does not count.
type LaterError time.Duration

// Error implements error.
func (l LaterError) Error() string { return fmt.Sprintf("its time comes in %v", time.Duration(l)) }

// errGone is that a job is no longer the runner's: it was dropped, or is another's.
var errGone = errors.New("the job was taken away")
