// Package database is how a feature keeps rows of its own. The feature describes them once, as a [Feature]: its tables,
// its statements and its migrations. A store that is opened with it ([Store]) gives a [DB], which is bound to a user,
// or to the system, before anything is read or written. internal/stores/sqlstore implements it for SQLite and
// PostgreSQL.
//
//	items.Feature() -> store opened with it -> store.Feature("items") -> DB.For(user) -> Read and Write by the names of statements
//
// Backup, restoration, verification, clean-up, quotas and the deletion of threads and users work from the descriptions.
package database

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// ErrQuota refuses what would give a user more rows, or bytes, than [Quota] allows.
var ErrQuota = errors.New("the user's quota is used up")

// Feature is what a domain keeps in the database.
type Feature struct {
	Name   string
	Tables []Table
	// Files are the SQL files of the feature.
	//
	//	queries/NAME.sql                   a statement of a user, whose id is $1; what the caller gives begins with $2
	//	system/NAME.sql                    a statement of the system; what the caller gives begins with $1
	//	migrations/sqlite/NNNNN_NAME.sql   a step of the schema, numbered over all features
	//	migrations/postgres/NNNNN_NAME.sql the same for PostgreSQL, with the same number
	//
	// A file of the first two has one SELECT, INSERT, UPDATE or DELETE, which both databases take; where they differ,
	// NAME.postgres.sql is what PostgreSQL takes.
	Files  fs.FS
	Checks []Check
	// Index begins the names of tables that are an index of the others: their rows come and go with those, by triggers
	// and keys of the database. Empty if there are none.
	Index string
}

// Table describes a table: what is the system's to know of its rows.
type Table struct {
	Name string
	// Kind is the "kind" of its records in a dump.
	Kind string
	// User is the column with the user's id; empty for a table whose rows go with those of another, or are of no user.
	User string
	// Thread is the column with a thread's id: such a row goes with the thread, and stands in a dump of it. Empty if
	// the rows are of no thread.
	Thread string
	// Key is the primary key. A dump is in its order.
	Key     []string
	Columns []Column
	Age     Age
	// Trace is a column that is not 0 in a row that only tells of what is gone. Such rows keep no dump from being
	// loaded, and go.
	Trace string
	Quota Quota
	// Derived says that no dump has the rows: the feature makes them again from what else is there, or they must not be
	// copied.
	Derived bool
}

// Column is a column of a table.
type Column struct {
	Name string
	Form Form
}

// Form is how a column's value is kept, and written into a dump.
type Form int

// The forms.
const (
	Text    Form = iota // a string
	Key                 // a string or null
	Number              // a whole number
	Instant             // microseconds, written as RFC 3339
	Doc                 // JSON kept as text, or null
	Blob                // bytes, or null
	Request             // a Doc that is the request of a run; a dump has it without its webhook
	Secret              // a string that a dump leaves empty
)

// Column is a column of that form.
func (f Form) Column(name string) Column { return Column{name, f} }

// Age says when a row has outlived its use. The zero value is never.
type Age struct {
	// Column holds an instant; 0 in it is never.
	Column string
	// Keep is how long after that the row stays.
	Keep time.Duration
}

// Quota bounds what one user may have in a table. Zero fields are no bound.
//
// A write that leaves the user with more than the quota is undone with [ErrQuota], if it left him with more than he
// had. So a full user may read, delete, and replace a row by one that is no larger, by an INSERT that finds its row
// there already too. One whose rows are full may still lengthen them while there are bytes left. A user who has more
// than the quota, which was less strict once, keeps it. Processes that share a server learn of each other's rows by and
// by, and together may pass the quota by what each of them was sure of: half of what was left when it last looked.
type Quota struct {
	Rows  int64
	Bytes int64 // of what is no number
}

// Check is something that must be true of stored rows; the verification of a store looks.
type Check struct {
	// Query is a statement of the system, which finds the rows to be looked at.
	Query string
	// Row reads a row, and says its name and what is wrong with it.
	Row func(Row) (name string, fault, err error)
}

// Store is a store with the tables of features.
type Store interface {
	store.Store
	// Feature is what a feature has in the database. All that it is asked for is an error if the store was opened
	// without it.
	Feature(name string) DB
	// Across is [Bound.Write] for several features: what do writes by all of them is one transaction.
	Across(ctx context.Context, do func(Joint) error) error
	// Enqueued receives after jobs were stored; see [store.NewJob].
	Enqueued() <-chan struct{}
	// Changed receives whose threads were changed, after it is stored; some may be left out, and it has one reader.
	Changed() <-chan access.User
}

// Joint is an open transaction of several features.
type Joint interface {
	// For is what a feature may do in it for a user, by the statements of that.
	For(feature string, u access.User) Tx
	// System is what a feature may do in it by the statements of the system.
	System(feature string) Tx
}

// DB is what one feature has in a database.
type DB interface {
	// For is what belongs to a user. For nobody it refuses everything with [access.ErrNoUser].
	For(u access.User) Bound
	// System works for the system, by its own statements. A test lists who may call it.
	System() Bound
}

// Bound reads and writes by the names of the feature's statements. Errors are those of package store.
type Bound interface {
	// Read runs a statement and hands each row to scan until that returns false or an error.
	Read(ctx context.Context, statement string, scan func(Row) (more bool, err error), args ...any) error
	// Write runs do in a transaction, of about size bytes, and returns when that is durable or has left nothing behind.
	// Many writers share one commit. do may be called again after a transaction that was lost: it reads and writes by
	// tx alone.
	Write(ctx context.Context, size int, do func(Tx) error) error
}

// Row is what a statement found.
type Row interface{ Scan(dest ...any) error }

// Tx is an open transaction. A statement that failed is the end of it.
type Tx interface {
	// Exec runs a statement and returns how many rows it changed.
	Exec(statement string, args ...any) (changed int64, err error)
	// Scan reads the first row of a statement; [store.ErrNotFound] if there is none.
	Scan(statement string, dest []any, args ...any) error
}
