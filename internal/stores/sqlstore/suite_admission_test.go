package sqlstore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// strategies: what becomes of the runs of a thread when another is admitted.
func strategies(f *fixture) {
	tests := []struct {
		strategy                store.Strategy
		running, waiting, fresh string // their statuses then
		stop, failure, reason   string
	}{
		{store.Enqueue, event.StatusRunning, event.StatusPending, event.StatusPending, "", "", ""},
		{store.Interrupt, event.StatusRunning, event.StatusInterrupted, event.StatusPending, store.StopInterrupt, "",
			store.Cancelled},
		{store.Rollback, event.StatusRunning, event.StatusError, event.StatusPending, store.StopRollback,
			store.RolledBack, store.Cancelled},
	}
	for _, tt := range tests {
		thread := "t-" + string(tt.strategy)
		id := func(name string) string { return thread + "-" + name }
		f.thread(thread)
		f.equal("alone", f.queue(tt.strategy, store.Run{ID: id("running"), ThreadID: thread, Owner: "node-1"}),
			event.StatusRunning)
		f.equal("second", f.queue(store.Enqueue, store.Run{ID: id("waiting"), ThreadID: thread, Owner: "node-1"}),
			event.StatusPending)
		f.equal("third", f.queue(tt.strategy, store.Run{ID: id("fresh"), ThreadID: thread, Owner: "node-1"}), tt.fresh)

		running, waiting, fresh := f.stored(id("running")), f.stored(id("waiting")), f.stored(id("fresh"))
		f.equal("running", running.Status, tt.running)
		f.equal("stop", running.Stop, tt.stop)
		f.equal("waiting", waiting.Status, tt.waiting)
		f.equal("error", waiting.Error, tt.failure)
		f.equal("stop reason", waiting.StopReason, tt.reason)
		f.equal("owner of a run that waits", fresh.Owner, "")
		f.equal("attempt of a run that waits", fresh.Attempt, 0)
		f.equal("events of a run that never was", len(f.events(id("waiting"), event.ID{}, 10)), 0)
		if tt.strategy != store.Enqueue {
			f.equal("updated", waiting.UpdatedAt, fresh.CreatedAt)
		}
		for _, s := range []store.Strategy{store.Reject, ""} {
			_, err := f.Admit(f.Context(), store.Admission{Run: store.Run{ID: id("no"), ThreadID: thread},
				MustExist: true, Strategy: s})
			f.want(err, store.ErrConflict, id("no"))
		}
	}

	// With none of them running, the new one is in nobody's way.
	f.thread("t")
	f.run("waits", "t")
	f.equal("after one that waited", f.queue(store.Interrupt, store.Run{ID: "next", ThreadID: "t", Owner: "node-1"}),
		event.StatusRunning)
	f.equal("first", f.stored("waits").Status, event.StatusInterrupted)
	f.equal("without an owner", f.queue(store.Rollback, store.Run{ID: "last", ThreadID: "t"}), event.StatusPending)

	// Who is refused stops nobody.
	_, err := f.as("eve").Admit(f.Context(), store.Admission{Strategy: store.Interrupt, MustExist: true,
		Run: store.Run{ID: "eve", ThreadID: "t"}})
	f.want(err, store.ErrNotFound, "t")
	_, err = f.Admit(f.Context(), store.Admission{Strategy: store.Interrupt, MustExist: true,
		Run: store.Run{ID: "waits", ThreadID: "t"}})
	f.want(err, store.ErrConflict, "waits")
	f.equal("last", f.stored("last").Status, event.StatusPending)
	f.equal("stop of the running one", f.stored("next").Stop, store.StopRollback)
}

