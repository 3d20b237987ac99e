package model

import (
	"errors"
	"fmt"
	"time"
)

// Class sorts the failures of a model call by what can be done about them.
type Class string

// The classes.
const (
	ClassAuth          Class = "auth"           // key missing, wrong or not allowed: 401, 403
	ClassQuota         Class = "quota"          // out of credit: 402, 429 with a quota code
	ClassRateLimit     Class = "rate_limit"     // 429: wait and try again
	ClassBurst         Class = "burst_rate"     // 429 for a sudden rise: wait longer, try once
	ClassBusy          Class = "busy"           // overloaded: 503, 529
	ClassTransient     Class = "transient"      // time-outs, cut or empty streams, 408, 409, 425, 5xx
	ClassContextLength Class = "context_length" // the request is larger than the model's window
	ClassNotFound      Class = "not_found"      // no such model or address: 404
	ClassTooLarge      Class = "too_large"      // the answer is larger than the bounds of one
	ClassBadRequest    Class = "bad_request"    // any other 4xx, answers that are no API's
)

// Error is a failed model call.
type Error struct {
	Class Class
	// Provider and Model say who failed, as in the configuration.
	Provider, Model string
	// Status is the HTTP status; 0 when there was no answer.
	Status int
	// Code is the provider's own error code, if any.
	Code string
	// Message is the provider's text, or ours where it said nothing; at most 2,000 bytes.
	Message string
	// RetryAfter is how long the provider asked to wait; 0 if it did not say.
	RetryAfter time.Duration
	// Err is the cause, if there is one in Go.
	Err error
}

func (e *Error) Error() string {
	s := "model " + e.Provider + "/" + e.Model + ": "
	if e.Status != 0 {
		s += fmt.Sprintf("HTTP %d: ", e.Status)
	}
	return s + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Class {
	case ClassRateLimit, ClassBurst, ClassBusy, ClassTransient:
		return true
	}
	return false
}

// AsError returns the [Error] in err's chain, or nil.
func AsError(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}
