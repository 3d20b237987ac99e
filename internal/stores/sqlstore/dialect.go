package sqlstore

// dialect hides where the databases differ. Every other SQL text of this package is written once, with $1, $2 ...
// for its parameters, and runs on all of them.
type dialect interface {
	// rewrite turns the $N of a text into what the driver understands.
	rewrite(query string) string
	// begin is the statement that opens a transaction for writing.
	begin() string
	// retriable reports whether a transaction that failed with err, at its COMMIT too, has surely left nothing behind.
	retriable(err error) bool
	// explain wraps a driver's error in the error of package store that it stands for, and says what to do about it.
	explain(err error) error
}
