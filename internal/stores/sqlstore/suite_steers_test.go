package sqlstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// say says something on a thread, and returns to which run; empty if it has become a run.
func (f *fixture) steer(id, thread string) string {
	f.Helper()
	f.queue(store.Steer, store.Run{ID: id, ThreadID: thread, Request: json.RawMessage(`{"input":"` + id + `"}`)})
	return f.stored(id).Steers
}

func (f *fixture) steers(thread string) string {
	f.Helper()
	list, err := f.Steers(f.Context(), thread)
	f.must(err)
	return strings.Join(runIDs(list), " ")
}

// takes is a step with a message for each of the steers.
func (o *owner) takes(ids ...string) store.Step {
	o.f.Helper()
	var msgs []item
	for _, id := range ids {
		msgs = append(msgs, item{ID: "m-" + id, Text: id})
	}
	st := o.step(messages.Append(msgs...))
	st.Takes = ids
	return st
}

func (o *owner) ends(c store.RunChange) {
	o.f.Helper()
	o.commit(store.Step{Run: &c, Now: o.f.tick()})
}

func (f *fixture) status(thread string) string {
	f.Helper()
	t, err := f.Thread(f.Context(), thread)
	f.must(err)
	return t.Status
}

// steersTaken: what is said to the run at work waits for it, in order, is no run, and is taken once, with the step that
// has it.
func steersTaken(f *fixture) {
	o := f.running("a")
	f.equal("said to", f.steer("s1", o.thread), "run-a")
	f.equal("said to", f.steer("s2", o.thread), "run-a")
	f.equal("waiting to be said", f.steers(o.thread), "s1 s2")
	list, err := f.ListRuns(f.Context(), store.RunFilter{ThreadID: o.thread})
	f.must(err)
	f.equal("runs", runIDs(list), []string{"run-a"})
	f.equal("runs that may start", len(f.waiting(f.now)), 0)

	o.commit(o.takes("s1", "s2"))
	f.equal("waiting to be said", f.steers(o.thread), "")
	for _, id := range []string{"s1", "s2"} {
		r := f.stored(id)
		f.equal("taken", []any{r.Status, r.StopReason, r.Steers, r.Attempt},
			[]any{event.StatusSuccess, store.Taken, "run-a", 0})
	}
	before := len(f.events("run-a", event.ID{}, 100))
	_, err = f.Commit(f.Context(), o.fence, o.takes("s1"))
	f.want(err, store.ErrTakenBack, "s1")
	f.equal("events", len(f.events("run-a", event.ID{}, 100)), before)
	f.want(f.TakeBack(f.Context(), o.thread, "s1"), store.ErrConflict, "s1")
	o.n--
	o.say("it goes on")
	o.end()
	f.equal("status", f.status(o.thread), store.ThreadIdle)
	f.equal("runs that may start", len(f.waiting(f.now)), 0)
	f.equal("asked for again", f.stored("s1").Steers, "run-a")
}

// steersBecomeRuns: what no run has taken is the next run, before those that wait longer, and once.
func steersBecomeRuns(f *fixture) {
	o := f.running("a")
	f.equal("enqueued", f.queue(store.Enqueue, store.Run{ID: "later", ThreadID: o.thread}), event.StatusPending)
	f.steer("s1", o.thread)
	f.steer("s2", o.thread)
	o.end()
	f.equal("may start", f.waiting(f.now), []string{"s1"})
	f.equal("thread", f.status(o.thread), store.ThreadBusy)
	fence := f.claim("s1", 0)
	f.equal("waiting to be said", f.steers(o.thread), "s2")
	f.want(f.TakeBack(f.Context(), o.thread, "s1"), store.ErrConflict, "s1")
	list, err := f.ListRuns(f.Context(), store.RunFilter{ThreadID: o.thread})
	f.must(err)
	f.equal("runs", runIDs(list), []string{"s1", "later", "run-a"})
	next := &owner{f: f, thread: o.thread, fence: fence, state: o.state}
	next.commit(next.takes("s2"))
	next.end()
	f.equal("may start", f.waiting(f.now), []string{"later"})
}

// steersOfIdle: where nothing works and nothing is asked it is a run.
func steersOfIdle(f *fixture) {
	f.equal("on a new thread", f.queueNew("r", "new").Status, event.StatusRunning)
	f.thread("t")
	f.equal("said to", f.steer("s", "t"), "")
	f.equal("status", f.stored("s").Status, event.StatusPending)
	f.equal("said to one that waits", f.steer("s2", "t"), "s")
	f.equal("may start", f.waiting(f.now), []string{"s"})
	o := &owner{f: f, thread: "t", fence: f.claim("s", 0)}
	o.ends(store.RunChange{Status: event.StatusSuccess})
	f.equal("may start", f.waiting(f.now), []string{"s2"})
	(&owner{f: f, thread: "t", fence: f.claim("s2", 0)}).
		ends(store.RunChange{Status: event.StatusInterrupted, StopReason: store.Cancelled})
	f.equal("behind one that was cancelled", f.steer("s3", "t"), "")
}

