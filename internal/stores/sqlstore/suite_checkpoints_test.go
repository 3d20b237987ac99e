package sqlstore_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

func (f *fixture) load(thread, id string) store.Checkpoint {
	f.Helper()
	c, err := f.Checkpoint(f.Context(), schema(f.T), thread, id)
	f.must(err)
	return c
}

func checkpointChain(f *fixture) {
	o := f.running("x")
	var ids []string
	var times []time.Time
	for i := range 5 {
		s := o.step(messages.Append(item{ID: fmt.Sprint("m", i), Text: "hi"}), count.Put(1))
		s.Next = fmt.Sprint("node", i)
		ids = append(ids, o.commit(s))
		times = append(times, s.Now)
	}
	t, err := f.Thread(f.Context(), o.thread)
	f.must(err)
	f.equal("head", t.Head, ids[4])
	for i, id := range ids {
		c := f.load(o.thread, id)
		f.equal("count", count.Get(c.State), i+1)
		c.State = state.State{}
		want := store.Checkpoint{ID: id, ThreadID: o.thread, RunID: o.fence.RunID, Attempt: 1,
			Next: fmt.Sprint("node", i),
			Step: i + 1, First: int64(2*i + 1), CreatedAt: times[i]}
		if i > 0 {
			want.ParentID = ids[i-1]
			f.equal("ids grow", ids[i-1] < id, true)
		}
		f.sameCheckpoint(c, want)
	}
	f.equal("newest", f.load(o.thread, "").ID, ids[4])
	_, err = f.Checkpoint(f.Context(), schema(f.T), o.thread, "nobody")
	f.want(err, store.ErrNotFound, "nobody")
	other := f.running("y")
	_, err = f.Checkpoint(f.Context(), schema(f.T), other.thread, ids[0])
	f.want(err, store.ErrNotFound, ids[0])
}

// sameCheckpoint compares all but the states.
func (f *fixture) sameCheckpoint(got, want store.Checkpoint) {
	f.Helper()
	got.State, want.State = state.State{}, state.State{}
	f.equal("checkpoint", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
}

func checkpointWithout(f *fixture) {
	f.thread("t")
	c := f.load("t", "")
	f.equal("values", len(values(f.T, c.State)), 0)
	f.sameCheckpoint(c, store.Checkpoint{})
	_, err := f.Checkpoint(f.Context(), schema(f.T), "nobody", "")
	f.want(err, store.ErrNotFound, "nobody")
	_, err = f.Checkpoints(f.Context(), "nobody", "", 10)
	f.want(err, store.ErrNotFound, "nobody")
}

func checkpointHistory(f *fixture) {
	o := f.running("x")
	var ids []string // newest first
	for i := range 7 {
		ids = append([]string{o.say(fmt.Sprint(i))}, ids...)
		o.commit(store.Step{Now: f.tick()}) // makes no checkpoint
	}
	list := func(before string, limit int) (got []string) {
		cs, err := f.Checkpoints(f.Context(), o.thread, before, limit)
		f.must(err)
		for _, c := range cs {
			got = append(got, c.ID)
			f.equal("state in a listing", c.State.Has("messages"), false)
			f.sameCheckpoint(c, f.load(o.thread, c.ID))
		}
		return got
	}
	f.equal("all", list("", 1000), ids)
	f.equal("first page", list("", 3), ids[:3])
	f.equal("second page", list(ids[2], 3), ids[3:6])
	f.equal("last page", list(ids[5], 3), ids[6:])
	f.equal("behind the end", list(ids[6], 3), []string(nil))
	for _, limit := range []int{0, -1, 1001} {
		if _, err := f.Checkpoints(f.Context(), o.thread, "", limit); err == nil {
			f.Errorf("Checkpoints took limit %d", limit)
		}
	}
}

// checkpointClock: ids grow and history holds while the clock stands still, goes back, and leaps.
func checkpointClock(f *fixture) {
	o := f.running("x")
	var ids []string
	for _, d := range []time.Duration{0, 0, 0, -time.Hour, -time.Hour, 24 * 365 * time.Hour, 0, time.Nanosecond,
		time.Millisecond, 48 * 365 * time.Hour, 0} {
		s := o.step(count.Put(1))
		s.Now = start.Add(d)
		ids = append(ids, o.commit(s))
	}
	for i := 1; i < len(ids); i++ {
		if ids[i-1] >= ids[i] {
			f.Errorf("checkpoint %d is %s, after %s", i, ids[i], ids[i-1])
		}
		f.equal("count", count.Get(f.load(o.thread, ids[i]).State), i+1)
	}
}

func stateIsWhatWasApplied(f *fixture) {
	o := f.running("x")
	text := strings.Repeat("lorem ipsum <&> \u2028 \u00e4\u00f6\u00fc \U0001f98c ", 100)
	for i := range 120 { // about 500 KB: several snapshots
		o.say(text)
		if i%10 == 9 {
			o.commit(o.step(title.Put(fmt.Sprint("title ", i)), count.Put(i), hidden.Put(map[string]int{"i": i})))
		}
	}
	f.equal("state", values(f.T, f.load(o.thread, "").State), values(f.T, o.state))

	// A loaded state goes on like the one that was never stored.
	loaded := f.load(o.thread, "").State
	u := messages.Append(item{ID: "last", Text: "x"}).With(count.Put(1))
	a, _, err := loaded.Apply(u)
	f.must(err)
	b, _, err := o.state.Apply(u)
	f.must(err)
	f.equal("next state", values(f.T, a), values(f.T, b))
}

// stateOfAnySteps: whatever steps are committed, every checkpoint loads as the state that was applied.
func stateOfAnySteps(f *fixture) {
	n := 0
	rapid.Check(f.T, func(rt *rapid.T) {
		n++
		o := f.running(fmt.Sprint("rapid-", n))
		want := map[string]map[string]string{}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			s := o.step(rapid.SliceOfN(anyUpdate(), 1, 3).Draw(rt, "updates")...)
			want[o.commit(s)] = values(f.T, o.state)
		}
		for id, v := range want {
			if got := values(f.T, f.load(o.thread, id).State); fmt.Sprint(got) != fmt.Sprint(v) {
				rt.Fatalf("checkpoint %s:\n got %.300v\nwant %.300v", id, got, v)
			}
		}
	})
}

