package store

import (
	"context"
	"io"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/state"
)

// Keeper looks after what is stored: it copies it out and in, checks it, and drops what has outlived its use.
//
// A dump is JSON Lines: one record a line, an object whose "kind" tells what it is.
//
//	{"kind":"pudu","version":5}                the first record, with the version of the schema
//	{"kind":"thread", ...}                     one for each thread
//	{"kind":"run", ...}                        one for each run
//	{"kind":"log", ...}                        one for each transaction of a run, oldest first: its checkpoint id, its
//	                                           updates of the state and its events
//	{"kind":"snapshot", ...}                   one for each snapshot of a state
//	{"kind":"item", ...}                       one for each row of a feature's table, as its description says
//	{"kind":"end","threads":1,"runs":2, ...}   the last record: how many there were of each kind
//
// The other members are the columns of the database, all of them but the numbers of log rows. Times are RFC 3339 with
// six digits behind the second. JSON stands as it is stored, byte for byte, if it is an object or a list of one line;
// anything else is a string in base64. A dump holds what was said and done on the threads, private state included; the
// keys of models and other secrets of the configuration are not in the store and so not in a dump. A dump of one thread
// has of features' tables only what is the thread's. Settings, which are about one installation, are in none. Dumps of
// versions 1 to 3 are numbered by themselves, and can be loaded too.
type Keeper interface {
	// Dump writes everything as it is at one moment; writers go on meanwhile. One record at a time is in memory.
	Dump(ctx context.Context, w io.Writer) (Holding, error)
	// Load reads a dump of any database into this one, which must be empty ([ErrConflict]), all of it or nothing. last
	// is called when everything was read and is right, and its error undoes the load; nil is allowed.
	Load(ctx context.Context, r io.Reader, last func() error) (Holding, error)
	// Verify reads everything and reports what is wrong. Its error means that it could not go on looking.
	Verify(ctx context.Context, schema state.Schema, v Visitor) error
	// Collect drops what is older than the retention, as r says. What it drops no checkpoint needs: each loads as
	// before. It may be stopped at any moment and called again.
	Collect(ctx context.Context, r Retention) (Collected, error)
	// DeleteUser removes every row of a user, those of his runs too: who still works on one is fenced off. What
	// somebody writes for him meanwhile may stay; it may be called again.
	DeleteUser(ctx context.Context, u access.User) (Forgotten, error)
}

// Forgotten counts what went with a user: his threads, and rows of features.
type Forgotten struct{ Threads, Rows int64 }

// Holding counts what a dump holds.
type Holding struct {
	Threads, Runs, Steps, Snapshots int64
	// Rows of features' tables, such as items and versions of assistants.
	Rows int64
}

// Visitor is told what [Keeper.Verify] finds. Empty functions are not called.
type Visitor struct {
	// Problem takes each fault.
	Problem func(Problem)
	// Head takes the state of each thread whose head can be read. An error ends the check.
	Head func(t Thread, s state.State) error
}

// Problem is a fault in what is stored.
type Problem struct {
	// ThreadID and Row name the place: the row is a checkpoint id, a run's id or the number of a log row, or, without a
	// thread, an item or an assistant. Both are empty for the database as a whole.
	ThreadID, Row string
	// Text says what is wrong.
	Text string
	// Slow says that nothing is lost: reading takes longer.
	Slow bool
}

// Retention says what [Keeper.Collect] drops. The zero value drops nothing.
type Retention struct {
	// Chunks is the time before which messages lose the boundaries of the chunks that they were streamed in. Zero keeps
	// them.
	Chunks time.Time
	// Snapshots is the time before which snapshots are dropped, but for those that a head or a later checkpoint is read
	// from. Zero keeps them.
	Snapshots time.Time
	// Rows is the time at which rows of features are dropped that have outlived their use, as their table's description
	// says. Zero keeps them.
	Rows time.Time
	// Shrink gives free room back to the disk where the database does not do so by itself. Writers wait meanwhile, and
	// it takes as much room again as the database has.
	Shrink bool
	// DryRun only counts.
	DryRun bool
}

// Collected counts what [Keeper.Collect] dropped.
type Collected struct {
	// Messages that lost their chunk boundaries, and snapshots.
	Messages, Snapshots int64
	// Bytes of these in the database, and what the database's files lost of their size.
	Bytes, Shrunk int64
	// Rows of features that had outlived their use, such as items whose time to live was over.
	Rows int64
}
