package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/store"
)

// filled is the path of a route with a value for each parameter.
func filled(r Route) string {
	return strings.NewReplacer("{thread_id}", "t", "{run_id}", "{run}", "{assistant_id}", "{own}", "{path...}", "mnt/user-data/outputs/a.txt",
		"{$}", "", "{name...}", "fake", "{filename}", "a.txt", "{checkpoint_id}", "0", "{namespace}", "x").Replace(r.Path)
}

// noBody are the routes whose method has a body and that read none of JSON.
var noBody = []string{
	"/threads/{thread_id}/copy", "/threads/{thread_id}/runs/{run_id}/cancel", "/runs/{run_id}/cancel", "/threads/{thread_id}/runs/{run_id}/stream",
	"/threads/{thread_id}/uploads",
}

// bodies are the routes that read a JSON body.
func bodies() (out []Route) {
	for _, r := range Routes() {
		reads := r.Method == post || r.Method == put || r.Method == patch || r.Method == remove && r.Path == "/store/items"
		if reads && !slices.Contains(noBody, r.Path) {
			out = append(out, r)
		}
	}
	return out
}

// routeKit has a thread "t", a run and an assistant of a client.
func routeKit(t *testing.T, change func(*Config)) *fileKit {
	k := newFileKit(t, change)
	k.vars["run"] = k.run("t", "hello").ID
	k.put("t", "outputs/a.txt", "hello")
	k.play([]scenario{{name: "an assistant", method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent"}`, status: 200, keep: map[string]string{"assistant_id": "own"}}})
	return k
}

// TestBodiesThatNoRouteTakes: what is no JSON, no text or too large is refused by each route that reads a body, before it does
// anything.
func TestBodiesThatNoRouteTakes(t *testing.T) {
	k := routeKit(t, func(c *Config) { c.Limits.Body = 500 })
	k.play([]scenario{{name: "as large as may be", method: "POST", path: "/threads/count", body: `{}` + strings.Repeat(" ", 498), status: 200}})
	for _, r := range bodies() {
		path := k.fill(filled(r))
		for body, want := range map[string]string{
			`{"a":`:      `{"detail":[{"type":"json_invalid","loc":["body",5],"msg":"JSON decode error","input":{},"ctx":{"error":"unexpected EOF"}}]}`,
			`{} {}`:      `{"detail":[{"type":"json_invalid","loc":["body",2],"ctx":{"error":"extra data"}}]}`,
			"{\"\xff\":": `{"detail":[{"type":"json_invalid","loc":["body",0],"ctx":{"error":"the text is not UTF-8"}}]}`,
		} {
			k.play([]scenario{{name: "no JSON", method: r.Method, path: path, body: body, status: 422, want: want}})
		}
		k.play([]scenario{{
			name: "too large", method: r.Method, path: path, body: `{"a":"` + strings.Repeat("x", 500) + `"}`, status: 413,
			want: `{"detail":"The request is larger than 500 bytes"}`, headers: map[string]string{"Connection": "close"},
		}})
		large := k.request(r.Method, path, strings.Repeat(" ", 501))
		large.ContentLength = -1 // it does not say so
		if w := k.send(large); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s %s: %d %s", r.Method, path, w.Code, w.Body)
		}
	}
}

// TestBodiesThatAreLists are refused where an object is due.
func TestBodiesThatAreLists(t *testing.T) {
	k := routeKit(t, nil)
	for _, r := range bodies() {
		want := `{"detail":[{"type":"model_attributes_type","loc":["body"],"input":[1]}]}`
		if r.Path == "/runs/batch" {
			want = `{"detail":[{"type":"model_attributes_type","loc":["body",0],"input":1}]}`
		}
		k.play([]scenario{{name: "a list", method: r.Method, path: filled(r), body: `[1]`, status: 422, want: want}})
	}
}

// TestRequestsWithoutABody: where nothing need be said, nothing need be sent.
func TestRequestsWithoutABody(t *testing.T) {
	k := routeKit(t, nil)
	needed := []string{
		"PATCH /assistants/{assistant_id}", "POST /assistants", "POST /assistants/{assistant_id}/latest", "PATCH /threads/{thread_id}", "POST /threads/{thread_id}/state",
		"PATCH /threads/{thread_id}/state", "POST /runs/cancel", "PUT /store/items", "DELETE /store/items", "PUT /threads/{thread_id}/artifacts/{path...}", "POST /runs/batch",
	}
	for _, r := range bodies() {
		for _, body := range []string{"", "null", " "} {
			status, want := 200, ""
			if slices.Contains(needed, r.Method+" "+r.Path) {
				status, want = 422, `{"detail":[{"type":"missing","loc":["body"],"msg":"Field required","input":null}]}`
			}
			if r.Path == "/runs/batch" {
				want = `{"detail":"*"}`
				if body == "null" {
					status, want = 200, `[]`
				}
			}
			k.play([]scenario{{name: "nothing", method: r.Method, path: filled(r), body: body, status: status, want: want}})
		}
	}
}

// TestThreadIDsThatAreNone are refused by all routes below a thread, whatever else is wrong with the request. A thread of any
// name can be removed, and a run is found by its own id.
func TestThreadIDsThatAreNone(t *testing.T) {
	k := routeKit(t, nil)
	for _, r := range Routes() {
		if !strings.Contains(r.Path, "{thread_id}") || strings.Contains(r.Path, "{run_id}") || r.Method == remove && r.Path == "/threads/{thread_id}" {
			continue
		}
		for id, status := range map[string]int{"a%20b": 422, strings.Repeat("x", maxThreadID+1): 422} {
			k.play([]scenario{{
				name: "no id", method: r.Method, path: "/threads/" + id + strings.TrimPrefix(filled(r), "/threads/t"),
				body: `{"`, status: status, want: `{"detail":[{"type":"string_pattern_mismatch","loc":["path","thread_id"],"ctx":{"pattern":"^[A-Za-z0-9_-]{1,64}$"}}]}`,
			}})
		}
	}
}

// TestPagesOfAnySize: a page has the size that is asked for, and one that is usual else. X-Pagination-Next says where the next one
// begins, if there is one.
func TestPagesOfAnySize(t *testing.T) {
	k := newServer(t, nil)
	for i := range 105 {
		name := fmt.Sprintf("n%03d", i)
		for _, err := range []error{
			k.data().CreateThread(t.Context(), store.Thread{ID: name}),
			k.Items.For(k.User).Put(t.Context(), items.Item{Namespace: []string{name}, Key: "k", Value: []byte("{}"), CreatedAt: k.Now(), UpdatedAt: k.Now()}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		k.submitLater("queue")
		if i < 14 {
			k.do("POST", "/assistants", fmt.Sprintf(`{"graph_id":"lead_agent","assistant_id":"00000000-0000-4000-8000-%012d"}`, i))
			k.do("PATCH", "/assistants/00000000-0000-4000-8000-000000000000", `{"name":"x"}`)
			k.do("POST", "/threads/n000/state", `{"values":{"title":"x"}}`)
		}
	}
	for _, c := range []struct {
		method, path, list string
		usual, all         int
		next               bool
	}{
		{"POST", "/assistants/search", "", 10, 15, true},
		{"POST", "/assistants/00000000-0000-4000-8000-000000000000/versions", "", 10, 15, true},
		{"POST", "/threads/search", "", 100, 106, true},
		{"POST", "/store/items/search", "items", 10, 105, false},
		{"POST", "/store/namespaces", "namespaces", 100, 105, false},
		{"POST", "/threads/n000/history", "", 10, 15, false},
		{"GET", "/threads/n000/history", "", 10, 15, false},
		{"GET", "/threads/queue/runs", "", 100, 105, false},
	} {
		for limit, want := range map[int]int{0: c.usual, 1: 1, 13: 13, c.all - 1: c.all - 1, c.all: c.all, 1000: c.all} {
			path, body, next := c.path, "", ""
			if limit > 0 && c.method == "GET" {
				path += fmt.Sprintf("?limit=%d", limit)
			} else if limit > 0 {
				body = fmt.Sprintf(`{"limit":%d}`, limit)
			}
			if want < c.all && c.next {
				next = fmt.Sprint(want)
			}
			w := k.do(c.method, path, body)
			got := decode(t, w.Body.Bytes())
			if c.list != "" {
				got = at(got, c.list)
			}
			if total := fmt.Sprint(min(want+1, c.all)); c.next && w.Header().Get("X-Pagination-Total") != total {
				t.Errorf("%s with the limit %d: the total is %q, want %s", path, limit, w.Header().Get("X-Pagination-Total"), total)
			}
			if list, _ := got.([]any); w.Code != 200 || len(list) != want || w.Header().Get("X-Pagination-Next") != next {
				t.Errorf("%s with the limit %d: %d, %d entries, next is %q", path, limit, w.Code, len(list), w.Header().Get("X-Pagination-Next"))
			}
		}
		for body, status := range map[string]int{
			"limit=1001": 422, "limit=-1": 422, "limit=0": 422, "limit=x": 422, "offset=1073741824": 200, "offset=1073741825": 422, "offset=-1": 422,
		} {
			path, name, value := c.path, body[:strings.IndexByte(body, '=')], body[strings.IndexByte(body, '=')+1:]
			in := "body"
			if name == "offset" && strings.HasSuffix(path, "/history") {
				continue // it goes on by a checkpoint
			}
			if c.method == "GET" {
				in, path, body = "query", path+"?"+body, ""
			} else {
				body = fmt.Sprintf("{%q:%q}", name, value)
			}
			want := ""
			if status == 422 {
				want = fmt.Sprintf(`{"detail":[{"loc":[%q,%q],"input":%q}]}`, in, name, value)
			}
			k.play([]scenario{{name: "at the bounds", method: c.method, path: path, body: body, status: status, want: want}})
		}
	}
}