func admissionMustExist(f *fixture) {
	a := store.Admission{Run: store.Run{ID: "r", ThreadID: "t"}, Thread: store.Thread{ID: "t"}, MustExist: true}
	for _, s := range []store.Strategy{store.Reject, store.Rollback} {
		a.Strategy = s
		_, err := f.Admit(f.Context(), a)
		f.want(err, store.ErrNotFound, "t")
	}
	f.thread("t")
	_, err := f.Admit(f.Context(), a)
	f.must(err)
	t, err := f.Thread(f.Context(), "t")
	f.must(err)
	f.equal("title", t.Title, "Title of t")
	f.must(f.CreateThread(f.Context(), store.Thread{ID: "u", UserID: "ann"}))
	a.Run.ID, a.Run.ThreadID, a.Thread = "r2", "u", store.Thread{ID: "u", UserID: "ann", Title: "Named by its run"}
	_, err = f.Admit(f.Context(), a)
	f.must(err)
	t, err = f.Thread(f.Context(), "u")
	f.must(err)
	f.equal("title", t.Title, "Named by its run")

	f.must(f.CreateThread(f.Context(), store.Thread{ID: "v", UserID: "ann", Title: "Kept",
		Metadata: json.RawMessage(`{"a":1,"deerflow_pinned":true}`)}))
	for i, more := range []string{`{"a":2,"b":"first"}`, `{"b":"second","a":3}`} {
		a.Run.ID, a.Run.ThreadID = fmt.Sprint("r", 3+i), "v"
		a.Thread = store.Thread{ID: "v", UserID: "ann", Title: "Not this", Metadata: json.RawMessage(more)}
		a.Strategy = store.Enqueue
		_, err = f.Admit(f.Context(), a)
		f.must(err)
		found, err := f.SearchThreads(f.Context(),
			store.ThreadFilter{Metadata: map[string]json.RawMessage{"a": json.RawMessage("1"),
				"b": json.RawMessage(`"first"`)}})
		f.must(err)
		f.equal("threads with what the first run told", len(found), 1)
		f.equal("title", found[0].Title, "Kept")
	}
	full := json.RawMessage(`{"a":"` + strings.Repeat("x", 64<<10-9) + `"}`)
	f.must(f.CreateThread(f.Context(), store.Thread{ID: "w", UserID: "ann", Metadata: full}))
	a.Run.ID, a.Run.ThreadID, a.Thread = "r9", "w", store.Thread{ID: "w", UserID: "ann", Title: "Of a full one",
		Metadata: json.RawMessage(`{"b":"first"}`)}
	_, err = f.Admit(f.Context(), a)
	f.must(err)
	t, err = f.Thread(f.Context(), "w")
	f.must(err)
	f.equal("metadata that has no room", string(t.Metadata), string(full))
	f.equal("title", t.Title, "Of a full one")
}

// admissionOrder: runs of a thread wait in the order in which they came, whatever the clock says.
func admissionOrder(f *fixture) {
	f.thread("t")
	var want []string
	for i, d := range []time.Duration{0, time.Second, 0, 0, -time.Hour, time.Minute, -time.Minute, time.Microsecond} {
		id := fmt.Sprint("r", 9-i) // ids that fall
		f.queue(store.Enqueue, store.Run{ID: id, ThreadID: "t", CreatedAt: start.Add(d), UpdatedAt: start})
		want = append(want, id)
	}
	for i, id := range want {
		n, err := f.Position(f.Context(), id)
		f.must(err)
		f.equal("position of "+id, n, i+1)
	}
	rs, err := f.ListRuns(f.Context(), store.RunFilter{ThreadID: "t"})
	f.must(err)
	got := runIDs(rs)
	slices.Reverse(got)
	f.equal("list", got, want)
	for _, id := range want {
		f.equal("next", f.waiting(start.Add(time.Hour)), []string{id})
		o := &owner{f: f, thread: "t", fence: f.claim(id, 0)}
		f.equal("while it runs", f.waiting(start.Add(time.Hour)), []string(nil))
		o.end()
	}

	// A run on a thread whose last one is from the future is the newest all the same.
	f.queue(store.Enqueue, store.Run{ID: "r0", ThreadID: "t", Owner: "node-1", CreatedAt: start.Add(-time.Hour),
		UpdatedAt: start})
	rs, err = f.ListRuns(f.Context(), store.RunFilter{ThreadID: "t", Limit: 1})
	f.must(err)
	f.equal("newest", runIDs(rs), []string{"r0"})
}

func runIDs(rs []store.Run) (ids []string) {
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return ids
}

func (f *fixture) waiting(now time.Time) []string {
	f.Helper()
	rs, err := f.Waiting(f.Context(), now, 1000)
	f.must(err)
	return runIDs(rs)
}

