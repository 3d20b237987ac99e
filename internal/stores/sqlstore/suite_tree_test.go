package sqlstore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// child admits a run below the owner's.
func (o *owner) child(key string) *owner {
	o.f.Helper()
	r, err := o.admitChild(key)
	o.f.must(err)
	o.f.equal("begun", r.Begun, true)
	return &owner{f: o.f, thread: r.ThreadID, fence: store.Fence{RunID: r.ID, Attempt: r.Attempt}, n: 1}
}

func (o *owner) admitChild(key string) (store.Run, error) {
	now, name := o.f.tick(), o.fence.RunID+"."+key
	return o.f.AdmitChild(o.f.Context(), o.fence, store.Admission{
		Run: store.Run{ID: name, ThreadID: "hidden-" + name, Key: key, Request: json.RawMessage(`{}`),
			CreatedAt: now, UpdatedAt: now},
		Thread: store.Thread{Title: "Hidden", CreatedAt: now, UpdatedAt: now},
		Begin:  &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}},
	})
}

// treeAdmission: a child is admitted under its parent's fence, once for a key, on a hidden thread.
func treeAdmission(f *fixture) {
	o := f.running("x")
	c := o.child("a")
	want := store.Run{ID: "run-x.a", ThreadID: "hidden-run-x.a", UserID: "ann", Status: event.StatusRunning,
		Attempt: 1, Stalled: 1, Owner: "node-1", Key: "a",
		Request: json.RawMessage(`{}`), Parent: "run-x", Root: "run-x", Depth: 1, CreatedAt: f.now, UpdatedAt: f.now}
	f.equal("child", f.stored("run-x.a"), want)
	again, err := o.admitChild("a")
	f.must(err)
	want.Begun = true
	f.equal("the child of the key", again, want)
	t, err := f.Thread(f.Context(), c.thread)
	f.must(err)
	f.equal("root of the hidden thread", t.Root, o.thread)

	deeper := c.child("a").child("a")
	f.equal("deepest", f.stored(deeper.fence.RunID).Depth, 3)
	f.equal("root of the deepest", f.stored(deeper.fence.RunID).Root, "run-x")
	t, err = f.Thread(f.Context(), deeper.thread)
	f.must(err)
	f.equal("files of the deepest", t.Root, o.thread)
	_, err = deeper.admitChild("a")
	f.want(err, store.ErrConflict, "3 deep")

	f.want(f.DeleteThread(f.Context(), c.thread), store.ErrConflict, o.thread)
	_, err = f.admit(store.Run{ID: "from outside", ThreadID: c.thread, CreatedAt: f.tick()})
	f.want(err, store.ErrConflict, o.thread)
	f.equal("list", f.threadIDs(10, 0), []string{o.thread})
	for _, filter := range []store.ThreadFilter{{}, {Pinned: true}, {Status: store.ThreadBusy},
		{IDs: []string{o.thread, c.thread}}, {Sort: "created_at"}} {
		found, err := f.SearchThreads(f.Context(), filter)
		f.must(err)
		n, err := f.CountThreads(f.Context(), filter)
		f.must(err)
		if len(found) != 1 || n != 1 || found[0].ID != o.thread {
			f.Errorf("%+v finds %d, counts %d", filter, len(found), n)
		}
	}
	all, err := f.ListRuns(f.Context(), store.RunFilter{})
	f.must(err)
	f.equal("runs", len(all), 1)
	children, err := f.ListRuns(f.Context(), store.RunFilter{Parent: "run-x"})
	f.must(err)
	f.equal("children", len(children), 1)
	level, err := f.ListRuns(f.Context(), store.RunFilter{Parents: []string{o.fence.RunID, c.fence.RunID, "nobody"}})
	f.must(err)
	f.equal("children of two", runIDs(level), []string{c.fence.RunID + ".a", c.fence.RunID})
	none, err := f.as("bob").ListRuns(f.Context(), store.RunFilter{Parents: []string{o.fence.RunID}})
	f.must(err)
	f.equal("children for another user", len(none), 0)
}

