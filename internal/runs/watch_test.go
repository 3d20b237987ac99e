package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/buffertest"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// spectator is a watcher that notes what it is told.
type spectator struct {
	mu   sync.Mutex
	told []string
}

type seatKey struct{}

func (s *spectator) Begun(ctx context.Context, job runs.Job) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fmt.Sprintf("%s begins, attempt %d", job.Request.RequestID, job.Run.Attempt))
	return context.WithValue(ctx, seatKey{}, job.Request.RequestID)
}

func (s *spectator) Ended(ctx context.Context, job runs.Job, end runs.End) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, strings.TrimSpace(fmt.Sprintf("%s ends as %s after %v: %s %s", job.Request.RequestID,
		end.Status, ctx.Value(seatKey{}), end.StopReason, end.Error)))
}

func (s *spectator) tells(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := cmp.Diff(want, s.told); d != "" {
		t.Errorf("(-want +told)\n%s", d)
	}
	s.told = nil
}

// TestWhoWatches is told once of each attempt and of each end, also of runs that ended while they waited.
func TestWhoWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newWard(t), &spectator{}
		m, stop := w.served("a", func(c *runs.Config) { c.Watch = s })
		defer stop()
		named := func(name, text string, strategy store.Strategy) runs.Request {
			req := ordered(text)
			req.RequestID, req.Strategy = name, strategy
			return req
		}
		w.wants(w.submit(m, named("one", "answer", "")), event.StatusSuccess)
		synctest.Wait()
		s.tells(t, "one begins, attempt 1", "one ends as success after one:")

		time.Sleep(time.Second)
		w.submit(m, named("two", "wait", ""))
		<-w.begun
		waits := w.submit(m, named("three", "answer", store.Enqueue))
		w.cancel(m, waits, store.StopInterrupt)
		s.tells(t, "two begins, attempt 1", "three ends as interrupted after <nil>: cancelled")

		time.Sleep(time.Second)
		w.cancel(m, waits, store.StopInterrupt)
		s.tells(t)
		w.submit(m, named("four", "answer", store.Enqueue))
		last := w.submit(m, named("five", "answer", store.Interrupt))
		w.wants(last, event.StatusSuccess)
		synctest.Wait()
		s.tells(t, "four ends as interrupted after <nil>: cancelled", "two ends as interrupted after two: cancelled",
			"five begins, attempt 1", "five ends as success after five:")

		time.Sleep(time.Second)
		w.submit(m, named("six", "wait", ""))
		<-w.begun
		w.submit(m, named("seven", "answer", store.Enqueue))
		last = w.submit(m, named("eight", "answer", store.Rollback))
		w.wants(last, event.StatusSuccess)
		synctest.Wait()
		s.tells(t, "six begins, attempt 1", "seven ends as error after <nil>: cancelled Rolled back by user",
			"six ends as error after six: cancelled Rolled back by user", "eight begins, attempt 1",
			"eight ends as success after eight:")
		want := runs.Stats{Ended: map[string]int64{event.StatusSuccess: 3, event.StatusInterrupted: 3,
			event.StatusError: 2}}
		if d := cmp.Diff(want, m.Stats()); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// TestARunThatIsRefusedEndsNoOther.
