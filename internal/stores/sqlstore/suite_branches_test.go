package sqlstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// on makes a step of a message on a checkpoint, or on [store.Origin].
func (o *owner) on(parent, text string) store.Step {
	o.f.Helper()
	o.state = state.State{}
	if parent != store.Origin {
		o.state = o.f.load(o.thread, parent).State
	}
	s := o.step(messages.Append(item{ID: fmt.Sprintf("%s-%d", o.fence.RunID, o.n), Text: text}))
	s.Parent = parent
	return s
}

func (f *fixture) texts(thread, id string) (texts []string) {
	f.Helper()
	for _, m := range messages.Get(f.load(thread, id).State) {
		texts = append(texts, m.Text)
	}
	return texts
}

// branches: a step may stand on any checkpoint of its thread. Each loads as it was made, before and after the store was
// opened again.
func branches(f *fixture) {
	o := f.running("x")
	want := map[string][]string{}
	keep := func(id string, texts ...string) string { want[id] = texts; return id }
	first := keep(o.commit(o.on(store.Origin, "a")), "a") // the first, and nothing else
	second := keep(o.commit(o.on(first, "b")), "a", "b")
	fork := keep(o.commit(o.on(first, "c")), "a", "c")
	keep(o.say("d"), "a", "c", "d")
	again := keep(o.commit(o.on(store.Origin, "e")), "e")
	f.equal("head", f.load(o.thread, "").ID, again)
	keep(o.say("f"), "e", "f")
	back := keep(o.commit(o.on(second, strings.Repeat("g", 50_000))), "a", "b", strings.Repeat("g", 50_000))
	keep(o.say("h"), "a", "b", strings.Repeat("g", 50_000), "h")
	for id, parent := range map[string]string{first: "", second: first, fork: first, again: "", back: second} {
		c := f.load(o.thread, id)
		f.equal("parent", c.ParentID, parent)
		f.equal("step", c.Step, len(want[id]))
	}
	other := f.running("y")
	bad := other.step(count.Put(1))
	for _, parent := range []string{first, "nobody"} {
		bad.Parent = parent
		_, err := f.Commit(f.Context(), other.fence, bad)
		f.want(err, store.ErrNotFound, parent)
	}
	for range 2 {
		for id, texts := range want {
			f.equal("texts", f.texts(o.thread, id), texts)
		}
		f.sound()
		f.reopen()
	}
}

// rollBack: a checkpoint without a change brings a thread back to where a run began.
func rollBack(f *fixture) {
	o := f.running("x")
	began := o.say("before")
	rollBackOf := func(parent string, st state.State) string {
		f.Helper()
		return o.commit(store.Step{Parent: parent, State: st, Next: "end",
			Updates: []store.NodeUpdate{{Node: "rollback"}}, Now: f.tick(),
			Events: []event.Event{o.event(event.State{})}})
	}
	was := o.state
	o.say("one")
	o.say("two")
	id := rollBackOf(began, was)
	o.state = was
	f.equal("texts", f.texts(o.thread, ""), []string{"before"})
	after := o.say("after")
	empty := rollBackOf(store.Origin, state.State{})
	f.equal("texts at the origin", f.texts(o.thread, ""), []string(nil))
	o.end()
	evs := f.events(o.fence.RunID, event.ID{}, 10)
	f.equal("event", evs[3].Data,
		event.Data(event.State{Writes: []byte("[]"), Checkpoint: id, Next: "end", Last: true}))
	for range 2 {
		f.equal("texts", f.texts(o.thread, id), []string{"before"})
		f.equal("texts after it", f.texts(o.thread, after), []string{"before", "after"})
		f.equal("values at the origin", len(values(f.T, f.load(o.thread, empty).State)), 0)
		f.equal("head", f.load(o.thread, "").ID, empty)
		f.sound()
		f.reopen()
	}
}

