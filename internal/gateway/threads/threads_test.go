package threads_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// big is more than metadata may have, in bytes.
const big = 70 << 10

func TestCreateThread(t *testing.T) {
	k := gateways.New(t, nil)
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	k.Play([]gateways.Scenario{
		{
			Name: "without a body", Method: "POST", Path: "/api/threads", Status: 200,
			Want: `{"thread_id":"*","status":"idle","created_at":"*","updated_at":"*","state_updated_at":"*",
				"metadata":{},"values":{},"interrupts":{},"config":{}}`,
		},
		{
			Name: "an empty object", Method: "POST", Path: "/api/langgraph/threads", Body: `{}`, Status: 200,
			Want: `{"thread_id":"*"}`,
		},
		{
			Name: "null is missing", Method: "POST", Path: "/threads", Body: `{"thread_id":null}`, Status: 200,
			Want: `{"thread_id":"*"}`,
		},
		{
			Name: "an id of any form, and metadata", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"my_thread-1","metadata":{"a":1,"nested":{"x":[1,2]}}}`, Status: 200,
			Want: `{"thread_id":"my_thread-1","metadata":{"a":1,"nested":{"x":[1,2]}}}`,
		},
		{
			Name: "again, unchanged", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"my_thread-1","metadata":{"b":2}}`, Status: 200,
			Want: `{"metadata":{"a":1,"b":"<absent>"}}`,
		},
		{
			Name: "again, do_nothing", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"my_thread-1","if_exists":"do_nothing"}`, Status: 200, Want: `{"metadata":{"a":1}}`,
		},
		{
			Name: "again, raise", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"my_thread-1","if_exists":"raise"}`, Status: 409,
			Want: `{"detail":"Thread my_thread-1 already exists"}`,
		},
		{
			Name: "somebody else's", Method: "POST", Path: "/threads", Body: `{"thread_id":"theirs"}`, Status: 409,
			Want: `{"detail":"*"}`,
		},
		{
			Name: "reserved members are dropped, unknown ones ignored", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"t2","assistant_id":"lead_agent","metadata":{"user_id":"m","owner_id":"m",
				"auth_token":"s","agent_name":"coder"},"ttl":{"ttl":60},"graph_id":"x"}`,
			Status: 200,
			Want: `{"metadata":{"agent_name":"coder","user_id":"<absent>","owner_id":"<absent>",
				"auth_token":"<absent>"}}`,
		},
		{
			Name: "a slash in the id", Method: "POST", Path: "/threads", Body: `{"thread_id":"a/b"}`, Status: 422,
			Want: `{"detail":[{"type":"string_pattern_mismatch","loc":["body","thread_id"],"input":"a/b"}]}`,
		},
		{
			Name: "no id", Method: "POST", Path: "/threads", Body: `{"thread_id":""}`, Status: 422,
			Want: `{"detail":[{"loc":["body","thread_id"]}]}`,
		},
		{
			Name: "several faults", Method: "POST", Path: "/threads",
			Body: `{"metadata":"x","assistant_id":7,"if_exists":"perhaps"}`, Status: 422,
			Want: `{"detail":[{"type":"dict_type","loc":["body","metadata"]},{"type":"string_type",
				"loc":["body","assistant_id"]},{"type":"literal_error"}]}`,
		},
		{
			Name: "too much metadata", Method: "POST", Path: "/threads",
			Body: `{"metadata":{"a":"` + strings.Repeat("x", big) + `"}}`, Status: 422,
			Want: `{"detail":[{"type":"too_long","loc":["body","metadata"]}]}`,
		},
		{
			Name: "no JSON", Method: "POST", Path: "/threads", Body: `{not json`, Status: 422,
			Want: `{"detail":[{"type":"json_invalid"}]}`,
		},
		{
			Name: "no object", Method: "POST", Path: "/threads", Body: `[]`, Status: 422,
			Want: `{"detail":[{"type":"model_attributes_type"}]}`,
		},
		{
			Name: "another method", Method: "PUT", Path: "/threads", Body: `{}`, Status: 405,
			Headers: map[string]string{"Allow": "POST"},
		},
	})
}

func TestCreateThreadWithAState(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{
		{
			Name: "two supersteps", Method: "POST", Path: "/threads", Status: 200,
			Body: `{"thread_id":"t1","supersteps":[{"updates":[{"values":{"messages":[{"role":"user",
				"content":"one","id":"m1"}]},"command":null,"as_node":"__input__"}]},
				{"updates":[{"command":{"update":{"messages":[{"type":"ai","content":"two","id":"m2"}],"title":"Imported"}},"as_node":"model"}]}]}`,
			Want: `{"thread_id":"t1","values":{"title":"Imported","messages":[{"id":"m1","type":"human"},
				{"id":"m2","type":"ai"}]}}`,
		},
		{
			Name: "its history", Method: "POST", Path: "/threads/t1/history", Body: `{}`, Status: 200,
			Want: `[{"next":[]},{"next":["model"],"values":{"messages":[{"id":"m1"}]}},{"checkpoint_id":"0"}]`,
		},
		{
			Name: "an unknown channel", Method: "POST", Path: "/threads",
			Body:   `{"thread_id":"t2","supersteps":[{"updates":[{"values":{"foo":1},"as_node":"model"}]}]}`,
			Status: 422, Want: `{"detail":"Unknown thread-state field(s): foo"}`,
		},
		{
			Name: "no list", Method: "POST", Path: "/threads", Body: `{"thread_id":"t2","supersteps":{}}`,
			Status: 422, Want: `{"detail":[{"type":"list_type","loc":["body","supersteps"]}]}`,
		},
		{
			Name: "no node", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"t2","supersteps":[{"updates":[{"as_node":5}]}]}`, Status: 422,
			Want: `{"detail":[{"type":"string_type","loc":["body","supersteps",0,"updates",0,"as_node"]}]}`,
		},
		{
			Name: "no objects", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"t2","supersteps":[{"updates":[1]}]}`, Status: 422,
			Want: `{"detail":[{"type":"dict_type","loc":["body","supersteps",0,"updates",0]}]}`,
		},
		{
			Name: "what cannot be done", Method: "POST", Path: "/threads",
			Body:   `{"thread_id":"t2","supersteps":[{"updates":[{"values":{"messages":[{"type":"remove","id":"m9"}]}}]}]}`,
			Status: 422, Want: `{"detail":"*"}`,
		},
		{Name: "leaves no thread", Method: "GET", Path: "/threads/t2", Status: 404},
	})
}

func TestGetThread(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t1", "hello there")
	k.Run("asks", "ask")
	k.Run("fails", "fail")
	k.Start("busy")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	k.Play([]gateways.Scenario{
		{
			Name: "after a run", Method: "GET", Path: "/api/threads/t1", Status: 200,
			Want: `{"thread_id":"t1","status":"idle","created_at":"*","metadata":{},"interrupts":{},"config":{"recursion_limit":7},"error":"<absent>",
				"values":{"title":"hello there","loop_steps":"<absent>","loop_stop":"<absent>",
				"messages":[{"type":"human","content":"hello there"},{"type":"ai","content":"Hi there."}]}}`,
		},
		{
			Name: "that asks", Method: "GET", Path: "/threads/asks", Status: 200,
			Want: `{"status":"interrupted","interrupts":"*"}`,
		},
		{
			Name: "that failed", Method: "GET", Path: "/threads/fails", Status: 200,
			Want: `{"status":"error","error":{"error":"RunError","message":"model: the model is broken"}}`,
		},
		{
			Name: "that is busy", Method: "GET", Path: "/threads/busy", Status: 200,
			Want: `{"status":"busy","values":{"title":"wait"}}`,
		},
		{
			Name: "missing", Method: "GET", Path: "/threads/nope", Status: 404,
			Want: `{"detail":"Thread nope not found"}`,
		},
		{
			Name: "somebody else's", Method: "GET", Path: "/threads/theirs", Status: 404,
			Want: `{"detail":"Thread theirs not found"}`,
		},
		{
			Name: "no id", Method: "GET", Path: "/threads/a.b", Status: 422,
			Want: `{"detail":[{"type":"string_pattern_mismatch","loc":["path","thread_id"]}]}`,
		},
		{Name: "an encoded slash", Method: "GET", Path: "/threads/a%2Fb", Status: 404, Want: `{"detail":"Not Found"}`},
	})
	asked := jsontest.Decode(t, k.Do("GET", "/threads/asks", "").Body.Bytes())
	tasks := jsontest.At(asked, "interrupts").(map[string]any)
	if len(tasks) != 1 {
		t.Errorf("interrupts: %v", tasks)
	}
	for _, list := range tasks {
		if why := jsontest.Unlike([]any{map[string]any{"id": "*", "value": "may I?"}}, list); why != "" {
			t.Errorf("interrupts%s: %v", why, tasks)
		}
	}
}

func TestTimesAreThoseOfTheAPI(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		c.Now = func() time.Time { return time.Date(2026, 11, 21, 11, 28, 28, 593836123, time.FixedZone("", 3600)) }
	})
	k.Play([]gateways.Scenario{
		{
			Name: "made", Method: "POST", Path: "/threads", Body: `{"thread_id":"t"}`, Status: 200,
			Want: `{"created_at":"2026-11-21T10:28:28.593836+00:00"}`,
		},
		{
			Name: "read", Method: "GET", Path: "/threads/t", Status: 200,
			Want: `{"created_at":"2026-11-21T10:28:28.593836+00:00","updated_at":"2026-11-21T10:28:28.593836+00:00"}`,
		},
	})
}

func TestSearchThreads(t *testing.T) {
	k := gateways.New(t, nil)
	for i, m := range []string{
		`{"g":"12","n":1,"even":false,"nul":null,"f":1.5,"deerflow_pinned":true}`, `{"g":"12","n":2,"even":true}`,
		`{"g":"12","n":3,"even":false}`, `{"g":"other"}`,
	} {
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := k.Data().CreateThread(t.Context(), store.Thread{
			ID: "t" + strconv.Itoa(i+1), Title: "title " + strconv.Itoa(i+1), Metadata: []byte(m), CreatedAt: at,
			UpdatedAt: at,
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Store.For(access.FromRow("other")).
		CreateThread(t.Context(), store.Thread{ID: "theirs", Metadata: []byte(`{"g":"12"}`)}); err != nil {
		t.Fatal(err)
	}
	search := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "POST", Path: "/api/langgraph/threads/search", Body: body, Status: 200, Want: want,
		}
	}
	refused := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "POST", Path: "/threads/search", Body: body, Status: 422,
			Want: want}
	}
	paged := search("a page", `{"metadata":{"g":"12"},"limit":2}`, `[{"thread_id":"t1"},{"thread_id":"t3"}]`)
	paged.Headers = map[string]string{"X-Pagination-Total": "3", "X-Pagination-Next": "2"}
	last := search("the last page", `{"metadata":{"g":"12"},"limit":2,"offset":2}`, `[{"thread_id":"t2"}]`)
	last.Headers = map[string]string{"X-Pagination-Total": "3", "X-Pagination-Next": ""}
	k.Play([]gateways.Scenario{
		search("without a body", "", `[{"thread_id":"t1"},{"thread_id":"t4"},{"thread_id":"t3"},{"thread_id":"t2"}]`),
		search("pinned first, then the last updated; titles", `{"metadata":{"g":"12"}}`,
			`[{"thread_id":"t1","values":{"title":"title 1"},"interrupts":{},"status":"idle"},{"thread_id":"t3"},{"thread_id":"t2"}]`),
		search("as the web client asks",
			`{"limit":50,"offset":0,"sort_by":"updated_at","sort_order":"desc","select":["thread_id","updated_at","values","metadata"]}`,
			`[{"thread_id":"t1","values":{"title":"title 1"},"status":"<absent>"},{"thread_id":"t4"},{"thread_id":"t3"},{"thread_id":"t2"}]`),
		paged, last,
		search("behind the end", `{"metadata":{"g":"12"},"offset":99}`, `[]`),
		search("another order", `{"sort_by":"created_at","sort_order":"asc","select":["thread_id"]}`,
			`[{"thread_id":"t1","metadata":"<absent>"},{"thread_id":"t2"},{"thread_id":"t3"},{"thread_id":"t4"}]`),
		search("the last made first", `{"sort_by":"created_at"}`,
			`[{"thread_id":"t4"},{"thread_id":"t3"},{"thread_id":"t2"},{"thread_id":"t1"}]`),
		search("by their state, the pinned one in its place", `{"sort_by":"state_updated_at"}`,
			`[{"thread_id":"t4"},{"thread_id":"t3"},{"thread_id":"t2"},{"thread_id":"t1"}]`),
		search("of the graph", `{"metadata":{"graph_id":"lead_agent"}}`, `[{},{},{},{}]`),
		search("of a graph that is not there", `{"metadata":{"graph_id":"other"}}`, `[]`),
		search("by ids", `{"ids":["t2","nope","a/b"]}`, `[{"thread_id":"t2"}]`),
		search("no ids", `{"ids":[]}`, `[]`),
		search("a number", `{"metadata":{"n":1}}`, `[{"thread_id":"t1"}]`),
		search("no string", `{"metadata":{"n":"1"}}`, `[]`),
		search("a boolean", `{"metadata":{"even":true}}`, `[{"thread_id":"t2"}]`),
		search("no number", `{"metadata":{"even":1}}`, `[]`),
		search("null", `{"metadata":{"nul":null}}`, `[{"thread_id":"t1"}]`),
		search("a status", `{"status":"idle","limit":"1"}`, `[{"thread_id":"t1"}]`),
		search("an unknown status", `{"status":"running"}`, `[]`),
		refused("an unsafe key", `{"metadata":{"a.b":1}}`,
			`{"detail":[{"type":"value_error","loc":["body","metadata"],
				"msg":"Value error, Invalid metadata filter entries: 'a.b' (unsafe key)","input":{"a.b":1},"ctx":{"error":{}}}]}`),
		refused("no scalars", `{"metadata":{"a":[1],"b":{"c":1}}}`,
			`{"detail":[{"msg":"Value error, Invalid metadata filter entries: 'a' (unsupported value type list), 'b' (unsupported value type dict)"}]}`),
		refused("limits", `{"limit":1001,"offset":-1}`,
			`{"detail":[{"type":"less_than_equal","ctx":{"le":1000}},{"type":"greater_than_equal","ctx":{"ge":0}}]}`),
		refused("an unknown order", `{"sort_by":"metadata"}`,
			`{"detail":[{"type":"literal_error","loc":["body","sort_by"]}]}`),
		refused("a long status", `{"status":"`+strings.Repeat("x", 100)+`"}`,
			`{"detail":[{"type":"string_too_long"}]}`),
		{
			Name: "count", Method: "POST", Path: "/threads/count", Body: `{"metadata":{"g":"12"}}`, Status: 200,
			Want: `3`,
		},
		{Name: "count all", Method: "POST", Path: "/threads/count", Status: 200, Want: `4`},
		{Name: "count none", Method: "POST", Path: "/threads/count", Body: `{"status":"no"}`, Status: 200, Want: `0`},
	})
}

func TestSearchShowsQuestions(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("asks", "ask")
	w := k.Do("POST", "/threads/search", `{"status":"interrupted"}`)
	found := jsontest.Decode(t, w.Body.Bytes())
	byTask, _ := jsontest.At(found, "0.interrupts").(map[string]any)
	if len(byTask) != 1 {
		t.Fatalf("interrupts of %v", found)
	}
	task := jsontest.At(jsontest.Decode(t, k.Do("GET", "/threads/asks/state", "").Body.Bytes()), "tasks.0.id")
	for id, list := range byTask {
		if why := jsontest.Unlike([]any{map[string]any{"value": "may I?", "id": "*"}}, list); why != "" || id != task {
			t.Errorf("task %s, of the state %v: %s", id, task, why)
		}
	}
}

func TestPatchThread(t *testing.T) {
	k := gateways.New(t, nil)
	made := time.Now().Add(-time.Hour)
	if err := k.Data().CreateThread(t.Context(), store.Thread{ID: "t", Metadata: []byte(`{"a":1,"o":{"y":1}}`),
		CreatedAt: made, UpdatedAt: made}); err != nil {
		t.Fatal(err)
	}
	patch := func(name, body, want string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "PATCH", Path: "/api/threads/t", Body: body, Status: 200, Want: want,
			Keep: map[string]string{"updated_at": name},
		}
	}
	k.Play([]gateways.Scenario{
		patch("pin", `{"metadata":{"deerflow_pinned":true}}`, `{"metadata":{"a":1,"deerflow_pinned":true}}`),
		patch("merge", `{"metadata":{"b":true,"o":{"x":9}}}`,
			`{"metadata":{"a":1,"b":true,"o":{"x":9,"y":"<absent>"}}}`),
		patch("unpin", `{"metadata":{"deerflow_pinned":false}}`, `{"metadata":{"deerflow_pinned":false}}`),
		patch("null", `{"metadata":{"b":null,"user_id":"x"}}`, `{"metadata":{"b":null,"user_id":"<absent>"}}`),
		patch("text", `{"metadata":{"deerflow_pinned":"yes"}}`, `{"metadata":{"deerflow_pinned":"yes"}}`),
		patch("nothing", `{"title":"x","status":"busy"}`, `{"metadata":{"a":1},"status":"idle"}`),
		{
			Name: "no object", Method: "PATCH", Path: "/threads/t", Body: `{"metadata":[1]}`, Status: 422,
			Want: `{"detail":[{"type":"dict_type","loc":["body","metadata"]}]}`,
		},
		{
			Name: "no body", Method: "PATCH", Path: "/threads/t", Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body"]}]}`,
		},
		{
			Name: "missing", Method: "PATCH", Path: "/threads/nope", Body: `{"metadata":{}}`, Status: 404,
			Want: `{"detail":"Thread nope not found"}`,
		},
		{Name: "bad id", Method: "PATCH", Path: "/threads/bad!id", Body: `{}`, Status: 422},
		{
			Name: "half of what fits", Method: "PATCH", Path: "/threads/t",
			Body: `{"metadata":{"x":"` + strings.Repeat("x", big/2) + `"}}`, Status: 200,
		},
		{
			Name: "too much together", Method: "PATCH", Path: "/threads/t",
			Body: `{"metadata":{"y":"` + strings.Repeat("x", big/2) + `"}}`, Status: 422,
		},
		{
			Name: "by the state", Method: "PATCH", Path: "/threads/t/state", Body: `{"metadata":{"c":1}}`,
			Status: 200, Want: `{"metadata":{"a":1,"c":1}}`,
		},
	})
	if want := shape.Stamp(made); k.Vars["pin"] != want || k.Vars["merge"] <= want {
		t.Errorf("made %s, pinned %s, changed %s", want, k.Vars["pin"], k.Vars["merge"])
	}
	if k.Vars["unpin"] != k.Vars["merge"] || k.Vars["text"] <= k.Vars["null"] || k.Vars["nothing"] <= k.Vars["text"] {
		t.Errorf("updated at: %v", k.Vars)
	}
}