// treeGoesOn: a child goes on, on the hidden thread of one that is at its end, of the same files alone.
func treeGoesOn(f *fixture) {
	o, other := f.running("x"), f.running("y")
	c := o.child("a")
	head := c.say("may I?")
	goOn := func(o *owner, name, thread string) (store.Run, error) {
		now := f.tick()
		return f.AdmitChild(f.Context(), o.fence, store.Admission{
			Run: store.Run{ID: name, ThreadID: thread, Key: name, Request: json.RawMessage(`{}`), CreatedAt: now,
				UpdatedAt: now},
			Begin:     &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}},
			Thread:    store.Thread{CreatedAt: now, UpdatedAt: now},
			MustExist: true,
		})
	}
	_, err := goOn(o, "early", c.thread)
	f.want(err, store.ErrConflict, "active run")
	c.end()
	for _, thread := range []string{"nowhere", o.thread, other.child("b").thread} {
		_, err = goOn(o, "lost", thread)
		f.want(err, store.ErrNotFound, "lost")
	}
	r, err := goOn(o, "later", c.thread)
	f.must(err)
	f.equal("head", r.Head, head)
	f.equal("begun", r.Begun, true)
	f.equal("parent", f.stored("later").Parent, o.fence.RunID)
	(&owner{f: f, thread: r.ThreadID, fence: store.Fence{RunID: r.ID, Attempt: r.Attempt}, n: 1}).say("it goes on")
}

// treeKeys: what a parent calls its child is no key of a client.
func treeKeys(f *fixture) {
	o := f.running("x")
	o.child("a")
	f.thread("other")
	r, err := f.admit(store.Run{ID: "other", ThreadID: "other", Key: "a", CreatedAt: f.tick()})
	f.must(err)
	f.equal("run of the key", r.ID, "other")
	p := &owner{f: f, thread: "other", fence: f.claim("other", 0)}
	p.child("a")
	if _, err := p.admitChild(""); err == nil {
		f.Error("a child without a key came in")
	}
}

// treeFence: a parent that was replaced, stopped or ended starts no child, and none ends before its children.
func treeFence(f *fixture) {
	o := f.running("x")
	c := o.child("a")
	_, err := f.Commit(f.Context(), o.fence, store.Step{Run: &store.RunChange{Status: event.StatusSuccess},
		Now: f.tick()})
	f.want(err, store.ErrConflict, "active children")
	old := *o
	o.fence = f.claim("run-x", 1)
	_, err = old.admitChild("b")
	f.want(err, store.ErrFenced, "run-x")
	_, err = f.Commit(f.Context(), c.fence, c.step(count.Put(1)))
	f.want(err, store.ErrFenced, c.fence.RunID)
	c.fence.Attempt++
	c.end()
	_, err = f.StopRun(f.Context(), "run-x", store.StopInterrupt, f.tick())
	f.must(err)
	_, err = o.admitChild("b")
	f.want(err, store.ErrConflict, "asked to stop")
	o.end()
	_, err = o.admitChild("b")
	f.want(err, store.ErrFenced, "run-x")
	f.sound()
}

// treeClaim: who owns the root owns what is below it, and nobody else can.
func treeClaim(f *fixture) {
	o := f.running("x")
	c := o.child("a")
	d, ended := c.child("a"), o.child("ended")
	ended.end()
	f.must(f.Release(f.Context(), "node-1"))
	f.equal("abandoned", f.abandoned("node-2", 10), []string{"run-x"})
	_, err := f.ClaimRun(f.Context(), c.fence.RunID, "node-2", 1, f.tick())
	f.want(err, store.ErrConflict, c.fence.RunID)
	f.claimAs("node-2", "run-x", 1)
	for _, below := range []*owner{c, d} {
		r := f.stored(below.fence.RunID)
		f.equal("owner of "+r.ID, fmt.Sprint(r.Owner, r.Attempt, r.Stalled), fmt.Sprint("node-2", 2, 2))
		_, err = f.Commit(f.Context(), below.fence, below.step(count.Put(1)))
		f.want(err, store.ErrFenced, r.ID)
	}
	f.equal("one at its end", f.stored(ended.fence.RunID).Attempt, 1)
	f.claimAs("node-2", c.fence.RunID, 2) // its own, that it has lost
	_, err = f.ClaimRun(f.Context(), c.fence.RunID, "node-1", 3, f.tick())
	f.want(err, store.ErrConflict, c.fence.RunID)
}