// stepsOnParent: the first of several steps may stand elsewhere; the others follow it.
func stepsOnParent(f *fixture) {
	o := f.running("x")
	first := o.say("a")
	o.say("b")
	quiet := store.Step{Now: f.tick(), Events: []event.Event{o.event(custom(1))}}
	steps := []store.Step{quiet, o.on(first, "c")}
	steps = append(steps, o.step(messages.Append(item{ID: "d", Text: "d"})),
		store.Step{Now: f.tick(), Parent: "of no step"})
	ids, err := f.CommitAll(f.Context(), o.fence, steps)
	f.must(err)
	f.equal("texts", f.texts(o.thread, ids[2]), []string{"a", "c", "d"})
	f.equal("parents", []string{f.load(o.thread, ids[1]).ParentID, f.load(o.thread, ids[2]).ParentID},
		[]string{first, ids[1]})
	f.equal("checkpoint of a step without updates", ids[3], ids[2])
	steps = []store.Step{o.on(first, "e"), o.on(first, "f")}
	if _, err := f.CommitAll(f.Context(), o.fence, steps); err == nil {
		f.Error("CommitAll took a second step with a parent")
	}
	f.equal("head", f.load(o.thread, "").ID, ids[2])
	f.reopen()
	f.equal("texts", f.texts(o.thread, ids[2]), []string{"a", "c", "d"})
}

func firstCheckpoint(f *fixture) {
	o := f.running("x")
	first := func(run string) store.Checkpoint {
		f.Helper()
		c, err := f.FirstCheckpoint(f.Context(), run)
		f.must(err)
		return c
	}
	f.sameCheckpoint(first("run-x"), store.Checkpoint{})
	o.commit(store.Step{Now: f.tick(), Events: []event.Event{o.event(custom(1))}})
	s := o.step(count.Put(1))
	s.Events = nil
	id := o.commit(s)
	o.say("one")
	o.fence, o.n = f.claim("run-x", 1), 0
	o.say("two")
	o.end()
	f.sameCheckpoint(first("run-x"), f.load(o.thread, id))
	head := f.load(o.thread, "").ID

	f.run("next", o.thread)
	next := &owner{f: f, thread: o.thread, fence: f.claim("next", 0), state: o.state}
	fork := next.commit(next.on(id, "three"))
	next.say("four")
	f.sameCheckpoint(first("next"), f.load(o.thread, fork))
	f.equal("where it began", first("next").ParentID, id)
	f.equal("where the other began", first("run-x").ParentID, "")
	if head == fork {
		f.Error("the fork did not move the head")
	}
	_, err := f.FirstCheckpoint(f.Context(), "nobody")
	f.want(err, store.ErrNotFound, "nobody")
}

// write makes a step outside of a run on a checkpoint.
func (f *fixture) write(thread, parent, text string) (string, error) {
	var st state.State
	if parent != store.Origin {
		st = f.load(thread, parent).State
	}
	u := messages.Append(item{ID: text, Text: text})
	st, _, err := st.Apply(u)
	f.must(err)
	return f.Write(f.Context(), thread,
		store.Step{Parent: parent, Updates: []store.NodeUpdate{{Node: "user", Update: u}}, State: st, Next: "model",
			Now: f.tick()})
}

