package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// big is more than metadata may have, in bytes.
const big = 70 << 10

func TestCreateThread(t *testing.T) {
	k := newServer(t, nil)
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	k.play([]scenario{
		{
			name: "without a body", method: "POST", path: "/api/threads", status: 200,
			want: `{"thread_id":"*","status":"idle","created_at":"*","updated_at":"*","state_updated_at":"*","metadata":{},"values":{},"interrupts":{},"config":{}}`,
		},
		{name: "an empty object", method: "POST", path: "/api/langgraph/threads", body: `{}`, status: 200, want: `{"thread_id":"*"}`},
		{name: "null is missing", method: "POST", path: "/threads", body: `{"thread_id":null}`, status: 200, want: `{"thread_id":"*"}`},
		{
			name: "an id of any form, and metadata", method: "POST", path: "/threads", body: `{"thread_id":"my_thread-1","metadata":{"a":1,"nested":{"x":[1,2]}}}`,
			status: 200, want: `{"thread_id":"my_thread-1","metadata":{"a":1,"nested":{"x":[1,2]}}}`,
		},
		{name: "again, unchanged", method: "POST", path: "/threads", body: `{"thread_id":"my_thread-1","metadata":{"b":2}}`, status: 200, want: `{"metadata":{"a":1,"b":"<absent>"}}`},
		{name: "again, do_nothing", method: "POST", path: "/threads", body: `{"thread_id":"my_thread-1","if_exists":"do_nothing"}`, status: 200, want: `{"metadata":{"a":1}}`},
		{name: "again, raise", method: "POST", path: "/threads", body: `{"thread_id":"my_thread-1","if_exists":"raise"}`, status: 409, want: `{"detail":"Thread my_thread-1 already exists"}`},
		{name: "somebody else's", method: "POST", path: "/threads", body: `{"thread_id":"theirs"}`, status: 409, want: `{"detail":"*"}`},
		{
			name: "reserved members are dropped, unknown ones ignored", method: "POST", path: "/threads",
			body:   `{"thread_id":"t2","assistant_id":"lead_agent","metadata":{"user_id":"m","owner_id":"m","auth_token":"s","agent_name":"coder"},"ttl":{"ttl":60},"graph_id":"x"}`,
			status: 200, want: `{"metadata":{"agent_name":"coder","user_id":"<absent>","owner_id":"<absent>","auth_token":"<absent>"}}`,
		},
		{name: "a slash in the id", method: "POST", path: "/threads", body: `{"thread_id":"a/b"}`, status: 422, want: `{"detail":[{"type":"string_pattern_mismatch","loc":["body","thread_id"],"input":"a/b"}]}`},
		{name: "no id", method: "POST", path: "/threads", body: `{"thread_id":""}`, status: 422, want: `{"detail":[{"loc":["body","thread_id"]}]}`},
		{
			name: "several faults", method: "POST", path: "/threads", body: `{"metadata":"x","assistant_id":7,"if_exists":"perhaps"}`, status: 422,
			want: `{"detail":[{"type":"dict_type","loc":["body","metadata"]},{"type":"string_type","loc":["body","assistant_id"]},{"type":"literal_error"}]}`,
		},
		{name: "too much metadata", method: "POST", path: "/threads", body: `{"metadata":{"a":"` + strings.Repeat("x", big) + `"}}`, status: 422, want: `{"detail":[{"type":"too_long","loc":["body","metadata"]}]}`},
		{name: "no JSON", method: "POST", path: "/threads", body: `{not json`, status: 422, want: `{"detail":[{"type":"json_invalid"}]}`},
		{name: "no object", method: "POST", path: "/threads", body: `[]`, status: 422, want: `{"detail":[{"type":"model_attributes_type"}]}`},
		{name: "another method", method: "PUT", path: "/threads", body: `{}`, status: 405, headers: map[string]string{"Allow": "POST"}},
	})
}

