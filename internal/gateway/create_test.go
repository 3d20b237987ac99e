package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/runs"
)

// TestARunThatNoModelAnswers is refused before it is there, with what to do about it.
func TestARunThatNoModelAnswers(t *testing.T) {
	k := newServer(t, func(c *Config) {
		c.Models = []Model{{Name: "fake"}, {Name: "demo"}}
		c.Answers = func(req runs.Request) error {
			if req.Model == "demo" {
				return nil
			}
			return errors.New("no model")
		}
	})
	const sentence = "There is no model\nTo see what Pudu does without one, play the scripted demonstration: send \"context\": {\"model_name\": \"demo\"}"
	for _, path := range []string{"/runs", "/runs/wait", "/runs/stream", "/threads/t/runs"} {
		w := k.do("POST", path, `{"if_not_exists":"create","input":{"messages":"hello"}}`)
		if got := at(decode(t, w.Body.Bytes()), "detail"); w.Code != 422 || got != sentence {
			t.Errorf("%s: %d %v", path, w.Code, got)
		}
	}
	k.play([]scenario{
		{name: "no thread was made", method: "POST", path: "/threads/count", status: 200, want: `0`},
		{name: "the demonstration", method: "POST", path: "/runs/wait", body: `{"input":{"messages":"hello"},"context":{"model_name":"demo"}}`, status: 200, want: `{"messages":[{},{}]}`},
	})
}

// TestWhatARunBelongsTo: by default to the lead agent, by its name, and what that has in its metadata is not the run's.
func TestWhatARunBelongsTo(t *testing.T) {
	k := newServer(t, nil)
	w := k.do("POST", "/runs", `{"input":{"messages":"hello"}}`)
	got := decode(t, w.Body.Bytes())
	if d := cmp.Diff([]any{GraphID, map[string]any{}}, []any{at(got, "assistant_id"), at(got, "metadata")}); d != "" {
		t.Error(d)
	}
	k.play([]scenario{
		{name: "by the id", method: "POST", path: "/runs", body: `{"assistant_id":"` + systemAssistant + `"}`, status: 200, want: `{"assistant_id":"` + systemAssistant + `"}`},
		{name: "by the name", method: "POST", path: "/runs", body: `{"assistant_id":"lead_agent"}`, status: 200, want: `{"assistant_id":"lead_agent"}`},
		{name: "an unknown checkpoint", method: "POST", path: "/runs", body: `{"input":{},"checkpoint_id":"00000000-0000-4000-8000-000000000404"}`, status: 404,
			want: `{"detail":"Checkpoint 00000000-0000-4000-8000-000000000404 not found"}`},
		{name: "a graph's id of no assistant", method: "GET", path: "/assistants/00000000-0000-4000-8000-00000000040g", status: 404, want: `{"detail":"Assistant 00000000-0000-4000-8000-00000000040g not found"}`},
	})
}

// TestUpdatesOfCommands: an object, or pairs as LangGraph's own clients send them.
func TestUpdatesOfCommands(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	const at = "/threads/t/runs/wait"
	k.play([]scenario{
		{name: "pairs", method: "POST", path: at, body: `{"command":{"goto":"__end__","update":[["title","Pairs"],["messages",[{"type":"human","id":"m1","content":"by hand"}]],[7,"x"]]}}`, status: 200,
			want: `{"title":"Pairs","messages":[{"id":"m1","content":"by hand"}]}`},
		{name: "an object", method: "POST", path: at, body: `{"command":{"goto":"__end__","update":{"title":"Object","todos":null}}}`, status: 200, want: `{"title":"Object","messages":[{"id":"m1"}]}`},
		{name: "no node", method: "POST", path: at, body: `{"command":{"goto":[],"update":{"messages":"hello"}}}`, status: 200, want: `{"messages":[{"id":"m1"},{"content":"hello"}]}`},
		{name: "a number", method: "POST", path: at, body: `{"command":{"update":5}}`, status: 422, want: `{"detail":[{"type":"dict_type","loc":["body","command","update"],"input":5}]}`},
		{name: "a text", method: "POST", path: at, body: `{"command":{"update":"x"}}`, status: 422, want: `{"detail":[{"type":"dict_type","loc":["body","command","update"]}]}`},
	})
}

