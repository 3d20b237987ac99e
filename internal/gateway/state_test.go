package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

func TestGetState(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"fresh"}`)
	k.vars["run"] = k.run("t", "count").ID
	k.run("asks", "ask")
	k.run("fails", "fail")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	k.play([]scenario{
		{
			name: "fresh", method: "GET", path: "/threads/fresh/state", status: 200,
			want: `{"values":{},"next":[],"tasks":[],"metadata":{},"created_at":null,"checkpoint":null,"parent_checkpoint":null,"checkpoint_id":null,"parent_checkpoint_id":null,"interrupts":[]}`,
		},
		{
			name: "after a run", method: "GET", path: "/api/threads/t/state?subgraphs=true", status: 200,
			want: `{"values":{"title":"count","loop_steps":"<absent>","messages":[{"type":"human"},{"type":"ai"},{"type":"tool","content":"counted"},{"content":"Hi there."}]},
				"next":[],"tasks":[],"interrupts":[],"created_at":"*","checkpoint_id":"*","parent_checkpoint_id":"*",
				"metadata":{"source":"loop","step":4,"parents":{},"run_id":"{run}","thread_id":"t","purpose":"test","assistant_id":"lead_agent","graph_id":"lead_agent"},
				"checkpoint":{"thread_id":"t","checkpoint_ns":"","checkpoint_id":"*","checkpoint_map":null,"id":"*","ts":"*"},
				"parent_checkpoint":{"thread_id":"t","checkpoint_ns":"","checkpoint_id":"*"}}`,
			keep: map[string]string{"checkpoint_id": "head", "parent_checkpoint_id": "parent"},
		},
		{
			name: "at a checkpoint", method: "GET", path: "/threads/t/state/{parent}", status: 200,
			want: `{"checkpoint_id":"{parent}","next":["model"],"tasks":[{"id":"*","name":"model","error":null,"interrupts":[],"path":["__pregel_pull","model"],"checkpoint":null,"state":null,"result":null}],
				"values":{"messages":[{"type":"human"},{"type":"ai"},{"type":"tool"}]},"metadata":{"step":3}}`,
		},
		{name: "before the first", method: "GET", path: "/threads/t/state/0", status: 200, want: `{"values":{},"next":["__start__"],"checkpoint":{"checkpoint_id":"0"},"parent_checkpoint":null}`},
		{name: "by an object", method: "POST", path: "/threads/t/state/checkpoint", body: `{"checkpoint":{"thread_id":"t","checkpoint_id":"{parent}","checkpoint_ns":"","checkpoint_map":null},"subgraphs":"false"}`, status: 200, want: `{"checkpoint_id":"{parent}"}`},
		{name: "the head, as RemoteGraph asks", method: "POST", path: "/threads/t/state/checkpoint", body: `{"checkpoint":{"thread_id":"t"},"subgraphs":false}`, status: 200, want: `{"checkpoint_id":"{head}","checkpoint":{"checkpoint_id":"{head}"}}`},
		{name: "of another thread", method: "POST", path: "/threads/t/state/checkpoint", body: `{"checkpoint":{"thread_id":"u"}}`, status: 422, want: `{"detail":[{"loc":["body","checkpoint","thread_id"]}]}`},
		{name: "of a subgraph", method: "POST", path: "/threads/t/state/checkpoint", body: `{"checkpoint":{"checkpoint_ns":"tools:1"}}`, status: 404, want: `{"detail":"Checkpoint not found"}`},
		{name: "no object", method: "POST", path: "/threads/t/state/checkpoint", body: `{"checkpoint":"x"}`, status: 422, want: `{"detail":[{"type":"dict_type"}]}`},
		{name: "unknown", method: "GET", path: "/threads/t/state/00000000-0000-4000-8000-000000000404", status: 404, want: `{"detail":"Checkpoint 00000000-0000-4000-8000-000000000404 not found"}`},
		{name: "no checkpoint's id", method: "GET", path: "/threads/t/state/a%00%ff", status: 404},
		{name: "missing thread", method: "GET", path: "/threads/nope/state", status: 404, want: `{"detail":"Thread nope not found"}`},
		{name: "missing thread, at a checkpoint", method: "POST", path: "/threads/nope/state/checkpoint", body: `{}`, status: 404, want: `{"detail":"Thread nope not found"}`},
		{name: "somebody else's", method: "GET", path: "/threads/theirs/state", status: 404},
		{
			name: "that asks", method: "GET", path: "/threads/asks/state", status: 200,
			want: `{"next":["tools"],"tasks":[{"name":"tools","interrupts":[{"id":"*","value":"may I?"}]}],"interrupts":[{"id":"*","value":"may I?"}]}`,
		},
		{name: "that failed", method: "GET", path: "/threads/fails/state", status: 200, want: `{"next":["model"],"tasks":[{"name":"model","error":"model: the model is broken"}],"metadata":{"source":"input","step":1}}`},
	})
}

func TestPostState(t *testing.T) {
	k := newServer(t, nil)
	k.run("t", "hello")
	first := decode(t, k.do("GET", "/threads/t/history?limit=10", "").Body.Bytes()).([]any)
	k.vars["first"] = at(first[len(first)-2], "checkpoint_id").(string)
	k.start("busy")
	post := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", path: "/api/langgraph/threads/t/state", body: body, status: 200, want: want}
	}
	refused := func(name, body string, status int, want string) scenario {
		return scenario{name: name, method: "POST", path: "/threads/t/state", body: body, status: status, want: want}
	}
	k.play([]scenario{
		post("rename", `{"values":{"title":"Renamed"}}`, `{"values":{"title":"Renamed","messages":[{},{}]},"metadata":{"source":"update","run_id":"<absent>"},"next":[],"checkpoint":{"checkpoint_id":"*"}}`),
		{name: "the thread is renamed", method: "POST", path: "/threads/search", body: `{"ids":["t"]}`, status: 200, want: `[{"values":{"title":"Renamed"}}]`},
		post("an empty title", `{"values":{"title":""}}`, `{"values":{"title":""}}`),
		{name: "the name stays", method: "POST", path: "/threads/search", body: `{"ids":["t"]}`, status: 200, want: `[{"values":{"title":"Renamed"}}]`},
		post("other channels, a free name", `{"values":{"todos":[{"content":"one","status":"pending"}],"artifacts":["/mnt/user-data/outputs/a.txt"]},"as_node":"my_node"}`,
			`{"values":{"todos":[{"content":"one","status":"pending"}],"artifacts":["/mnt/user-data/outputs/a.txt"]}}`),
		post("add messages", `{"values":{"messages":[{"role":"user","content":"more","id":"m1"},{"type":"ai","content":"answer","id":"m2"}]}}`,
			`{"values":{"messages":[{},{},{"id":"m1","type":"human"},{"id":"m2","type":"ai"}]},"next":[]}`),
		post("replace one", `{"values":{"messages":{"type":"ai","content":"edited","id":"m2"}}}`, `{"values":{"messages":[{},{},{},{"id":"m2","content":"edited"}]}}`),
		post("remove one", `{"values":{"messages":[{"type":"remove","id":"m2"}]}}`, `{"values":{"messages":[{},{},{"id":"m1"}]}}`),
		post("as a node", `{"values":null,"as_node":"__start__"}`, `{"next":["model"],"tasks":[{"name":"model"}]}`),
		post("nothing", `{}`, `{"next":["model"]}`),
		post("several", `{"values":[{"messages":"first"},{"messages":"second"}],"as_node":"tools"}`, `{"values":{"messages":[{},{},{},{"content":"first"},{"content":"second"}]},"next":["model"]}`),
		post("an empty list", `{"values":[]}`, `{"checkpoint":{"thread_id":"t"}}`),
		post("from the past", `{"values":{"title":"Branch"},"checkpoint_id":"{first}"}`, `{"parent_checkpoint_id":"{first}","values":{"title":"Branch","messages":[{}],"todos":"<absent>"}}`),
		post("from the past, by an object", `{"values":{"title":"Branch"},"checkpoint":{"checkpoint_id":"{first}","checkpoint_ns":""}}`, `{"parent_checkpoint_id":"{first}"}`),
		refused("unknown channels", `{"values":{"foo":1,"bar":2,"title":"x"}}`, 422, `{"detail":"Unknown thread-state field(s): bar, foo"}`),
		refused("a private one", `{"values":{"loop_steps":{}}}`, 422, `{"detail":"Unknown thread-state field(s): loop_steps"}`),
		refused("a wrong type", `{"values":{"title":5}}`, 422, `{"detail":[{"loc":["body","values"]}]}`),
		refused("no message", `{"values":{"messages":[5]}}`, 422, `{"detail":[{"loc":["body","values","messages"]}]}`),
		refused("a message that is not there", `{"values":{"messages":[{"type":"remove","id":"m9"}]}}`, 422, `{"detail":"*"}`),
		refused("no values", `{"values":5}`, 422, `{"detail":[{"type":"dict_type","loc":["body","values"]}]}`),
		refused("no body", ``, 422, `{"detail":[{"type":"missing"}]}`),
		refused("a long title", `{"values":{"title":"`+strings.Repeat("x", 1001)+`"}}`, 422, `{"detail":[{"type":"string_too_long"}]}`),
		refused("a long node", `{"as_node":"`+strings.Repeat("x", 129)+`"}`, 422, `{"detail":[{"type":"string_too_long","loc":["body","as_node"]}]}`),
		refused("an unknown checkpoint", `{"values":{"title":"y"},"checkpoint_id":"nope"}`, 404, `{"detail":"Checkpoint nope not found"}`),
		refused("another unknown checkpoint", `{"checkpoint_id":"00000000-0000-4000-8000-000000000404"}`, 404, `{"detail":"Checkpoint 00000000-0000-4000-8000-000000000404 not found"}`),
		refused("an empty checkpoint", `{"checkpoint_id":""}`, 404, `{"detail":"Checkpoint not found"}`),
		refused("a subgraph", `{"checkpoint":{"checkpoint_ns":"x"}}`, 404, `{"detail":"*"}`),
		{name: "busy", method: "POST", path: "/threads/busy/state", body: `{"values":{"title":"x"}}`, status: 409, want: `{"detail":"Thread has a run in flight. Update state after the run finishes."}`},
		{name: "missing", method: "POST", path: "/threads/nope/state", body: `{"values":{"title":"x"}}`, status: 404, want: `{"detail":"Thread nope not found"}`},
	})
}

func TestHistory(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"fresh"}`)
	k.vars["run"] = k.run("t", "count").ID
	k.do("POST", "/threads/t/state", `{"values":{"title":"Renamed"}}`)
	list := decode(t, k.do("POST", "/threads/t/history", `{}`).Body.Bytes()).([]any)
	if len(list) != 6 {
		t.Fatalf("%d entries, want 6: %v", len(list), list)
	}
	for i, name := range []string{"update", "answer", "counted", "called", "input"} {
		k.vars[name] = at(list[i], "checkpoint_id").(string)
	}
	k.run("asks", "ask")
	k.run("asks", "hello")
	post := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", path: "/api/langgraph/threads/t/history", body: body, status: 200, want: want}
	}
	refused := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", path: "/threads/t/history", body: body, status: 422, want: want}
	}
	k.play([]scenario{
		post("all", `{}`, `[{"checkpoint_id":"{update}","parent_checkpoint_id":"{answer}","checkpoint":{"checkpoint_id":"{update}"},"parent_checkpoint":{"checkpoint_id":"{answer}"},
			"metadata":{"source":"update","step":5},"values":{"title":"Renamed","messages":[{},{},{},{}]},"next":[]},
			{"metadata":{"source":"loop","run_id":"{run}"},"values":{"title":"<absent>","messages":[{},{},{},{}]},"next":[]},
			{"values":{"messages":[{},{},{}]},"next":["model"]},
			{"values":{"messages":[{},{}]},"next":["tools"],"interrupts":[]},
			{"metadata":{"source":"input","step":1,"purpose":"test"},"values":{"messages":[{}]},"next":["model"],"parent_checkpoint":{"checkpoint_id":"0"},"parent_checkpoint_id":null},
			{"checkpoint_id":"0","checkpoint":{"checkpoint_id":"0"},"values":{},"next":["__start__"],"metadata":{"source":"input","step":0},"parent_checkpoint":null}]`),
		post("without a body", "", `[{},{},{},{},{},{}]`),
		post("as the web client asks", `{"limit":1}`, `[{"checkpoint":"<absent>","parent_checkpoint":"<absent>","checkpoint_id":"{update}","values":{"title":"Renamed","messages":[{},{},{},{}]}}]`),
		post("as RemoteGraph asks", `{"limit":1,"checkpoint":{"thread_id":"t"}}`, `[{"checkpoint":{"checkpoint_id":"{update}"}}]`),
		post("a page", `{"limit":2}`, `[{"checkpoint_id":"{update}","checkpoint":{}},{"checkpoint_id":"{answer}"}]`),
		post("the next page, by a string", `{"limit":2,"before":"{answer}"}`, `[{"checkpoint_id":"{counted}"},{"checkpoint_id":"{called}"}]`),
		post("by an object", `{"limit":1,"before":{"checkpoint_id":"{called}","thread_id":"t"}}`, `[{"checkpoint_id":"{input}","checkpoint":{}}]`),
		post("by a config", `{"before":{"configurable":{"checkpoint_id":"{called}"}}}`, `[{"checkpoint_id":"{input}"},{"checkpoint_id":"0"}]`),
		post("before the first", `{"before":"{input}"}`, `[]`),
		post("before an unknown one", `{"before":"1f000000-0000-6000-8000-000000000000"}`, `[]`),
		post("before no checkpoint", `{"before":"zzz"}`, `[]`),
		post("one checkpoint", `{"checkpoint":{"checkpoint_id":"{called}"}}`, `[{"checkpoint_id":"{called}"}]`),
		post("an unknown one", `{"checkpoint":{"checkpoint_id":"00000000-0000-4000-8000-000000000404"}}`, `[]`),
		post("of a subgraph", `{"limit":1,"checkpoint":{"checkpoint_ns":"tools:x"}}`, `[]`),
		post("by source", `{"metadata":{"source":"input"}}`, `[{"checkpoint_id":"{input}"}]`),
		post("by step and the run's metadata", `{"metadata":{"step":2,"purpose":"test"}}`, `[{"checkpoint_id":"{called}"}]`),
		post("by nothing there is", `{"metadata":{"step":"2"}}`, `[]`),
		refused("no entries", `{"limit":0}`, `{"detail":[{"ctx":{"ge":1}}]}`),
		refused("too many", `{"limit":1001}`, `{"detail":[{"ctx":{"le":1000}}]}`),
		refused("an object without an id", `{"before":{}}`, `{"detail":[{"type":"missing","loc":["body","before","checkpoint_id"]}]}`),
		refused("a number", `{"before":5}`, `{"detail":[{"loc":["body","before"]}]}`),
		{name: "by a query", method: "GET", path: "/threads/t/history?limit=1&before={called}", status: 200, want: `[{"checkpoint_id":"{input}","checkpoint":{}}]`},
		{name: "by a bad query", method: "GET", path: "/threads/t/history?limit=x", status: 422, want: `{"detail":[{"loc":["query","limit"]}]}`},
		{name: "fresh", method: "POST", path: "/threads/fresh/history", body: `{}`, status: 200, want: `[]`},
		{name: "missing", method: "POST", path: "/threads/nope/history", body: `{"limit":1}`, status: 200, want: `[]`},
		{name: "no id", method: "POST", path: "/threads/a.b/history", body: `{}`, status: 422},
		{
			name: "a question that was passed over", method: "POST", path: "/threads/asks/history", body: `{}`, status: 200,
			want: `[{"next":[]},{"next":["model"],"metadata":{"source":"input"}},{"next":["tools"],"tasks":[{"interrupts":[{"value":"may I?"}]}]},{"next":["model"]},{"next":["__start__"]}]`,
		},
	})
}

