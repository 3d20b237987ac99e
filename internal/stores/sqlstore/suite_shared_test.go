package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// sharedTest tests a store that two processes have opened at the same place.
type sharedTest struct {
	name string
	test func(a, b *fixture)
}

// conformsShared tests a store that several processes open at the same place. short opens one with a lease of that
// length, which tests can wait for.
func conformsShared(t *testing.T, open, short opener, lease time.Duration) {
	onTwo(t, short, []sharedTest{
		{"lease keeps others off", func(a, b *fixture) { leaseKeepsOthersOff(a, b, lease) }},
		{"lease runs out", func(a, b *fixture) { leaseRunsOut(a, b, lease) }},
	})
	onTwo(t, open, []sharedTest{
		{"run given back", runGivenBack},
		{"claim race", sharedClaimRace},
		{"admission race", admissionRace},
		{"rejected race", func(a, b *fixture) { admissionsRace(store.Reject, a, b) }},
		{"enqueued race", func(a, b *fixture) { admissionsRace(store.Enqueue, a, b) }},
		{"key race", keyRace},
		{"interrupt under load", interruptUnderLoad},
		{"stop race", func(a, b *fixture) { stopAgainstEnd(a, b) }},
		{"write race", func(a, b *fixture) { writeAgainstRuns(a, b) }},
		{"delete against admission", deleteAgainstAdmission},
		{"take-over under load", takeOverUnderLoad},
		{"stop against children", stopAgainstChildren},
		{"patches of both", patchesSideBySide},
		{"copies beside steps", copiesBesideSteps},
		{"settings of both", settingsOfBoth},
		{"commits of both", commitsOfBoth},
		{"commits of one run", commitsOfOneRun},
	})
}

// onTwo opens the store twice for each test; each stands for a process.
func onTwo(t *testing.T, open opener, tests []sharedTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			place := t.TempDir()
			var both [2]*fixture
			for i := range both {
				f := newFixture(t, open, place)
				t.Cleanup(func() { f.must(f.Close()) })
				both[i] = f
			}
			tt.test(both[0], both[1])
		})
	}
}

// renew is what an owner does every beat, until its context ends.
func (f *fixture) renew(ctx context.Context, owner string, lease time.Duration) {
	for ctx.Err() == nil {
		lapsed, err := f.Renew(ctx, owner)
		if ctx.Err() == nil && (err != nil || lapsed) {
			f.Errorf("Renew: lapsed %v, %v", lapsed, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lease / 5):
		}
	}
}

// until waits for a condition that another process, or the end of a lease, brings about.
func (f *fixture) until(what string, ok func() bool) {
	f.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.Fatalf("%s did not happen", what)
		}
	}
}