func TestARunThatIsRefusedEndsNoOther(t *testing.T) {
	w, s := newWard(t), &spectator{}
	u := newUnreliable(w)
	var log buffertest.Buffer
	m := w.process("a", func(c *runs.Config) { c.Watch, c.Log = s, slog.New(slog.NewTextHandler(&log, nil)) })
	req := ordered("answer")
	req.NotBefore = time.Now().Add(time.Hour)
	w.submit(m, req)
	u.down.Store("Admit")
	req.Strategy = store.Interrupt
	if _, err := m.For(user()).Admit(t.Context(), req); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
	s.tells(t)
	u.down.Store("ListRuns")
	if _, err := m.For(user()).Admit(t.Context(), req); err != nil {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(log.String(), "cannot tell which runs a new one has ended") {
		t.Errorf("the log has: %s", log.String())
	}
}

// TestARequestThatCannotBeRead, as one of another version, ends its run as failed.
func TestARequestThatCannotBeRead(t *testing.T) {
	w, s := newWard(t), &spectator{}
	u := newUnreliable(w)
	m := w.process("a", func(c *runs.Config) { c.Watch = s })
	now := time.Now()
	run, err := w.store.For(user()).Admit(t.Context(), store.Admission{
		Run: store.Run{ID: "run", ThreadID: "thread", UserID: "user", Owner: "a",
			Request: json.RawMessage(`["a list"]`), CreatedAt: now, UpdatedAt: now},
		Thread: store.Thread{ID: "thread", UserID: "user", CreatedAt: now, UpdatedAt: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	u.down.Store("CommitAll")
	if _, err := m.Execute(t.Context(), run, nil); !errors.Is(err, errBroken) ||
		!strings.Contains(err.Error(), "decode request of run run") {
		t.Errorf("error %v", err)
	}
	s.tells(t)
	u.down.Store("")
	if run, err = w.store.For(user()).Run(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	out, err := m.Resume(t.Context(), run, nil)
	if err != nil || out.Run.Status != event.StatusError ||
		!strings.Contains(out.Run.Error, "decode request of run run") {
		t.Errorf("run %+v, %v", out.Run, err)
	}
	if len(s.told) != 1 || !strings.HasPrefix(s.told[0], " ends as error") &&
		!strings.HasPrefix(s.told[0], "ends as error") {
		t.Errorf("told: %q", s.told)
	}
}

// feeds is a feed that notes what it shows.
type feeds struct {
	mu     sync.Mutex
	shown  int
	closed int
}

func (f *feeds) Show(event.Event) { f.mu.Lock(); defer f.mu.Unlock(); f.shown++ }
func (f *feeds) Close()           { f.mu.Lock(); defer f.mu.Unlock(); f.closed++ }

// TestEveryAudienceSeesAllEvents, and a feed is closed behind the last.
func TestEveryAudienceSeesAllEvents(t *testing.T) {
	w := newWard(t)
	f := &feeds{}
	all, mine := 0, 0
	m := w.process("a", func(c *runs.Config) {
		c.Feed = func(store.Run) runs.Feed { return f }
		c.Events = func(r store.Run, _ event.Event) {
			if all++; r.ThreadID != "thread" {
				t.Errorf("an event of run %+v", r)
			}
		}
	})
	out, err := m.For(user()).Run(t.Context(), ordered("answer"), func(event.Event) { mine++ })
	if err != nil || mine == 0 || f.shown != mine || all != mine || f.closed != 1 {
		t.Errorf("%d events, %d in the feed, which was closed %d times, %d of all runs, %v", mine, f.shown, f.closed,
			all, err)
	}
	if err := m.Fail(t.Context(), out.Run, errors.New("late")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a run at its end fails with %v", err)
	}
	run, err := m.For(user()).Admit(t.Context(), ordered("answer"))
	if err != nil {
		t.Fatal(err)
	}
	shown := f.shown
	if err := m.Fail(t.Context(), run, errors.New("no parts")); err != nil || f.shown == shown || f.closed != 2 {
		t.Errorf("%d events in the feed, which was closed %d times, %v", f.shown-shown, f.closed, err)
	}
	if run = w.wants(run, event.StatusError); run.Error != "no parts" {
		t.Errorf("the run failed with %q", run.Error)
	}
}

// TestTheTitleOfANewThread is the start of the first thing that a human says for others to see.
func TestTheTitleOfANewThread(t *testing.T) {
	say := message.New
	hidden := say(message.Human, "for the model")
	hidden.Kwargs = message.Fields{message.KeyHidden: []byte("true")}
	for i, c := range []struct {
		input []message.Message
		want  string
	}{
		{[]message.Message{say(message.System, "be nice"), hidden, say(message.Human, " \n "),
			say(message.Human, " draw\n a  deer "), say(message.Human, "now")}, "draw a deer"},
		{[]message.Message{say(message.AI, "hello"), hidden}, ""},
		{nil, ""},
		{[]message.Message{say(message.Human, strings.Repeat("x", 60))}, strings.Repeat("x", 60)},
		{[]message.Message{say(message.Human, strings.Repeat("x", 61))}, strings.Repeat("x", 59) + "…"},
	} {
		w := newWard(t)
		req := runs.Request{ThreadID: fmt.Sprint("thread", i), UserID: "user", Input: c.input}
		if _, err := w.process("a", nil).For(user()).Admit(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if th, err := w.store.For(user()).Thread(t.Context(), req.ThreadID); err != nil || th.Title != c.want {
			t.Errorf("%d: the title is %q, want %q, %v", i, th.Title, c.want, err)
		}
	}
}

// TestFallback looks at the last answer alone.
func TestFallback(t *testing.T) {
	stands := message.New(message.AI, "no key")
	stands.ID, stands.Kwargs = "1", message.Fields{message.KeyErrorFallback: []byte("true")}
	said, human := message.New(message.AI, "done"), message.New(message.Human, "go")
	said.ID, human.ID = "2", "3"
	for i, c := range []struct {
		msgs   []message.Message
		text   string
		failed bool
	}{
		{nil, "", false}, {[]message.Message{human}, "", false}, {[]message.Message{human, stands}, "no key", true},
		{[]message.Message{stands, human}, "no key", true}, {[]message.Message{stands, human, said}, "done", false},
	} {
		st, _, err := state.State{}.Apply(agent.Messages.Append(c.msgs...))
		if err != nil {
			t.Fatal(err)
		}
		if text, failed := runs.Fallback(st); text != c.text || failed != c.failed {
			t.Errorf("%d: %q, %v", i, text, failed)
		}
	}
}
