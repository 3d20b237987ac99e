package runs

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/assistants"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestCommandsAndInputs: a command stands in place of the input, and a run goes on where neither says anything.
func TestCommandsAndInputs(t *testing.T) {
	titled := order{Request: runs.Request{Values: map[string]json.RawMessage{"title": json.RawMessage(`"x"`)}}}
	for body, want := range map[string]order{
		`{}`:                           {Request: runs.Request{Continue: true}},
		`{"command":{}}`:               {Request: runs.Request{Continue: true}},
		`{"command":{"goto":"tools"}}`: {Request: runs.Request{Goto: "tools"}},
		`{"input":{"title":"x"},"command":{"resume":1}}`:                {Request: runs.Request{Resume: json.RawMessage("1")}},
		`{"input":{"title":"x"},"command":{"resume":1,"goto":"model"}}`: {Request: runs.Request{Resume: json.RawMessage("1"), Goto: "model"}},
		`{"input":{"title":"x"},"command":{"update":{}}}`: {Request: runs.Request{Continue: true,
			Values: map[string]json.RawMessage{}}},
		`{"input":{"title":"x"},"command":{}}`: titled,
		`{"input":{"title":"x"}}`:              titled,
	} {
		in := &route.Input{}
		if err := json.Unmarshal([]byte(body), &in.Members); err != nil {
			t.Fatal(err)
		}
		var o order
		o.takeInput(in)
		o.takeCommand(in)
		if d := cmp.Diff(want.Request, o.Request); d != "" || in.Err() != nil {
			t.Errorf("%s: %v (-want +got)\n%s", body, in.Err(), d)
		}
	}
}

// TestTimesOfOrders: a run begins at once, or later by any part of a second.
func TestTimesOfOrders(t *testing.T) {
	now := time.Unix(1000, 0)
	for seconds, want := range map[string]time.Time{"null": {}, "0": {}, "0.5": now.Add(500 * time.Millisecond),
		"1": now.Add(time.Second), `"2"`: now.Add(2 * time.Second), "2592000": now.Add(maxDelay)} {
		var o order
		in := &route.Input{Members: map[string]json.RawMessage{"after_seconds": json.RawMessage(seconds)}}
		if o.takeTimes(in, now); !o.NotBefore.Equal(want) || in.Err() != nil {
			t.Errorf("%s: %v, %v", seconds, o.NotBefore, in.Err())
		}
	}
}

// TestWhatIsFollowedOfARun: runs below it are where a reader asks for them beside the modes; without modes it is as the
// run was started with.
func TestWhatIsFollowedOfARun(t *testing.T) {
	modes := viewModes{"values"}
	for _, c := range []struct {
		in   viewIn
		want bool
	}{
		{viewIn{Modes: modes}, false}, {viewIn{Modes: modes, Subgraphs: true}, true}, {viewIn{Subgraphs: true}, false},
		{viewIn{}, false},
	} {
		if got := c.in.view(); got.subgraphs != c.want {
			t.Errorf("%+v: %t", c.in, got.subgraphs)
		}
	}
}

// TestChannelsOfAnInput are its members beside the messages, so far as they say something.
func TestChannelsOfAnInput(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	in := map[string]json.RawMessage{agent.Messages.Name(): raw("[]"), "title": raw(`"x"`), "goal": raw("null"),
		threadstate.Todos.Name(): raw("[]")}
	want := map[string]json.RawMessage{"title": raw(`"x"`), threadstate.Todos.Name(): raw("[]")}
	if d := cmp.Diff(want, channels(in)); d != "" || len(in) != 4 {
		t.Error(d)
	}
}

func FuzzStandOn(f *testing.F) {
	f.Add(`{"configurable":{"a":1}}`, `{"b":2}`, `{"configurable":null,"context":[]}`, `{"a":null}`)
	f.Add(`[]`, `null`, `{"tags":1}`, ``)
	f.Fuzz(func(t *testing.T, config, context, ownConfig, ownContext string) {
		for _, s := range []string{config, context, ownConfig, ownContext} {
			if s != "" && !json.Valid([]byte(s)) {
				return
			}
		}
		var o order
		o.Config, o.Context = sanitized([]byte(ownConfig)), sanitized([]byte(ownContext))
		before := shape.Members(o.Context)
		o.standOn(assistants.Assistant{Config: []byte(config), Context: []byte(context)})
		for name, v := range before {
			if got := shape.Members(o.Context)[name]; string(v) != "null" && string(got) != string(v) {
				t.Errorf("the request's %s is %s, was %s", name, got, v)
			}
		}
		for _, raw := range []json.RawMessage{o.Config, o.Context} {
			if raw != nil && !json.Valid(raw) {
				t.Errorf("no JSON: %s", raw)
			}
		}
	})
}

// TestGaps: only who stopped in the middle of a message whose pieces are gone is told of it.
func TestGaps(t *testing.T) {
	lost := event.Event{ID: event.ID{Attempt: 2, N: 9}, Data: event.Message{MessageID: "m", First: 5}}
	for _, c := range []struct {
		after string
		ev    event.Event
		told  bool
	}{
		{"2-5", lost, true}, {"2-8", lost, true}, {"2-8.3", lost, true}, {"2-4", lost, false}, {"2-9", lost, false},
		{"1-6", lost, false}, {"3-6", lost, false},
		{"", lost, false}, {"x", lost, false},
		{"2-6", event.Event{ID: lost.ID, Data: event.Message{First: 5, Chunks: []event.Cut{{Text: 1}}}}, false},
		{"2-6", event.Event{ID: lost.ID, Data: event.Message{}}, false},
		{"2-6", event.Event{ID: lost.ID, Data: event.Run{}}, false},
	} {
		f, told := gap(store.Run{ID: "r"}, view{after: c.after}, []event.Event{{Data: event.Run{}}, c.ev})
		if told != c.told || !told && (f.Event != "" || f.Data != nil) {
			t.Errorf("after %q: %v %+v", c.after, told, f)
		}
		want := `{"code":"stream_replay_gap","earliest_available_event_id":"2-9","latest_available_event_id":"2-9",` +
			`"recovery":"reload_durable_state","requested_event_id":"` + c.after + `","run_id":"r"}`
		if told && (f.Event != "gap" || string(f.Data) != want || f.ID != "") {
			t.Errorf("%+v", f)
		}
	}
}