func leaseKeepsOthersOff(a, b *fixture, lease time.Duration) {
	ctx, stop := context.WithCancel(a.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	first, err := a.Renew(ctx, "node-1")
	a.must(err)
	a.equal("lapsed", first, false)
	o := a.running("x")
	wg.Go(func() { a.renew(ctx, "node-1", lease) })
	for end := time.Now().Add(2 * lease); time.Now().Before(end); time.Sleep(lease / 10) {
		b.equal("abandoned", b.abandoned("node-2", 10), []string(nil))
		_, err = b.ClaimRun(b.Context(), o.fence.RunID, "node-2", 1, b.tick())
		b.want(err, store.ErrConflict, "node-1")
	}
	o.say("still mine")
	o.fence, o.n = a.claim(o.fence.RunID, 1), 0 // one's own run can always be claimed
	o.say("mine again")

	stop()
	wg.Wait()
	a.must(a.Release(a.Context(), "node-1"))
	b.equal("abandoned after the release", b.abandoned("node-2", 10), []string{o.fence.RunID})
	fence, err := b.ClaimRun(b.Context(), o.fence.RunID, "node-2", 2, b.tick())
	b.must(err)
	_, err = a.Commit(a.Context(), o.fence, o.step(count.Put(1)))
	a.want(err, store.ErrFenced, o.fence.RunID)
	next := &owner{f: b, thread: o.thread, fence: fence}
	next.end()
}

func leaseRunsOut(a, b *fixture, lease time.Duration) {
	asked := time.Now() // the lease begins behind it, and maybe long before the answer is here
	_, err := a.Renew(a.Context(), "node-1")
	a.must(err)
	o := a.running("x")
	head := o.say("hello")
	b.until("the end of the lease", func() bool { return len(b.abandoned("node-2", 10)) == 1 })
	if took := time.Since(asked); took < lease {
		b.Errorf("the lease ran out after %v of %v", took, lease)
	}
	fence, err := b.ClaimRun(b.Context(), o.fence.RunID, "node-2", 1, b.tick())
	b.must(err)
	_, err = a.Commit(a.Context(), o.fence, o.step(count.Put(1)))
	a.want(err, store.ErrFenced, o.fence.RunID)
	for _, want := range []bool{true, false} {
		lapsed, err := a.Renew(a.Context(), "node-1")
		a.must(err)
		a.equal("lapsed", lapsed, want)
	}
	_, err = a.ClaimRun(a.Context(), o.fence.RunID, "node-1", 1, a.tick())
	a.want(err, store.ErrConflict, o.fence.RunID)
	c := b.load(o.thread, "")
	b.equal("head", c.ID, head)
	next := &owner{f: b, thread: o.thread, fence: fence, state: c.State, n: 7}
	b.equal("parent", b.load(o.thread, next.say("and on")).ParentID, head)
	a.equal("messages", len(messages.Get(a.load(o.thread, "").State)), 2)
}

// runGivenBack: a run that its owner has given back is free, although that owner lives.
func runGivenBack(a, b *fixture) {
	_, err := a.Renew(a.Context(), "node-1")
	a.must(err)
	o := a.running("x")
	o.commit(store.Step{Now: a.tick(), Run: &store.RunChange{Status: event.StatusPending}})
	_, err = b.ClaimRun(b.Context(), o.fence.RunID, "node-2", 1, b.tick())
	b.must(err)
}

func sharedClaimRace(a, b *fixture) {
	for round := range 20 {
		thread, run := fmt.Sprint("t", round), fmt.Sprint("r", round)
		a.thread(thread)
		a.run(run, thread)
		_, errs := together(8, func(i int) (store.Fence, error) {
			return []*fixture{a, b}[i%2].ClaimRun(a.Context(), run, fmt.Sprint("node-", i), 0, start)
		})
		a.equal("winners", winners(a, errs, store.ErrConflict), 1)
	}
}

// together calls f side by side and returns the results by index.
func together[T any](n int, f func(i int) (T, error)) ([]T, []error) {
	out, errs := make([]T, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { out[i], errs[i] = f(i) })
	}
	wg.Wait()
	return out, errs
}

// winners counts the calls without an error; every other one must have failed with lost.
func winners(f *fixture, errs []error, lost error) (won int) {
	f.Helper()
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, lost) {
			f.Errorf("error = %v, want %v", err, lost)
		}
	}
	return won
}

// admissionRace: of several first runs on one new thread one is admitted.
func admissionRace(a, b *fixture) {
	for round := range 20 {
		thread := store.Thread{ID: fmt.Sprint("t", round), UserID: "ann", CreatedAt: start, UpdatedAt: start}
		_, errs := together(8, func(i int) (store.Run, error) {
			r := store.Run{ID: fmt.Sprint("r", round, "-", i), ThreadID: thread.ID, UserID: "ann", CreatedAt: start,
				UpdatedAt: start}
			return []*fixture{a, b}[i%2].Admit(a.Context(), store.Admission{Thread: thread, Run: r})
		})
		a.equal("admitted", winners(a, errs, store.ErrConflict), 1)
	}
}

