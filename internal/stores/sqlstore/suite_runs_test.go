package sqlstore_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

func runRoundTrip(f *fixture) {
	f.thread("t")
	now := f.tick()
	want := store.Run{ID: "r", ThreadID: "t", UserID: "ann", Status: event.StatusPending,
		Request:   json.RawMessage(`{"input": "hello"}`),
		NotBefore: now.Add(time.Minute), Key: "key", CreatedAt: now, UpdatedAt: now}
	admitted, err := f.admit(want)
	f.must(err)
	f.equal("run as admitted", admitted, want)
	got, err := f.UserData.Run(f.Context(), "r")
	f.must(err)
	f.equal("run", got, want)
	f.equal("active", got.Active(), true)

	_, err = f.UserData.Run(f.Context(), "nobody")
	f.want(err, store.ErrNotFound, "nobody")
	f.thread("free")
	for _, r := range []store.Run{{}, {ID: "x", Status: event.StatusRunning}, {ID: "x", Attempt: 1},
		{ID: "x", Request: json.RawMessage(`{`)},
		{ID: "x", Stop: store.StopInterrupt}, {ID: "x", Key: strings.Repeat("k", 257)}} {
		r.ThreadID, r.UserID = "free", "ann"
		if _, err := f.admit(r); err == nil {
			f.Errorf("Admit took %+v", r)
		}
	}
	if _, err := f.Admit(f.Context(), store.Admission{Run: store.Run{ID: "x", ThreadID: "free"}, MustExist: true,
		Strategy: "wait"}); err == nil {
		f.Error("Admit took strategy wait")
	}
}

func runAdmission(f *fixture) {
	f.thread("t")
	f.thread("other")
	refused := func(run, thread string, target error, about string) {
		f.Helper()
		_, err := f.admit(store.Run{ID: run, ThreadID: thread, UserID: "ann"})
		f.want(err, target, about)
	}
	refused("r", "nobody", store.ErrNotFound, "nobody")
	f.run("r1", "t")
	refused("r2", "t", store.ErrConflict, "r2")
	refused("r1", "other", store.ErrConflict, "r1")
	f.run("r3", "other")

	o := &owner{f: f, thread: "t", fence: f.claim("r1", 0)}
	refused("r2", "t", store.ErrConflict, "r2")
	o.end()
	f.run("r2", "t")
}

func runAdmissionWithThread(f *fixture) {
	now := f.tick()
	thread := store.Thread{ID: "t", UserID: "ann", Title: "First", CreatedAt: now, UpdatedAt: now}
	admit := func(user, run, title string) error {
		t, r := thread, store.Run{ID: run, ThreadID: "t", CreatedAt: now, UpdatedAt: now}
		t.Title = title
		_, err := f.as(user).Admit(f.Context(), store.Admission{Run: r, Thread: t})
		return err
	}
	f.must(admit("ann", "r1", "First"))
	got, err := f.Thread(f.Context(), "t")
	f.must(err)
	f.equal("title", got.Title, "First")
	f.want(admit("ann", "r2", "Second"), store.ErrConflict, "r2")
	o := &owner{f: f, thread: "t", fence: f.claim("r1", 0)}
	o.end()
	f.must(admit("ann", "r2", "Second"))
	got, err = f.Thread(f.Context(), "t")
	f.must(err)
	f.equal("title of the thread that there was", got.Title, "First")
	f.want(admit("eve", "r3", "Mine"), store.ErrNotFound, "t")

	// A run with an owner is claimed at once.
	thread.ID = "owned"
	r, err := f.Admit(f.Context(),
		store.Admission{Thread: thread, Run: store.Run{ID: "mine", ThreadID: "owned", Owner: "node-1"}})
	f.must(err)
	f.equal("run as admitted", r, f.stored("mine"))
	f.equal("status", r.Status, event.StatusRunning)
	f.equal("attempt", r.Attempt, 1)
	f.equal("owner", r.Owner, "node-1")
	o = &owner{f: f, thread: "owned", fence: store.Fence{RunID: "mine", Attempt: 1}}
	o.end()

	// A run that is refused leaves no thread behind.
	thread.ID = "fresh"
	_, err = f.Admit(f.Context(), store.Admission{Thread: thread, Run: store.Run{ID: "r1", ThreadID: "fresh"}})
	f.want(err, store.ErrConflict, "r1")
	_, err = f.Thread(f.Context(), "fresh")
	f.want(err, store.ErrNotFound, "fresh")
	if _, err := f.Admit(f.Context(),
		store.Admission{Thread: thread, Run: store.Run{ID: "r9", ThreadID: "another"}}); err == nil {
		f.Error("a run was admitted with the thread of another")
	}
}

