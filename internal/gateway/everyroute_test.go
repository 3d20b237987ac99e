package gateway_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/internal/feature/items"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/web"
)

// asset is a script that the pages load, looked for once: web/dist has many files.
var asset = sync.OnceValue(func() string {
	all, err := fs.Glob(web.Files(), "assets/*.js")
	if err != nil || len(all) == 0 {
		panic("web/dist has no script")
	}
	return path.Base(all[0])
})

// filled is the path of a route with a value for each parameter.
func filled(r route.Route) string {
	return strings.NewReplacer("{thread_id}", "t", "{run_id}", "{run}", "{assistant_id}", "{own}", "{path...}",
		"mnt/user-data/outputs/a.txt",
		"{$}", "", "{name...}", "fake", "{filename}", "a.txt", "{checkpoint_id}", "0", "{namespace}", "x",
		"{rest...}", "x", "{kind}", "x", "{key}", "x", "{folder_id}", "{folder}", "{name}", asset(), "{link}", "x",
		"{agent}", "writer", "{version}", "0", "{change_id}", "{run}", "{session_id}", "x",
		"{approval_id}", "{approval}", "{fact_id}", "{fact}", "{skill}", "taught").Replace(r.Path)
}

// bodies are the routes that read a JSON body.
func bodies(k *gateways.FileKit) (out []route.Route) {
	for _, r := range k.Routes() {
		if r.Bound == route.JSON || r.Bound == route.Maybe || r.Bound == route.List {
			out = append(out, r)
		}
	}
	return out
}

// routeKit has a thread "t", a run and an assistant of a client.
func routeKit(t *testing.T, change func(*gateway.Config)) *gateways.FileKit {
	k := gateways.NewFiles(t, change)
	k.Vars["run"] = k.Run("t", "hello").ID
	k.Put("t", "outputs/a.txt", "hello")
	k.Play([]gateways.Scenario{{
		Name: "an assistant", Method: "POST", Path: "/assistants", Body: `{"graph_id":"lead_agent"}`, Status: 200,
		Keep: map[string]string{"assistant_id": "own"},
	}, {
		Name: "an agent", Method: "POST", Path: "/agents", Body: `{"name":"writer"}`, Status: 201,
	}, {
		Name: "a folder", Method: "POST", Path: "/folders", Body: `{"name":"f"}`, Status: 200,
		Keep: map[string]string{"folder_id": "folder"},
	}, {
		Name: "an approval", Method: "POST", Path: "/approvals", Body: `{"tool":"bash","pattern":"ls"}`, Status: 200,
		Keep: map[string]string{"approval_id": "approval"},
	}})
	remember(k, "likes tea")
	teach(k, "what it does")
	return k
}

// teach installs a skill named taught for the caller, whose text has the words, and gives it a history.
func teach(k *gateways.FileKit, words string) {
	k.T.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("SKILL.md")
	text := "---\nname: taught\ndescription: For tests.\n---\n\n"
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err = errors.Join(err, z.Close()); err == nil {
		mine := k.Skills.For(access.FromRow(gateways.User))
		_, err = mine.Install(k.T.Context(), bytes.NewReader(b.Bytes()), int64(b.Len()), "taught.skill")
		if err == nil {
			_, err = mine.Edit(k.T.Context(), "taught", text+words+"\n", skills.Human(skills.HumanEdit))
		}
	}
	if err != nil {
		k.T.Fatal(err)
	}
}

// remember adds a fact to the caller's memory; {fact} is its id.
func remember(k *gateways.FileKit, content string) {
	k.T.Helper()
	f, err := k.Config.Memory.For(access.FromRow(gateways.User)).
		Add(k.T.Context(), memory.Fact{Content: content, Confidence: 1, Category: "context"})
	if err != nil {
		k.T.Fatal(err)
	}
	k.Vars["fact"] = f.ID
}

