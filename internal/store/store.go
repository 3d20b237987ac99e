// Package store is the contract of what outlives the process: threads, runs, and one log per thread. The
// implementations live in internal/stores; the suite in internal/store/storetest is what they must pass.
//
// Everything that a step of a run changes is one [Step], written by [Log.Commit] in one transaction: the state's
// deltas (a checkpoint), the events that clients will see, which are also the journal of tool calls, and the run's
// status. A [Fence] guards every write of a run: an owner that was replaced cannot write any more.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/state"
)

// Errors of every store; they come wrapped with the id in question.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("conflict")
	// ErrFenced: another attempt owns the run; the caller must stop at once and write nothing more.
	ErrFenced = errors.New("run is owned by another attempt")
	// ErrCorrupt: the database is damaged, or is no Pudu database.
	ErrCorrupt = errors.New("database is damaged")
	// ErrNewer: a newer Pudu has migrated the database.
	ErrNewer = errors.New("database was written by a newer Pudu")
	// ErrLocked: another process holds the data folder.
	ErrLocked = errors.New("data folder is in use")
	// ErrUnknown: the database was lost while it committed. What was to be written is there as a whole or not at all, and
	// only reading tells which; writing it again could do it twice.
	ErrUnknown = errors.New("the outcome of the write is unknown")
	// ErrClosed: the store was closed; nothing was read or written.
	ErrClosed = errors.New("store is closed")
)

// Store is all of it.
type Store interface {
	Threads
	Runs
	Leases
	Log
	Keeper
	// Close finishes the writes that were accepted, refuses later ones ([ErrClosed]) and releases the database. A second
	// call does nothing.
	Close() error
}

