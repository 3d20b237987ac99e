package route

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// Error is an answer that says what is wrong: {"detail": Detail}.
type Error struct {
	Status int
	// Detail is a sentence, or a list of faults.
	Detail any
	// RetryAfter, in seconds, asks the client to come again; 0 does not.
	RetryAfter int
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d: %v", e.Status, e.Detail) }

// Failf makes an Error with a sentence.
func Failf(status int, format string, args ...any) *Error {
	return &Error{Status: status, Detail: fmt.Sprintf(format, args...)}
}

// NotFound is the answer to an id that the caller has nothing of.
func NotFound(what, id string) *Error { return Failf(http.StatusNotFound, "%s %s not found", what, id) }

// InBin is the answer to what would change a thread in the bin.
func InBin(id string) *Error {
	return Failf(http.StatusConflict, "Thread %s is in the bin; restore it first (POST /threads/%[1]s/restore)", id)
}

// AsError finds the answer to any error. What nobody expected is a 500, whose text stays in the log.
func AsError(err error) *Error {
	var e *Error
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &tooLarge):
		return Failf(http.StatusRequestEntityTooLarge, "The request is larger than %d bytes", tooLarge.Limit)
	case errors.Is(err, store.ErrNotFound):
		return &Error{Status: http.StatusNotFound, Detail: "Not found"}
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrTrashed):
		return &Error{Status: http.StatusConflict, Detail: err.Error()}
	case errors.Is(err, store.ErrFull):
		return &Error{Status: http.StatusTooManyRequests, Detail: "Too many runs wait already; try again later",
			RetryAfter: 5}
	case errors.Is(err, runs.ErrBadUpdate), errors.Is(err, runs.ErrBadAnswer), errors.Is(err, store.ErrTooLarge),
		errors.Is(err, database.ErrQuota):
		return &Error{Status: http.StatusUnprocessableEntity, Detail: err.Error()}
	case errors.Is(err, store.ErrUnavailable):
		return Unavailable(err)
	case errors.Is(err, store.ErrClosed), errors.Is(err, runs.ErrStopped), errors.Is(err, ErrStopping):
		return &Error{Status: http.StatusServiceUnavailable, Detail: "The server is stopping", RetryAfter: 1}
	}
	return &Error{Status: http.StatusInternalServerError, Detail: "Internal Server Error"}
}

// Unavailable is the answer of a server whose database cannot be used. The log has the names, which clients do not
// need.
func Unavailable(err error) *Error {
	e := &Error{Status: http.StatusServiceUnavailable, Detail: "The server's database cannot be used at present",
		RetryAfter: 5}
	switch {
	case errors.Is(err, store.ErrDiskFull):
		e.Detail = "The server's disk is full; nothing is taken in until there is room again"
	case errors.Is(err, store.ErrLost):
		e.Detail = "The file of the server's database was deleted or replaced; the server's log says what to do"
	case errors.Is(err, store.ErrUnreachable):
		e.Detail = "The server's database cannot be reached; try again"
	}
	return e
}

// Fail answers with an error. A client that has gone hears nothing.
func (e *Env) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return
	}
	a := AsError(err)
	if a.Status >= http.StatusInternalServerError {
		e.Log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "status", a.Status,
			"error", err)
	}
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	_ = Reply(w, a.Status, struct {
		Detail any `json:"detail"`
		// Message says in a sentence what the detail lists: LangGraph's SDK for Python shows no list.
		Message string `json:"message,omitempty"`
	}{a.Detail, a.message()})
}

// maxMessage is about how many bytes a message has at most.
const maxMessage = 1000

// message is a list of faults as a sentence; empty if the detail is one.
func (e *Error) message() string {
	list, _ := e.Detail.([]Fault)
	var b strings.Builder
	for i, f := range list {
		if i > 0 {
			b.WriteString("; ")
		}
		for j, name := range f.Loc {
			if j > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, name)
		}
		b.WriteString(": " + f.Msg)
	}
	return excerpt.Bound(b.String(), maxMessage)
}

// Reply writes a JSON answer.
func Reply(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return ReplyRaw(w, status, body)
}

// ReplyRaw writes an answer that is JSON already.
func ReplyRaw(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone
	return nil
}

// Clip makes text of any length and content fit for a message.
func Clip(s string) string {
	return strings.ToValidUTF8(excerpt.Bound(s, 100), "?")
}
