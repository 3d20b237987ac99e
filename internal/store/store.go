// Package store is the contract of what outlives the process: threads, runs, and one log per thread. The
// implementations live in internal/stores; suite_fixture_test.go of sqlstore lists what they must do.
//
// What a user has is reached through the [UserData] that is bound to him, made by [Store.For]; what keeps runs going
// and data sound, whosever they are, through [System]. A feature that a user's request leads to never needs the latter.
//
// Everything that a step of a run changes is one [Step], written by [Work].Commit in one transaction: the state's
// deltas (a checkpoint), the events that clients will see, which are also the journal of tool calls, and the run's
// status. A [Fence] guards every write of a run: an owner that was replaced cannot write any more.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
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
	// ErrFull: as many runs wait already as may.
	ErrFull = errors.New("too many runs wait")
	// ErrTooLarge: what was to be stored, or read at once, has more bytes than is allowed.
	ErrTooLarge = errors.New("too large")
	// ErrLocked: another process holds the data folder.
	ErrLocked = errors.New("data folder is in use")
	// ErrUnknown: the database was lost while it committed. What was to be written is there as a whole or not at all,
	// and only reading tells which; writing it again could do it twice.
	ErrUnknown = errors.New("the outcome of the write is unknown")
	// ErrUnavailable: the database cannot be used at present, for the reason that one of the next errors gives. Nothing
	// was written, unless the error is ErrUnknown too.
	ErrUnavailable = errors.New("the database cannot be used")
	ErrDiskFull    = fmt.Errorf("%w: its disk is full", ErrUnavailable)
	ErrUnreachable = fmt.Errorf("%w: it cannot be reached", ErrUnavailable)
	// ErrLost: the files of the database were deleted, replaced or cut off. It stays so until the process starts again.
	ErrLost = fmt.Errorf("%w: its file was deleted, replaced or cut off", ErrUnavailable)
	// ErrClosed: the store was closed; nothing was read or written.
	ErrClosed = errors.New("store is closed")
)

// Store is all of it.
type Store interface {
	// For is what one user has. All that is reached through it is that user's: the id of somebody else's is
	// [ErrNotFound], as one that nobody has. For nobody it refuses everything with [access.ErrNoUser].
	For(u access.User) UserData
	// System is for the work of the system, whosever the data is. A test lists who may call it.
	System() System
	// Setting returns the value that is kept under the key; it becomes the one given if there was none. Processes that
	// share a store agree on it. Key and value have at most 256 bytes.
	Setting(ctx context.Context, key, value string) (string, error)
	// Stats returns the figures as they are now. It does not wait for the database.
	Stats() Stats
	// Close finishes the writes that were accepted, refuses later ones ([ErrClosed]) and releases the database. A
	// second call does nothing.
	Close() error
}

// UserData is what one user has.
type UserData interface {
	Threads
	Runs
	Log
}

// System is what the system works with: it keeps runs alive and data sound, whosever they are.
type System interface {
	Leases
	Work
	Keeper
	// Outlived lists threads that have had their time. limit is 1 to 1000.
	Outlived(ctx context.Context, o Outlived, limit int) ([]Thread, error)
	// Thread, Run and ListRuns read what is any user's.
	Thread(ctx context.Context, id string) (Thread, error)
	Run(ctx context.Context, id string) (Run, error)
	ListRuns(ctx context.Context, f RunFilter) ([]Run, error)
}

// Thread is a conversation with its files and its state.
type Thread struct {
	ID       string
	UserID   string
	Title    string
	Metadata json.RawMessage // a JSON object of at most 64 KiB; nil reads as {}
	// Root says that the thread is hidden: a run below another one works on it, on the files of the thread that this
	// names. No listing, search or count shows it, and it goes with that thread. Empty for any other; read only.
	Root string
	// Head is the newest checkpoint; empty before the first.
	Head string
	// Status is one of the Thread constants below. It follows from the thread's runs and is read only.
	Status    string
	CreatedAt time.Time
	UpdatedAt time.Time
	// Marks are where it is shown. A new thread may be [Temporary]; a [ThreadPatch] changes the others.
	Marks Marks
	// TrashedAt is when it went into the bin; zero if it is not there.
	TrashedAt time.Time
}