// queueNew says something on a thread that is made with it, by a process that has a place.
func (f *fixture) queueNew(id, thread string) store.Run {
	f.Helper()
	now := f.tick()
	r, err := f.Admit(f.Context(), store.Admission{
		Run: store.Run{ID: id, ThreadID: thread, Owner: "node-1", Request: json.RawMessage(`{}`), CreatedAt: now,
			UpdatedAt: now},
		Thread: store.Thread{ID: thread, CreatedAt: now, UpdatedAt: now}, Strategy: store.Steer,
	})
	f.must(err)
	return r
}

// steersKeptBack: while a question waits for its answer so does what was said; the run that answers takes it.
func steersKeptBack(f *fixture) {
	for name, end := range map[string]store.RunChange{
		"approval": {Status: event.StatusInterrupted}, "question": {Status: event.StatusSuccess, Asks: true},
	} {
		o := f.running(name)
		f.steer("before-"+name, o.thread)
		o.ends(end)
		said := "before-" + name
		if name == "approval" {
			f.equal("said to", f.steer("after-"+name, o.thread), "run-"+name)
			f.equal("thread", f.status(o.thread), store.ThreadInterrupted)
			said += " after-" + name
		}
		f.equal("waits", f.steers(o.thread), said)
		f.equal("may start", len(f.waiting(f.now.Add(time.Hour))), 0)
		f.equal("the answer", f.queue(store.Reject, store.Run{ID: "answer-" + name, ThreadID: o.thread}),
			event.StatusPending)
		f.equal("may start", f.waiting(f.now), []string{"answer-" + name})
		o.fence = f.claim("answer-"+name, 0)
		o.n = 0
		o.commit(o.takes(strings.Fields(said)...))
		o.end()
		f.equal("waits", f.steers(o.thread), "")
	}
	// An answer that takes nothing leaves it to be the next run.
	o := f.running("c")
	f.steer("left", o.thread)
	o.ends(store.RunChange{Status: event.StatusInterrupted})
	f.run("answer-c", o.thread)
	o.fence = f.claim("answer-c", 0)
	o.end()
	f.equal("may start", f.waiting(f.now), []string{"left"})
}

// steersOfStopped: who stops the run does not stop what was said to it: it is the next run, or said to the one that
// comes instead.
func steersOfStopped(f *fixture) {
	o := f.running("a")
	f.steer("s", o.thread)
	f.stop("run-a", store.StopInterrupt)
	o.ends(store.RunChange{Status: event.StatusInterrupted, StopReason: store.Cancelled})
	f.equal("may start", f.waiting(f.now), []string{"s"})

	for _, strategy := range []store.Strategy{store.Interrupt, store.Rollback} {
		o := f.running(string(strategy))
		s, instead := "s-"+string(strategy), "instead-"+string(strategy)
		f.steer(s, o.thread)
		f.equal("instead", f.queue(strategy, store.Run{ID: instead, ThreadID: o.thread}), event.StatusPending)
		f.equal("said to", f.stored(s).Steers, instead)
		o.ends(store.RunChange{Status: event.StatusInterrupted, StopReason: store.Cancelled})
		f.equal("may start", f.waitingOn(o.thread), instead)
		f.stop(instead, store.StopInterrupt)
		f.equal("may start", f.waitingOn(o.thread), s)
	}
}