// TestCommandsAndInputs: a command stands in place of the input, and a run goes on where neither says anything.
func TestCommandsAndInputs(t *testing.T) {
	for body, want := range map[string]order{
		`{}`:                           {Request: runs.Request{Continue: true}},
		`{"command":{}}`:               {Request: runs.Request{Continue: true}},
		`{"command":{"goto":"tools"}}`: {Request: runs.Request{Goto: "tools"}},
		`{"input":{"title":"x"},"command":{"resume":1}}`:                {Request: runs.Request{Resume: json.RawMessage("1")}},
		`{"input":{"title":"x"},"command":{"resume":1,"goto":"model"}}`: {Request: runs.Request{Resume: json.RawMessage("1"), Goto: "model"}},
		`{"input":{"title":"x"},"command":{"update":{}}}`:               {Request: runs.Request{Continue: true, Values: map[string]json.RawMessage{}}},
		`{"input":{"title":"x"},"command":{}}`:                          {Request: runs.Request{Values: map[string]json.RawMessage{"title": json.RawMessage(`"x"`)}}},
		`{"input":{"title":"x"}}`:                                       {Request: runs.Request{Values: map[string]json.RawMessage{"title": json.RawMessage(`"x"`)}}},
	} {
		in := &input{}
		if err := json.Unmarshal([]byte(body), &in.members); err != nil {
			t.Fatal(err)
		}
		var o order
		o.takeInput(in)
		o.takeCommand(in)
		if d := cmp.Diff(want.Request, o.Request); d != "" || in.err() != nil {
			t.Errorf("%s: %v (-want +got)\n%s", body, in.err(), d)
		}
	}
}

// TestTimesOfOrders: a run begins at once, or later by any part of a second.
func TestTimesOfOrders(t *testing.T) {
	now := time.Unix(1000, 0)
	for seconds, want := range map[string]time.Time{"null": {}, "0": {}, "0.5": now.Add(500 * time.Millisecond), "1": now.Add(time.Second), `"2"`: now.Add(2 * time.Second)} {
		var o order
		in := &input{members: map[string]json.RawMessage{"after_seconds": json.RawMessage(seconds)}}
		if o.takeTimes(in, now); !o.NotBefore.Equal(want) || in.err() != nil {
			t.Errorf("%s: %v, %v", seconds, o.NotBefore, in.err())
		}
	}
}

// TestABodyThatBreaks is told of with what broke it.
func TestABodyThatBreaks(t *testing.T) {
	k := newServer(t, nil)
	r := k.request("POST", "/threads", "{}")
	r.Body, r.ContentLength = io.NopCloser(iotest.ErrReader(errors.New("torn"))), -1
	if w := k.send(r); w.Code != 400 || w.Body.String() != `{"detail":"The request's body cannot be read: torn"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestVersionsHaveTheirTimes: a change of an assistant is as new as the clock says.
func TestVersionsHaveTheirTimes(t *testing.T) {
	now := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	k := newServer(t, func(c *Config) { c.Now = func() time.Time { return now } })
	k.play([]scenario{{name: "made", method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent"}`, status: 200, keep: map[string]string{"assistant_id": "own"},
		want: `{"created_at":"2040-01-02T03:04:05.000000+00:00","updated_at":"2040-01-02T03:04:05.000000+00:00"}`}})
	now = now.Add(time.Hour)
	k.play([]scenario{{name: "changed", method: "PATCH", path: "/assistants/{own}", body: `{"name":"x"}`, status: 200, want: `{"updated_at":"2040-01-02T04:04:05.000000+00:00"}`}})
}