// Statuses of a thread, as LangGraph names them.
const (
	ThreadIdle = "idle"
	// ThreadBusy: a run of it is pending or running.
	ThreadBusy = "busy"
	// ThreadInterrupted: its last run stopped to ask a human, or was cancelled.
	ThreadInterrupted = "interrupted"
	// ThreadError: its last run failed.
	ThreadError = "error"
)

// ThreadFilter selects threads; empty fields select all.
type ThreadFilter struct {
	IDs    []string // at most 1000
	Status string
	// Metadata selects threads whose metadata has each of these members, with an equal scalar of the same JSON type.
	Metadata map[string]json.RawMessage
	Shelf    Shelf
	// Sort is updated_at (the default), created_at, thread_id, status or trashed_at; ties go by id, the same way.
	Sort      string
	Ascending bool
	// Pinned puts the threads whose metadata has "deerflow_pinned": true first.
	Pinned bool
	Limit  int // 1 to 1001; 0 means 100
	Offset int
}

// ThreadPatch changes a thread.
type ThreadPatch struct {
	// Metadata is a JSON object whose members replace those of the thread's metadata, one by one; nil changes none.
	Metadata json.RawMessage
	Title    *string
	// UpdatedAt, if not zero, is the new time of the last update.
	UpdatedAt time.Time
	// Set and Clear are marks that the thread gets and loses. [Trashed] stops its runs, as [Runs].StopRun does; who has
	// it already keeps its TrashedAt. A [Doomed] thread is [ErrNotFound].
	Set, Clear Marks
	// TrashedAt is the time for [Trashed], of the thread and of the ends of its runs.
	TrashedAt time.Time
}

// Threads are a user's threads.
type Threads interface {
	// CreateThread adds a thread; [ErrConflict] if the id is taken, by whomever. CreatedAt and UpdatedAt are the
	// caller's, the user is the bound one.
	CreateThread(ctx context.Context, t Thread) error
	Thread(ctx context.Context, id string) (Thread, error)
	// Taken reports whether the id is another user's thread: it can become none of this user's.
	Taken(ctx context.Context, id string) (bool, error)
	// SearchThreads returns the threads that the filter selects.
	SearchThreads(ctx context.Context, f ThreadFilter) ([]Thread, error)
	// CountThreads counts them, whatever Limit and Offset are.
	CountThreads(ctx context.Context, f ThreadFilter) (int, error)
	// PatchThread changes a thread in one transaction and returns it as it is then.
	PatchThread(ctx context.Context, id string, p ThreadPatch) (Thread, error)
	// CopyThread adds the thread to, with the checkpoints of the thread named from, under their ids, but without its
	// runs and events: all of them, or those up to the one named at, which is the new thread's head then. [ErrConflict]
	// if to's id is taken, [ErrNotFound] if there is no from, or no at.
	CopyThread(ctx context.Context, from, at string, to Thread) error
	// DeleteThread removes the thread with its runs, log and snapshots, and the hidden threads that work on its files.
	// A thread with an active run is [ErrConflict].
	DeleteThread(ctx context.Context, id string) error
	// DropThread is DeleteThread if still says so of the thread as it is in that transaction; else it is [ErrConflict].
	DropThread(ctx context.Context, id string, still func(Thread) bool) error
	// DoomThreads makes all threads in the bin [Doomed], in one transaction, and returns how many these are. If there
	// are any, the job is stored with that.
	DoomThreads(ctx context.Context, now time.Time, after NewJob) (int, error)
	// DumpThread writes a thread as it is at one moment, as [Keeper.Dump] does.
	DumpThread(ctx context.Context, id string, w io.Writer) (Holding, error)
}

