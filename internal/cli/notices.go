package cli

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/pudu-ai/pudu/internal/lib/inert"
)

// notices is the log of a command: warnings are lines for the person, in their place among what the command shows.
type notices struct {
	attrs []slog.Attr

	*sink
}

// sink is where the lines go. The zero value drops them.
type sink struct {
	mu   sync.Mutex
	show func(line string)
}

// to sends the lines to show until restore is called.
func (s *sink) to(show func(line string)) (restore func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.show
	s.show = show
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.show = before
	}
}

// Enabled implements [slog.Handler].
func (notices) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements [slog.Handler]. Of the attributes a person needs what went wrong, and with what; ids are for the
// log of a server.
func (n notices) Handle(_ context.Context, r slog.Record) error {
	text, why := r.Message, ""
	add := func(a slog.Attr) bool {
		switch a.Key {
		case "error", "reason", "cause", "err":
			why = ": " + a.Value.String()
		case "run", "thread", "user", "request", "run_id", "thread_id", "user_id", "request_id":
		default:
			text += fmt.Sprintf(" (%s %s)", a.Key, a.Value)
		}
		return true
	}
	for _, a := range n.attrs {
		add(a)
	}
	r.Attrs(add)
	n.mu.Lock()
	show := n.show
	n.mu.Unlock()
	if show != nil {
		show("! " + inert.Line(text+why))
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (n notices) WithAttrs(attrs []slog.Attr) slog.Handler {
	return notices{append(slices.Clip(n.attrs), attrs...), n.sink}
}

// WithGroup implements [slog.Handler].
func (n notices) WithGroup(string) slog.Handler { return n }

// logToPerson makes the log of this process one for the person.
func (stdio *IO) logToPerson() (restore func()) {
	before := slog.Default()
	stdio.log = &sink{show: func(line string) { stdio.tell(stdio.errStyle().yellow, strings.TrimSpace(line)) }}
	slog.SetDefault(slog.New(notices{sink: stdio.log}))
	return func() { slog.SetDefault(before) }
}
