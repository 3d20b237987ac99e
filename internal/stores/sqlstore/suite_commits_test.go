package sqlstore_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

func stepLarge(f *fixture) {
	o := f.running("x")
	raw := make([]byte, 1<<20)
	rand.Read(raw)
	text := base64.StdEncoding.EncodeToString(raw) // 1.4 MB
	o.say(text)
	o.say("small")
	id := o.say(text)
	got := messages.Get(f.load(o.thread, id).State)
	f.equal("messages", len(got), 3)
	f.equal("first", got[0].Text == text, true)
	f.equal("last", got[2].Text == text, true)
	f.equal("events", len(f.events(o.fence.RunID, event.ID{}, 10)), 3)
}

func stepsTogether(f *fixture) {
	o := f.running("x")
	before := o.say("one")
	say := func(id string) store.Step { return o.step(messages.Append(item{ID: id, Text: id})) }
	quiet := store.Step{Now: f.tick(), Events: []event.Event{o.event(event.Custom{Value: []byte(`{"a":1}`)})}}
	steps := []store.Step{quiet, say("two"), say("three")}
	end := say("four")
	end.Run = &store.RunChange{Status: event.StatusSuccess}
	ids, err := f.CommitAll(f.Context(), o.fence, append(steps, end))
	f.must(err)
	f.equal("checkpoint of a step without updates", ids[0], before)
	for i, id := range ids[1:] {
		cp := f.load(o.thread, id)
		f.equal("step", cp.Step, i+2)
		f.equal("messages", len(messages.Get(cp.State)), i+2)
		f.equal("parent", cp.ParentID, ids[i])
	}
	f.equal("head", f.load(o.thread, "").ID, ids[3])
	f.equal("events", len(f.events(o.fence.RunID, event.ID{}, 10)), 5)
	r, err := f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	f.equal("status", r.Status, event.StatusSuccess)
}

// manyStepsTogether: steps of all kinds come out in order, however many share a commit. One in three has events alone,
// and one in five has nothing.
func manyStepsTogether(f *fixture) {
	for n := range 50 {
		o := f.running(fmt.Sprint(n))
		var steps []store.Step
		for i := range n + 1 {
			switch {
			case i%5 == 4:
				steps = append(steps, store.Step{Now: f.tick()})
			case i%3 == 2:
				steps = append(steps, store.Step{Now: f.tick(),
					Events: []event.Event{o.event(event.Custom{Value: []byte("1")})}})
			default:
				steps = append(steps, o.step(messages.Append(item{ID: fmt.Sprint(i), Text: "hello"})))
			}
		}
		ids, err := f.CommitAll(f.Context(), o.fence, steps)
		f.must(err)
		f.equal("ids", len(ids), len(steps))
		f.equal("head", f.load(o.thread, "").ID, ids[n])
		f.equal("state", values(f.T, f.load(o.thread, "").State), values(f.T, o.state))
		evs := f.events(o.fence.RunID, event.ID{}, 100)
		f.equal("events", len(evs), int(o.n))
		for i, e := range evs {
			f.equal("number", e.ID.N, int64(i+1))
		}
	}
}

func stepsAllOrNone(f *fixture) {
	o := f.running("x")
	head := o.say("one")
	good := o.step(messages.Append(item{ID: "good", Text: "good"}))
	bad := store.Step{Now: f.tick(), Events: []event.Event{o.event(event.Custom{Value: []byte(`{}`)})}}
	bad.Events[0].ID.N = 1 // is used already
	_, err := f.CommitAll(f.Context(), o.fence, []store.Step{good, bad})
	f.want(err, store.ErrConflict, o.fence.RunID)
	f.equal("head", f.load(o.thread, "").ID, head)
	f.equal("events", len(f.events(o.fence.RunID, event.ID{}, 10)), 1)
}

// stepsBehindAnEnd: what comes behind the end of a run is not written, and the end with it neither.
func stepsBehindAnEnd(f *fixture) {
	o := f.running("x")
	head := o.say("one")
	end := store.Step{Now: f.tick(), Run: &store.RunChange{Status: event.StatusError, Error: "broken"}}
	for _, behind := range []store.Step{o.step(messages.Append(item{ID: "late", Text: "late"})), {Now: f.tick()}} {
		_, err := f.CommitAll(f.Context(), o.fence, []store.Step{end, behind})
		f.want(err, store.ErrFenced, "end")
		f.equal("head", f.load(o.thread, "").ID, head)
		r, err := f.UserData.Run(f.Context(), o.fence.RunID)
		f.must(err)
		f.equal("status", r.Status, event.StatusRunning)
	}
	o.state = f.load(o.thread, "").State
	ids, err := f.CommitAll(f.Context(), o.fence, []store.Step{o.step(messages.Append(item{ID: "last", Text: "last"})),
		end})
	f.must(err)
	f.equal("head", f.load(o.thread, "").ID, ids[1])
	r, err := f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	f.equal("run", []string{r.Status, r.Error}, []string{event.StatusError, "broken"})
	_, err = f.CommitAll(f.Context(), o.fence, []store.Step{{Now: f.tick()}, {Now: f.tick()}})
	f.want(err, store.ErrFenced, o.fence.RunID)
}