// Run is one piece of work on a thread: the job, its state machine and its fence.
type Run struct {
	ID       string
	ThreadID string
	UserID   string
	// Status is one of the event.Status constants. A thread has at most one run that is running; others wait, pending,
	// and start in the order in which they were admitted.
	Status string
	// Attempt counts the owners; it is the fencing token. 0 before the first claim.
	Attempt int
	Owner   string
	// Stalled counts the owners since the last step: since an update of the state or the result of a tool was
	// committed. The present owner is one of them until it commits one.
	Stalled int
	// Request is the resolved request, input messages with their ids included, secrets excluded. A dump leaves its
	// webhook out, whose URL may hold one; see [RequestWebhook].
	Request json.RawMessage
	// NotBefore is when a pending run may start at the earliest; zero means at once.
	NotBefore time.Time
	// Key is the client's idempotency key, unique among the runs of a user; empty if there is none. A child's is what
	// its parent calls it, unique among the children of that.
	Key string
	// Parent is the run that has started this one, Root the one at the top of their tree, and Depth how far below that
	// it stands. Empty and 0 for a run that no other has started. Read only.
	Parent, Root string
	Depth        int
	// Stop is what the owner of a running run is asked for: [StopInterrupt], [StopRollback], or nothing.
	Stop       string
	Error      string
	StopReason string
	Usage      json.RawMessage
	CreatedAt  time.Time
	UpdatedAt  time.Time
	// Steers says that this is what a person says to the run of that id while it works, and no run as long as Attempt
	// is 0. It waits, pending, until a run takes it ([Step].Takes), whose id stands here then, or until it is a run of
	// its own. Empty for any other run; read only.
	Steers string
	// Begun says that [Admission].Begin was written with the admission, and Head is then the thread's newest
	// checkpoint, which stays that until the run makes one; empty if there is none. Only what Admit returns has them.
	Begun bool
	Head  string
}

// Members of [Run].Request: the URL that is told of the run's end, and what stands in a dump, and in what was loaded
// from one, in the place of that.
const (
	RequestWebhook        = "webhook"
	RequestWebhookDropped = "webhook_dropped"
)

// Active reports whether the run is not yet at its end.
func (r Run) Active() bool {
	return r.Status == event.StatusPending || r.Status == event.StatusRunning
}

// RunFilter selects runs; empty fields select all. Steers are none.
type RunFilter struct {
	ThreadID string
	// Parent selects the children of a run. Without it, Parents and ThreadID only runs are listed that have no parent.
	Parent string
	// Parents selects the children of any of these runs; Parent is empty then.
	Parents  []string
	Statuses []string
	// Steers has steers listed too.
	Steers bool
	Limit  int // 1 to 1000; 0 means 100
	Offset int
}

// What a run can be asked for while it is active.
const (
	// StopInterrupt ends it as interrupted; what it has committed stays.
	StopInterrupt = "interrupt"
	// StopRollback ends it as failed, with the error [RolledBack], and gives the thread the state that it had before.
	StopRollback = "rollback"
)

// RolledBack is the error of a run that was rolled back.
const RolledBack = "Rolled back by user"

// Undelivered is the error of a run that came to its end but presented none of the outputs that it made.
const Undelivered = "Artifact delivery incomplete: no produced output artifact was presented"

// Broke reports whether a run has failed on its way: it was neither rolled back, nor does it only lack a delivery.
func (r *Run) Broke() bool {
	return r.Status == event.StatusError && r.Error != RolledBack && r.Error != Undelivered
}

// Bounds of a tree of runs: how deep a run may stand in it, and how many children one may have.
const (
	MaxDepth    = 3
	MaxChildren = 1000
)

// Cancelled is the stop reason of a run that was cancelled.
const Cancelled = "cancelled"

// Admission is a run that asks to come in.
type Admission struct {
	// Run is the new run, pending, with attempt 0. If it has an Owner, nothing is in its way and it may start at once,
	// it is claimed by admission: running, with attempt 1. Else the owner is not kept. Its CreatedAt is the time of
	// admission; the store makes it later than that of the thread's other runs, whatever the clock says, since they
	// wait in that order.
	Run Run
	// Thread is created if there is none of that id, unless MustExist, as that of a child that goes on. One without a
	// title gets Thread's, and its metadata the members of Thread's that it has none of, if there is room for them.
	Thread    Thread
	MustExist bool
	// Begin is the first event of attempt 1, which is written with the admission if that claims the run; nil writes
	// none. Its time is the run's CreatedAt.
	Begin *event.Event
	// Also are written with the run, in its transaction, if it is a new one.
	Also []Statement
	// Strategy is for a thread with an active run; empty means [Reject].
	Strategy Strategy
	// MaxPending bounds the runs that wait in the whole store; 0 means no bound. Admissions at the same moment that
	// share a database server do not see each other, and may together pass it.
	MaxPending int
}

// MaxCounted is how far the runs that wait are counted.
const MaxCounted = 10_001

