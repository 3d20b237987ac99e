package threads_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

func TestGetState(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"fresh"}`)
	k.Vars["run"] = k.Run("t", "count").ID
	k.Run("asks", "ask")
	k.Run("fails", "fail")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	k.Play([]gateways.Scenario{
		{
			Name: "fresh", Method: "GET", Path: "/threads/fresh/state", Status: 200,
			Want: `{"values":{},"next":[],"tasks":[],"metadata":{},"created_at":null,"checkpoint":null,
				"parent_checkpoint":null,"checkpoint_id":null,"parent_checkpoint_id":null,"interrupts":[]}`,
		},
		{
			Name: "after a run", Method: "GET", Path: "/api/threads/t/state?subgraphs=true", Status: 200,
			Want: `{"values":{"title":"count","loop_steps":"<absent>","messages":[{"type":"human"},{"type":"ai"},
				{"type":"tool","content":"counted"},{"content":"Hi there."}]},
				"next":[],"tasks":[],"interrupts":[],"created_at":"*","checkpoint_id":"*","parent_checkpoint_id":"*",
				"metadata":{"source":"loop","step":4,"parents":{},"run_id":"{run}","thread_id":"t","purpose":"test",
				"assistant_id":"lead_agent","graph_id":"lead_agent"},
				"checkpoint":{"thread_id":"t","checkpoint_ns":"","checkpoint_id":"*","checkpoint_map":null,"id":"*","ts":"*"},
				"parent_checkpoint":{"thread_id":"t","checkpoint_ns":"","checkpoint_id":"*"}}`,
			Keep: map[string]string{"checkpoint_id": "head", "parent_checkpoint_id": "parent"},
		},
		{
			Name: "at a checkpoint", Method: "GET", Path: "/threads/t/state/{parent}", Status: 200,
			Want: `{"checkpoint_id":"{parent}","next":["model"],"tasks":[{"id":"*","name":"model","error":null,
				"interrupts":[],"path":["__pregel_pull","model"],"checkpoint":null,"state":null,"result":null}],
				"values":{"messages":[{"type":"human"},{"type":"ai"},{"type":"tool"}]},"metadata":{"step":3}}`,
		},
		{
			Name: "before the first", Method: "GET", Path: "/threads/t/state/0", Status: 200,
			Want: `{"values":{},"next":["__start__"],"checkpoint":{"checkpoint_id":"0"},"parent_checkpoint":null}`,
		},
		{
			Name: "by an object", Method: "POST", Path: "/threads/t/state/checkpoint",
			Body:   `{"checkpoint":{"thread_id":"t","checkpoint_id":"{parent}","checkpoint_ns":"","checkpoint_map":null},"subgraphs":"false"}`,
			Status: 200, Want: `{"checkpoint_id":"{parent}"}`,
		},
		{
			Name: "the head, as RemoteGraph asks", Method: "POST", Path: "/threads/t/state/checkpoint",
			Body: `{"checkpoint":{"thread_id":"t"},"subgraphs":false}`, Status: 200,
			Want: `{"checkpoint_id":"{head}","checkpoint":{"checkpoint_id":"{head}"}}`,
		},
		{
			Name: "of another thread", Method: "POST", Path: "/threads/t/state/checkpoint",
			Body: `{"checkpoint":{"thread_id":"u"}}`, Status: 422,
			Want: `{"detail":[{"loc":["body","checkpoint","thread_id"]}]}`,
		},
		{
			Name: "of a subgraph", Method: "POST", Path: "/threads/t/state/checkpoint",
			Body: `{"checkpoint":{"checkpoint_ns":"tools:1"}}`, Status: 404,
			Want: `{"detail":"Checkpoint not found"}`,
		},
		{
			Name: "no object", Method: "POST", Path: "/threads/t/state/checkpoint", Body: `{"checkpoint":"x"}`,
			Status: 422, Want: `{"detail":[{"type":"dict_type"}]}`,
		},
		{
			Name: "unknown", Method: "GET", Path: "/threads/t/state/00000000-0000-4000-8000-000000000404",
			Status: 404, Want: `{"detail":"Checkpoint 00000000-0000-4000-8000-000000000404 not found"}`,
		},
		{Name: "no checkpoint's id", Method: "GET", Path: "/threads/t/state/a%00%ff", Status: 404},
		{
			Name: "missing thread", Method: "GET", Path: "/threads/nope/state", Status: 404,
			Want: `{"detail":"Thread nope not found"}`,
		},
		{
			Name: "missing thread, at a checkpoint", Method: "POST", Path: "/threads/nope/state/checkpoint",
			Body: `{}`, Status: 404, Want: `{"detail":"Thread nope not found"}`,
		},
		{Name: "somebody else's", Method: "GET", Path: "/threads/theirs/state", Status: 404},
		{
			Name: "that asks", Method: "GET", Path: "/threads/asks/state", Status: 200,
			Want: `{"next":["tools"],"tasks":[{"name":"tools","interrupts":[{"id":"*","value":"may I?"}]}],
				"interrupts":[{"id":"*","value":"may I?"}]}`,
		},
		{
			Name: "that failed", Method: "GET", Path: "/threads/fails/state", Status: 200,
			Want: `{"next":["model"],"tasks":[{"name":"model","error":"model: the model is broken"}],
				"metadata":{"source":"input","step":1}}`,
		},
	})
}

func TestPostState(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	first := jsontest.Decode(t, k.Do("GET", "/threads/t/history?limit=10", "").Body.Bytes()).([]any)
	k.Vars["first"] = jsontest.At(first[len(first)-2], "checkpoint_id").(string)
	k.Start("busy")
	post := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "POST", Path: "/api/langgraph/threads/t/state", Body: body, Status: 200, Want: want,
		}
	}
	refused := func(name, body string, status int, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "POST", Path: "/threads/t/state", Body: body, Status: status,
			Want: want}
	}
	k.Play([]gateways.Scenario{
		post("rename", `{"values":{"title":"Renamed"}}`,
			`{"values":{"title":"Renamed","messages":[{},{}]},"metadata":{"source":"update","run_id":"<absent>"},
				"next":[],"checkpoint":{"checkpoint_id":"*"}}`),
		{
			Name: "the thread is renamed", Method: "POST", Path: "/threads/search", Body: `{"ids":["t"]}`,
			Status: 200, Want: `[{"values":{"title":"Renamed"}}]`,
		},
		post("the longest title", `{"values":{"title":"`+strings.Repeat("ä", 1000)+`"}}`,
			`{"metadata":{"source":"update"}}`),
		post("and back", `{"values":{"title":"Renamed"}}`, `{"values":{"title":"Renamed"}}`),
		post("an empty title", `{"values":{"title":""}}`, `{"values":{"title":""}}`),
		{
			Name: "the name stays", Method: "POST", Path: "/threads/search", Body: `{"ids":["t"]}`, Status: 200,
			Want: `[{"values":{"title":"Renamed"}}]`,
		},
		post("other channels, a free name",
			`{"values":{"todos":[{"content":"one","status":"pending"}],"artifacts":["/mnt/user-data/outputs/a.txt"]},"as_node":"my_node"}`,
			`{"values":{"todos":[{"content":"one","status":"pending"}],"artifacts":["/mnt/user-data/outputs/a.txt"]}}`),
		post("add messages",
			`{"values":{"messages":[{"role":"user","content":"more","id":"m1"},{"type":"ai","content":"answer","id":"m2"}]}}`,
			`{"values":{"messages":[{},{},{"id":"m1","type":"human"},{"id":"m2","type":"ai"}]},"next":[]}`),
		post("replace one", `{"values":{"messages":{"type":"ai","content":"edited","id":"m2"}}}`,
			`{"values":{"messages":[{},{},{},{"id":"m2","content":"edited"}]}}`),
		post("remove one", `{"values":{"messages":[{"type":"remove","id":"m2"}]}}`,
			`{"values":{"messages":[{},{},{"id":"m1"}]}}`),
		post("as a node", `{"values":null,"as_node":"__start__"}`, `{"next":["model"],"tasks":[{"name":"model"}]}`),
		post("nothing", `{}`, `{"next":["model"]}`),
		post("several", `{"values":[{"messages":"first"},{"messages":"second"}],"as_node":"tools"}`,
			`{"values":{"messages":[{},{},{},{"content":"first"},{"content":"second"}]},"next":["model"]}`),
		post("an empty list", `{"values":[]}`, `{"checkpoint":{"thread_id":"t"}}`),
		post("from the past", `{"values":{"title":"Branch"},"checkpoint_id":"{first}"}`,
			`{"parent_checkpoint_id":"{first}","values":{"title":"Branch","messages":[{}],"todos":"<absent>"}}`),
		post("from the past, by an object",
			`{"values":{"title":"Branch"},"checkpoint":{"checkpoint_id":"{first}","checkpoint_ns":""}}`,
			`{"parent_checkpoint_id":"{first}"}`),
		refused("unknown channels", `{"values":{"foo":1,"bar":2,"title":"x"}}`, 422,
			`{"detail":"Unknown thread-state field(s): bar, foo"}`),
		refused("a private one", `{"values":{"loop_steps":{}}}`, 422,
			`{"detail":"Unknown thread-state field(s): loop_steps"}`),
		refused("a wrong type", `{"values":{"title":5}}`, 422, `{"detail":[{"loc":["body","values"]}]}`),
		refused("no message", `{"values":{"messages":[5]}}`, 422, `{"detail":[{"loc":["body","values","messages"]}]}`),
		refused("a message that is not there", `{"values":{"messages":[{"type":"remove","id":"m9"}]}}`, 422,
			`{"detail":"*"}`),
		refused("no values", `{"values":5}`, 422, `{"detail":[{"type":"dict_type","loc":["body","values"]}]}`),
		refused("no body", ``, 422, `{"detail":[{"type":"missing"}]}`),
		refused("a long title", `{"values":{"title":"`+strings.Repeat("x", 1001)+`"}}`, 422,
			`{"detail":[{"type":"string_too_long"}]}`),
		refused("a long node", `{"as_node":"`+strings.Repeat("x", 129)+`"}`, 422,
			`{"detail":[{"type":"string_too_long","loc":["body","as_node"]}]}`),
		refused("an unknown checkpoint", `{"values":{"title":"y"},"checkpoint_id":"nope"}`, 404,
			`{"detail":"Checkpoint nope not found"}`),
		refused("another unknown checkpoint", `{"checkpoint_id":"00000000-0000-4000-8000-000000000404"}`, 404,
			`{"detail":"Checkpoint 00000000-0000-4000-8000-000000000404 not found"}`),
		refused("an empty checkpoint", `{"checkpoint_id":""}`, 404, `{"detail":"Checkpoint not found"}`),
		refused("a subgraph", `{"checkpoint":{"checkpoint_ns":"x"}}`, 404, `{"detail":"*"}`),
		{
			Name: "busy", Method: "POST", Path: "/threads/busy/state", Body: `{"values":{"title":"x"}}`, Status: 409,
			Want: `{"detail":"Thread has a run in flight. Update state after the run finishes."}`,
		},
		{
			Name: "missing", Method: "POST", Path: "/threads/nope/state", Body: `{"values":{"title":"x"}}`,
			Status: 404, Want: `{"detail":"Thread nope not found"}`,
		},
	})
}

func TestHistory(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"fresh"}`)
	k.Vars["run"] = k.Run("t", "count").ID
	k.Do("POST", "/threads/t/state", `{"values":{"title":"Renamed"}}`)
	list := jsontest.Decode(t, k.Do("POST", "/threads/t/history", `{}`).Body.Bytes()).([]any)
	if len(list) != 6 {
		t.Fatalf("%d entries, want 6: %v", len(list), list)
	}
	for i, name := range []string{"update", "answer", "counted", "called", "input"} {
		k.Vars[name] = jsontest.At(list[i], "checkpoint_id").(string)
	}
	k.Run("asks", "ask")
	k.Run("asks", "hello")
	post := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "POST", Path: "/api/langgraph/threads/t/history", Body: body, Status: 200, Want: want,
		}
	}
	refused := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "POST", Path: "/threads/t/history", Body: body, Status: 422,
			Want: want}
	}
	k.Play([]gateways.Scenario{
		post("all", `{}`, `[{"checkpoint_id":"{update}","parent_checkpoint_id":"{answer}",
			"checkpoint":{"checkpoint_id":"{update}"},"parent_checkpoint":{"checkpoint_id":"{answer}"},
			"metadata":{"source":"update","step":5},"values":{"title":"Renamed","messages":[{},{},{},{}]},"next":[]},
			{"metadata":{"source":"loop","run_id":"{run}"},"values":{"title":"<absent>","messages":[{},{},{},{}]},"next":[]},
			{"values":{"messages":[{},{},{}]},"next":["model"]},
			{"values":{"messages":[{},{}]},"next":["tools"],"interrupts":[]},
			{"metadata":{"source":"input","step":1,"purpose":"test"},"values":{"messages":[{}]},"next":["model"],
			"parent_checkpoint":{"checkpoint_id":"0"},"parent_checkpoint_id":null},
			{"checkpoint_id":"0","checkpoint":{"checkpoint_id":"0"},"values":{},"next":["__start__"],
			"metadata":{"source":"input","step":0},"parent_checkpoint":null}]`),
		post("without a body", "", `[{},{},{},{},{},{}]`),
		post("as the web client asks", `{"limit":1}`,
			`[{"checkpoint":"<absent>","parent_checkpoint":"<absent>","checkpoint_id":"{update}","values":{"title":"Renamed","messages":[{},{},{},{}]}}]`),
		post("as RemoteGraph asks", `{"limit":1,"checkpoint":{"thread_id":"t"}}`,
			`[{"checkpoint":{"checkpoint_id":"{update}"}}]`),
		post("a page", `{"limit":2}`, `[{"checkpoint_id":"{update}","checkpoint":{}},{"checkpoint_id":"{answer}"}]`),
		post("the next page, by a string", `{"limit":2,"before":"{answer}"}`,
			`[{"checkpoint_id":"{counted}"},{"checkpoint_id":"{called}"}]`),
		post("by an object", `{"limit":1,"before":{"checkpoint_id":"{called}","thread_id":"t"}}`,
			`[{"checkpoint_id":"{input}","checkpoint":{}}]`),
		post("by a config", `{"before":{"configurable":{"checkpoint_id":"{called}"}}}`,
			`[{"checkpoint_id":"{input}"},{"checkpoint_id":"0"}]`),
		post("before the first", `{"before":"{input}"}`, `[]`),
		post("before an unknown one", `{"before":"1f000000-0000-6000-8000-000000000000"}`, `[]`),
		post("before no checkpoint", `{"before":"zzz"}`, `[]`),
		post("one checkpoint", `{"checkpoint":{"checkpoint_id":"{called}"}}`, `[{"checkpoint_id":"{called}"}]`),
		post("an unknown one", `{"checkpoint":{"checkpoint_id":"00000000-0000-4000-8000-000000000404"}}`, `[]`),
		post("of a subgraph", `{"limit":1,"checkpoint":{"checkpoint_ns":"tools:x"}}`, `[]`),
		post("by source", `{"metadata":{"source":"input"}}`, `[{"checkpoint_id":"{input}"}]`),
		post("by step and the run's metadata", `{"metadata":{"step":2,"purpose":"test"}}`,
			`[{"checkpoint_id":"{called}"}]`),
		post("by nothing there is", `{"metadata":{"step":"2"}}`, `[]`),
		refused("no entries", `{"limit":0}`, `{"detail":[{"ctx":{"ge":1}}]}`),
		refused("too many", `{"limit":1001}`, `{"detail":[{"ctx":{"le":1000}}]}`),
		refused("an object without an id", `{"before":{}}`,
			`{"detail":[{"type":"missing","loc":["body","before","checkpoint_id"]}]}`),
		refused("a number", `{"before":5}`, `{"detail":[{"loc":["body","before"]}]}`),
		{
			Name: "by a query", Method: "GET", Path: "/threads/t/history?limit=1&before={called}", Status: 200,
			Want: `[{"checkpoint_id":"{input}","checkpoint":{}}]`,
		},
		{
			Name: "by a bad query", Method: "GET", Path: "/threads/t/history?limit=x", Status: 422,
			Want: `{"detail":[{"loc":["query","limit"]}]}`,
		},
		{Name: "fresh", Method: "POST", Path: "/threads/fresh/history", Body: `{}`, Status: 200, Want: `[]`},
		{Name: "missing", Method: "POST", Path: "/threads/nope/history", Body: `{"limit":1}`, Status: 200, Want: `[]`},
		{Name: "no id", Method: "POST", Path: "/threads/a.b/history", Body: `{}`, Status: 422},
		{
			Name: "a question that was passed over", Method: "POST", Path: "/threads/asks/history", Body: `{}`,
			Status: 200,
			Want: `[{"next":[]},{"next":["model"],"metadata":{"source":"input"}},{"next":["tools"],
				"tasks":[{"interrupts":[{"value":"may I?"}]}]},{"next":["model"]},{"next":["__start__"]}]`,
		},
	})
}