func stepOfNothing(f *fixture) {
	o := f.running("x")
	f.equal("checkpoint before the first", o.commit(store.Step{Now: f.tick()}), "")
	head := o.say("hello")
	f.equal("checkpoint", o.commit(store.Step{Now: f.tick()}), head)
	f.equal("step", f.load(o.thread, "").Step, 1)
	r, err := f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	f.equal("updated", r.UpdatedAt, f.now)
}

// concurrentCommits: 64 runs commit side by side; each thread's log is whole and in order.
func concurrentCommits(f *fixture) {
	const runs, steps = 64, 12
	owners := make([]*owner, runs)
	for i := range owners {
		owners[i] = f.running(fmt.Sprint(i))
	}
	ids := make([][]string, runs)
	var wg sync.WaitGroup
	for i, o := range owners {
		wg.Go(func() {
			for n := range steps {
				u := messages.Append(item{ID: fmt.Sprint("m", n), Text: "hello"})
				o.state, _, _ = o.state.Apply(u)
				id, err := f.Commit(f.Context(), o.fence, store.Step{Next: "model", Now: start, State: o.state,
					Updates: []store.NodeUpdate{{Node: "model", Update: u}},
					Events:  []event.Event{o.event(event.State{})}})
				if err != nil {
					f.Errorf("commit %d of run %d: %v", n, i, err)
					return
				}
				ids[i] = append(ids[i], id)
			}
		})
	}
	wg.Wait()
	for i, o := range owners {
		cs, err := f.Checkpoints(f.Context(), o.thread, "", 1000)
		f.must(err)
		f.equal("checkpoints", len(cs), steps)
		for n, c := range cs {
			f.equal("id", c.ID, ids[i][steps-1-n])
			f.equal("step", c.Step, steps-n)
		}
		f.equal("state", values(f.T, f.load(o.thread, "").State), values(f.T, o.state))
		evs := f.events(o.fence.RunID, event.ID{}, 100)
		f.equal("events", len(evs), steps)
		for n, e := range evs {
			f.equal("checkpoint of the event", e.Data.(event.State).Checkpoint, ids[i][n])
		}
	}
}

// concurrentEventsOfOneRun: whoever comes late with an id is refused; what was taken is there, in order.
func concurrentEventsOfOneRun(f *fixture) {
	o := f.running("x")
	var mu sync.Mutex
	taken := map[int64]bool{}
	var wg sync.WaitGroup
	for i := range 64 {
		e := o.event(custom(i))
		wg.Go(func() {
			_, err := f.Commit(f.Context(), o.fence, store.Step{Events: []event.Event{e}, Now: start})
			if err != nil && !errors.Is(err, store.ErrConflict) {
				f.Error(err)
			}
			mu.Lock()
			taken[e.ID.N] = err == nil
			mu.Unlock()
		})
	}
	wg.Wait()
	got := map[int64]bool{}
	var last int64
	for _, e := range f.events(o.fence.RunID, event.ID{}, 100) {
		if e.ID.N <= last {
			f.Errorf("event %s comes after %d", e.ID, last)
		}
		last = e.ID.N
		got[last] = true
	}
	f.equal("last", got[64], true)
	for n, ok := range taken {
		f.equal(fmt.Sprint("event ", n), got[n], ok)
	}
}