func TestHistoryIsBounded(t *testing.T) {
	k := newServer(t, func(c *Config) { c.Limits.History = 320 << 10 })
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	text := strings.Repeat("x", 100<<10)
	for _, id := range []string{"a", "b", "c"} {
		body, _ := json.Marshal(map[string]any{"values": map[string]any{"messages": []any{map[string]string{"type": "human", "id": id, "content": text}}}})
		if w := k.do("POST", "/threads/t/state", string(body)); w.Code != 200 {
			t.Fatal(w.Body.String())
		}
	}
	k.play([]scenario{{
		name: "the newest first", method: "POST", path: "/threads/t/history", body: `{}`, status: 200,
		want: `[{"values":{"messages":[{},{},{}]}},{"values":{"messages":"<absent>"}},{"values":{"messages":"<absent>"},"checkpoint_id":"*"},{"checkpoint_id":"0"}]`,
	}})
}

func FuzzPlaces(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"before":"a"}`, `{"before":{"checkpoint_id":"01"}}`, `{"before":{"configurable":{"checkpoint_id":"01"}}}`, `{"before":{"configurable":5}}`,
		`{"checkpoint":{"checkpoint_id":"01","checkpoint_ns":"","thread_id":"t","checkpoint_map":null}}`, `{"checkpoint_id":""}`,
		`{"before":[1]}`, `{"checkpoint":"x","before":null}`, "{\"before\":\"\\u0000\xff\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		in := &input{at: []any{"body"}}
		if _, err := checkJSON([]byte(body)); err != nil || json.Unmarshal([]byte(body), &in.members) != nil {
			return
		}
		before, place := in.cursor("before"), in.place("t")
		if _, err := json.Marshal(in.faults); err != nil {
			t.Errorf("faults cannot be told: %v", err)
		}
		if in.raw("before") != nil && before == "" && len(in.faults) == 0 && string(in.raw("before")) != `""` {
			t.Errorf("%s: no cursor and no fault", body)
		}
		if place.check() == nil && place.named && !checkpointID.MatchString(place.id) {
			t.Errorf("%s: checkpoint %q is let through", body, place.id)
		}
	})
}

func FuzzChanges(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"values":null,"as_node":"__input__"}`, `{"values":{"title":"x"}}`, `{"values":[{"title":"x"},null,{}]}`, `{"values":[]}`,
		`{"values":{"messages":[{"role":"user","content":"x"},["ai","y"],"z"]}}`, `{"values":{"messages":{"type":"remove","id":"m"}}}`,
		`{"values":{"todos":[{"content":"a","status":"pending"}],"goal":null}}`, `{"values":{"foo":1}}`, `{"values":{"title":5}}`, `{"values":[5]}`,
	} {
		f.Add(s)
	}
	s := &Server{Config: Config{Manager: runs.NewManager(runs.Config{})}}
	f.Fuzz(func(t *testing.T, body string) {
		in := &input{at: []any{"body"}}
		if _, err := checkJSON([]byte(body)); err != nil || json.Unmarshal([]byte(body), &in.members) != nil {
			return
		}
		updates, err := s.changes(in, in.raw("values"))
		if err != nil || len(in.faults) > 0 {
			return
		}
		if len(updates) == 0 {
			t.Errorf("%s: neither an update nor a fault", body)
		}
		for _, u := range updates {
			if s.checkChannels(u.Values) != nil || u.Values["messages"] != nil {
				t.Errorf("%s: channels %v are let through", body, u.Values)
			}
		}
	})
}
