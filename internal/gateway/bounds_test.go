package gateway_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestBoundsOfWhatIsSent: each thing may be as large as its bound says, and one more of it is refused in the place
// where it stands.
func TestBoundsOfWhatIsSent(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	for _, c := range []struct {
		method, path string
		body         func(n int) string
		most, status int
		loc          string // of the fault; empty for a sentence
	}{
		{"POST", "/assistants",
			func(n int) string { return `{"graph_id":"lead_agent","name":"` + jsontest.Long(n) + `"}` }, 256, 200,
			`"name"`},
		{"POST", "/assistants", func(n int) string {
			return `{"graph_id":"lead_agent","description":"` +
				jsontest.Long(n) + `"}`
		}, 16384, 200, `"description"`},
		{"POST", "/assistants", func(n int) string {
			return `{"graph_id":"lead_agent","config":` + jsontest.ObjectOf(n) + `}`
		}, 262144, 200, `"config"`},
		{"POST", "/assistants", func(n int) string {
			return `{"graph_id":"lead_agent","context":` + jsontest.ObjectOf(n) + `}`
		}, 262144, 200, `"context"`},
		{"POST", "/assistants", func(n int) string {
			return `{"graph_id":"lead_agent","metadata":` +
				jsontest.ObjectOf(n) + `}`
		}, 65536, 200, `"metadata"`},
		{"POST", "/assistants/search", func(n int) string { return `{"graph_id":"` + jsontest.Long(n) + `"}` }, 256,
			200, `"graph_id"`},
		{"POST", "/assistants/search", func(n int) string { return `{"name":"` + jsontest.Long(n) + `"}` }, 256, 200,
			`"name"`},
		{"POST", "/assistants/search", func(n int) string { return `{"select":` + jsontest.ListOf(n, `"name"`) + `}` },
			64, 200, `"select"`},
		{"POST", "/assistants/search", func(n int) string { return `{"metadata":` + jsontest.MembersOf(n) + `}` }, 64,
			200, `"metadata"`},
		{"POST", "/threads", func(n int) string { return `{"thread_id":"` + jsontest.Long(n) + `"}` }, 64, 200,
			`"thread_id"`},
		{"POST", "/threads", func(n int) string { return `{"assistant_id":"` + jsontest.Long(n) + `"}` }, 256, 200,
			`"assistant_id"`},
		{"POST", "/threads", func(n int) string { return `{"metadata":` + jsontest.ObjectOf(n) + `}` }, 65536, 200,
			`"metadata"`},
		{"POST", "/threads", func(n int) string { return `{"supersteps":` + jsontest.ListOf(n, `{}`) + `}` }, 1000, 200,
			`"supersteps"`},
		{"POST", "/threads", func(n int) string {
			return `{"thread_id":"a b","supersteps":[{"updates":` + jsontest.ListOf(n, `{}`) + `}]}`
		}, 1000, 422, `"supersteps",0,"updates"`},
		{"POST", "/threads", func(n int) string {
			return `{"thread_id":"a b","supersteps":[{"updates":` + jsontest.ListOf(n-1, `{}`) + `},{"updates":[{}]}]}`
		}, 1000, 422, `"supersteps"`},
		{"POST", "/threads/search", func(n int) string { return `{"ids":` + jsontest.ListOf(n, `"t"`) + `}` }, 1000,
			200, `"ids"`},
		{"POST", "/threads/search", func(n int) string { return `{"status":"` + jsontest.Long(n) + `"}` }, 64, 200,
			`"status"`},
		{"POST", "/threads/search",
			func(n int) string { return `{"select":` + jsontest.ListOf(n, `"thread_id"`) + `}` }, 64, 200, `"select"`},
		{"POST", "/threads/search", func(n int) string { return `{"metadata":{"` + jsontest.Long(n) + `":1}}` }, 128,
			200, `"metadata"`},
		{"POST", "/threads/t/state", func(n int) string { return `{"as_node":"` + jsontest.Long(n) + `"}` }, 128, 200,
			`"as_node"`},
		{"POST", "/threads/t/state",
			func(n int) string { return `{"values":{"title":"` + strings.Repeat("ü", n) + `"}}` }, 1000, 200,
			`"values","title"`},
		{"POST", "/threads/t/state",
			func(n int) string { return `{"checkpoint":1,"values":` + jsontest.ListOf(n, "{}") + `}` }, 1000, 422,
			`"values"`},
		{"POST", "/runs", func(n int) string {
			return `{"webhook":"x","input":{"messages":` + jsontest.ListOf(n, `"hello"`) + `}}`
		}, 1000, 422, `"input","messages"`},
		{"POST", "/runs", func(n int) string {
			return `{"webhook":"x","interrupt_before":` + jsontest.ListOf(n,
				`"tools"`) + `}`
		}, 100, 422, `"interrupt_before"`},
		{"POST", "/runs", func(n int) string {
			return `{"webhook":"x","interrupt_after":` + jsontest.ListOf(n,
				`"tools"`) + `}`
		}, 100, 422, `"interrupt_after"`},
		{"POST", "/runs", func(n int) string {
			return `{"webhook":"x","stream_mode":` + jsontest.ListOf(n, `"values"`) + `}`
		}, 100, 422, `"stream_mode"`},
		{"POST", "/runs", func(n int) string { return `{"webhook":"x","after_seconds":` + strconv.Itoa(n) + `}` },
			30 * 24 * 3600, 422, `"after_seconds"`},
		{"POST", "/runs", func(n int) string {
			return `{"webhook":"x","config":{"recursion_limit":` +
				strconv.Itoa(n) + `}}`
		}, 1 << 30, 422, `"config","recursion_limit"`},
		{"POST", "/runs", func(n int) string {
			return `{"webhook":"x","context":{"model_name":"` + jsontest.Long(n) +
				`"}}`
		}, 256, 422, `"context","model_name"`},
		{"POST", "/runs", func(n int) string {
			return `{"webhook":"x","command":{"goto":` + jsontest.ListOf(n,
				`"tools"`) + `}}`
		}, 1, 422, `"command","goto"`},
		{"POST", "/runs/cancel",
			func(n int) string { return `{"thread_id":"t","run_ids":` + jsontest.ListOf(n, `"x"`) + `}` }, 100, 404,
			`"run_ids"`},
		{"POST", "/store/items/search", func(n int) string { return `{"query":"` + jsontest.Long(n) + `"}` }, 4096, 200,
			`"query"`},
		{"POST", "/store/items/search", func(n int) string { return `{"filter":` + jsontest.MembersOf(n) + `}` }, 64,
			200, `"filter"`},
		{"POST", "/store/namespaces", func(n int) string { return `{"max_depth":` + strconv.Itoa(n) + `}` }, 16, 200,
			`"max_depth"`},
		{"PUT", "/store/items",
			func(n int) string { return `{"namespace":["a"],"key":"` + jsontest.Long(n) + `","value":{}}` }, 256, 204,
			`"key"`},
		{"PUT", "/store/items", func(n int) string {
			return `{"namespace":["a"],"key":"k","value":` +
				jsontest.ObjectOf(n) + `}`
		}, 1 << 20, 204, `"value"`},
		{"PUT", "/store/items", func(n int) string {
			return `{"namespace":["a"],"key":"k","value":{},"ttl":` +
				strconv.Itoa(n) + `}`
		}, 100 * 365 * 24 * 60, 204, `"ttl"`},
		{"PUT", "/store/items",
			func(n int) string { return `{"namespace":["` + jsontest.Long(n) + `"],"key":"k","value":{}}` }, 128, 204,
			""},
		{"PUT", "/store/items",
			func(n int) string { return `{"namespace":` + jsontest.ListOf(n, `"a"`) + `,"key":"k","value":{}}` }, 16,
			204, ""},
	} {
		name := fmt.Sprintf("%s %s %.60s", c.method, c.path, c.body(c.most))
		within := k.Do(c.method, c.path, c.body(c.most))
		if c.status == 422 { // something else is wrong as well, so that there is no such run
			if list, _ := jsontest.At(jsontest.Decode(t, within.Body.Bytes()), "detail").([]any); len(list) != 1 {
				t.Errorf("%s: %.500s", name, within.Body)
			}
		}
		if within.Code != c.status {
			t.Errorf("%s: %d %.500s", name, within.Code, within.Body)
		}
		w := k.Do(c.method, c.path, c.body(c.most+1))
		want := `"*"`
		if c.loc != "" {
			want = `["body",` + c.loc + `]`
		}
		found := c.loc == ""
		list, _ := jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "detail").([]any)
		for _, fault := range list {
			found = found || jsontest.Unlike(jsontest.Decode(t, []byte(want)), jsontest.At(fault, "loc")) == ""
		}
		if w.Code != http.StatusUnprocessableEntity || !found {
			t.Errorf("%s and more: %d %.500s", name, w.Code, w.Body)
		}
	}
}

