package sqlstore_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

func (f *fixture) events(run string, after event.ID, limit int) []event.Event {
	f.Helper()
	evs, err := f.Events(f.Context(), run, after, limit)
	f.must(err)
	return evs
}

func custom(i int) event.Custom {
	return event.Custom{Value: json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))}
}

func eventsAfterID(f *fixture) {
	o := f.running("x")
	var want []event.Event
	for range 6 { // rows of three events, with gaps between the numbers as live events make them
		s := store.Step{Now: f.tick()}
		for range 3 {
			o.n += 2
			s.Events = append(s.Events, o.event(custom(int(o.n))))
		}
		want = append(want, s.Events...)
		o.commit(s)
		o.commit(store.Step{Now: f.tick()})
	}
	f.equal("all", f.events(o.fence.RunID, event.ID{}, 10_000), want)
	for i := range want {
		f.equal("after each", f.events(o.fence.RunID, want[i].ID, 10_000), nilIfEmpty(want[i+1:]))
		gap := event.ID{Attempt: 1, N: want[i].ID.N - 1}
		f.equal("after a gap", f.events(o.fence.RunID, gap, 10_000), want[i:])
		f.equal("limit", f.events(o.fence.RunID, event.ID{}, i+1), want[:i+1])
		f.equal("limit in a row", f.events(o.fence.RunID, want[i].ID, 1), nilIfEmpty(want[i+1:min(i+2, len(want))]))
	}
	f.equal("of a later attempt", f.events(o.fence.RunID, event.ID{Attempt: 2}, 10), []event.Event(nil))
	for _, limit := range []int{0, -1, 10_001} {
		if _, err := f.Events(f.Context(), o.fence.RunID, event.ID{}, limit); err == nil {
			f.Errorf("Events took limit %d", limit)
		}
	}
	_, err := f.Events(f.Context(), "nobody", event.ID{}, 1)
	f.want(err, store.ErrNotFound, "nobody")
	f.thread("quiet")
	f.run("quiet", "quiet")
	f.equal("of a run without", f.events("quiet", event.ID{}, 1), []event.Event(nil))
}

func nilIfEmpty(evs []event.Event) []event.Event {
	if len(evs) == 0 {
		return nil
	}
	return evs
}

func eventsOfAllKinds(f *fixture) {
	o := f.running("x")
	raw := json.RawMessage(`{"q":"<&>\u2028"}`)
	s := store.Step{Now: f.tick()}
	for _, d := range []event.Data{
		event.Run{Status: event.StatusError, Error: "e", StopReason: "r"},
		event.Message{MessageID: "m", First: 3, Chunks: []event.Cut{{Text: 4, Args: []int{0, 7}}, {Reasoning: 1}}},
		event.Discard{MessageID: "m", Reason: "retry"},
		event.ToolStart{CallID: "c", MessageID: "m", Tool: "bash", Args: raw},
		event.ToolEnd{CallID: "c", MessageID: "m", Tool: "bash", IsError: true, Writes: json.RawMessage(`[]`),
			Goto: "end", Summary: "s", Millis: 5},
		event.Interrupt{InterruptID: "i", CallID: "c", Value: raw},
		event.Custom{Value: raw},
	} {
		e := o.event(d)
		e.Namespace = []string{"tools:1", "sub"}
		e.Time = e.Time.Add(123456 * time.Microsecond)
		s.Events = append(s.Events, e)
	}
	o.commit(s)
	got, err := json.Marshal(f.events(o.fence.RunID, event.ID{}, 100))
	f.must(err)
	want, err := json.Marshal(s.Events) // how JSON within an event is spelled is the codec's matter
	f.must(err)
	f.equal("events", string(got), string(want))
}

func eventsStateFilledIn(f *fixture) {
	o := f.running("x")
	a, b := messages.Append(item{ID: "a", Text: "<tag> & \u2028"}),
		title.Put("t").With(hidden.Put(map[string]int{"h": 1}))
	s := o.step(a, b)
	s.Events = append([]event.Event{}, s.Events[0], o.event(custom(1)), o.event(event.State{}))
	id := o.commit(s)
	evs := f.events(o.fence.RunID, event.ID{}, 10)
	f.equal("number", len(evs), 3)
	for i, u := range map[int]interface{ AppendJSON([]byte) ([]byte, error) }{0: a, 2: b} {
		raw, err := u.AppendJSON(nil)
		f.must(err)
		f.equal("state event", evs[i].Data,
			event.Data(event.State{Writes: raw, Checkpoint: id, Next: s.Next, Last: i == 2}))
	}
	f.equal("event between", evs[1].Data, event.Data(custom(1)))
}

func eventsOverAttempts(f *fixture) {
	o := f.running("x")
	var want []event.ID
	for attempt := 1; attempt <= 12; attempt++ { // past 9: attempts are ordered as numbers
		for range 2 {
			s := store.Step{Now: f.tick(), Events: []event.Event{o.event(custom(attempt))}}
			o.commit(s)
			want = append(want, s.Events[0].ID)
		}
		o.fence, o.n = f.claim(o.fence.RunID, attempt), 0
	}
	for i := range want {
		var got []event.ID
		for _, e := range f.events(o.fence.RunID, want[i], 100) {
			got = append(got, e.ID)
		}
		f.equal("ids", len(got), len(want)-i-1)
		for j, id := range got {
			f.equal("id", id, want[i+1+j])
		}
	}
}

func stepRefused(f *fixture) {
	o := f.running("x")
	o.n = 4
	head := o.say("five")
	at := func(attempt int, n int64) event.Event {
		return event.Event{ID: event.ID{Attempt: attempt, N: n}, Time: start, Data: custom(1)}
	}
	live := at(1, 6)
	live.Data = event.Chunk{MessageID: "m"}
	bare := at(1, 6)
	bare.Data = nil
	stub := at(1, 6)
	stub.Data = event.State{}
	for name, evs := range map[string][]event.Event{
		"of another attempt": {at(2, 6)}, "twice": {at(1, 6), at(1, 6)}, "falling": {at(1, 7), at(1, 6)},
		"zero": {at(1, 0)}, "live": {live}, "without data": {bare}, "state without update": {stub},
	} {
		if _, err := f.Commit(f.Context(), o.fence, store.Step{Events: evs, Now: f.tick()}); err == nil {
			f.Errorf("Commit took events %s", name)
		}
	}
	for _, n := range []int64{4, 5} {
		_, err := f.Commit(f.Context(), o.fence, store.Step{Events: []event.Event{at(1, n)}, Now: f.tick()})
		f.want(err, store.ErrConflict, o.fence.RunID)
	}
	f.equal("head", f.load(o.thread, "").ID, head)
	f.equal("events", len(f.events(o.fence.RunID, event.ID{}, 100)), 1)
}