// Thread is a conversation with its files and its state.
type Thread struct {
	ID       string
	UserID   string
	Title    string
	Metadata json.RawMessage // a JSON object; nil reads as {}
	// Head is the newest checkpoint; empty before the first.
	Head      string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Threads keeps the threads.
type Threads interface {
	// CreateThread adds a thread; [ErrConflict] if the id is taken. CreatedAt and UpdatedAt are the caller's.
	CreateThread(ctx context.Context, t Thread) error
	Thread(ctx context.Context, id string) (Thread, error)
	// ListThreads returns a user's threads, the last updated first. limit is 1 to 1000.
	ListThreads(ctx context.Context, userID string, limit, offset int) ([]Thread, error)
	// DeleteThread removes the thread with its runs, log and snapshots. A thread with an active run is [ErrConflict].
	DeleteThread(ctx context.Context, id string) error
}

// Run is one piece of work on a thread: the job, its state machine and its fence.
type Run struct {
	ID       string
	ThreadID string
	UserID   string
	// Status is one of the event.Status constants. A thread has at most one run that is pending or running.
	Status string
	// Attempt counts the owners; it is the fencing token. 0 before the first claim.
	Attempt int
	Owner   string
	// Stalled counts the owners since the last step: since an update of the state or the result of a tool was committed.
	// The present owner is one of them until it commits one.
	Stalled int
	// Request is the resolved request, input messages with their ids included, secrets excluded.
	Request    json.RawMessage
	Error      string
	StopReason string
	Usage      json.RawMessage
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// Active reports whether the run is not yet at its end.
func (r Run) Active() bool {
	return r.Status == event.StatusPending || r.Status == event.StatusRunning
}

// RunFilter selects runs; empty fields select all.
type RunFilter struct {
	ThreadID string
	UserID   string
	Statuses []string
	Limit    int // 1 to 1000; 0 means 100
}

// Runs keeps the runs.
type Runs interface {
	// CreateRun admits a run with status pending; [ErrConflict] if the id is taken or the thread has an active run,
	// [ErrNotFound] if there is no such thread. It is the first durable write of a run.
	CreateRun(ctx context.Context, r Run) error
	// Admit creates the run, and before it its thread if there is none of that id, in one transaction: the first durable
	// write of a run on a new thread. A run that has an Owner is claimed at once: it is running, with attempt 1.
	// [ErrNotFound] if the thread is another user's, else as CreateRun.
	Admit(ctx context.Context, t Thread, r Run) error
	Run(ctx context.Context, id string) (Run, error)
	// ListRuns returns runs, the newest first.
	ListRuns(ctx context.Context, f RunFilter) ([]Run, error)
	// ClaimRun makes owner the run's owner, raises its attempt, counts a new owner as stalled, and sets it running.
	// [ErrConflict] if the run is at its end, its attempt is not the one expected, or another owner holds it by a lease.
	ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (Fence, error)
}

// Lengths of a lease. An owner renews its lease every Beat; who has not done so for a Lease is taken for dead.
const (
	Beat  = time.Second
	Lease = 5 * time.Second
)

// Leases tell which owners of runs are alive. Where one process holds the whole store, as with SQLite, holding it is
// the lease: it never runs out, and every other owner is gone. Where processes share a store, an owner has a lease on
// all its runs as long as it renews it, measured by the database's clock.
type Leases interface {
	// Renew gives owner its lease, or prolongs it. lapsed reports that it had run out in between: others may have claimed
	// its runs.
	Renew(ctx context.Context, owner string) (lapsed bool, err error)
	// Release ends owner's lease at once. An owner without one is no error.
	Release(ctx context.Context, owner string) error
	// Abandoned lists the running runs of other owners that hold no lease, the oldest first. limit is 1 to 1000.
	Abandoned(ctx context.Context, owner string, limit int) ([]Run, error)
}

// Fence proves ownership of a run.
type Fence struct {
	RunID   string
	Attempt int
}

// NodeUpdate is what one node wrote to the state.
type NodeUpdate struct {
	Node   string
	Update state.Update
}

// Step is what one transaction writes. Empty parts are left out; a step without updates makes no checkpoint.
type Step struct {
	// Updates are the deltas, in the order they were applied.
	Updates []NodeUpdate
	// Next is the node that the run goes on with after this step.
	Next string
	// State is the thread's head with the updates applied: the source of a snapshot, when the store finds that one is due.
	// Steps with updates of one thread therefore come one after the other; steps of events alone may come beside them.
	State state.State
	// Events are durable events of the fence's attempt with ids that grow; an id at or before the last one written is
	// [ErrConflict]. One of data type event.State stands for the update with the same position among Updates; its Writes
	// and Checkpoint are left empty and filled in on reading.
	Events []event.Event
	// Run, if not nil, changes the run.
	Run *RunChange
	// Title, if not nil, becomes the thread's title.
	Title *string
	Now   time.Time
}

// RunChange ends or marks a run.
type RunChange struct {
	Status     string // one of the event.Status constants
	Error      string
	StopReason string
	Usage      json.RawMessage // nil keeps what the run has
}

// Checkpoint is the state of a thread at one point of its log.
type Checkpoint struct {
	// ID grows along a thread's log in string order. Empty for a thread without checkpoints.
	ID       string
	ParentID string
	ThreadID string
	RunID    string
	Attempt  int
	Next     string
	// Step counts the checkpoints from the thread's start along the parents; the first has 1.
	Step int
	// First is the number of the first event that was written with it, 0 if none was.
	First     int64
	CreatedAt time.Time
	// State is empty in a listing.
	State state.State
}

// Log is the one log.
type Log interface {
	// Commit writes the step in one transaction, whose first statement checks the fence ([ErrFenced]), and returns the id
	// of the new checkpoint, or of the head if the step made none. Concurrent commits share one fsync.
	Commit(ctx context.Context, f Fence, s Step) (checkpoint string, err error)
	// CommitAll writes steps of one run, in order, all or none, in one transaction, and returns the checkpoint after each.
	CommitAll(ctx context.Context, f Fence, steps []Step) (checkpoints []string, err error)
	// Checkpoint loads a checkpoint with its state, decoded by schema; an empty id means the thread's head. A thread
	// without checkpoints gives the zero Checkpoint with an empty state.
	Checkpoint(ctx context.Context, schema state.Schema, threadID, id string) (Checkpoint, error)
	// Checkpoints lists a thread's checkpoints before the one named (empty: from the newest), newest first, without
	// state. limit is 1 to 1000.
	Checkpoints(ctx context.Context, threadID, before string, limit int) ([]Checkpoint, error)
	// Events returns a run's durable events after the id, oldest first, at most limit (1 to 10,000).
	Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error)
}