func runList(f *fixture) {
	var ids []string
	for i := range 4 {
		o := f.running(fmt.Sprint(i))
		ids = append([]string{o.fence.RunID}, ids...)
		if i > 1 {
			o.end()
		}
	}
	f.thread("pending")
	ids = append([]string{f.run("pending", "pending").ID}, ids...)
	tests := []struct {
		name   string
		filter store.RunFilter
		want   []string
	}{
		{"all", store.RunFilter{}, ids},
		{"limit", store.RunFilter{Limit: 2}, ids[:2]},
		{"offset", store.RunFilter{Limit: 2, Offset: 1}, ids[1:3]},
		{"offset behind the end", store.RunFilter{Offset: 5}, nil},
		{"thread", store.RunFilter{ThreadID: "thread-1"}, []string{"run-1"}},
		{"active", store.RunFilter{Statuses: []string{event.StatusRunning, event.StatusPending, event.StatusRunning}},
			[]string{"pending", "run-1", "run-0"}},
		{"all at once", store.RunFilter{ThreadID: "thread-3", Statuses: []string{event.StatusSuccess}, Limit: 1000},
			[]string{"run-3"}},
	}
	for _, tt := range tests {
		rs, err := f.ListRuns(f.Context(), tt.filter)
		f.must(err)
		var got []string
		for _, r := range rs {
			got = append(got, r.ID)
		}
		f.equal(tt.name, got, tt.want)
	}
	for _, bad := range []store.RunFilter{{Limit: -1}, {Limit: 1001}, {Offset: -1}, {Statuses: []string{"done"}}} {
		if _, err := f.ListRuns(f.Context(), bad); err == nil {
			f.Errorf("ListRuns took %+v", bad)
		}
	}
}

func runClaim(f *fixture) {
	f.thread("t")
	f.run("r", "t")
	_, err := f.ClaimRun(f.Context(), "nobody", "n", 0, f.tick())
	f.want(err, store.ErrNotFound, "nobody")
	_, err = f.ClaimRun(f.Context(), "r", "n", 1, f.tick())
	f.want(err, store.ErrConflict, "r")

	f.equal("first fence", f.claim("r", 0), store.Fence{RunID: "r", Attempt: 1})
	r, err := f.UserData.Run(f.Context(), "r")
	f.must(err)
	f.equal("status", r.Status, event.StatusRunning)
	f.equal("owner", r.Owner, "node-1")
	f.equal("attempt", r.Attempt, 1)
	f.equal("updated", r.UpdatedAt, f.now)
	f.equal("request", string(r.Request), `{"input": "hello"}`)

	_, err = f.ClaimRun(f.Context(), "r", "n", 0, f.tick())
	f.want(err, store.ErrConflict, "r")
	f.equal("take-over", f.claim("r", 1), store.Fence{RunID: "r", Attempt: 2})
	o := &owner{f: f, thread: "t", fence: store.Fence{RunID: "r", Attempt: 2}}
	o.end()
	_, err = f.ClaimRun(f.Context(), "r", "n", 2, f.tick())
	f.want(err, store.ErrConflict, "r")
}