// TestBodiesThatNoRouteTakes: what is no JSON, no text or too large is refused by each route that reads a body, before
// it does anything.
func TestBodiesThatNoRouteTakes(t *testing.T) {
	k := routeKit(t, func(c *gateway.Config) { c.Limits.Body = 500 })
	k.Play([]gateways.Scenario{{
		Name: "as large as may be", Method: "POST", Path: "/threads/count", Body: `{}` + strings.Repeat(" ", 498),
		Status: 200,
	}})
	for _, r := range bodies(k) {
		path := k.Fill(filled(r))
		for body, want := range map[string]string{
			`{"a":`:      `{"detail":[{"type":"json_invalid","loc":["body",5],"msg":"JSON decode error","input":{},"ctx":{"error":"unexpected EOF"}}]}`,
			`{} {}`:      `{"detail":[{"type":"json_invalid","loc":["body",2],"ctx":{"error":"extra data"}}]}`,
			"{\"\xff\":": `{"detail":[{"type":"json_invalid","loc":["body",0],"ctx":{"error":"the text is not UTF-8"}}]}`,
		} {
			k.Play([]gateways.Scenario{{Name: "no JSON", Method: r.Method, Path: path, Body: body, Status: 422,
				Want: want}})
		}
		k.Play([]gateways.Scenario{{
			Name: "too large", Method: r.Method, Path: path, Body: `{"a":"` + strings.Repeat("x", 500) + `"}`,
			Status: 413, Want: `{"detail":"The request is larger than 500 bytes"}`,
			Headers: map[string]string{"Connection": "close"},
		}})
		large := k.Request(r.Method, path, strings.Repeat(" ", 501))
		large.ContentLength = -1 // it does not say so
		if w := k.Send(large); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s %s: %d %s", r.Method, path, w.Code, w.Body)
		}
	}
}

// TestBodiesThatAreLists are refused where an object is due.
func TestBodiesThatAreLists(t *testing.T) {
	k := routeKit(t, nil)
	for _, r := range bodies(k) {
		want := `{"detail":[{"type":"model_attributes_type","loc":["body"],"input":[1]}]}`
		if r.Path == "/runs/batch" {
			want = `{"detail":[{"type":"model_attributes_type","loc":["body",0],"input":1}]}`
		}
		k.Play([]gateways.Scenario{{Name: "a list", Method: r.Method, Path: filled(r), Body: `[1]`, Status: 422,
			Want: want}})
	}
}

// TestRequestsWithoutABody: where nothing need be said, nothing need be sent.
func TestRequestsWithoutABody(t *testing.T) {
	k := routeKit(t, nil)
	needed := []string{
		"PATCH /assistants/{assistant_id}", "POST /assistants", "POST /assistants/{assistant_id}/latest",
		"PATCH /threads/{thread_id}", "POST /threads/{thread_id}/state",
		"PATCH /threads/{thread_id}/state", "PATCH /threads/{thread_id}/marks", "POST /runs/cancel", "PUT /store/items",
		"DELETE /store/items", "PUT /threads/{thread_id}/artifacts/{path...}", "POST /runs/batch", "POST /folders",
		"PATCH /folders/{folder_id}", "POST /threads/{thread_id}/branches",
		"POST /threads/{thread_id}/runs/regenerate/prepare",
		"POST /threads/{thread_id}/runs/edit-regenerate/prepare",
		"POST /agents", "PUT /agents/{agent}", "PUT /user-profile", "POST /approvals",
		"POST /config/models", "POST /config/models/test", "PUT /config/models/{name...}", "PUT /config/default-model",
		"PUT /skills/{skill}", "POST /skills/install", "PUT /skills/custom/{skill}",
		"POST /skills/custom/{skill}/rollback", "POST /memory/import", "POST /memory/facts",
		"PATCH /memory/facts/{fact_id}",
	}
	for _, r := range bodies(k) {
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
			k.Play([]gateways.Scenario{{
				Name: "nothing", Method: r.Method, Path: filled(r), Body: body, Status: status, Want: want,
			}})
		}
	}
}

