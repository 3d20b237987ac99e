package nats

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// complaintPause is how long errors beside the connection, such as a missing permission, are not logged again.
const complaintPause = time.Minute

var (
	errConnecting = errors.New("not connected yet")
	errLost       = errors.New("the connection was lost")
)

// state is what is known of the connection. It is read without asking the client, whose lock is held while it waits for
// the network.
type state struct {
	hosts   string
	log     *slog.Logger
	settled chan struct{} // closed when the first attempt has ended
	up      atomic.Bool

	mu        sync.Mutex
	err       error // nil while connected
	said      bool  // whether err, or that there is none, was logged
	ended     bool
	complaint time.Time // the last one
}

func newState(hosts []string, log *slog.Logger) *state {
	return &state{hosts: strings.Join(hosts, ","), log: log, settled: make(chan struct{}), err: errConnecting}
}

// set notes that the connection stands (nil) or why not, and logs it if that is a change.
func (s *state) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if errors.Is(s.err, errConnecting) {
		close(s.settled)
	}
	change := !s.said || (err == nil) != (s.err == nil)
	s.err, s.said = err, true
	s.up.Store(err == nil)
	switch {
	case change && err == nil:
		s.log.Info("NATS is connected", "servers", s.hosts)
	case change:
		s.log.Warn("NATS cannot be reached: live events of runs on other nodes come late until it is back",
			"servers", s.hosts, "error", err)
	}
}

// complain logs an error that leaves the connection as it is, one in a while.
func (s *state) complain(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || time.Since(s.complaint) < complaintPause {
		return
	}
	s.complaint = time.Now()
	s.log.Warn("NATS reports an error", "servers", s.hosts, "error", err)
}

// end makes the connection stay down, with nothing more to log.
func (s *state) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended, s.err = true, err
	s.up.Store(false)
}

func (s *state) healthy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil || s.ended {
		return s.err
	}
	return fmt.Errorf("reach NATS at %s: %w", s.hosts, s.err)
}
