package sqlstore_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

func (f *fixture) stop(id, action string) store.Run {
	f.Helper()
	r, err := f.StopRun(f.Context(), id, action, f.tick())
	f.must(err)
	f.equal("run as stopped", r, f.stored(id))
	return r
}

func stopWaiting(f *fixture) {
	f.thread("t")
	for _, tt := range []struct{ action, status, failure string }{
		{store.StopInterrupt, event.StatusInterrupted, ""}, {store.StopRollback, event.StatusError, store.RolledBack},
	} {
		f.run("r-"+tt.action, "t")
		r := f.stop("r-"+tt.action, tt.action)
		f.equal("status", r.Status, tt.status)
		f.equal("error", r.Error, tt.failure)
		f.equal("stop reason", r.StopReason, store.Cancelled)
		f.equal("updated", r.UpdatedAt, f.now)
		f.equal("events", len(f.events(r.ID, event.ID{}, 10)), 0)
		for _, action := range []string{store.StopInterrupt, store.StopRollback} {
			f.equal("stopped again", f.stop(r.ID, action), r)
		}
		_, err := f.ClaimRun(f.Context(), r.ID, "node-1", 0, f.tick())
		f.want(err, store.ErrConflict, r.ID)
	}
	_, err := f.StopRun(f.Context(), "nobody", store.StopInterrupt, f.tick())
	f.want(err, store.ErrNotFound, "nobody")
	for _, action := range []string{"", "kill"} {
		if _, err := f.StopRun(f.Context(), "r-interrupt", action, f.tick()); err == nil {
			f.Errorf("StopRun took action %q", action)
		}
	}
}

func stopRunning(f *fixture) {
	var owners []*owner
	for i := range 3 {
		owners = append(owners, f.running(fmt.Sprint(i)))
	}
	f.thread("t")
	f.run("other's", "t")
	f.claimAs("node-2", "other's", 0)
	for _, tt := range []struct{ run, action, want string }{
		{"run-0", store.StopInterrupt, store.StopInterrupt}, {"run-0", store.StopRollback, store.StopRollback},
		{"run-0", store.StopInterrupt, store.StopRollback}, {"run-2", store.StopInterrupt, store.StopInterrupt},
		{"other's", store.StopInterrupt, store.StopInterrupt},
	} {
		r := f.stop(tt.run, tt.action)
		f.equal("stop", r.Stop, tt.want)
		f.equal("status", r.Status, event.StatusRunning)
	}
	stopping := func(owner string, limit int) []string {
		f.Helper()
		rs, err := f.Stopping(f.Context(), owner, limit)
		f.must(err)
		return runIDs(rs)
	}
	f.equal("stopping", stopping("node-1", 1000), []string{"run-0", "run-2"})
	f.equal("stopping, limited", stopping("node-1", 1), []string{"run-0"})
	f.equal("stopping of another", stopping("node-2", 10), []string{"other's"})
	owners[0].say("before it hears of it")
	owners[0].end()
	f.equal("stopping after the end", stopping("node-1", 10), []string{"run-2"})
	f.equal("status at the end", f.stop("run-0", store.StopInterrupt).Status, event.StatusSuccess)
	f.claimAs("node-3", "run-2", 1)
	f.equal("taken over", stopping("node-3", 10), []string{"run-2"})
	for _, limit := range []int{0, 1001} {
		if _, err := f.Stopping(f.Context(), "node-1", limit); err == nil {
			f.Errorf("Stopping took limit %d", limit)
		}
	}
}

// stopGivenBack: a run that had begun and waits again is ended, but for one that is to be rolled back: that takes an
// owner.
func stopGivenBack(f *fixture) {
	for _, tt := range []struct{ first, then, status, stop string }{
		{store.StopInterrupt, store.StopRollback, event.StatusInterrupted, store.StopInterrupt},
		{store.StopRollback, store.StopInterrupt, event.StatusPending, store.StopRollback},
	} {
		o := f.running(tt.first)
		o.say("hello")
		o.commit(store.Step{Now: f.tick(), Run: &store.RunChange{Status: event.StatusPending}})
		f.stop(o.fence.RunID, tt.first)
		r := f.stop(o.fence.RunID, tt.then)
		f.equal("status", r.Status, tt.status)
		f.equal("stop", r.Stop, tt.stop)
	}
	f.equal("waiting", f.waiting(f.now), []string{"run-" + store.StopRollback})
}

