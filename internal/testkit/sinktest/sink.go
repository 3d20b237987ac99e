// Package sinktest has a client of a handler that notes when it gets what, and what time it was given for it.
package sinktest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Sink is a client. It notes when it gets what, and what time it was given for it.
type Sink struct {
	http.ResponseWriter

	mu      sync.Mutex
	Begun   time.Time
	Writes  []string
	At      []time.Duration
	Reads   []time.Duration // deadlines
	Allowed []time.Duration
	Fails   error
}

// New is a client that begins now.
func New() *Sink { return &Sink{ResponseWriter: httptest.NewRecorder(), Begun: time.Now()} }

// Write implements [http.ResponseWriter].
func (s *Sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Writes, s.At = append(s.Writes, string(p)), append(s.At, time.Since(s.Begun))
	if s.Fails != nil {
		return 0, s.Fails
	}
	return len(p), nil
}

// FlushError is there for [http.ResponseController], as those below are.
func (*Sink) FlushError() error { return nil }

// SetReadDeadline notes it.
func (s *Sink) SetReadDeadline(at time.Time) error {
	s.Reads = append(s.Reads, at.Sub(s.Begun))
	return nil
}

// SetWriteDeadline notes it.
func (s *Sink) SetWriteDeadline(at time.Time) error {
	s.Allowed = append(s.Allowed, at.Sub(s.Begun))
	return nil
}