func TestCreateThreadWithAState(t *testing.T) {
	k := newServer(t, nil)
	k.play([]scenario{
		{
			name: "two supersteps", method: "POST", path: "/threads", status: 200,
			body: `{"thread_id":"t1","supersteps":[{"updates":[{"values":{"messages":[{"role":"user","content":"one","id":"m1"}]},"command":null,"as_node":"__input__"}]},
				{"updates":[{"command":{"update":{"messages":[{"type":"ai","content":"two","id":"m2"}],"title":"Imported"}},"as_node":"model"}]}]}`,
			want: `{"thread_id":"t1","values":{"title":"Imported","messages":[{"id":"m1","type":"human"},{"id":"m2","type":"ai"}]}}`,
		},
		{name: "its history", method: "POST", path: "/threads/t1/history", body: `{}`, status: 200, want: `[{"next":[]},{"next":["model"],"values":{"messages":[{"id":"m1"}]}},{"checkpoint_id":"0"}]`},
		{name: "an unknown channel", method: "POST", path: "/threads", body: `{"thread_id":"t2","supersteps":[{"updates":[{"values":{"foo":1},"as_node":"model"}]}]}`, status: 422, want: `{"detail":"Unknown thread-state field(s): foo"}`},
		{name: "no list", method: "POST", path: "/threads", body: `{"thread_id":"t2","supersteps":{}}`, status: 422, want: `{"detail":[{"type":"list_type","loc":["body","supersteps"]}]}`},
		{name: "no node", method: "POST", path: "/threads", body: `{"thread_id":"t2","supersteps":[{"updates":[{"as_node":5}]}]}`, status: 422, want: `{"detail":[{"type":"string_type","loc":["body","supersteps",0,"updates",0,"as_node"]}]}`},
		{name: "no objects", method: "POST", path: "/threads", body: `{"thread_id":"t2","supersteps":[{"updates":[1]}]}`, status: 422, want: `{"detail":[{"type":"dict_type","loc":["body","supersteps",0,"updates",0]}]}`},
		{name: "what cannot be done", method: "POST", path: "/threads", body: `{"thread_id":"t2","supersteps":[{"updates":[{"values":{"messages":[{"type":"remove","id":"m9"}]}}]}]}`, status: 422, want: `{"detail":"*"}`},
		{name: "leaves no thread", method: "GET", path: "/threads/t2", status: 404},
	})
}

func TestGetThread(t *testing.T) {
	k := newServer(t, nil)
	k.run("t1", "hello there")
	k.run("asks", "ask")
	k.run("fails", "fail")
	k.start("busy")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	k.play([]scenario{
		{
			name: "after a run", method: "GET", path: "/api/threads/t1", status: 200,
			want: `{"thread_id":"t1","status":"idle","created_at":"*","metadata":{},"interrupts":{},"config":{"recursion_limit":7},"error":"<absent>",
				"values":{"title":"hello there","loop_steps":"<absent>","loop_stop":"<absent>","messages":[{"type":"human","content":"hello there"},{"type":"ai","content":"Hi there."}]}}`,
		},
		{name: "that asks", method: "GET", path: "/threads/asks", status: 200, want: `{"status":"interrupted","interrupts":"*"}`},
		{name: "that failed", method: "GET", path: "/threads/fails", status: 200, want: `{"status":"error","error":{"error":"RunError","message":"model: the model is broken"}}`},
		{name: "that is busy", method: "GET", path: "/threads/busy", status: 200, want: `{"status":"busy","values":{"title":"wait"}}`},
		{name: "missing", method: "GET", path: "/threads/nope", status: 404, want: `{"detail":"Thread nope not found"}`},
		{name: "somebody else's", method: "GET", path: "/threads/theirs", status: 404, want: `{"detail":"Thread theirs not found"}`},
		{name: "no id", method: "GET", path: "/threads/a.b", status: 422, want: `{"detail":[{"type":"string_pattern_mismatch","loc":["path","thread_id"]}]}`},
		{name: "an encoded slash", method: "GET", path: "/threads/a%2Fb", status: 404, want: `{"detail":"Not Found"}`},
	})
	asked := decode(t, k.do("GET", "/threads/asks", "").Body.Bytes())
	tasks := at(asked, "interrupts").(map[string]any)
	if len(tasks) != 1 {
		t.Errorf("interrupts: %v", tasks)
	}
	for _, list := range tasks {
		if why := unlike([]any{map[string]any{"id": "*", "value": "may I?"}}, list); why != "" {
			t.Errorf("interrupts%s: %v", why, tasks)
		}
	}
}