func TestDeleteThread(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	k.Start("busy")
	if err := k.Store.For(access.FromRow("other")).CreateThread(t.Context(), store.Thread{ID: "theirs"}); err != nil {
		t.Fatal(err)
	}
	if err := k.Data().CreateThread(t.Context(), store.Thread{ID: "odd.id!"}); err != nil {
		t.Fatal(err)
	}
	k.Play([]gateways.Scenario{
		{
			Name: "once", Method: "DELETE", Path: "/api/langgraph/threads/t", Status: 200,
			Want: `{"success":true,"message":"Deleted local thread data for t"}`,
		},
		{Name: "twice", Method: "DELETE", Path: "/api/threads/t", Status: 404, Want: `{"detail":"Thread t not found"}`},
		{Name: "gone", Method: "GET", Path: "/threads/t", Status: 404},
		{
			Name: "its state is gone", Method: "GET", Path: "/threads/t/state", Status: 404,
			Want: `{"detail":"Thread t not found"}`,
		},
		{Name: "it has no history", Method: "POST", Path: "/threads/t/history", Body: `{}`, Status: 200, Want: `[]`},
		{
			Name: "busy", Method: "DELETE", Path: "/threads/busy", Status: 409,
			Want: `{"detail":"Thread has work in flight. Delete it after the work finishes."}`,
		},
		{Name: "somebody else's", Method: "DELETE", Path: "/threads/theirs", Status: 404},
		{Name: "an odd id", Method: "DELETE", Path: "/threads/odd.id!", Status: 200},
		{Name: "no id", Method: "DELETE", Path: "/threads/a%00b", Status: 404},
		{Name: "no UTF-8", Method: "DELETE", Path: "/threads/%ff", Status: 404},
		{
			Name: "a long one", Method: "DELETE", Path: "/threads/" + jsontest.Long(257), Status: 404,
			Want: `{"detail":"Thread ` + route.Clip(jsontest.Long(257)) + ` not found"}`,
		},
		{Name: "all", Method: "DELETE", Path: "/threads", Status: http.StatusMethodNotAllowed},
	})
}

func TestCopyThread(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	k.Do("PATCH", "/threads/t", `{"metadata":{"a":1}}`)
	k.Play([]gateways.Scenario{
		{
			Name: "copy", Method: "POST", Path: "/threads/t/copy", Status: 200,
			Keep: map[string]string{"thread_id": "copy"},
			Want: `{"status":"idle","metadata":{"a":1,"thread_id":"*"},"values":{"title":"hello",
				"messages":[{"content":"hello"},{"content":"Hi there."}]},"config":{}}`,
		},
		{
			Name: "get", Method: "GET", Path: "/threads/{copy}", Status: 200,
			Want: `{"thread_id":"{copy}","metadata":{"thread_id":"{copy}"}}`,
		},
		{
			Name: "state", Method: "GET", Path: "/threads/{copy}/state", Status: 200,
			Want: `{"checkpoint":{"thread_id":"{copy}"},"metadata":{"thread_id":"{copy}"},"next":[]}`,
		},
		{Name: "no runs", Method: "GET", Path: "/threads/{copy}/runs", Status: 200, Want: `[]`},
		{
			Name: "missing", Method: "POST", Path: "/threads/nope/copy", Status: 404,
			Want: `{"detail":"Thread nope not found"}`,
		},
	})
}