// badStepHarmsNoOther: of steps that share a transaction, only the refused ones are missing.
func badStepHarmsNoOther(f *fixture) {
	var wg sync.WaitGroup
	for i := range 32 {
		good, bad := f.running(fmt.Sprint("good", i)), f.running(fmt.Sprint("bad", i))
		bad.fence.Attempt = 7
		step := good.step(count.Put(1))
		wrong := bad.step(count.Put(1))
		wg.Go(func() {
			if _, err := f.Commit(f.Context(), good.fence, step); err != nil {
				f.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := f.Commit(f.Context(), bad.fence, wrong); !errors.Is(err, store.ErrFenced) {
				f.Errorf("error = %v, want %v", err, store.ErrFenced)
			}
		})
	}
	wg.Wait()
	for i := range 32 {
		f.equal("good", count.Get(f.load(fmt.Sprint("thread-good", i), "").State), 1)
		f.equal("bad", f.load(fmt.Sprint("thread-bad", i), "").ID, "")
	}
}

// contextCancelled: a call whose context has ended does nothing and says why.
func contextCancelled(f *fixture) {
	o := f.running("x")
	head := o.say("hello")
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	_, err := f.Commit(ctx, o.fence, o.step(title.Put("late")))
	f.want(err, context.Canceled, "")
	f.want(f.CreateThread(ctx, store.Thread{ID: "late"}), context.Canceled, "late")
	_, err = f.Thread(ctx, o.thread)
	f.want(err, context.Canceled, "")
	_, err = f.Checkpoint(ctx, schema(f.T), o.thread, "")
	f.want(err, context.Canceled, "")
	f.equal("head", f.load(o.thread, "").ID, head)
	_, err = f.Thread(f.Context(), "late")
	f.want(err, store.ErrNotFound, "")

	// Cancelled while other commits are under way, a commit is there exactly if it said so.
	var wg sync.WaitGroup
	for i := range 32 {
		other := f.running(fmt.Sprint(i))
		step := other.step(count.Put(1))
		ctx, cancel := context.WithCancel(f.Context())
		wg.Go(cancel)
		wg.Go(func() {
			id, err := f.Commit(ctx, other.fence, step)
			if err != nil && !errors.Is(err, context.Canceled) {
				f.Error(err)
			}
			if got := f.load(other.thread, "").ID; got != id {
				f.Errorf("head = %q, commit said %q, %v", got, id, err)
			}
		})
	}
	wg.Wait()
}

func closeRefusesLater(f *fixture) {
	o := f.running("x")
	o.say("hello")
	f.must(f.Close())
	f.must(f.Close())
	_, err := f.Commit(f.Context(), o.fence, o.step(title.Put("late")))
	f.want(err, store.ErrClosed, "")
	f.want(f.CreateThread(f.Context(), store.Thread{ID: "late"}), store.ErrClosed, "late")
	_, err = f.Thread(f.Context(), o.thread)
	f.want(err, store.ErrClosed, "")
	_, err = f.ListRuns(f.Context(), store.RunFilter{})
	f.want(err, store.ErrClosed, "")
	_, err = f.Events(f.Context(), o.fence.RunID, event.ID{}, 1)
	f.want(err, store.ErrClosed, "")
	_, err = f.Checkpoint(f.Context(), schema(f.T), o.thread, "")
	f.want(err, store.ErrClosed, "")
}

// closeUnderLoad: a commit that Close overtakes is refused; one that was taken is there after it.
func closeUnderLoad(f *fixture) {
	owners := make([]*owner, 16)
	heads := make([]string, len(owners))
	for i := range owners {
		owners[i] = f.running(fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	begun := make(chan struct{}, 1)
	for i, o := range owners {
		wg.Go(func() {
			for n := 0; ; n++ {
				u := count.Put(1)
				o.state, _, _ = o.state.Apply(u)
				id, err := f.Commit(f.Context(), o.fence, store.Step{State: o.state, Now: start,
					Updates: []store.NodeUpdate{{Node: "model", Update: u}}})
				if err != nil {
					if !errors.Is(err, store.ErrClosed) {
						f.Error(err)
					}
					return
				}
				heads[i] = id
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
	}
	<-begun
	f.must(f.Close())
	wg.Wait()
	f.reopen()
	for i, o := range owners {
		f.equal("head", f.load(o.thread, "").ID, heads[i])
	}
}

func reopenKeepsAll(f *fixture) {
	o := f.running("x")
	name := "named"
	step := o.step(messages.Append(item{ID: "a", Text: "b"}), hidden.Put(map[string]int{"h": 1}))
	step.Title = &name
	id := o.commit(step)
	thread, err := f.Thread(f.Context(), o.thread)
	f.must(err)
	run, err := f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	evs := f.events(o.fence.RunID, event.ID{}, 10)
	for range 2 {
		f.reopen()
		gotThread, err := f.Thread(f.Context(), o.thread)
		f.must(err)
		f.equal("thread", gotThread, thread)
		gotRun, err := f.UserData.Run(f.Context(), o.fence.RunID)
		f.must(err)
		f.equal("run", gotRun, run)
		f.equal("events", f.events(o.fence.RunID, event.ID{}, 10), evs)
		f.equal("state", values(f.T, f.load(o.thread, id).State), values(f.T, o.state))
	}
	o.say("and on")
	f.equal("step", f.load(o.thread, "").Step, 2)
}