func TestHistoryIsBounded(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Limits.History = 320 << 10 })
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	text := strings.Repeat("x", 100<<10)
	for _, id := range []string{"a", "b", "c"} {
		body, _ := json.Marshal(map[string]any{"values": map[string]any{"messages": []any{map[string]string{"type": "human", "id": id, "content": text}}}})
		if w := k.Do("POST", "/threads/t/state", string(body)); w.Code != 200 {
			t.Fatal(w.Body.String())
		}
	}
	k.Play([]gateways.Scenario{{
		Name: "the newest first", Method: "POST", Path: "/threads/t/history", Body: `{}`, Status: 200,
		Want: `[{"values":{"messages":[{},{},{}]}},{"values":{"messages":"<absent>"}},
			{"values":{"messages":"<absent>"},"checkpoint_id":"*"},{"checkpoint_id":"0"}]`,
	}})
}

// TestStatesThatCannotBeTold are a failure of the server, and no states without what is missing.
func TestStatesThatCannotBeTold(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	for _, path := range []string{"GET /threads/t", "GET /threads/t/state", "POST /threads/t/history",
		"POST /threads/t/copy", "POST /threads/t/state/checkpoint"} {
		method, path, _ := strings.Cut(path, " ")
		w := k.Send(gateways.Troubled(k.Request(method, path, ""), gateways.Unsound()))
		if w.Code != http.StatusInternalServerError || w.Body.String() != `{"detail":"Internal Server Error"}` {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
}

// TestATaskHasOneName: who followed the run that asks finds the question of its state by the same id.
func TestATaskHasOneName(t *testing.T) {
	k := gateways.New(t, nil)
	w := k.Do("POST", "/threads/t/runs/stream",
		`{"if_not_exists":"create","input":{"messages":"ask"},"stream_mode":["tasks"]}`)
	var seen []string
	for _, f := range gateways.ParseSSE(t, w.Body.String()) {
		if id, ok := jsontest.At(jsontest.Decode(t, []byte(f.Data)), "id").(string); ok && f.Event == "tasks" {
			seen = append(seen, id)
		}
	}
	id, _ := jsontest.At(jsontest.Decode(t, k.Do("GET", "/threads/t/state", "").Body.Bytes()), "tasks.0.id").(string)
	if !slices.Contains(seen, id) {
		t.Errorf("the state has the task %s; the stream had %q in\n%s", id, seen, w.Body)
	}
}