// TestThreadIDsThatAreNone are refused by all routes below a thread, whatever else is wrong with the request. A thread
// of any name can be removed, and what was learned in it forgotten; a run is found by its own id.
func TestThreadIDsThatAreNone(t *testing.T) {
	k := routeKit(t, nil)
	for _, r := range k.Routes() {
		if !strings.Contains(r.Path, "{thread_id}") || strings.Contains(r.Path, "{run_id}") ||
			r.Method == http.MethodDelete &&
				(r.Path == "/threads/{thread_id}" || r.Path == "/memory/threads/{thread_id}") {
			continue
		}
		for id, status := range map[string]int{"a%20b": 422, strings.Repeat("x", 65): 422} {
			k.Play([]gateways.Scenario{{
				Name: "no id", Method: r.Method, Path: strings.Replace(filled(r), "/threads/t", "/threads/"+id, 1),
				Body: `{"`, Status: status,
				Want: `{"detail":[{"type":"string_pattern_mismatch","loc":["path","thread_id"],
					"ctx":{"pattern":"^[A-Za-z0-9_-]{1,64}$"}}]}`,
			}})
		}
	}
}

// TestPagesOfAnySize: a page has the size that is asked for, and one that is usual else. X-Pagination-Next says where
// the next one begins, if there is one.
func TestPagesOfAnySize(t *testing.T) {
	k := gateways.New(t, nil)
	for i := range 105 {
		name := fmt.Sprintf("n%03d", i)
		for _, err := range []error{
			k.Data().CreateThread(t.Context(), store.Thread{ID: name}),
			k.Items.For(k.User).Put(t.Context(), items.Item{Namespace: []string{name}, Key: "k", Value: []byte("{}"),
				CreatedAt: k.Now(), UpdatedAt: k.Now()}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		k.SubmitLater("queue")
		if i < 14 {
			k.Do("POST", "/assistants",
				fmt.Sprintf(`{"graph_id":"lead_agent","assistant_id":"00000000-0000-4000-8000-%012d"}`, i))
			k.Do("PATCH", "/assistants/00000000-0000-4000-8000-000000000000", `{"name":"x"}`)
			k.Do("POST", "/threads/n000/state", `{"values":{"title":"x"}}`)
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
		for limit, want := range map[int]int{0: c.usual, 1: 1, 13: 13, c.all - 1: c.all - 1, c.all: c.all,
			1000: c.all} {
			path, body, next := c.path, "", ""
			if limit > 0 && c.method == "GET" {
				path += fmt.Sprintf("?limit=%d", limit)
			} else if limit > 0 {
				body = fmt.Sprintf(`{"limit":%d}`, limit)
			}
			if want < c.all && c.next {
				next = fmt.Sprint(want)
			}
			w := k.Do(c.method, path, body)
			got := jsontest.Decode(t, w.Body.Bytes())
			if c.list != "" {
				got = jsontest.At(got, c.list)
			}
			if total := fmt.Sprint(min(want+1, c.all)); c.next && w.Header().Get("X-Pagination-Total") != total {
				t.Errorf("%s with the limit %d: the total is %q, want %s", path, limit,
					w.Header().Get("X-Pagination-Total"), total)
			}
			if list, _ := got.([]any); w.Code != 200 || len(list) != want ||
				w.Header().Get("X-Pagination-Next") != next {
				t.Errorf("%s with the limit %d: %d, %d entries, next is %q", path, limit, w.Code, len(list),
					w.Header().Get("X-Pagination-Next"))
			}
		}
		for body, status := range map[string]int{
			"limit=1001": 422, "limit=-1": 422, "limit=0": 422, "limit=x": 422, "offset=1073741824": 200,
			"offset=1073741825": 422, "offset=-1": 422,
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
			k.Play([]gateways.Scenario{{
				Name: "at the bounds", Method: c.method, Path: path, Body: body, Status: status, Want: want,
			}})
		}
	}
}