// treeStop: all below a run are asked with it.
func treeStop(f *fixture) {
	o := f.running("x")
	c, sibling := o.child("a"), o.child("b")
	d := c.child("a")
	d.child("a")
	sibling.end()
	_, err := f.StopRun(f.Context(), c.fence.RunID, store.StopInterrupt, f.tick())
	f.must(err)
	f.equal("the parent", f.stored("run-x").Stop, "")
	_, err = f.Admit(f.Context(), store.Admission{Thread: store.Thread{ID: o.thread}, Strategy: store.Rollback,
		Run: store.Run{ID: "next", ThreadID: o.thread, CreatedAt: f.tick()}})
	f.must(err)
	for id, want := range map[string]string{"run-x": "rollback", "run-x.a": "rollback", "run-x.a.a": "rollback",
		"run-x.a.a.a": "rollback", "run-x.b": ""} {
		f.equal("stop of "+id, f.stored(id).Stop, want)
	}
	stopping, err := f.Stopping(f.Context(), "node-1", 10)
	f.must(err)
	f.equal("stopping", len(stopping), 4)
}

// treeGone: rolled back, a run takes those below it along; so does a run, a thread or a user that is deleted.
func treeGone(f *fixture) {
	gone := func(o *owner, remove func()) {
		f.Helper()
		c := o.child("a")
		d := c.child("b")
		d.say("hello")
		d.end()
		c.end()
		remove()
		for _, below := range []*owner{c, d} {
			_, err := f.Thread(f.Context(), below.thread)
			f.want(err, store.ErrNotFound, below.thread)
			_, err = f.UserData.Run(f.Context(), below.fence.RunID)
			f.want(err, store.ErrNotFound, below.fence.RunID)
		}
		f.sound()
	}
	o := f.running("rolled")
	gone(o, func() {
		o.commit(store.Step{Run: &store.RunChange{Status: event.StatusError, Error: store.RolledBack}, Now: f.tick()})
	})
	o = f.running("run")
	gone(o, func() {
		o.end()
		f.must(f.DeleteRun(f.Context(), o.fence.RunID))
	})
	o = f.running("thread")
	gone(o, func() {
		_, err := f.Thread(f.Context(), o.thread)
		f.must(err)
		f.want(f.DeleteThread(f.Context(), o.thread), store.ErrConflict, o.thread)
		o.end()
		f.must(f.DeleteThread(f.Context(), o.thread))
	})
	o = f.running("user")
	gone(o, func() {
		_, err := f.DeleteUser(f.Context(), access.FromRow("ann"))
		f.must(err)
	})
}

// treeCommit: what tells of a child's step stands in the root's log, or neither does.
func treeCommit(f *fixture) {
	o := f.running("x")
	c := o.child("a")
	step := c.step(messages.Append(item{ID: "m", Text: "from the child"}))
	at := step.Events[0].ID
	note := func() []event.Event {
		ev := o.event(event.Child{RunID: c.fence.RunID, Attempt: at.Attempt, N: at.N})
		ev.Namespace = []string{"tools:1"}
		return []event.Event{ev}
	}
	ids, err := f.CommitChild(f.Context(), o.fence, note(), c.fence, []store.Step{step})
	f.must(err)
	f.equal("message", messages.Get(f.load(c.thread, ids[0]).State)[0].Text, "from the child")
	told, err := f.Events(f.Context(), "run-x", event.ID{}, 10)
	f.must(err)
	f.equal("told", []any{len(told), told[0].Data, told[0].Namespace}, []any{1, event.Child{RunID: "run-x.a",
		Attempt: 1, N: 2}, []string{"tools:1"}})
	f.equal("the root is further", f.stored("run-x").Stalled, 0)

	bad := c.fence
	bad.Attempt++
	_, err = f.CommitChild(f.Context(), o.fence, note(), bad, []store.Step{{Now: f.tick()}})
	f.want(err, store.ErrFenced, "")
	old := o.fence
	old.Attempt++
	_, err = f.CommitChild(f.Context(), old, nil, c.fence, []store.Step{c.step(count.Put(1))})
	f.want(err, store.ErrFenced, "run-x")
	told, err = f.Events(f.Context(), "run-x", event.ID{}, 10)
	f.must(err)
	f.equal("told", len(told), 1)
	c.state = f.load(c.thread, "").State
	c.say("goes on")
	c.end()
	o.end()
	f.sound()
}