// stateAsReadBack: a store may keep states in memory. Whatever schemas read a checkpoint, in whatever order, each gets
// what it gets from a store that was just opened.
func stateAsReadBack(f *fixture) {
	full := schema(f.T)
	schemas := []state.Schema{full, {}, {"messages": messages}, {"hidden": hidden, "count": count}, {
		"messages": state.Log("messages", func(i item) string { return i.Text }),
		"count":    state.LastValue[int]("count"),
		"title":    state.LastValue[any]("title"),
	}}
	type read struct {
		id   string
		by   int
		seen string
	}
	n := 0
	rapid.Check(f.T, func(rt *rapid.T) {
		n++
		o := f.running(fmt.Sprint("rapid-", n))
		var ids []string
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			if rapid.IntRange(0, 2).Draw(rt, "load") == 0 { // as the next run does
				o.state = f.load(o.thread, "").State
			}
			ids = append(ids, o.commit(o.step(anyUpdate().Draw(rt, "update"))))
		}
		// Only now: what a schema that lacks a log makes of it depends on the snapshots that are left.
		reads := make([]read, rapid.IntRange(1, 12).Draw(rt, "reads"))
		for i := range reads {
			r := read{id: rapid.SampledFrom(ids).Draw(rt, "checkpoint"), by: rapid.IntRange(0, len(schemas)-1).
				Draw(rt, "by")}
			r.seen = f.seen(schemas[r.by], o.thread, r.id)
			reads[i] = r
		}
		f.reopen()
		for _, r := range reads {
			if opened := f.seen(schemas[r.by], o.thread, r.id); opened != r.seen {
				rt.Fatalf("checkpoint %s by schema %d:\n in use %.300s\nopened %.300s", r.id, r.by, r.seen, opened)
			}
		}
	})
}

// seen is all that can be seen of a checkpoint, or the error.
func (f *fixture) seen(sch state.Schema, thread, id string) string {
	c, err := f.Checkpoint(f.Context(), sch, thread, id)
	if err != nil {
		return err.Error()
	}
	vals, err := c.State.Values()
	s := fmt.Sprint(c.Step, c.ParentID, c.Next, c.CreatedAt, c.State.Check(), err)
	for _, name := range slices.Sorted(maps.Keys(vals)) {
		s += fmt.Sprintf("\n%s: %s", name, vals[name])
	}
	return s + fmt.Sprint("\n", messages.Get(c.State), title.Get(c.State), count.Get(c.State), hidden.Get(c.State))
}

// anyUpdate draws an update that can be applied after any other of its kind.
func anyUpdate() *rapid.Generator[state.Update] {
	return rapid.Custom(func(rt *rapid.T) state.Update {
		it := item{ID: fmt.Sprint("m", rapid.IntRange(0, 12).Draw(rt, "id")),
			Text: strings.Repeat(rapid.StringN(1, 8, -1).Draw(rt, "text"), rapid.SampledFrom([]int{1, 10, 3000}).
				Draw(rt, "size"))}
		switch rapid.IntRange(0, 6).Draw(rt, "op") {
		case 0:
			return title.Put(it.Text)
		case 1:
			return title.Delete()
		case 2:
			return count.Put(len(it.Text)).With(hidden.Put(map[string]int{it.ID: 1}))
		case 3:
			return count.Overwrite(3)
		case 4:
			return messages.Reset(it)
		case 5:
			return messages.Append(it).With(messages.Remove(it.ID), messages.Append(it))
		}
		return messages.Append(it)
	})
}

// stateUnknownChannel: what the schema does not know is kept as it came.
func stateUnknownChannel(f *fixture) {
	o := f.running("x")
	extra := state.LastValue[map[string]any]("extra")
	id := o.commit(o.step(extra.Put(map[string]any{"k": []int{1, 2}}), title.Put("t")))
	f.equal("values", values(f.T, f.load(o.thread, id).State),
		map[string]string{"extra": `{"k":[1,2]}`, "title": `"t"`})
}
