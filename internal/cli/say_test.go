package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// spoken is a Pudu whose run works until as many lines were said to it as it waits for, and reads but the last.
type spoken struct {
	Runner

	waits  int
	reason string // with which the first run ends
	heard  chan string
	did    []string
}

func (s *spoken) Run(_ context.Context, req runs.Request, _ map[string][]byte, show func(event.Event),
	_ func(string)) (runs.Outcome, error) {
	s.did = append(s.did, "run "+req.Input[0].Text())
	show(event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}})
	for range s.waits {
		s.did = append(s.did, "heard "+<-s.heard)
	}
	out := runs.Outcome{Run: store.Run{Status: event.StatusSuccess, StopReason: s.reason}}
	if s.reason != "" {
		out.Run.Status = event.StatusInterrupted
	}
	return out, nil
}

func (s *spoken) Resume(_ context.Context, run store.Run, _ func(event.Event), _ func(string)) (runs.Outcome, error) {
	s.did = append(s.did, "resume "+run.ID)
	return runs.Outcome{Run: store.Run{Status: event.StatusSuccess}}, nil
}

func (s *spoken) Say(_ context.Context, req runs.Request) (string, error) {
	text := req.Input[0].Text()
	s.heard <- text
	if text == "refused" {
		return "", fmt.Errorf("too %s", "much")
	}
	return text, nil
}

func (s *spoken) Said(_ context.Context, _, id string) (store.Run, error) {
	if id == "last" {
		return store.Run{ID: id, Status: event.StatusPending}, nil
	}
	return store.Run{ID: id, Status: event.StatusSuccess, StopReason: store.Taken}, nil
}

func (s *spoken) TakeBack(_ context.Context, _, id string) error {
	if id != "last" {
		return store.ErrConflict
	}
	s.did = append(s.did, "take back "+id)
	return nil
}

// TestLinesAreSaidToARunAtWork: each, and what comes too late for it is the next run; of one that is stopped it is
// taken back.
func TestLinesAreSaidToARunAtWork(t *testing.T) {
	for _, c := range []struct {
		reason, lines string
		want          []string
		shown         string
	}{
		{"", "first\n\nlast\n", []string{"run go", "heard first", "heard last", "resume last"},
			"> first   (read before the next step)"},
		{store.Cancelled, "first\nlast\n", []string{"run go", "heard first", "heard last", "take back last"},
			"is taken back"},
		{"", "refused\nfirst\n", []string{"run go", "heard refused", "heard first"}, "! not said: too much"},
	} {
		stdio, shown := typed(c.lines)
		stdio.typed, stdio.Still = &typist{}, true
		s := &spoken{waits: 2, reason: c.reason, heard: make(chan string)}
		tn := &turn{session: &Session{Runner: s}, io: stdio, thread: "t1",
			input: []message.Message{message.New(message.Human, "go")}}
		_ = tn.converse(t.Context(), tn.carryOut) // a cancelled run is an error
		if d := cmp.Diff(c.want, s.did); d != "" {
			t.Error(c.lines, d)
		}
		if !strings.Contains(shown.String(), c.shown) {
			t.Errorf("%q: it showed %s", c.lines, shown)
		}
	}
}

// TestNothingIsSaidWhereNobodyTypes: without a terminal the input is not the run's.
func TestNothingIsSaidWhereNobodyTypes(t *testing.T) {
	for name, change := range map[string]func(*turn){
		"input": func(tn *turn) { tn.io.InTTY = false }, "json": func(tn *turn) { tn.flags.json = true },
		"error": func(tn *turn) { tn.io.ErrTTY = false },
	} {
		stdio, _ := typed("first\n")
		stdio.typed, stdio.Still = &typist{}, true
		s := &spoken{heard: make(chan string)}
		tn := &turn{session: &Session{Runner: s}, io: stdio, thread: "t1",
			input: []message.Message{message.New(message.Human, "go")}}
		change(tn)
		if err := tn.converse(t.Context(), tn.carryOut); err != nil || len(s.did) != 1 {
			t.Errorf("%s: %q, %v", name, s.did, err)
		}
	}
}