// treeDump: a dump has the tree.
func treeDump(f *fixture) {
	o := f.running("x")
	c := o.child("a")
	c.child("b").end()
	c.say("hello")
	var dump bytes.Buffer
	_, err := f.Dump(f.Context(), &dump)
	f.must(err)
	other := newFixture(f.T, f.open, f.TempDir())
	defer other.Close()
	_, err = other.Load(f.Context(), bytes.NewReader(dump.Bytes()), nil)
	f.must(err)
	for _, id := range []string{"run-x", "run-x.a", "run-x.a.b"} {
		f.equal(id, other.stored(id), f.stored(id))
	}
	f.equal("list", other.threadIDs(10, 0), []string{o.thread})
	other.sound()
}

// stopAgainstChildren: whenever a run is asked to stop, no child goes on that was not asked.
func stopAgainstChildren(a, b *fixture) {
	for round := range 10 {
		o := a.running(fmt.Sprint(round))
		c := o.child("a")
		var wg sync.WaitGroup
		for _, parent := range []*owner{o, c} {
			parent := *parent
			own := *parent.f
			parent.f = &own
			wg.Go(func() {
				for i := range 30 {
					if _, err := parent.admitChild(fmt.Sprint("race-", i)); err != nil {
						if !errors.Is(err, store.ErrConflict) {
							a.Errorf("admit: %v", err)
						}
						return
					}
				}
			})
		}
		_, err := b.StopRun(b.Context(), o.fence.RunID, store.StopInterrupt, b.tick())
		b.must(err)
		wg.Wait()
		for _, parent := range []*owner{o, c} {
			list, err := a.ListRuns(a.Context(), store.RunFilter{Parent: parent.fence.RunID, Limit: 100})
			a.must(err)
			for _, r := range list {
				if r.Active() && r.Stop == "" {
					a.Errorf("round %d: run %s goes on", round, r.ID)
				}
			}
		}
	}
}

// treeSteers: a run below another one can be spoken to by its hidden thread, by its user, while it works or asks; what
// it has not read by its end nobody reads, and no run begins there.
func treeSteers(f *fixture) {
	o := f.running("x")
	c := o.child("a")
	f.equal("said to", f.steer("s1", c.thread), c.fence.RunID)
	f.equal("said to", f.steer("s2", c.thread), c.fence.RunID)
	t, err := f.Thread(f.Context(), c.thread)
	f.must(err)
	f.equal("title", t.Title, "Hidden")
	now := f.tick()
	_, err = f.as("bob").Admit(f.Context(),
		store.Admission{Run: store.Run{ID: "bobs", ThreadID: c.thread, CreatedAt: now, UpdatedAt: now},
			Thread: store.Thread{ID: c.thread, CreatedAt: now, UpdatedAt: now}, Strategy: store.Steer, MustExist: true})
	f.want(err, store.ErrNotFound, c.thread)
	c.commit(c.takes("s1"))
	f.equal("left", f.steers(c.thread), "s2")
	c.ends(store.RunChange{Status: event.StatusSuccess})
	r := f.stored("s2")
	f.equal("unread", []any{r.Status, r.Error, r.Attempt}, []any{event.StatusError, store.Unread, 0})
	waiting, err := f.Waiting(f.Context(), f.tick(), 10)
	f.must(err)
	f.equal("waiting", len(waiting), 0)
	now = f.tick()
	_, err = f.Admit(f.Context(),
		store.Admission{Run: store.Run{ID: "late", ThreadID: c.thread, Request: json.RawMessage(`{}`), CreatedAt: now,
			UpdatedAt: now}, MustExist: true, Strategy: store.Steer})
	f.want(err, store.ErrConflict, o.thread)

	asks := o.child("b")
	f.equal("said to", f.steer("s3", asks.thread), asks.fence.RunID)
	asks.ends(store.RunChange{Status: event.StatusInterrupted})
	f.equal("kept for who answers", f.steers(asks.thread), "s3")
	f.equal("said to", f.steer("s4", asks.thread), asks.fence.RunID)
}