func writeOutside(f *fixture) {
	f.thread("t")
	first, err := f.write("t", "", "a")
	f.must(err)
	want := store.Checkpoint{ID: first, ThreadID: "t", Next: "model", Step: 1, CreatedAt: f.now}
	f.sameCheckpoint(f.load("t", first), want)
	second, err := f.write("t", "", "b")
	f.must(err)
	fork, err := f.write("t", first, "c")
	f.must(err)
	fresh, err := f.write("t", store.Origin, "d")
	f.must(err)
	t, err := f.Thread(f.Context(), "t")
	f.must(err)
	f.equal("head", t.Head, fresh)
	f.equal("updated", t.UpdatedAt, f.now)

	_, err = f.write("t", "", "nobody")
	f.must(err)
	step := store.Step{Updates: []store.NodeUpdate{{Node: "user", Update: count.Put(1)}}, Now: f.tick()}
	_, err = f.Write(f.Context(), "nobody", step)
	f.want(err, store.ErrNotFound, "nobody")
	step.Parent = "no checkpoint"
	_, err = f.Write(f.Context(), "t", step)
	f.want(err, store.ErrNotFound, "no checkpoint")
	o := &owner{f: f}
	for name, bad := range map[string]store.Step{
		"without updates": {Now: f.tick()},
		"with events":     {Updates: step.Updates, Events: []event.Event{o.event(event.State{})}},
		"with a run":      {Updates: step.Updates, Run: &store.RunChange{Status: event.StatusSuccess}},
	} {
		if _, err := f.Write(f.Context(), "t", bad); err == nil {
			f.Errorf("Write took a step %s", name)
		}
	}

	f.run("r", "t")
	for range 2 { // pending, then running
		_, err = f.write("t", "", "x")
		f.want(err, store.ErrConflict, "t")
		if f.stored("r").Status == event.StatusPending {
			f.claim("r", 0)
		}
	}
	o = &owner{f: f, thread: "t", fence: store.Fence{RunID: "r", Attempt: 1}, state: f.load("t", "").State}
	o.say("of a run")
	o.end()
	last, err := f.write("t", "", "e")
	f.must(err)
	for range 2 {
		f.equal("texts", f.texts("t", last), []string{"d", "nobody", "of a run", "e"})
		f.equal("texts", f.texts("t", second), []string{"a", "b"})
		f.equal("texts", f.texts("t", fork), []string{"a", "c"})
		f.sound()
		f.reopen()
	}
	var dump, again bytes.Buffer
	_, err = f.DumpThread(f.Context(), "t", &dump)
	f.must(err)
	f.must(f.DeleteThread(f.Context(), "t"))
	_, err = f.Load(f.Context(), bytes.NewReader(dump.Bytes()), nil)
	f.must(err)
	_, err = f.DumpThread(f.Context(), "t", &again)
	f.must(err)
	f.equal("dump after load", again.String(), dump.String())
	_, err = f.Collect(f.Context(), store.Retention{Chunks: f.now.Add(time.Hour), Snapshots: f.now.Add(time.Hour)})
	f.must(err)
	f.equal("texts", f.texts("t", last), []string{"d", "nobody", "of a run", "e"})
	f.equal("texts", f.texts("t", fork), []string{"a", "c"})
	f.sound()
}

// writeAgainstRuns: what is written outside of a run never comes between a run's steps.
func writeAgainstRuns(fs ...*fixture) {
	f := fs[0]
	f.thread("t")
	for round := range 30 {
		run := fmt.Sprint("r", round)
		heads, errs := together(6, func(i int) (string, error) {
			g := fs[i%len(fs)]
			if i > 0 {
				return g.Write(f.Context(), "t",
					store.Step{Updates: []store.NodeUpdate{{Node: "user", Update: count.Put(1)}}, Now: start})
			}
			_, err := g.Admit(f.Context(), store.Admission{Run: store.Run{ID: run, ThreadID: "t", Owner: "node-1"},
				MustExist: true})
			if err != nil {
				return "", err
			}
			head := g.load("t", "").ID
			id, err := g.Commit(f.Context(), store.Fence{RunID: run, Attempt: 1},
				store.Step{Updates: []store.NodeUpdate{{Node: "model", Update: count.Put(1)}}, Now: start})
			if err == nil && g.load("t", id).ParentID != head {
				err = errors.New("something was written between two steps of the run")
			}
			return id, err
		})
		f.must(errs[0])
		winners(f, errs, store.ErrConflict)
		for i, err := range errs {
			if err == nil {
				f.load("t", heads[i])
			}
		}
		_, err := f.Commit(f.Context(), store.Fence{RunID: run, Attempt: 1},
			store.Step{Run: &store.RunChange{Status: event.StatusSuccess}, Now: start})
		f.must(err)
	}
	n := 0
	for c := f.load("t", ""); c.ID != ""; n++ {
		f.equal("step", c.Step, f.load("t", "").Step-n)
		if c.ParentID == "" {
			break
		}
		c = f.load("t", c.ParentID)
	}
}

func writeRace(f *fixture) { writeAgainstRuns(f) }
