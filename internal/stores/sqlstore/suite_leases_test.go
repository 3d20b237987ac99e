package sqlstore_test

import (
	"encoding/json"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// runStalled: an owner counts as stalled until it commits an update of the state or the result of a tool.
func runStalled(f *fixture) {
	stalled := func(run string) int {
		f.Helper()
		r, err := f.UserData.Run(f.Context(), run)
		f.must(err)
		return r.Stalled
	}
	now := f.tick()
	_, err := f.Admit(f.Context(), store.Admission{Thread: store.Thread{ID: "t"},
		Run: store.Run{ID: "r", ThreadID: "t", UserID: "ann", Owner: "node-1", CreatedAt: now, UpdatedAt: now}})
	f.must(err)
	f.equal("admitted with its owner", stalled("r"), 1)
	f.thread("thread-x")
	f.run("run-x", "thread-x")
	f.equal("pending", stalled("run-x"), 0)

	o := &owner{f: f, thread: "t", fence: f.claimAs("node-2", "r", 1)}
	f.equal("claimed", stalled("r"), 2)
	for name, data := range map[string]event.Data{
		"custom": custom(1), "tool start": event.ToolStart{CallID: "c", Tool: "bash", Args: json.RawMessage(`{}`)},
		"message": event.Message{MessageID: "m", First: 1}, "discard": event.Discard{MessageID: "m"},
	} {
		o.commit(store.Step{Now: f.tick(), Events: []event.Event{o.event(data)}})
		f.equal("after "+name, stalled("r"), 2)
	}
	o.commit(store.Step{Now: f.tick()})
	f.equal("after an empty step", stalled("r"), 2)
	o.commit(store.Step{Now: f.tick(),
		Events: []event.Event{o.event(custom(1)), o.event(event.ToolEnd{CallID: "c", Tool: "bash"})}})
	f.equal("after a tool's result", stalled("r"), 0)

	o.fence, o.n = f.claimAs("node-3", "r", 2), 0
	o.fence, o.n = f.claimAs("node-4", "r", 3), 0
	f.equal("claimed twice", stalled("r"), 2)
	o.fence, o.n = f.claimAs("node-4", "r", 4), 0
	f.equal("claimed by its owner", stalled("r"), 2)
	step := o.step(count.Put(1))
	step.Events = nil
	o.commit(step)
	f.equal("after an update", stalled("r"), 0)
	o.end()
	f.equal("at the end", stalled("r"), 0)
}

// leaseless: a running run is abandoned for all but its owner when nobody holds a lease.
func leaseless(f *fixture) {
	var want []string
	for i := range 4 {
		want = append(want, f.running(fmt.Sprint(i)).fence.RunID)
	}
	ended := f.running("ended")
	ended.end()
	f.thread("pending")
	f.run("pending", "pending")
	f.equal("abandoned", f.abandoned("node-2", 1000), want)
	f.equal("the oldest", f.abandoned("node-2", 2), want[:2])
	f.equal("the owner's own", f.abandoned("node-1", 1000), []string(nil))
	for _, limit := range []int{0, 1001} {
		if _, err := f.Abandoned(f.Context(), "node-2", limit); err == nil {
			f.Errorf("Abandoned took limit %d", limit)
		}
	}
	lapsed, err := f.Renew(f.Context(), "node-2")
	f.must(err)
	f.equal("lapsed at the first time", lapsed, false)
	f.must(f.Release(f.Context(), "node-2"))
	f.must(f.Release(f.Context(), "nobody"))
	for _, bad := range []string{"", "a\x00b", "\xff"} {
		if _, err := f.Renew(f.Context(), bad); err == nil {
			f.Errorf("Renew took owner %q", bad)
		}
	}
}

func (f *fixture) abandoned(owner string, limit int) (ids []string) {
	f.Helper()
	rs, err := f.Abandoned(f.Context(), owner, limit)
	f.must(err)
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return ids
}

// textOfAnyBytes: free text may hold anything; what no database can keep is replaced.
func textOfAnyBytes(f *fixture) {
	o := f.running("x")
	const in, out = "a\x00b\xffc\u2028<d>", "a\uFFFDb\uFFFDc\u2028<d>"
	name := in
	o.commit(store.Step{Now: f.tick(), Title: &name})
	t, err := f.Thread(f.Context(), o.thread)
	f.must(err)
	f.equal("title", t.Title, out)
	u := messages.Append(item{ID: "m", Text: "a\x00b"})
	s := o.step(u)
	s.Next = in
	id := o.commit(s)
	f.equal("next", f.load(o.thread, id).Next, out)
	f.equal("message", messages.Get(f.load(o.thread, id).State)[0].Text, "a\x00b")
	o.commit(store.Step{Now: f.tick(), Run: &store.RunChange{Status: event.StatusError, Error: in, StopReason: in,
		Usage: json.RawMessage("{\"a\":\"\xff\"}")}})
	r, err := f.UserData.Run(f.Context(), o.fence.RunID)
	f.must(err)
	f.equal("error", r.Error, out)
	f.equal("stop reason", r.StopReason, out)
	f.equal("usage", string(r.Usage), "{\"a\":\"\uFFFD\"}")
	f.must(f.CreateThread(f.Context(), store.Thread{ID: "n", Title: in, Metadata: json.RawMessage("{\"a\":\"\xff\"}")}))
	t, err = f.Thread(f.Context(), "n")
	f.must(err)
	f.equal("title of a new thread", t.Title, out)
	f.equal("metadata", string(t.Metadata), "{\"a\":\"\uFFFD\"}")
	request := `{"input":[{"id":"a\u0000","content":"a\u0000b"}]}`
	run, err := f.Admit(f.Context(), store.Admission{
		Thread: store.Thread{ID: "admitted", Title: in}, Run: store.Run{ID: "admitted", ThreadID: "admitted",
			Request: json.RawMessage(request)},
	})
	f.must(err)
	f.equal("request", string(run.Request), request)
	run, err = f.UserData.Run(f.Context(), "admitted")
	f.must(err)
	f.equal("request as it was kept", string(run.Request), request)
	if err := f.CreateThread(f.Context(), store.Thread{ID: "a\xff"}); err == nil {
		f.Error("CreateThread took an id that is no UTF-8")
	}
}

// orderOfBytes: ids of one time are sorted by their bytes, not as words of a language.
func orderOfBytes(f *fixture) {
	for _, id := range []string{"a", "B", "_", "ä", "b", "A", "9"} {
		f.must(f.CreateThread(f.Context(), store.Thread{ID: id, UserID: "ann", CreatedAt: start, UpdatedAt: start}))
	}
	f.equal("order", f.threadIDs(10, 0), []string{"ä", "b", "a", "_", "B", "A", "9"})
}