// keyRace: of requests with one key, on one thread or on many, one is admitted, and all are told of it.
func keyRace(a, b *fixture) {
	for round := range 20 {
		for _, strategy := range []store.Strategy{store.Reject, store.Interrupt} {
			key := fmt.Sprint("key-", round, strategy)
			rs, errs := admitAll([]*fixture{a, b}, 8, func(i int) store.Admission {
				thread := fmt.Sprint(key, "-", i/4)
				return store.Admission{Strategy: strategy, Thread: store.Thread{ID: thread}, MaxPending: round + 1,
					Run: store.Run{ID: fmt.Sprint(key, "-", i), ThreadID: thread, UserID: "ann", Key: key,
						CreatedAt: start, UpdatedAt: start}}
			})
			a.equal("told", winners(a, errs, nil), 8)
			for _, r := range rs {
				a.equal("run", r, rs[0])
			}
			all, err := a.ListRuns(a.Context(), store.RunFilter{Statuses: []string{event.StatusPending}})
			a.must(err)
			a.equal("runs", len(all), 1)
			a.stop(rs[0].ID, store.StopInterrupt)
		}
	}
}

// interruptUnderLoad: admissions that stop a run while it commits neither lose the stop nor stand in each other's way.
func interruptUnderLoad(a, b *fixture) {
	o := a.running("x")
	stopped := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stopped:
				return
			default:
			}
			u := count.Put(1)
			o.state, _, _ = o.state.Apply(u)
			if _, err := a.Commit(a.Context(), o.fence,
				store.Step{State: o.state, Now: start.Add(time.Duration(n) * time.Hour),
					Updates: []store.NodeUpdate{{Node: "model", Update: u}}}); err != nil {
				a.Error(err)
				return
			}
		}
	})
	last := ""
	for i := range 40 {
		last = fmt.Sprint("next-", i)
		_, err := b.Admit(b.Context(), store.Admission{Strategy: store.Interrupt, MustExist: true,
			Run: store.Run{ID: last, ThreadID: o.thread, UserID: "ann", Owner: "node-2", CreatedAt: start}})
		b.must(err)
	}
	close(stopped)
	wg.Wait()
	b.equal("stop", b.stored(o.fence.RunID).Stop, store.StopInterrupt)
	rs, err := b.ListRuns(b.Context(), store.RunFilter{Statuses: []string{event.StatusPending}})
	b.must(err)
	b.equal("the last one waits", runIDs(rs), []string{last})
}

// deleteAgainstAdmission: a thread with an active run is never deleted, whoever comes first.
func deleteAgainstAdmission(a, b *fixture) {
	for round := range 40 {
		thread, run := fmt.Sprint("t", round), fmt.Sprint("r", round)
		a.thread(thread)
		admit := round%2 == 0
		_, errs := together(2, func(i int) (struct{}, error) {
			if i == 0 {
				return struct{}{}, a.DeleteThread(a.Context(), thread)
			}
			_, err := b.Admit(b.Context(), store.Admission{Thread: store.Thread{ID: thread}, MustExist: !admit,
				Run: store.Run{ID: run, ThreadID: thread, UserID: "ann"}})
			return struct{}{}, err
		})
		_, err := a.UserData.Run(a.Context(), run)
		switch {
		case errs[1] == nil && err != nil:
			a.Errorf("run %s was admitted and is gone: %v", run, err)
		case !admit && errs[1] != nil && (errs[0] != nil || !errors.Is(errs[1], store.ErrNotFound)):
			a.Errorf("delete: %v, create: %v", errs[0], errs[1])
		case admit && errs[1] != nil:
			a.Errorf("admit: %v", errs[1])
		case errs[0] != nil && !errors.Is(errs[0], store.ErrConflict):
			a.Errorf("delete: %v", errs[0])
		}
	}
}