// TestChannelsOfAnInput are its members beside the messages, so far as they say something.
func TestChannelsOfAnInput(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	in := map[string]json.RawMessage{agent.Messages.Name(): raw("[]"), "title": raw(`"x"`), "goal": raw("null"), threadstate.Todos.Name(): raw("[]")}
	want := map[string]json.RawMessage{"title": raw(`"x"`), threadstate.Todos.Name(): raw("[]")}
	if d := cmp.Diff(want, channels(in)); d != "" || len(in) != 4 {
		t.Error(d)
	}
}

// TestOptionsOfAnAssistantThatNobodyChecked: a number of steps that is none leaves the server's own.
func TestOptionsOfAnAssistantThatNobodyChecked(t *testing.T) {
	k := newServer(t, nil)
	for config, want := range map[string]int{
		`{}`: 0, `{"tags":["a"]}`: 0, `{"recursion_limit":1}`: 1, `{"recursion_limit":9}`: 9, `{"recursion_limit":0}`: 0, `{"recursion_limit":"x"}`: 0, `{"recursion_limit":1073741824}`: 1 << 30,
		`{"recursion_limit":1073741825}`: 0,
	} {
		k.play([]scenario{
			{name: "an assistant", method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent","config":` + config + `}`, status: 200, keep: map[string]string{"assistant_id": "own"}},
			{name: "its run", method: "POST", path: "/runs", body: `{"assistant_id":"{own}","input":{},"after_seconds":60}`, status: 200, keep: map[string]string{"run_id": "run"}},
		})
		run, err := k.data().Run(t.Context(), k.vars["run"])
		var req runs.Request
		if err := errors.Join(err, json.Unmarshal(run.Request, &req)); err != nil || req.MaxSteps != want {
			t.Errorf("%s: %d steps, want %d, %v", config, req.MaxSteps, want, err)
		}
	}
	k.play([]scenario{
		{name: "one step is a number", method: "POST", path: "/runs", body: `{"input":{},"config":{"recursion_limit":1}}`, status: 200},
		{name: "metadata grow up to their bound", method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent","metadata":{"a":"` + long(40000) + `"}}`, status: 200, keep: map[string]string{"assistant_id": "own"}},
		{name: "and no further", method: "PATCH", path: "/assistants/{own}", body: `{"metadata":{"b":"` + long(40000) + `"}}`, status: 422, want: `{"detail":[{"type":"too_long","loc":["body","metadata"],"msg":"Dictionary should have at most 65536 bytes of JSON"}]}`},
	})
}

// TestFaultsOfFilters: each route that searches says what is wrong with what it is asked for.
func TestFaultsOfFilters(t *testing.T) {
	k := newServer(t, nil)
	refused := func(method, path, body, want string) scenario {
		return scenario{name: "refused", method: method, path: path, body: body, status: 422, want: `{"detail":[` + want + `]}`}
	}
	many := membersOfCount(maxFilter + 1)
	k.play([]scenario{
		refused("POST", "/assistants/search", `{"sort_by":"x"}`, `{"loc":["body","sort_by"],"msg":"Input should be 'created_at', 'updated_at', 'name', 'assistant_id' or 'graph_id'"}`),
		refused("POST", "/assistants/count", `{"name":5}`, `{"type":"string_type","loc":["body","name"],"input":5}`),
		refused("POST", "/assistants/lead_agent/versions", `{"metadata":{"a b":1}}`, `{"loc":["body","metadata"],"msg":"Value error, Invalid metadata filter entries: 'a b' (unsafe key)"}`),
		refused("POST", "/assistants/lead_agent/latest", `{"version":0}`, `{"type":"greater_than_equal","loc":["body","version"]}`),
		refused("POST", "/assistants/lead_agent/latest", `{"version":2147483648}`, `{"type":"less_than_equal","loc":["body","version"]}`),
		refused("DELETE", "/assistants/lead_agent?delete_threads=x", "", `{"type":"bool_parsing","loc":["query","delete_threads"],"input":"x"}`),
		refused("POST", "/threads/count", `{"metadata":`+many+`}`, `{"loc":["body","metadata"],"msg":"Value error, Invalid metadata filter entries: more than 64"}`),
		refused("POST", "/threads/search", `{"metadata":5}`, `{"type":"dict_type","loc":["body","metadata"],"input":5}`),
		refused("POST", "/threads/t/history", `{"metadata":5}`, `{"type":"dict_type","loc":["body","metadata"],"input":5}`),
		refused("POST", "/threads/search", `{"ids":5}`, `{"type":"list_type","loc":["body","ids"],"input":5}`),
		refused("POST", "/threads/t/history", `{"before":{"configurable":{"checkpoint_id":5}}}`, `{"type":"string_type","loc":["body","before","configurable","checkpoint_id"]}`),
		refused("POST", "/store/items/search", `{"filter":`+many+`}`, `{"type":"too_long","loc":["body","filter"],"msg":"Dictionary should have at most 64 items"}`),
		refused("POST", "/store/items/search", `{"filter":{"a":{"$eq":1,"$gt":2}}}`, `{"loc":["body","filter","a","*"]},{"loc":["body","filter","a","*"]}`),
		refused("DELETE", "/store/items", `{"key":"k"}`, `{"type":"missing","loc":["body","namespace"],"input":null}`),
		refused("PUT", "/store/items", `{"namespace":["a"],"key":null,"value":{}}`, `{"type":"missing","loc":["body","key"],"input":null}`),
		refused("PUT", "/store/items", `{"namespace":["a"],"key":"k","value":{},"ttl":0}`, `{"type":"greater_than","loc":["body","ttl"],"input":0,"ctx":{"gt":0}}`),
		refused("PUT", "/store/items", `{"namespace":`+listOf(1001, `"a"`)+`,"key":"k","value":{}}`, `{"type":"too_long","loc":["body","namespace"]}`),
		refused("GET", "/threads/t/history?limit=0", "", `{"type":"greater_than_equal","loc":["query","limit"],"input":"0","ctx":{"ge":1}}`),
		refused("GET", "/threads/t/artifacts/mnt/user-data/outputs/a.txt?download=x", "", `{"type":"bool_parsing","loc":["query","download"]}`),
	})
	for range 20 { // members have no order
		k.play([]scenario{refused("POST", "/store/items/search", `{"filter":{"a":1,"b":"x","c":[1],"d":{"$gt":1},"e":null}}`, `{"loc":["body","filter","d","$gt"]}`)})
	}
	k.play([]scenario{
		{name: "a thousand labels", method: "PUT", path: "/store/items", body: `{"namespace":` + listOf(1000, `"a"`) + `,"key":"k","value":{}}`, status: 422,
			want: `{"detail":"A namespace has at most 16 labels. Received: 1000"}`},
		{name: "the shortest life", method: "PUT", path: "/store/items", body: `{"namespace":["a"],"key":"k","value":{},"ttl":0.000016666666666666667}`, status: 204},
		{name: "all that the rest says", method: "POST", path: "/threads/search", body: `{"sort_by":"state_updated_at","sort_order":"asc"}`, status: 200},
		{name: "the last version that can be", method: "POST", path: "/assistants/lead_agent/latest", body: `{"version":2147483647}`, status: 404},
		{name: "by the graph", method: "POST", path: "/assistants/search", body: `{"sort_by":"graph_id"}`, status: 200, want: `[{}]`},
		{name: "no such thread", method: "GET", path: "/threads/t/history?before=x", status: 200, want: `[]`},
	})
	if !strings.Contains(k.do("POST", "/threads/search", `{"select":[]}`).Body.String(), "[") {
		t.Error("nothing selected is no list")
	}
}