func admissionFull(f *fixture) {
	f.thread("t")
	admit := func(id, thread, owner string, most int) error {
		now := f.tick()
		_, err := f.Admit(f.Context(), store.Admission{Strategy: store.Enqueue, MaxPending: most,
			Thread: store.Thread{ID: thread},
			Run:    store.Run{ID: id, ThreadID: thread, UserID: "ann", Owner: owner, CreatedAt: now, UpdatedAt: now}})
		return err
	}
	f.must(admit("r1", "t", "node-1", 2))
	f.must(admit("r2", "t", "node-1", 2))
	f.must(admit("r3", "free", "", 2))
	f.want(admit("r4", "t", "node-1", 2), store.ErrFull, "r4")
	f.want(admit("r4", "fresh", "", 2), store.ErrFull, "r4")
	_, err := f.Thread(f.Context(), "fresh")
	f.want(err, store.ErrNotFound, "fresh")
	f.must(admit("r5", "fresh", "node-1", 2)) // does not wait
	f.must(admit("r6", "t", "", 0))           // no bound

	// Those that an admission ends make room.
	_, err = f.Admit(f.Context(), store.Admission{Strategy: store.Interrupt, MaxPending: 2, MustExist: true,
		Run: store.Run{ID: "r7", ThreadID: "t", UserID: "ann", CreatedAt: f.tick()}})
	f.must(err)
}

// admissionNotBefore: a run whose time has not come waits, and so do those behind it.
func admissionNotBefore(f *fixture) {
	f.thread("t")
	now := f.tick()
	later := now.Add(time.Minute)
	run := func(id string, notBefore time.Time) string {
		return f.queue(store.Enqueue, store.Run{ID: id, ThreadID: "t", Owner: "node-1", NotBefore: notBefore,
			CreatedAt: now, UpdatedAt: now})
	}
	f.equal("delayed", run("delayed", later), event.StatusPending)
	f.equal("behind", run("behind", time.Time{}), event.StatusPending)
	f.equal("not before", f.stored("delayed").NotBefore, later)
	f.equal("zero not before", f.stored("behind").NotBefore.IsZero(), true)
	f.equal("too early", f.waiting(later.Add(-time.Microsecond)), []string(nil))
	f.equal("in time", f.waiting(later), []string{"delayed"})

	f.thread("now")
	f.equal("in the past", f.queue(store.Reject, store.Run{ID: "past", ThreadID: "now", Owner: "node-1", NotBefore: now,
		CreatedAt: now, UpdatedAt: now}), event.StatusRunning)
}

// admissionKey: a second request with a key changes nothing and gets what became of the first.
func admissionKey(f *fixture) {
	f.thread("t")
	f.thread("other")
	first, err := f.Admit(f.Context(), store.Admission{MustExist: true,
		Run: store.Run{ID: "r1", ThreadID: "t", UserID: "ann", Owner: "node-1", Key: "k", CreatedAt: f.tick()}})
	f.must(err)
	for i, thread := range []string{"t", "other", "fresh"} {
		a := store.Admission{Strategy: store.Rollback, Thread: store.Thread{ID: thread},
			Run: store.Run{ID: fmt.Sprint("again", i), ThreadID: thread, UserID: "ann", Owner: "node-2", Key: "k",
				CreatedAt: f.tick()}}
		again, err := f.Admit(f.Context(), a)
		f.must(err)
		f.equal("run of the key", again, first)
	}
	f.equal("stop", f.stored("r1").Stop, "")
	_, err = f.Thread(f.Context(), "fresh")
	f.want(err, store.ErrNotFound, "")
	o := &owner{f: f, thread: "t", fence: store.Fence{RunID: "r1", Attempt: 1}}
	o.end()
	again, err := f.Admit(f.Context(),
		store.Admission{MustExist: true, Run: store.Run{ID: "r2", ThreadID: "t", Key: "k"}})
	f.must(err)
	f.equal("run of the key at its end", again, f.stored("r1"))

	// The keys of another user are others.
	_, err = f.as("bob").Admit(f.Context(), store.Admission{Thread: store.Thread{ID: "bob's"},
		Run: store.Run{ID: "r3", ThreadID: "bob's", Key: "k"}})
	f.must(err)
	f.equal("bob's", f.stored("r3").Key, "k")
}