// takeOverUnderLoad: what the old owner was told is committed is there for the new one; later it commits nothing.
func takeOverUnderLoad(a, b *fixture) {
	for round := range 10 {
		o := a.running(fmt.Sprint(round))
		acked := make(chan string, 1000)
		var wg sync.WaitGroup
		wg.Go(func() {
			defer close(acked)
			for {
				u := count.Put(1)
				o.state, _, _ = o.state.Apply(u)
				id, err := a.Commit(a.Context(), o.fence,
					store.Step{State: o.state, Now: start, Updates: []store.NodeUpdate{{Node: "model", Update: u}}})
				if err != nil {
					if !errors.Is(err, store.ErrFenced) {
						a.Error(err)
					}
					return
				}
				acked <- id
			}
		})
		last, n := <-acked, 1
		fence, err := b.ClaimRun(b.Context(), o.fence.RunID, "node-2", 1, b.tick())
		b.must(err)
		c := b.load(o.thread, "")
		for id := range acked {
			last = id
			n++
		}
		wg.Wait()
		b.equal("head", c.ID, last)
		b.equal("count", count.Get(c.State), n)
		b.equal("head afterwards", b.load(o.thread, "").ID, c.ID)
		(&owner{f: b, thread: o.thread, fence: fence, state: c.State}).end()
	}
}

// commitsOfBoth: both processes commit to threads of their own.
func commitsOfBoth(a, b *fixture) {
	const runs, steps = 16, 20
	var owners []*owner
	for i := range runs {
		owners = append(owners, []*fixture{a, b}[i%2].running(fmt.Sprint(i)))
	}
	heads, errs := together(runs, func(i int) (head string, err error) {
		o := owners[i]
		for range steps {
			u := count.Put(1)
			o.state, _, _ = o.state.Apply(u)
			head, err = o.f.Commit(o.f.Context(), o.fence, store.Step{State: o.state, Now: start, Next: "model",
				Updates: []store.NodeUpdate{{Node: "model", Update: u}}, Events: []event.Event{o.event(event.State{})}})
			if err != nil {
				return head, err
			}
		}
		return head, nil
	})
	a.equal("done", winners(a, errs, nil), runs)
	for i, o := range owners {
		other := []*fixture{b, a}[i%2]
		c := other.load(o.thread, "")
		other.equal("head", c.ID, heads[i])
		other.equal("count", count.Get(c.State), steps)
		other.equal("events", len(other.events(o.fence.RunID, event.ID{}, 1000)), steps)
	}
}

// commitsOfOneRun: an owner's parallel steps of events and its steps with updates do not tear the chain, and steps of
// two runs do not stop each other.
func commitsOfOneRun(a, b *fixture) {
	owners := []*owner{a.running("x"), b.running("y")}
	_, errs := together(8, func(i int) (struct{}, error) {
		o, st := owners[i%2], state.State{}
		for n := range 40 {
			step := store.Step{Now: start}
			if i < 2 {
				u := count.Put(1)
				st, _, _ = st.Apply(u)
				step.Updates, step.State = []store.NodeUpdate{{Node: "model", Update: u}}, st
			} else {
				step.Events = []event.Event{{ID: event.ID{Attempt: 1, N: int64(n*8 + i + 1)}, Time: start,
					Data: custom(n)}}
			}
			if _, err := o.f.Commit(o.f.Context(), o.fence, step); err != nil && !errors.Is(err, store.ErrConflict) {
				return struct{}{}, err
			}
		}
		return struct{}{}, nil
	})
	a.equal("done", winners(a, errs, nil), 8)
	for _, o := range owners {
		c := o.f.load(o.thread, "")
		o.f.equal("step", c.Step, 40)
		o.f.equal("count", count.Get(c.State), 40)
		var last int64
		for _, e := range o.f.events(o.fence.RunID, event.ID{}, 1000) {
			if e.ID.N <= last {
				o.f.Errorf("event %s comes after %d", e.ID, last)
			}
			last = e.ID.N
		}
	}
}
