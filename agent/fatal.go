package agent

import "errors"

// IsFatal reports whether err ends the run whatever a middleware would make of it: a step could not be committed, so
// nothing more may be written. Who turns errors into results or answers lets it pass.
func IsFatal(err error) bool {
	var lost *commitError
	return errors.As(err, &lost)
}