// admitAll makes n admissions side by side, spread over the stores.
func admitAll(fs []*fixture, n int, a func(i int) store.Admission) ([]store.Run, []error) {
	return together(n, func(i int) (store.Run, error) { return fs[i%len(fs)].Admit(fs[0].Context(), a(i)) })
}

func rejectRace(f *fixture) { admissionsRace(store.Reject, f) }

func enqueueRace(f *fixture) { admissionsRace(store.Enqueue, f) }

// admissionsRace: of 64 owners that ask at the same time for a thread, new or not, one gets it. The others are refused
// or wait, each in a place of its own that is the order in which they came.
func admissionsRace(strategy store.Strategy, fs ...*fixture) {
	const n = 64
	f := fs[0]
	for _, thread := range []string{"new", "old"} {
		if thread == "old" {
			f.thread("old")
		}
		rs, errs := admitAll(fs, n, func(i int) store.Admission {
			return store.Admission{Strategy: strategy, Thread: store.Thread{ID: thread},
				Run: store.Run{ID: fmt.Sprint(thread, "-", i), ThreadID: thread, UserID: "ann",
					Owner: fmt.Sprint("node-", i), CreatedAt: start, UpdatedAt: start}}
		})
		if strategy == store.Reject {
			f.equal("admitted", winners(f, errs, store.ErrConflict), 1)
		} else {
			f.equal("admitted", winners(f, errs, nil), n)
		}
		times, claimed := map[time.Time]bool{}, 0
		for _, r := range rs {
			if r.Status == event.StatusRunning {
				claimed++
				f.equal("the first", r.CreatedAt, start)
			}
			if r.ID != "" {
				times[r.CreatedAt] = true
			}
		}
		f.equal("claimed", claimed, 1)
		f.equal("places", len(times), len(rs)-countErrors(errs))
		f.equal("last place", times[start.Add(time.Duration(len(times)-1)*time.Microsecond)], true)
	}
}

func countErrors(errs []error) (n int) {
	for _, err := range errs {
		if err != nil {
			n++
		}
	}
	return n
}

// admissionBegin: the first event comes with the admission of a run that is claimed by it, and no other.
func admissionBegin(f *fixture) {
	f.thread("t")
	begin := event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}}
	admit := func(id string, s store.Strategy) store.Run {
		f.Helper()
		r, err := f.Admit(f.Context(), store.Admission{
			Run: store.Run{ID: id, ThreadID: "t", UserID: "ann", Owner: "node-1", CreatedAt: f.now}, MustExist: true,
			Strategy: s, Begin: &begin,
		})
		f.must(err)
		return r
	}
	first, second := admit("first", store.Reject), admit("second", store.Enqueue)
	f.equal("first begun", first.Begun, true)
	f.equal("head of a thread without a checkpoint", first.Head, "")
	f.equal("second begun", second.Begun, false)
	want := begin
	want.Time = first.CreatedAt
	f.equal("events of the first", f.events("first", event.ID{}, 10), []event.Event{want})
	f.equal("events of the second", f.events("second", event.ID{}, 10), []event.Event(nil))

	fence := store.Fence{RunID: "first", Attempt: 1}
	_, err := f.Commit(f.Context(), fence, store.Step{Now: f.tick(), Events: []event.Event{want}})
	f.want(err, store.ErrConflict, "1-1")
	want.ID.N++
	_, err = f.Commit(f.Context(), fence, store.Step{Now: f.tick(), Events: []event.Event{want}})
	f.must(err)
	f.equal("number of events", len(f.events("first", event.ID{}, 10)), 2)

	o := &owner{f: f, thread: "t", fence: fence, n: 2}
	head := o.say("hello")
	o.end()
	f.equal("status", f.stop("second", store.StopInterrupt).Status, event.StatusInterrupted)
	third := admit("third", store.Reject)
	f.equal("third begun", third.Begun, true)
	f.equal("head that the third stands on", third.Head, head)
}
