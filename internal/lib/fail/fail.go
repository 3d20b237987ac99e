// Package fail says in an error what was to be done: "list threads: CAUSE".
package fail

import "fmt"

// To is the error of what was to be done, with its cause, which errors.Is and errors.As find; nil if nothing failed.
func To(cause error, format string, args ...any) error {
	if cause == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), cause)
}

// Or is what was made, or, if that failed, nothing and the error of [To].
func Or[T any](made T, cause error, format string, args ...any) (T, error) {
	if cause != nil {
		return *new(T), To(cause, format, args...)
	}
	return made, nil
}
