package agent

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// IsFatal reports whether err ends the run whatever a middleware would make of it: a step could not be committed, so
// nothing more may be written. Who turns errors into results or answers lets it pass.
func IsFatal(err error) bool {
	var lost *commitError
	return errors.As(err, &lost)
}

// panicked makes an error of a recovered panic, so that one run's mistake does not end the program.
func panicked(where string, p any) error {
	return fmt.Errorf("%s panicked: %v\n%s", where, p, debug.Stack())
}