// stopAgainstEnd: a stop that races with the end of a run, or with its claim, is seen by one of both.
func stopAgainstEnd(fs ...*fixture) {
	f, g := fs[0], fs[len(fs)-1]
	for round := range 40 {
		o := f.running(fmt.Sprint(round))
		waits := fmt.Sprint("waits-", round)
		f.queue(store.Enqueue, store.Run{ID: waits, ThreadID: o.thread})
		now := f.tick()
		rs, errs := together(4, func(i int) (store.Run, error) {
			switch i {
			case 0:
				_, err := f.Commit(f.Context(), o.fence,
					store.Step{Now: now, Run: &store.RunChange{Status: event.StatusSuccess}})
				return store.Run{}, err
			case 1:
				return g.StopRun(f.Context(), o.fence.RunID, store.StopInterrupt, now)
			case 2:
				_, err := f.ClaimRun(f.Context(), waits, "node-1", 0, now)
				if errors.Is(err, store.ErrConflict) {
					err = nil
				}
				return store.Run{}, err
			default:
				return g.StopRun(f.Context(), waits, store.StopInterrupt, now)
			}
		})
		f.equal("done", winners(f, errs, nil), 4)
		f.equal("status", f.stored(o.fence.RunID).Status, event.StatusSuccess)
		if r := rs[1]; r.Active() != (r.Status == event.StatusRunning) || r.Active() && r.Stop != store.StopInterrupt {
			f.Errorf("stopped run is %+v", r)
		}
		switch r := f.stored(waits); {
		case r.Status == event.StatusInterrupted && r.Attempt == 0:
		case r.Status == event.StatusRunning && r.Attempt == 1 && r.Stop == store.StopInterrupt:
		default:
			f.Errorf("the run that waited is %+v", r)
		}
	}
}

func stopRace(f *fixture) { stopAgainstEnd(f) }

// claimWaiting: a thread's runs run one at a time.
func claimWaiting(f *fixture) {
	f.thread("t")
	for _, id := range []string{"r1", "r2", "r3"} {
		f.queue(store.Enqueue, store.Run{ID: id, ThreadID: "t"})
	}
	o := &owner{f: f, thread: "t", fence: f.claim("r2", 0)} // nobody has to wait for one that does not run
	_, err := f.ClaimRun(f.Context(), "r1", "node-1", 0, f.tick())
	f.want(err, store.ErrConflict, "another run")
	f.equal("attempt", f.stored("r1").Attempt, 0)
	o.fence = f.claim("r2", 1)
	o.end()
	_, errs := together(16, func(i int) (store.Fence, error) {
		return f.ClaimRun(f.Context(), []string{"r1", "r3"}[i%2], fmt.Sprint("node-", i), 0, start)
	})
	f.equal("winners", winners(f, errs, store.ErrConflict), 1)
}

func waitingAndPosition(f *fixture) {
	for _, r := range []store.Run{{ID: "a1", ThreadID: "a", Owner: "node-1"}, {ID: "a2", ThreadID: "a"},
		{ID: "b1", ThreadID: "b"}, {ID: "b2", ThreadID: "b"},
		{ID: "c1", ThreadID: "c", NotBefore: start.Add(time.Hour)}, {ID: "d1", ThreadID: "d"}} {
		if _, err := f.Thread(f.Context(), r.ThreadID); err != nil {
			f.thread(r.ThreadID)
		}
		f.queue(store.Enqueue, r)
	}
	position := func(want map[string]int) {
		f.Helper()
		for id, n := range want {
			got, err := f.Position(f.Context(), id)
			f.must(err)
			f.equal("position of "+id, got, n)
		}
	}
	f.equal("waiting", f.waiting(f.now), []string{"b1", "d1"})
	f.equal("waiting later", f.waiting(start.Add(time.Hour)), []string{"b1", "c1", "d1"})
	rs, err := f.Waiting(f.Context(), f.now, 1)
	f.must(err)
	f.equal("limited", runIDs(rs), []string{"b1"})
	f.equal("as stored", rs[0], f.stored("b1"))
	position(map[string]int{"a1": 0, "a2": 1, "b1": 2, "b2": 3, "c1": 4, "d1": 5})

	(&owner{f: f, thread: "a", fence: store.Fence{RunID: "a1", Attempt: 1}}).end()
	f.claim("b1", 0)
	f.stop("c1", store.StopInterrupt)
	f.equal("waiting then", f.waiting(f.now), []string{"a2", "d1"})
	position(map[string]int{"a1": 0, "a2": 1, "b1": 0, "b2": 2, "c1": 0, "d1": 3})
	_, err = f.Position(f.Context(), "nobody")
	f.want(err, store.ErrNotFound, "nobody")
	for _, limit := range []int{0, 1001} {
		if _, err := f.Waiting(f.Context(), start, limit); err == nil {
			f.Errorf("Waiting took limit %d", limit)
		}
	}
}

