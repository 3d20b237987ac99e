package runs_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// The clock of a machine is set forward and back, between runs, while one is under way and while some wait: the thread
// goes on, the order of its runs, states and events is the order in which they came, and a run for later starts when
// the clock says so.
func TestTheClockJumps(t *testing.T) {
	w := newWard(t)
	var offset atomic.Int64
	m := w.serving("one", func(c *runs.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	})
	jump := func(d time.Duration) { offset.Add(int64(d)) }
	var order []string
	answer := func(text string) {
		order = append(order, w.wants(w.submit(m, ordered(text)), event.StatusSuccess).ID)
	}
	answer("first")
	jump(-24 * time.Hour)
	answer("a day before")
	jump(10 * 365 * 24 * time.Hour)
	answer("years later")

	// Under way, with others behind it.
	long := w.waiting(m)
	jump(-20 * 365 * 24 * time.Hour)
	second := ordered("second")
	second.Strategy = store.Enqueue
	behind := w.submit(m, second)
	jump(-time.Hour)
	third := ordered("third")
	third.Strategy = store.Enqueue
	last := w.submit(m, third)
	for i, run := range []store.Run{behind, last} {
		if n, err := w.store.For(user()).Position(t.Context(), run.ID); err != nil || n != i+1 {
			t.Errorf("run %d stands at place %d, error %v", i, n, err)
		}
	}
	jump(30 * 365 * 24 * time.Hour)
	close(w.free)
	for _, run := range []store.Run{long, behind, last} {
		order = append(order, w.wants(run, event.StatusSuccess).ID)
	}
	want := []string{
		"first", "done: first", "a day before", "done: a day before", "years later", "done: years later",
		"wait", "I begin and end", "second", "done: second", "third", "done: third",
	}
	if diff := cmp.Diff(want, w.texts(m)); diff != "" {
		t.Error(diff)
	}
	w.inOrder(order)

	later := ordered("at its time")
	later.NotBefore = time.Now().Add(time.Duration(offset.Load()) + time.Hour)
	waits := w.submit(m, later)
	jump(-time.Hour)
	m.Wake()
	w.wants(waits, event.StatusPending)
	jump(3 * time.Hour)
	m.Wake()
	w.wants(waits, event.StatusSuccess)
}

// inOrder looks whether the thread's runs are listed as they came, and the events of each by growing ids.
func (w *ward) inOrder(want []string) {
	w.t.Helper()
	list, err := w.store.For(user()).ListRuns(w.t.Context(), store.RunFilter{ThreadID: "thread", Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, run := range list { // the newest first
		got = append([]string{run.ID}, got...)
		var before event.ID
		evs, err := w.store.For(user()).Events(w.t.Context(), run.ID, event.ID{}, 1000)
		if err != nil || len(evs) == 0 {
			w.t.Errorf("run %s has %d events, error %v", run.ID, len(evs), err)
		}
		for _, ev := range evs {
			if ev.ID.Compare(before) <= 0 {
				w.t.Errorf("run %s: event %v comes after %v", run.ID, ev.ID, before)
			}
			before = ev.ID
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Error(diff)
	}
}