// TestBoundsOfNames: ids that are longer than any that is kept are not looked for.
func TestBoundsOfNames(t *testing.T) {
	k := gateways.New(t, nil)
	if err := k.Data().CreateThread(t.Context(), store.Thread{ID: jsontest.Long(256)}); err != nil {
		t.Fatal(err)
	}
	for n, status := range map[int]int{200: 200, 201: 422} {
		r := k.Request("POST", "/runs", `{"input":{"messages":"hello"}}`)
		r.Header.Set("Idempotency-Key", jsontest.Long(n))
		if w := k.Send(r); w.Code != status {
			t.Errorf("a key of %d bytes: %d %s", n, w.Code, w.Body)
		}
	}
	k.Play([]gateways.Scenario{
		{Name: "a thread's longest name", Method: "DELETE", Path: "/threads/" + jsontest.Long(256), Status: 200},
		{
			Name: "one byte more", Method: "DELETE", Path: "/threads/" + jsontest.Long(257), Status: 404,
			Want: `{"detail":"Thread ` + route.Clip(jsontest.Long(257)) + ` not found"}`,
		},
		{Name: "an odd one", Method: "DELETE", Path: "/threads/a%01b", Status: 404},
	})
	// What no database has is not asked for: an answer that tells so, though none answers.
	for path, there := range map[string]int{
		"/runs/" + jsontest.Long(256): 503, "/runs/" + jsontest.Long(257): 404, "/runs/a%00b": 404, "/runs/a%01b": 503,
		"/runs/%ff": 404, "/threads/t/state/" + strings.Repeat("0", 64): 503,
	} {
		if w := k.Send(gateways.Troubled(k.Request("GET", path, ""), &gateways.Trouble{N: 1})); w.Code != there {
			t.Errorf("%.40s: %d %s", path, w.Code, w.Body)
		}
	}
	k.Run("t", "hello")
	for _, c := range [][3]string{
		{"GET", "/threads/t/state/ZZ", ""}, {"POST", "/threads/t/state/checkpoint",
			`{"checkpoint":{"checkpoint_id":"ZZ"}}`}, {"GET", "/threads/t/state/" + strings.Repeat("0", 65), ""},
	} {
		if w := k.Send(gateways.Troubled(k.Request(c[0], c[1], c[2]),
			&gateways.Trouble{N: 2})); w.Code != http.StatusNotFound { // the first call is for the thread
			t.Errorf("%s %s: %d %s", c[0], c[1], w.Code, w.Body)
		}
	}
	for path, there := range map[string]int{"/threads/" + jsontest.Long(256): 503, "/threads/" +
		jsontest.Long(257): 404, "/threads/a%00b": 404, "/threads/a%01b": 503, "/threads/%ff": 404} {
		if w := k.Send(gateways.Troubled(k.Request("DELETE", path, ""), &gateways.Trouble{N: 1})); w.Code != there {
			t.Errorf("DELETE %.40s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestDefaultLimits are those that docs/api.md names.
func TestDefaultLimits(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{{Name: "of uploads", Method: "GET", Path: "/threads/t/uploads/limits", Status: 200,
		Want: `{"max_files":10,"max_file_size":52428800,"max_total_size":104857600}`}})
	if l := k.Limits; l.Body != 16<<20 || l.History != 16<<20 || l.Heartbeat.Seconds() != 15 ||
		l.Write.Seconds() != 30 {
		t.Errorf("%+v", l)
	}
	own := gateway.Limits{Body: 1, Upload: 2, Files: 3, Uploads: 4, History: 5, Heartbeat: 6, Write: 7}
	if got := own.WithDefaults(); got != own {
		t.Errorf("%+v", got)
	}
}

// TestAThreadInTheBin may be looked at, by whatever route, and not be changed.
func TestAThreadInTheBin(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	const binned = `{"detail":"Thread t is in the bin; restore it first (POST /threads/t/restore)"}`
	k.Play([]gateways.Scenario{
		{Name: "before", Method: "POST", Path: "/threads/t/state", Body: `{"values":{"title":"A"}}`, Status: 200},
		{Name: "trash", Method: "POST", Path: "/threads/t/trash", Status: 200},
		{Name: "look", Method: "GET", Path: "/threads/t/state", Status: 200},
		{Name: "change", Method: "POST", Path: "/threads/t/state", Body: `{"values":{"title":"B"}}`, Status: 409,
			Want: binned},
		{Name: "another that is not there", Method: "POST", Path: "/threads/none/state", Body: `{"values":{}}`,
			Status: 404},
	})
}