func queueFigures(f *fixture) {
	look := func(now time.Time) store.Queue {
		f.Helper()
		q, err := f.Queue(f.Context(), now)
		f.must(err)
		return q
	}
	f.equal("empty", look(start), store.Queue{})
	before := f.Stats()
	later := start.Add(time.Hour)
	f.thread("a")
	f.queue(store.Enqueue, store.Run{ID: "a1", ThreadID: "a", NotBefore: later})
	f.equal("one for later", look(f.now), store.Queue{Waiting: 1})
	f.equal("its time has come", look(later.Add(time.Minute)).Oldest.Equal(later), true)
	f.thread("b")
	f.queue(store.Enqueue, store.Run{ID: "b1", ThreadID: "b"})
	q := look(later.Add(time.Minute))
	f.equal("waiting", q.Waiting, 2)
	f.equal("oldest", q.Oldest.Equal(f.stored("b1").CreatedAt), true)
	f.claim("b1", 0)
	f.equal("one that runs waits no more", look(f.now), store.Queue{Waiting: 1})
	after := f.Stats()
	f.equal("commits", after.Commits-before.Commits >= 3 && after.Committing > before.Committing &&
		after.Failed == before.Failed, true)
	f.equal("connections", after.InUse+after.Idle > 0, true)
}

// runDelete: a run goes with its events, its checkpoints stay.
func runDelete(f *fixture) {
	o := f.running("x")
	f.want(f.DeleteRun(f.Context(), "run-x"), store.ErrConflict, "run-x")
	ids := []string{o.say("one"), o.say("two")}
	o.commit(store.Step{Now: f.tick(), Events: []event.Event{o.event(custom(1))}})
	o.end()
	f.queue(store.Enqueue, store.Run{ID: "next", ThreadID: o.thread, Key: "k"})
	f.want(f.DeleteRun(f.Context(), "next"), store.ErrConflict, "next")
	next := &owner{f: f, thread: o.thread, fence: f.claim("next", 0), state: o.state}
	ids = append(ids, next.say("three"))
	next.end()

	f.must(f.DeleteRun(f.Context(), "run-x"))
	f.want(f.DeleteRun(f.Context(), "run-x"), store.ErrNotFound, "run-x")
	_, err := f.UserData.Run(f.Context(), "run-x")
	f.want(err, store.ErrNotFound, "")
	_, err = f.Events(f.Context(), "run-x", event.ID{}, 10)
	f.want(err, store.ErrNotFound, "")
	f.reopen()
	for i, id := range ids {
		c := f.load(o.thread, id)
		f.equal("step", c.Step, i+1)
		f.equal("messages", len(messages.Get(c.State)), i+1)
		f.equal("run", c.RunID, []string{"", "", "next"}[i])
	}
	f.equal("events of the other", len(f.events("next", event.ID{}, 10)), 1)
	f.sound()
	f.must(f.DeleteRun(f.Context(), "next"))
	f.queue(store.Reject, store.Run{ID: "next", ThreadID: o.thread, Key: "k"}) // its id and its key are free
	f.equal("status", f.stored("next").Status, event.StatusPending)
}

// sound fails if the store finds a fault in what it holds.
func (f *fixture) sound() {
	f.Helper()
	f.must(f.Verify(f.Context(), schema(f.T),
		store.Visitor{Problem: func(p store.Problem) { f.Errorf("fault: %+v", p) }}))
}