func TestTimesAreThoseOfTheAPI(t *testing.T) {
	k := newServer(t, func(c *Config) {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 11, 28, 28, 593836123, time.FixedZone("", 3600)) }
	})
	k.play([]scenario{
		{name: "made", method: "POST", path: "/threads", body: `{"thread_id":"t"}`, status: 200, want: `{"created_at":"2026-11-21T10:28:28.593836+00:00"}`},
		{name: "read", method: "GET", path: "/threads/t", status: 200, want: `{"created_at":"2026-11-21T10:28:28.593836+00:00","updated_at":"2026-11-21T10:28:28.593836+00:00"}`},
	})
}

func TestSearchThreads(t *testing.T) {
	k := newServer(t, nil)
	for i, m := range []string{
		`{"g":"12","n":1,"even":false,"nul":null,"f":1.5,"deerflow_pinned":true}`, `{"g":"12","n":2,"even":true}`, `{"g":"12","n":3,"even":false}`, `{"g":"other"}`,
	} {
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := k.data().CreateThread(t.Context(), store.Thread{
			ID: "t" + strconv.Itoa(i+1), Title: "title " + strconv.Itoa(i+1), Metadata: []byte(m), CreatedAt: at, UpdatedAt: at,
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs", Metadata: []byte(`{"g":"12"}`)}); err != nil {
		t.Fatal(err)
	}
	search := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", path: "/api/langgraph/threads/search", body: body, status: 200, want: want}
	}
	refused := func(name, body, want string) scenario {
		return scenario{name: name, method: "POST", path: "/threads/search", body: body, status: 422, want: want}
	}
	paged := search("a page", `{"metadata":{"g":"12"},"limit":2}`, `[{"thread_id":"t1"},{"thread_id":"t3"}]`)
	paged.headers = map[string]string{"X-Pagination-Total": "3", "X-Pagination-Next": "2"}
	last := search("the last page", `{"metadata":{"g":"12"},"limit":2,"offset":2}`, `[{"thread_id":"t2"}]`)
	last.headers = map[string]string{"X-Pagination-Total": "3", "X-Pagination-Next": ""}
	k.play([]scenario{
		search("without a body", "", `[{"thread_id":"t1"},{"thread_id":"t4"},{"thread_id":"t3"},{"thread_id":"t2"}]`),
		search("pinned first, then the last updated; titles", `{"metadata":{"g":"12"}}`,
			`[{"thread_id":"t1","values":{"title":"title 1"},"interrupts":{},"status":"idle"},{"thread_id":"t3"},{"thread_id":"t2"}]`),
		search("as the web client asks", `{"limit":50,"offset":0,"sort_by":"updated_at","sort_order":"desc","select":["thread_id","updated_at","values","metadata"]}`,
			`[{"thread_id":"t1","values":{"title":"title 1"},"status":"<absent>"},{"thread_id":"t4"},{"thread_id":"t3"},{"thread_id":"t2"}]`),
		paged, last,
		search("behind the end", `{"metadata":{"g":"12"},"offset":99}`, `[]`),
		search("another order", `{"sort_by":"created_at","sort_order":"asc","select":["thread_id"]}`,
			`[{"thread_id":"t1","metadata":"<absent>"},{"thread_id":"t2"},{"thread_id":"t3"},{"thread_id":"t4"}]`),
		search("the last made first", `{"sort_by":"created_at"}`, `[{"thread_id":"t4"},{"thread_id":"t3"},{"thread_id":"t2"},{"thread_id":"t1"}]`),
		search("by ids", `{"ids":["t2","nope","a/b"]}`, `[{"thread_id":"t2"}]`),
		search("no ids", `{"ids":[]}`, `[]`),
		search("a number", `{"metadata":{"n":1}}`, `[{"thread_id":"t1"}]`),
		search("no string", `{"metadata":{"n":"1"}}`, `[]`),
		search("a boolean", `{"metadata":{"even":true}}`, `[{"thread_id":"t2"}]`),
		search("no number", `{"metadata":{"even":1}}`, `[]`),
		search("null", `{"metadata":{"nul":null}}`, `[{"thread_id":"t1"}]`),
		search("a status", `{"status":"idle","limit":"1"}`, `[{"thread_id":"t1"}]`),
		search("an unknown status", `{"status":"running"}`, `[]`),
		refused("an unsafe key", `{"metadata":{"a.b":1}}`, `{"detail":[{"type":"value_error","loc":["body","metadata"],"msg":"Value error, Invalid metadata filter entries: 'a.b' (unsafe key)","input":{"a.b":1},"ctx":{"error":{}}}]}`),
		refused("no scalars", `{"metadata":{"a":[1],"b":{"c":1}}}`, `{"detail":[{"msg":"Value error, Invalid metadata filter entries: 'a' (unsupported value type list), 'b' (unsupported value type dict)"}]}`),
		refused("limits", `{"limit":1001,"offset":-1}`, `{"detail":[{"type":"less_than_equal","ctx":{"le":1000}},{"type":"greater_than_equal","ctx":{"ge":0}}]}`),
		refused("an unknown order", `{"sort_by":"metadata"}`, `{"detail":[{"type":"literal_error","loc":["body","sort_by"]}]}`),
		refused("a long status", `{"status":"`+strings.Repeat("x", 100)+`"}`, `{"detail":[{"type":"string_too_long"}]}`),
		{name: "count", method: "POST", path: "/threads/count", body: `{"metadata":{"g":"12"}}`, status: 200, want: `3`},
		{name: "count all", method: "POST", path: "/threads/count", status: 200, want: `4`},
		{name: "count none", method: "POST", path: "/threads/count", body: `{"status":"no"}`, status: 200, want: `0`},
	})
}

func TestSearchShowsQuestions(t *testing.T) {
	k := newServer(t, nil)
	k.run("asks", "ask")
	w := k.do("POST", "/threads/search", `{"status":"interrupted"}`)
	found := decode(t, w.Body.Bytes())
	byTask, _ := at(found, "0.interrupts").(map[string]any)
	if len(byTask) != 1 {
		t.Fatalf("interrupts of %v", found)
	}
	task := at(decode(t, k.do("GET", "/threads/asks/state", "").Body.Bytes()), "tasks.0.id")
	for id, list := range byTask {
		if why := unlike([]any{map[string]any{"value": "may I?", "id": "*"}}, list); why != "" || id != task {
			t.Errorf("task %s, of the state %v: %s", id, task, why)
		}
	}
}

func TestPatchThread(t *testing.T) {
	k := newServer(t, nil)
	made := time.Now().Add(-time.Hour)
	if err := k.data().CreateThread(t.Context(), store.Thread{ID: "t", Metadata: []byte(`{"a":1,"o":{"y":1}}`), CreatedAt: made, UpdatedAt: made}); err != nil {
		t.Fatal(err)
	}
	patch := func(name, body, want string) scenario {
		return scenario{
			name: name, method: "PATCH", path: "/api/threads/t", body: body, status: 200, want: want, keep: map[string]string{"updated_at": name},
		}
	}
	k.play([]scenario{
		patch("pin", `{"metadata":{"deerflow_pinned":true}}`, `{"metadata":{"a":1,"deerflow_pinned":true}}`),
		patch("merge", `{"metadata":{"b":true,"o":{"x":9}}}`, `{"metadata":{"a":1,"b":true,"o":{"x":9,"y":"<absent>"}}}`),
		patch("unpin", `{"metadata":{"deerflow_pinned":false}}`, `{"metadata":{"deerflow_pinned":false}}`),
		patch("null", `{"metadata":{"b":null,"user_id":"x"}}`, `{"metadata":{"b":null,"user_id":"<absent>"}}`),
		patch("text", `{"metadata":{"deerflow_pinned":"yes"}}`, `{"metadata":{"deerflow_pinned":"yes"}}`),
		patch("nothing", `{"title":"x","status":"busy"}`, `{"metadata":{"a":1},"status":"idle"}`),
		{name: "no object", method: "PATCH", path: "/threads/t", body: `{"metadata":[1]}`, status: 422, want: `{"detail":[{"type":"dict_type","loc":["body","metadata"]}]}`},
		{name: "no body", method: "PATCH", path: "/threads/t", status: 422, want: `{"detail":[{"type":"missing","loc":["body"]}]}`},
		{name: "missing", method: "PATCH", path: "/threads/nope", body: `{"metadata":{}}`, status: 404, want: `{"detail":"Thread nope not found"}`},
		{name: "bad id", method: "PATCH", path: "/threads/bad!id", body: `{}`, status: 422},
		{name: "half of what fits", method: "PATCH", path: "/threads/t", body: `{"metadata":{"x":"` + strings.Repeat("x", big/2) + `"}}`, status: 200},
		{name: "too much together", method: "PATCH", path: "/threads/t", body: `{"metadata":{"y":"` + strings.Repeat("x", big/2) + `"}}`, status: 422},
		{name: "by the state", method: "PATCH", path: "/threads/t/state", body: `{"metadata":{"c":1}}`, status: 200, want: `{"metadata":{"a":1,"c":1}}`},
	})
	if want := stamp(made); k.vars["pin"] != want || k.vars["merge"] <= want {
		t.Errorf("made %s, pinned %s, changed %s", want, k.vars["pin"], k.vars["merge"])
	}
	if k.vars["unpin"] != k.vars["merge"] || k.vars["text"] <= k.vars["null"] || k.vars["nothing"] <= k.vars["text"] {
		t.Errorf("updated at: %v", k.vars)
	}
}

func TestDeleteThread(t *testing.T) {
	k := newServer(t, nil)
	k.run("t", "hello")
	k.start("busy")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	if err := k.data().CreateThread(t.Context(), store.Thread{ID: "odd.id!"}); err != nil {
		t.Fatal(err)
	}
	k.play([]scenario{
		{name: "once", method: "DELETE", path: "/api/langgraph/threads/t", status: 200, want: `{"success":true,"message":"Deleted local thread data for t"}`},
		{name: "twice", method: "DELETE", path: "/api/threads/t", status: 404, want: `{"detail":"Thread t not found"}`},
		{name: "gone", method: "GET", path: "/threads/t", status: 404},
		{name: "its state is gone", method: "GET", path: "/threads/t/state", status: 404, want: `{"detail":"Thread t not found"}`},
		{name: "it has no history", method: "POST", path: "/threads/t/history", body: `{}`, status: 200, want: `[]`},
		{name: "busy", method: "DELETE", path: "/threads/busy", status: 409, want: `{"detail":"Thread has work in flight. Delete it after the work finishes."}`},
		{name: "somebody else's", method: "DELETE", path: "/threads/theirs", status: 404},
		{name: "an odd id", method: "DELETE", path: "/threads/odd.id!", status: 200},
		{name: "no id", method: "DELETE", path: "/threads/a%00b", status: 404},
		{name: "no UTF-8", method: "DELETE", path: "/threads/%ff", status: 404},
		{name: "all", method: "DELETE", path: "/threads", status: http.StatusMethodNotAllowed},
	})
}

func TestCopyThread(t *testing.T) {
	k := newServer(t, nil)
	k.run("t", "hello")
	k.do("PATCH", "/threads/t", `{"metadata":{"a":1}}`)
	k.play([]scenario{
		{
			name: "copy", method: "POST", path: "/threads/t/copy", status: 200, keep: map[string]string{"thread_id": "copy"},
			want: `{"status":"idle","metadata":{"a":1,"thread_id":"*"},"values":{"title":"hello","messages":[{"content":"hello"},{"content":"Hi there."}]},"config":{}}`,
		},
		{name: "get", method: "GET", path: "/threads/{copy}", status: 200, want: `{"thread_id":"{copy}","metadata":{"thread_id":"{copy}"}}`},
		{name: "state", method: "GET", path: "/threads/{copy}/state", status: 200, want: `{"checkpoint":{"thread_id":"{copy}"},"metadata":{"thread_id":"{copy}"},"next":[]}`},
		{name: "no runs", method: "GET", path: "/threads/{copy}/runs", status: 200, want: `[]`},
		{name: "missing", method: "POST", path: "/threads/nope/copy", status: 404, want: `{"detail":"Thread nope not found"}`},
	})
}
