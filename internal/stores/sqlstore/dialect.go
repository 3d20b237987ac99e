package sqlstore

import "time"

// dialect hides where the databases differ. Every other SQL text of this package is written once, with $1, $2 ...
// for its parameters, and runs on all of them.
type dialect interface {
	// rewrite turns the $N of a text into what the driver understands.
	rewrite(query string) string
	// begin is the statement that opens a transaction for writing.
	begin() string
	// locking ends a SELECT whose rows nobody else may change or remove until the transaction ends.
	locking() string
	// unheld ends a condition on the table runs: nobody runs it who holds a lease, unless it is the owner in $2.
	unheld() string
	// among is the condition that the value before it is in a list of texts, a parameter that holds them as a JSON
	// array.
	among(param string) string
	// retriable reports whether a transaction that failed with err, at its COMMIT too, has surely left nothing behind.
	retriable(err error) bool
	// transient reports whether a statement only failed because of what another transaction did at the same time.
	transient(err error) bool
	// unreachable reports whether err is about the way to the database: a new connection may do.
	unreachable(err error) bool
	// explain wraps a driver's error in the error of package store that it stands for, and says what to do about it.
	explain(err error) error
}

// tuning is how a database wants to be used.
type tuning struct {
	// writers is how many connections write, batch how many jobs share a transaction at most.
	writers, batch int
	// timeout bounds a statement; 0 means that it needs no bound, because no other machine takes part.
	timeout time.Duration
	// patience is how long to wait for a database that cannot be reached before giving up; 0 means not at all.
	patience time.Duration
	// recycle is how old a connection may get; 0 means any age.
	recycle time.Duration
}