// Queue is what there is of runs that wait.
type Queue struct {
	// Waiting counts the pending runs, those for a later time included, up to [MaxCounted].
	Waiting int
	// Oldest is since when the run has waited that has waited for the longest: since its admission, or since the time
	// that it was for. Zero if none waits but for its time.
	Oldest time.Time
}

// Stats are figures of the database since the store was opened.
type Stats struct {
	InUse, Idle int   // connections
	Waits       int64 // reads that had to wait for a connection
	Queued      int   // writes that wait
	// Commits counts transactions that were committed, Failed those whose commit failed; Committing is the time of
	// both.
	Commits, Failed int64
	Committing      time.Duration
	Bytes           int64 // of SQLite's files; 0 for a server
	JobsLeftOut     int64 // because too many waited, or they were none that can be stored
}

// Runs are a user's runs.
type Runs interface {
	Steers
	// Admit creates the run, and before it its thread if there is none of that id, in one transaction: the first
	// durable write of a run. It returns the run as it is then. If the user has a run with the same key, that one is
	// returned, and nothing is changed. [ErrNotFound] if the thread is missing and must exist or is another user's,
	// [ErrConflict] if the id is taken or the strategy refuses, [ErrFull] if it would have to wait and too many do,
	// [ErrSteers] or [ErrTooLarge] if it is said to a run and is too much.
	Admit(ctx context.Context, a Admission) (Run, error)
	Run(ctx context.Context, id string) (Run, error)
	// ListRuns returns runs, the newest first.
	ListRuns(ctx context.Context, f RunFilter) ([]Run, error)
	// StopRun ends a pending run (as its owner would, without events), asks the owner of a running one for the action,
	// and leaves one at its end alone; it returns the run as it is then. All below a running one are asked with it. A
	// request to roll back replaces one to interrupt, not the other way round. A pending run that had an owner before
	// may have changed the thread: asked to roll back, it stays pending, for its next owner to do so.
	StopRun(ctx context.Context, id, action string, now time.Time) (Run, error)
	// Position is the place of a pending run among all that wait, from 1; 0 for a run that does not wait. [ErrNotFound]
	// if there is no such run, here and below.
	Position(ctx context.Context, id string) (int, error)
	// DeleteRun removes a run and its events, and the runs below it with their hidden threads. Its checkpoints stay, as
	// those of no run: the thread's state is made of them. [ErrConflict] if it is active.
	DeleteRun(ctx context.Context, id string) error
}

// Work is what those do who execute runs.
type Work interface {
	// ClaimRun makes owner the run's owner, raises its attempt, counts a new owner as stalled, and sets it running.
	// [ErrConflict] if the run is at its end, its attempt is not the one expected, another owner holds it by a lease,
	// or another run of its thread is running. With a run all active ones below it become the owner's, each with a
	// higher attempt. One below another can be claimed by itself by the owner of its root alone.
	ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (Fence, error)
	// Commit writes the step in one transaction, whose first statement checks the fence ([ErrFenced]), and returns the
	// id of the new checkpoint, or of the head if the step made none. Concurrent commits share one fsync.
	Commit(ctx context.Context, f Fence, s Step) (checkpoint string, err error)
	// CommitAll writes steps of one run, in order, all or none, in one transaction, and returns the checkpoint after
	// each. A step that ends a run with active children is [ErrConflict].
	CommitAll(ctx context.Context, f Fence, steps []Step) (checkpoints []string, err error)
	// AdmitChild creates a run below the one of the fence, on a new hidden thread, in one transaction that checks the
	// fence. It is the user's and the owner's of its parent, running, with Begin written. Of the admission Run's ID,
	// ThreadID, Request, Key and times count, Thread's title and metadata, and Begin. If the parent has a child of the
	// key, that one is returned, Begun if it is in its first attempt, and nothing is changed. [ErrConflict] if the
	// parent is asked to stop or stands [MaxDepth] deep, [ErrFull] if it has [MaxChildren].
	AdmitChild(ctx context.Context, parent Fence, a Admission) (Run, error)
	// CommitChild is CommitAll for a run below the root's, which writes events to the root's log in the same
	// transaction: both fences are checked.
	CommitChild(ctx context.Context, root Fence, events []event.Event, f Fence, steps []Step) (checkpoints []string,
		err error)
	// Stopping lists the running runs of owner that are asked to stop. limit is 1 to 1000.
	Stopping(ctx context.Context, owner string, limit int) ([]Run, error)
	// Waiting lists the pending runs that may start: their time has come, no run of their thread is running, and they
	// are the first of it. The oldest first; limit is 1 to 1000.
	Waiting(ctx context.Context, now time.Time, limit int) ([]Run, error)
	// Queue tells how many runs wait, and since when. It reads at most [MaxCounted] rows.
	Queue(ctx context.Context, now time.Time) (Queue, error)
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
	// Renew gives owner its lease, or prolongs it. lapsed reports that it had run out in between: others may have
	// claimed its runs.
	Renew(ctx context.Context, owner string) (lapsed bool, err error)
	// Release ends owner's lease at once. An owner without one is no error.
	Release(ctx context.Context, owner string) error
	// Abandoned lists the running runs without parent of other owners that hold no lease, the oldest first. limit is 1
	// to 1000.
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
	// Raw is what Update.AppendJSON writes, from a caller that needs it too; nil leaves that to the store.
	Raw json.RawMessage
}