// waitingOn are the runs of a thread that may start.
func (f *fixture) waitingOn(thread string) string {
	var ids []string
	for _, id := range f.waiting(f.now) {
		if f.stored(id).ThreadID == thread {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

// steersTakenBack: until a run has it, and by nobody else.
func steersTakenBack(f *fixture) {
	o := f.running("a")
	f.steer("s1", o.thread)
	f.steer("s2", o.thread)
	f.thread("t")
	f.want(f.TakeBack(f.Context(), "t", "s1"), store.ErrNotFound, "s1")
	f.want(f.TakeBack(f.Context(), o.thread, "run-a"), store.ErrNotFound, "run-a")
	f.want(f.as("bob").TakeBack(f.Context(), o.thread, "s1"), store.ErrNotFound, "s1")
	list, err := f.as("bob").Steers(f.Context(), o.thread)
	f.must(err)
	f.equal("bob's", len(list), 0)
	_, err = f.as("bob").Admit(f.Context(),
		store.Admission{Run: store.Run{ID: "b", ThreadID: o.thread, CreatedAt: f.tick()}, MustExist: true,
			Strategy: store.Steer})
	f.want(err, store.ErrNotFound, "b")
	f.must(f.TakeBack(f.Context(), o.thread, "s1"))
	f.want(f.TakeBack(f.Context(), o.thread, "s1"), store.ErrNotFound, "s1")
	_, err = f.Commit(f.Context(), o.fence, o.takes("s1", "s2"))
	f.want(err, store.ErrTakenBack, "s1")
	f.equal("waits", f.steers(o.thread), "s2")
	f.want(f.DeleteThread(f.Context(), o.thread), store.ErrConflict, o.thread)
	bin := f.running("bin")
	f.steer("binned", bin.thread)
	_, err = f.PatchThread(f.Context(), bin.thread, store.ThreadPatch{Set: store.Trashed, TrashedAt: f.tick()})
	f.must(err)
	f.equal("in the bin", f.stored("binned").Status, event.StatusInterrupted)
	o.ends(store.RunChange{Status: event.StatusInterrupted})
	f.must(f.DeleteThread(f.Context(), o.thread)) // what waits for the answer goes with it
	_, err = f.deeper.Run(f.Context(), "s2")
	f.want(err, store.ErrNotFound, "s2")
}

// steersBounded: so many, and so large; with a key it is said once.
func steersBounded(f *fixture) {
	o := f.running("a")
	ask := func(r store.Run) (store.Run, error) {
		r.ThreadID, r.CreatedAt = o.thread, f.tick()
		return f.Admit(f.Context(), store.Admission{Run: r, MustExist: true, Strategy: store.Steer})
	}
	_, err := ask(store.Run{ID: "large", Request: json.RawMessage(`"` + strings.Repeat("x", store.MaxSteer) + `"`)})
	f.want(err, store.ErrTooLarge, "large")
	_, err = ask(store.Run{ID: "largest",
		Request: json.RawMessage(`"` + strings.Repeat("x", store.MaxSteer-2) + `"`)})
	f.must(err)
	f.must(f.TakeBack(f.Context(), o.thread, "largest"))
	first, err := ask(store.Run{ID: "first", Key: "k"})
	f.must(err)
	again, err := ask(store.Run{ID: "again", Key: "k"})
	f.must(err)
	f.equal("asked again", again, first)
	for n := 1; n < store.MaxSteers; n++ {
		_, err := ask(store.Run{ID: fmt.Sprint("s", n)})
		f.must(err)
	}
	_, err = ask(store.Run{ID: "more"})
	f.want(err, store.ErrSteers, "more")
	o.commit(o.takes("first"))
	_, err = ask(store.Run{ID: "more"})
	f.must(err)
	again, err = ask(store.Run{ID: "again", Key: "k"})
	f.must(err)
	f.equal("asked again, taken", []any{again.ID, again.Steers, again.IsSteer()}, []any{"first", "run-a", true})
}

// steersRace: of a run that takes what was said, one that takes it back, and the run's end, each is there as a whole.
func steersRace(f *fixture) {
	for round := range 40 {
		o := f.running(fmt.Sprint(round))
		id := fmt.Sprint("s", round)
		f.steer(id, o.thread)
		step, end := o.takes(id), store.Step{Run: &store.RunChange{Status: event.StatusSuccess}, Now: f.now}
		_, errs := together(4, func(i int) (store.Run, error) {
			switch i {
			case 0:
				_, err := f.Commit(f.Context(), o.fence, step)
				return store.Run{}, err
			case 1:
				return store.Run{}, f.TakeBack(f.Context(), o.thread, id)
			case 2:
				_, err := f.Commit(f.Context(), o.fence, end)
				return store.Run{}, err
			default:
				_, err := f.ClaimRun(f.Context(), id, "node-1", 0, f.now)
				return store.Run{}, err
			}
		})
		won := 0
		for _, i := range []int{0, 1, 3} {
			if errs[i] == nil {
				won++
			}
		}
		if won > 1 || errs[2] != nil {
			f.Fatalf("round %d: %v", round, errs)
		}
		_, err := f.deeper.Run(f.Context(), id)
		if errors.Is(err, store.ErrNotFound) != (errs[1] == nil) {
			f.Errorf("round %d: %v, %v", round, errs, err)
		}
	}
}

// steersDumped: a backup has what waits.
func steersDumped(f *fixture) {
	o := f.running("a")
	f.steer("s", o.thread)
	o.ends(store.RunChange{Status: event.StatusInterrupted})
	var dump bytes.Buffer
	_, err := f.Dump(f.Context(), &dump)
	f.must(err)
	g := newFixture(f.T, f.open, f.TempDir())
	defer g.Close()
	_, err = g.Load(g.Context(), &dump, nil)
	g.must(err)
	g.equal("waits", g.steers(o.thread), "s")
	g.equal("as it was", g.stored("s"), f.stored("s"))
	g.equal("may start", len(g.waiting(f.now)), 0)
}