func runClaimRace(f *fixture) {
	f.thread("t")
	f.run("r", "t")
	var won sync.Map
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if _, err := f.ClaimRun(f.Context(), "r", fmt.Sprint("node-", i), 0, start); err == nil {
				won.Store(fmt.Sprint("node-", i), true)
			}
		})
	}
	wg.Wait()
	r, err := f.UserData.Run(f.Context(), "r")
	f.must(err)
	winners := 0
	won.Range(func(k, _ any) bool { winners++; f.equal("owner", r.Owner, k); return true })
	f.equal("winners", winners, 1)
	f.equal("attempt", r.Attempt, 1)
}

func fenceStopsOldOwner(f *fixture) {
	o := f.running("x")
	before := o.say("mine")
	takeover := f.claim(o.fence.RunID, 1)

	step := o.step(title.Put("stolen"))
	name := "stolen"
	step.Title, step.Run = &name, &store.RunChange{Status: event.StatusError}
	_, err := f.Commit(f.Context(), o.fence, step)
	f.want(err, store.ErrFenced, o.fence.RunID)
	_, err = f.Commit(f.Context(), store.Fence{RunID: "nobody", Attempt: 1}, store.Step{})
	f.want(err, store.ErrFenced, "nobody")

	t, err := f.Thread(f.Context(), o.thread)
	f.must(err)
	f.equal("head", t.Head, before)
	f.equal("title", t.Title, "Title of "+o.thread)
	r, err := f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	f.equal("status", r.Status, event.StatusRunning)
	evs, err := f.Events(f.Context(), o.fence.RunID, event.ID{}, 100)
	f.must(err)
	f.equal("events", len(evs), 1)

	next := &owner{f: f, thread: o.thread, fence: takeover}
	next.say("the new owner's")
}

func fenceAfterEnd(f *fixture) {
	o := f.running("x")
	o.say("hello")
	o.end()
	_, err := f.Commit(f.Context(), o.fence, o.step(title.Put("late")))
	f.want(err, store.ErrFenced, o.fence.RunID)

	f.thread("unclaimed")
	f.run("unclaimed", "unclaimed")
	_, err = f.Commit(f.Context(), store.Fence{RunID: "unclaimed"}, store.Step{Now: f.tick()})
	f.want(err, store.ErrFenced, "unclaimed")
}

func runChange(f *fixture) {
	o := f.running("x")
	head := o.say("hello")
	usage := json.RawMessage(`{"input_tokens":7}`)
	at := f.tick()
	got := o.commit(store.Step{Now: at,
		Events: []event.Event{o.event(event.Run{Status: event.StatusError, Error: "broke"})},
		Run:    &store.RunChange{Status: event.StatusError, Error: "broke", StopReason: "limit", Usage: usage}})
	f.equal("checkpoint of a step without updates", got, head)
	r, err := f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	f.equal("status", r.Status, event.StatusError)
	f.equal("error", r.Error, "broke")
	f.equal("stop reason", r.StopReason, "limit")
	f.equal("usage", r.Usage, usage)
	f.equal("updated", r.UpdatedAt, at)
	f.equal("active", r.Active(), false)

	// Given back, a run is pending again and can be claimed by the next owner.
	o = f.running("y")
	o.commit(store.Step{Now: f.tick(), Run: &store.RunChange{Status: event.StatusPending, Usage: usage}})
	_, err = f.Commit(f.Context(), o.fence, store.Step{Now: f.tick()})
	f.want(err, store.ErrFenced, "")
	o.fence = f.claim(o.fence.RunID, 1)
	o.end()
	r, err = f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	f.equal("usage kept", r.Usage, usage)

	o = f.running("z")
	_, err = f.Commit(f.Context(), o.fence, store.Step{Run: &store.RunChange{Status: "done"}})
	if err == nil {
		f.Error("Commit took status done")
	}
}

func titleChange(f *fixture) {
	o := f.running("x")
	name := "A new title"
	o.commit(store.Step{Title: &name, Now: f.tick()})
	o.say("more")
	t, err := f.Thread(f.Context(), o.thread)
	f.must(err)
	f.equal("title", t.Title, name)
	empty := ""
	o.commit(store.Step{Title: &empty, Now: f.tick()})
	t, err = f.Thread(f.Context(), o.thread)
	f.must(err)
	f.equal("title", t.Title, "")
}