// Origin stands for the empty state before a thread's first checkpoint, where the id of a checkpoint is asked for.
const Origin = "0"

// Step is what one transaction writes. Empty parts are left out; a step without updates makes no checkpoint.
type Step struct {
	// Parent is the checkpoint that the updates were applied to: its id, [Origin], or empty for the thread's head. The
	// new checkpoint becomes the head in any case: one with another parent than the head begins a branch. Of steps with
	// updates that are written together only the first may name one.
	Parent string
	// OnHead refuses the step with [ErrConflict] if Parent is not the head any more.
	OnHead bool
	// Updates are the deltas, in the order they were applied.
	Updates []NodeUpdate
	// Next is the node that the run goes on with after this step.
	Next string
	// State is the parent with the updates applied: the source of a snapshot, when the store finds that one is due.
	// Steps with updates of one thread therefore come one after the other; steps of events alone may come beside them.
	State state.State
	// Events are durable events of the fence's attempt with ids that grow; an id at or before the last one written is
	// [ErrConflict]. One of data type event.State stands for the update with the same position among Updates; its
	// Writes, Checkpoint, Next and Last are left empty and filled in on reading.
	Events []event.Event
	// Run, if not nil, changes the run.
	Run *RunChange
	// Title, if not nil, becomes the thread's title.
	Title *string
	// Takes are the ids of steers whose messages stand in Updates. If one does not wait any more the step is
	// [ErrTakenBack].
	Takes []string
	// Jobs are what is to follow the step, for the run's user and thread.
	Jobs []NewJob
	Now  time.Time
}

// RunChange ends or marks a run.
type RunChange struct {
	Status     string // one of the event.Status constants
	Error      string
	StopReason string
	Usage      json.RawMessage // nil keeps what the run has
	// Asks says of a run that ends that it has asked the user, whose answer begins another.
	Asks bool
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

// Log is the one log, as far as it is about a user's threads and runs.
type Log interface {
	// Write makes a checkpoint outside of any run: the step has updates and neither events nor a Run. [ErrConflict] if
	// the thread has an active run, [ErrNotFound] without the thread or the parent.
	Write(ctx context.Context, threadID string, s Step) (checkpoint string, err error)
	// Checkpoint loads a checkpoint with its state, decoded by schema; an empty id means the thread's head. A thread
	// without checkpoints gives the zero Checkpoint with an empty state, and so does [Origin].
	Checkpoint(ctx context.Context, schema state.Schema, threadID, id string) (Checkpoint, error)
	// FirstCheckpoint returns the first checkpoint of a run, without state: its parent is what the run began on. The
	// zero Checkpoint if the run has none, [ErrNotFound] if there is no such run.
	FirstCheckpoint(ctx context.Context, runID string) (Checkpoint, error)
	// Checkpoints lists a thread's checkpoints before the one named (empty: from the newest), newest first, without
	// state. limit is 1 to 1000.
	Checkpoints(ctx context.Context, threadID, before string, limit int) ([]Checkpoint, error)
	// Events returns a run's durable events after the id, oldest first, at most limit (1 to 10,000).
	Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error)
}
