package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// noted changes the state of the thread from outside, as often as that says.
func (w *ward) noted(m *runs.Manager, times int) {
	w.t.Helper()
	for range times {
		if _, err := m.For(user()).UpdateState(w.t.Context(), "thread",
			runs.StateUpdate{Values: map[string]json.RawMessage{"title": json.RawMessage(`"T"`)}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *ward) ran(m *runs.Manager, req runs.Request) store.Run {
	w.t.Helper()
	out, err := m.For(user()).Run(w.t.Context(), req, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Run
}

// onceMore is a request to go on from before the thread's first input.
func onceMore() runs.Request {
	return runs.Request{ThreadID: "thread", UserID: "user", Continue: true, Checkpoint: store.Origin}
}

// TestOnALongThread the first input and the results of runs are found however much came later.
func TestOnALongThread(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	run := w.ran(m, ordered("one"))
	want := w.texts(m)
	for _, more := range []int{99, 1, 1} { // one page of checkpoints at the second look
		w.noted(m, more)
		w.ran(m, runs.Request{ThreadID: "thread", UserID: "user", Goto: agent.NodeEnd,
			Values: map[string]json.RawMessage{"messages": nil}})
		s, err := m.For(user()).Result(t.Context(), run)
		if err != nil || s.RunID != run.ID || len(agent.Messages.Get(s.State)) != len(want) {
			t.Fatalf("the result is checkpoint %s of run %q, want %q: %v", s.ID, s.RunID, run.ID, err)
		}
	}
	w.ran(m, ordered("two"))
	w.ran(m, onceMore())
	if d := cmp.Diff([]string{"one", "done: one"}, w.texts(m)); d != "" {
		t.Error(d)
	}
}

// TestTheResultOfARunThatChangedNothing is the head; so is that of a thread's only run.
func TestTheResultOfARunThatChangedNothing(t *testing.T) {
	w := newWard(t)
	broken := func(c *runs.Config) {
		c.Build = func(context.Context, runs.Job) (runs.Built, error) { return runs.Built{}, errors.New("no parts") }
	}
	m := w.process("a", nil)
	first := w.ran(w.process("b", broken), ordered("none"))
	if s, err := m.For(user()).Result(t.Context(), first); err != nil || s.ID != "" {
		t.Errorf("checkpoint %q, %v", s.ID, err)
	}
	w.ran(m, ordered("one"))
	run := w.ran(w.process("b", broken), ordered("none"))
	head, err := m.For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := m.For(user()).Result(t.Context(), run); err != nil || s.ID != head.ID || s.ID == "" {
		t.Errorf("checkpoint %q, want %q, %v", s.ID, head.ID, err)
	}
}

// TestOnceMore: the first input is taken again only if there is one, and the request has none of its own.
func TestOnceMore(t *testing.T) {
	titled := map[string]json.RawMessage{"title": json.RawMessage(`"Deer"`)}
	failed := func(w *ward, out runs.Outcome) {
		if !strings.Contains(out.Run.Error, runs.ErrNothingToDo.Error()) {
			w.t.Errorf("the run ended as %s: %q", out.Run.Status, out.Run.Error)
		}
	}
	says := func(want ...string) func(*ward, runs.Outcome) {
		return func(w *ward, out runs.Outcome) {
			var got []string
			for _, m := range agent.Messages.Get(out.State) {
				got = append(got, m.Text())
			}
			if d := cmp.Diff(want, got); d != "" || out.Run.Status != event.StatusSuccess {
				w.t.Errorf("%s %s\n%s", out.Run.Status, out.Run.Error, d)
			}
		}
	}
	for name, c := range map[string]struct {
		before func(*ward, *runs.Manager)
		change func(*runs.Request)
		check  func(*ward, runs.Outcome)
	}{
		"an input": {func(w *ward, m *runs.Manager) { w.ran(m, ordered("one")); w.ran(m, ordered("two")) }, nil,
			says("one", "done: one")},
		"an input of its own": {
			func(w *ward, m *runs.Manager) { w.ran(m, ordered("one")) },
			func(r *runs.Request) { r.Input = ordered("mine").Input }, says("mine"), // it is a change of the state
		},
		"values of its own": {
			func(w *ward, m *runs.Manager) { w.ran(m, ordered("one")) },
			func(r *runs.Request) { r.Values = titled }, says(),
		},
		"from its head": {
			func(w *ward, m *runs.Manager) { w.ran(m, ordered("one")) },
			func(r *runs.Request) { r.Checkpoint = "" }, failed,
		},
		"a first run that was deleted": {func(w *ward, m *runs.Manager) {
			if err := w.store.For(user()).DeleteRun(w.t.Context(), w.ran(m, ordered("one")).ID); err != nil {
				w.t.Fatal(err)
			}
		}, nil, failed},
		"a first run that was rolled back": {func(w *ward, m *runs.Manager) {
			run := w.left()
			w.cancel(m, run, store.StopRollback)
			run, err := w.store.For(user()).Run(w.t.Context(), run.ID)
			if err != nil {
				w.t.Fatal(err)
			}
			if out, err := m.Resume(w.t.Context(), run, nil); err != nil || out.Run.Error != store.RolledBack {
				w.t.Fatalf("run %+v, %v", out.Run, err)
			}
		}, nil, failed},
		"no run": {func(w *ward, m *runs.Manager) {
			if err := w.store.For(user()).CreateThread(w.t.Context(),
				store.Thread{ID: "thread", UserID: "user"}); err != nil {
				w.t.Fatal(err)
			}
			w.noted(m, 1)
		}, nil, failed},
		"nothing at all": {func(*ward, *runs.Manager) {}, nil, failed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWard(t)
			m := w.process("a", nil)
			c.before(w, m)
			req := onceMore()
			if c.change != nil {
				c.change(&req)
			}
			out, err := m.For(user()).Run(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.check(w, out)
		})
	}
}

func TestTheFirstInputMayBeOfValuesAlone(t *testing.T) {
	b := newBed(t, calls(nil), keeps{})
	req := runs.Request{ThreadID: "thread", UserID: "user",
		Values: map[string]json.RawMessage{"colour": json.RawMessage(`"red"`)}}
	again := onceMore()
	for i, req := range []runs.Request{req, again} {
		out, err := b.manager.For(user()).Run(t.Context(), req, nil)
		if err != nil || out.Run.Status != event.StatusSuccess || colour.Get(out.State) != "red" {
			t.Errorf("run %d: %s %s, colour %q, %v", i, out.Run.Status, out.Run.Error, colour.Get(out.State), err)
		}
	}
}

// lateFirst is a store in which a run makes its first checkpoint right behind the look for it.
type lateFirst struct {
	store.Store
	looks int
}

func (l *lateFirst) For(u access.User) store.UserData { return lateFirstData{l.Store.For(u), l} }

type lateFirstData struct {
	store.UserData
	l *lateFirst
}

func (d lateFirstData) FirstCheckpoint(ctx context.Context, runID string) (store.Checkpoint, error) {
	if d.l.looks++; d.l.looks == 1 {
		return store.Checkpoint{}, nil
	}
	return d.UserData.FirstCheckpoint(ctx, runID)
}

// TestTheBaseOfARun is the state before it, also of the first run of a thread, of one that is to begin, and of one that
// begins while it is asked for.
func TestTheBaseOfARun(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	base := func(m *runs.Manager, run store.Run, req runs.Request, step, messages int) {
		t.Helper()
		at, err := m.For(user()).Base(t.Context(), run, req)
		if got := len(agent.Messages.Get(at.State)); err != nil || at.Step != step || got != messages ||
			at.ThreadID != run.ThreadID {
			t.Errorf("the base is step %d of thread %q with %d messages, %v, want step %d with %d", at.Step,
				at.ThreadID, got, err, step, messages)
		}
	}
	first := w.ran(m, ordered("one"))
	base(m, first, runs.Request{}, 0, 0)
	head, err := m.For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	second := w.ran(m, ordered("two"))
	base(m, second, runs.Request{}, head.Step, 2)
	base(w.process("b", func(c *runs.Config) { c.Store = &lateFirst{Store: w.store} }), second, runs.Request{},
		head.Step, 2)
	third, err := m.For(user()).Admit(t.Context(), ordered("three"))
	if err != nil {
		t.Fatal(err)
	}
	base(m, third, runs.Request{Checkpoint: head.ID}, head.Step, 2)
	base(m, third, runs.Request{Checkpoint: store.Origin}, 0, 0)
	if at, err := m.For(user()).Base(t.Context(), third, runs.Request{}); err != nil || at.RunID != second.ID {
		t.Errorf("the base is of run %q, want %q, %v", at.RunID, second.ID, err)
	}
	if at, err := m.For(user()).Base(t.Context(), third, runs.Request{Checkpoint: "no such"}); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("the base is %+v, %v", at, err)
	}
}

// TestAStateUpdate counts as the node that it names, can stand on any checkpoint, and is refused as a whole.
func TestAStateUpdate(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	w.ran(m, ordered("one"))
	first, err := m.For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	w.ran(m, ordered("two"))
	say := func(text string) []message.Message { return []message.Message{message.New(message.Human, text)} }
	update := func(u runs.StateUpdate) runs.Snapshot {
		t.Helper()
		id, err := m.For(user()).UpdateState(t.Context(), "thread", u)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.For(user()).Snapshot(t.Context(), "thread", "")
		if err != nil || s.ID != id {
			t.Errorf("the head is %q, the update made %q, %v", s.ID, id, err)
		}
		return s
	}
	title := "Deer"
	s := update(runs.StateUpdate{Messages: say("note"), AsNode: agent.NodeInput, Checkpoint: first.ID, Title: &title})
	if d := cmp.Diff([]string{"one", "done: one", "note"}, w.texts(m)); d != "" || s.Next != agent.NodeBeforeModel ||
		s.ParentID != first.ID {
		t.Errorf("next is %q, the parent %q: %s", s.Next, s.ParentID, d)
	}
	if got := listed(t, w.store); got != title {
		t.Errorf("the thread is called %q", got)
	}
	if s = update(runs.StateUpdate{Values: map[string]json.RawMessage{"title": json.RawMessage(`"Roe"`)}}); s.Next != agent.NodeBeforeModel || threadstate.Title.Get(s.State) != "Roe" {
		t.Errorf("next is %q, title %q", s.Next, threadstate.Title.Get(s.State))
	}
	if s = update(runs.StateUpdate{Messages: say("first"), Checkpoint: store.Origin}); s.ParentID != "" ||
		len(w.texts(m)) != 1 {
		t.Errorf("the parent is %q, the thread has %q", s.ParentID, w.texts(m))
	}
	removal := message.New(message.Remove, "")
	removal.ID = "no such"
	for name, u := range map[string]runs.StateUpdate{
		"messages":        {Messages: []message.Message{removal}},
		`channel "title"`: {Messages: say("no"), Values: map[string]json.RawMessage{"title": json.RawMessage(`1`)}},
	} {
		if _, err := m.For(user()).UpdateState(t.Context(), "thread", u); !errors.Is(err, runs.ErrBadUpdate) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now, err := m.For(user()).Snapshot(t.Context(), "thread", ""); err != nil || now.ID != s.ID {
		t.Errorf("an update that was refused has moved the head to %q, %v", now.ID, err)
	}
}

// fleeting is a store in which the checkpoints of a thread have gone when they are listed.
type fleeting struct{ store.Store }

func (f fleeting) For(u access.User) store.UserData { return fleetingData{f.Store.For(u)} }

type fleetingData struct{ store.UserData }

func (fleetingData) Checkpoints(context.Context, string, string, int) ([]store.Checkpoint, error) {
	return nil, nil
}

// TestTheResultOfARunWhoseCheckpointsGo is the head.
func TestTheResultOfARunWhoseCheckpointsGo(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	run := w.ran(m, ordered("one"))
	head, err := m.For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.process("b", func(c *runs.Config) { c.Store = fleeting{w.store} }).For(user()).Result(t.Context(), run)
	if err != nil || s.ID != head.ID {
		t.Errorf("checkpoint %q, want %q, %v", s.ID, head.ID, err)
	}
}

// overtaken is a store whose heads move on before each change of a state from outside.
type overtaken struct {
	store.Store
	writes int
}

func (o *overtaken) For(u access.User) store.UserData { return overtakenData{o.Store.For(u), o} }

type overtakenData struct {
	store.UserData
	o *overtaken
}

func (d overtakenData) Write(context.Context, string, store.Step) (string, error) {
	d.o.writes++
	return "", store.ErrConflict
}

// TestAStateUpdateIsTriedFourTimes on a head that moves; one that stands on a checkpoint is tried once.
func TestAStateUpdateIsTriedFourTimes(t *testing.T) {
	w := newWard(t)
	w.ran(w.process("a", nil), ordered("one"))
	head, err := w.process("a", nil).For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	for checkpoint, want := range map[string]int{"": 4, head.ID: 1} {
		o := &overtaken{Store: w.store}
		m := w.process("b", func(c *runs.Config) { c.Store = o })
		_, err := m.For(user()).UpdateState(t.Context(), "thread",
			runs.StateUpdate{Messages: ordered("note").Input, Checkpoint: checkpoint})
		if !errors.Is(err, store.ErrConflict) || o.writes != want {
			t.Errorf("on checkpoint %q it was tried %d times, %v", checkpoint, o.writes, err)
		}
	}
}
