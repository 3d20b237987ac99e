package route

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Responder is an answer with a status or headers of its own.
type Responder interface {
	Respond(w http.ResponseWriter) error
}

func respond(w http.ResponseWriter, out any) error {
	if own, ok := out.(Responder); ok {
		return own.Respond(w)
	}
	return Reply(w, http.StatusOK, out)
}

// Status is an answer without a body.
type Status int

// Respond implements [Responder].
func (s Status) Respond(w http.ResponseWriter) error {
	w.WriteHeader(int(s))
	return nil
}

// Page is a part of a list.
type Page[T any] struct {
	Entries []T
	// Offset is where the page begins, More whether something comes behind it.
	Offset int
	More   bool
	// Select are the members that the answer has of each entry; nil is all.
	Select []string
}

// PageOf is the page of a list that was read with one entry more than the limit, if there is one.
func PageOf[T any](list []T, limit, offset int) Page[T] {
	return Page[T]{Entries: list[:min(len(list), limit)], Offset: offset, More: len(list) > limit}
}

// Respond implements [Responder]. The headers tell where the page stands. The total is what is known: what was seen so
// far, and one more if there is more.
func (p Page[T]) Respond(w http.ResponseWriter) error {
	next := p.Offset + len(p.Entries)
	if p.More {
		w.Header().Set("X-Pagination-Next", strconv.Itoa(next))
		next++
	}
	w.Header().Set("X-Pagination-Total", strconv.Itoa(next))
	if p.Select == nil {
		return Reply(w, http.StatusOK, p.Entries)
	}
	out := make([]map[string]json.RawMessage, len(p.Entries))
	for i, entry := range p.Entries {
		raw, err := json.Marshal(entry)
		if err == nil {
			err = json.Unmarshal(raw, &out[i])
		}
		if err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
		maps.DeleteFunc(out[i], func(name string, _ json.RawMessage) bool { return !slices.Contains(p.Select, name) })
	}
	return Reply(w, http.StatusOK, out)
}

// piece is how many bytes are written at once at most.
const piece = 64 << 10

// answer remembers the status that is sent. The client has some time for each piece of it: one that takes nothing is
// cut off, however long the answer is.
type answer struct {
	http.ResponseWriter

	rc     *http.ResponseController
	wait   time.Duration
	status int
	// audited says what the request is about, for the audit log; nil if it does not.
	audited Audited
}

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	for written := 0; ; {
		_ = a.rc.SetWriteDeadline(time.Now().Add(a.wait)) // of a recorder in a test there is none
		n, err := a.ResponseWriter.Write(p[written:min(written+piece, len(p))])
		if written += n; err != nil || written == len(p) {
			return written, err
		}
	}
}

// Unwrap lets an http.ResponseController reach what is beneath.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
