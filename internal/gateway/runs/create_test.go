package runs_test

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestARunThatNoModelAnswers is refused before it is there, with what to do about it.
func TestARunThatNoModelAnswers(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		c.Models = []gateway.Model{{Name: "fake"}, {Name: "demo"}}
		c.Answers = func(req runs.Request) error {
			if req.Model == "demo" {
				return nil
			}
			return errors.New("no model")
		}
	})
	const sentence = "There is no model\nTo see what Pudu does without one, play the scripted demonstration: send \"context\": {\"model_name\": \"demo\"}"
	for _, path := range []string{"/runs", "/runs/wait", "/runs/stream", "/threads/t/runs"} {
		w := k.Do("POST", path, `{"if_not_exists":"create","input":{"messages":"hello"}}`)
		if got := jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "detail"); w.Code != 422 || got != sentence {
			t.Errorf("%s: %d %v", path, w.Code, got)
		}
	}
	k.Play([]gateways.Scenario{
		{Name: "no thread was made", Method: "POST", Path: "/threads/count", Status: 200, Want: `0`},
		{
			Name: "the demonstration", Method: "POST", Path: "/runs/wait",
			Body: `{"input":{"messages":"hello"},"context":{"model_name":"demo"}}`, Status: 200,
			Want: `{"messages":[{},{}]}`,
		},
	})
}

// TestWhatARunBelongsTo: by default to the lead agent, by its name, and what that has in its metadata is not the run's.
func TestWhatARunBelongsTo(t *testing.T) {
	k := gateways.New(t, nil)
	w := k.Do("POST", "/runs", `{"input":{"messages":"hello"}}`)
	got := jsontest.Decode(t, w.Body.Bytes())
	if d := cmp.Diff([]any{gateway.GraphID, map[string]any{}},
		[]any{jsontest.At(got, "assistant_id"), jsontest.At(got, "metadata")}); d != "" {
		t.Error(d)
	}
	k.Play([]gateways.Scenario{
		{
			Name: "by the id", Method: "POST", Path: "/runs", Body: `{"assistant_id":"` + shape.SystemAssistant + `"}`,
			Status: 200, Want: `{"assistant_id":"` + shape.SystemAssistant + `"}`,
		},
		{
			Name: "by the name", Method: "POST", Path: "/runs", Body: `{"assistant_id":"lead_agent"}`, Status: 200,
			Want: `{"assistant_id":"lead_agent"}`,
		},
		{
			Name: "an unknown checkpoint", Method: "POST", Path: "/runs",
			Body: `{"input":{},"checkpoint_id":"00000000-0000-4000-8000-000000000404"}`, Status: 404,
			Want: `{"detail":"Checkpoint 00000000-0000-4000-8000-000000000404 not found"}`,
		},
		{
			Name: "a graph's id of no assistant", Method: "GET",
			Path: "/assistants/00000000-0000-4000-8000-00000000040g", Status: 404,
			Want: `{"detail":"Assistant 00000000-0000-4000-8000-00000000040g not found"}`,
		},
	})
}

// TestARunKnowsWhoAsked: role, scopes and way in of the caller are the run's, and none of it is shown.
func TestARunKnowsWhoAsked(t *testing.T) {
	scopes := []string{"runs:create", "threads:write"}
	k := gateways.New(t, func(c *gateway.Config) { c.Role, c.Scopes, c.Via = access.Regular, scopes, "test way" })
	for _, r := range k.Routes() {
		scopes = append(scopes, r.Scope)
	}
	k.Change(func(c *gateway.Config) { c.Scopes = scopes })
	w := k.Do("POST", "/threads/t/runs", `{"if_not_exists":"create","input":{"messages":"hello"}}`)
	id, _ := jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "run_id").(string)
	run, err := k.Store.For(access.FromRow(gateways.User)).Run(t.Context(), id)
	if err != nil {
		t.Fatal(err, w.Body)
	}
	req, err := runs.RequestOf(run)
	if err != nil || req.Role != access.Regular || !slices.Equal(req.Scopes, scopes) || req.Via != "test way" {
		t.Errorf("%q %q %q, %v", req.Role, req.Scopes, req.Via, err)
	}
	if strings.Contains(w.Body.String(), "test way") {
		t.Error(w.Body)
	}
}

// TestUpdatesOfCommands: an object, or pairs as LangGraph's own clients send them.
func TestUpdatesOfCommands(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	const at = "/threads/t/runs/wait"
	k.Play([]gateways.Scenario{
		{
			Name: "pairs", Method: "POST", Path: at,
			Body: `{"command":{"goto":"__end__","update":[["title","Pairs"],["messages",[{"type":"human",
				"id":"m1","content":"by hand"}]],[7,"x"]]}}`,
			Status: 200, Want: `{"title":"Pairs","messages":[{"id":"m1","content":"by hand"}]}`,
		},
		{
			Name: "an object", Method: "POST", Path: at,
			Body: `{"command":{"goto":"__end__","update":{"title":"Object","todos":null}}}`, Status: 200,
			Want: `{"title":"Object","messages":[{"id":"m1"}]}`,
		},
		{
			Name: "no node", Method: "POST", Path: at, Body: `{"command":{"goto":[],"update":{"messages":"hello"}}}`,
			Status: 200, Want: `{"messages":[{"id":"m1"},{"content":"hello"}]}`,
		},
		{
			Name: "a number", Method: "POST", Path: at, Body: `{"command":{"update":5}}`, Status: 422,
			Want: `{"detail":[{"type":"dict_type","loc":["body","command","update"],"input":5}]}`,
		},
		{
			Name: "a text", Method: "POST", Path: at, Body: `{"command":{"update":"x"}}`, Status: 422,
			Want: `{"detail":[{"type":"dict_type","loc":["body","command","update"]}]}`,
		},
	})
}

// TestABodyThatBreaks is told of with what broke it.
func TestABodyThatBreaks(t *testing.T) {
	k := gateways.New(t, nil)
	r := k.Request("POST", "/threads", "{}")
	r.Body, r.ContentLength = io.NopCloser(iotest.ErrReader(errors.New("torn"))), -1
	if w := k.Send(r); w.Code != 400 || w.Body.String() != `{"detail":"The request's body cannot be read: torn"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestVersionsHaveTheirTimes: a change of an assistant is as new as the clock says.
func TestVersionsHaveTheirTimes(t *testing.T) {
	now := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	k := gateways.New(t, func(c *gateway.Config) { c.Now = func() time.Time { return now } })
	k.Play([]gateways.Scenario{{
		Name: "made", Method: "POST", Path: "/assistants", Body: `{"graph_id":"lead_agent"}`, Status: 200,
		Keep: map[string]string{"assistant_id": "own"},
		Want: `{"created_at":"2040-01-02T03:04:05.000000+00:00","updated_at":"2040-01-02T03:04:05.000000+00:00"}`,
	}})
	now = now.Add(time.Hour)
	k.Play([]gateways.Scenario{{
		Name: "changed", Method: "PATCH", Path: "/assistants/{own}", Body: `{"name":"x"}`, Status: 200,
		Want: `{"updated_at":"2040-01-02T04:04:05.000000+00:00"}`,
	}})
}

// TestOptionsOfAnAssistantThatNobodyChecked: a number of steps that is none leaves the server's own.
func TestOptionsOfAnAssistantThatNobodyChecked(t *testing.T) {
	k := gateways.New(t, nil)
	for config, want := range map[string]int{
		`{}`: 0, `{"tags":["a"]}`: 0, `{"recursion_limit":1}`: 1, `{"recursion_limit":9}`: 9,
		`{"recursion_limit":0}`: 0, `{"recursion_limit":"x"}`: 0, `{"recursion_limit":1073741824}`: 1 << 30,
		`{"recursion_limit":1073741825}`: 0,
	} {
		k.Play([]gateways.Scenario{
			{
				Name: "an assistant", Method: "POST", Path: "/assistants",
				Body: `{"graph_id":"lead_agent","config":` + config + `}`, Status: 200,
				Keep: map[string]string{"assistant_id": "own"},
			},
			{
				Name: "its run", Method: "POST", Path: "/runs",
				Body: `{"assistant_id":"{own}","input":{},"after_seconds":60}`, Status: 200,
				Keep: map[string]string{"run_id": "run"},
			},
		})
		run, err := k.Data().Run(t.Context(), k.Vars["run"])
		var req runs.Request
		if err := errors.Join(err, json.Unmarshal(run.Request, &req)); err != nil || req.MaxSteps != want {
			t.Errorf("%s: %d steps, want %d, %v", config, req.MaxSteps, want, err)
		}
	}
	k.Play([]gateways.Scenario{
		{
			Name: "one step is a number", Method: "POST", Path: "/runs",
			Body: `{"input":{},"config":{"recursion_limit":1}}`, Status: 200,
		},
		{
			Name: "metadata grow up to their bound", Method: "POST", Path: "/assistants",
			Body: `{"graph_id":"lead_agent","metadata":{"a":"` + jsontest.Long(40000) + `"}}`, Status: 200,
			Keep: map[string]string{"assistant_id": "own"},
		},
		{
			Name: "and no further", Method: "PATCH", Path: "/assistants/{own}",
			Body: `{"metadata":{"b":"` + jsontest.Long(40000) + `"}}`, Status: 422,
			Want: `{"detail":[{"type":"too_long","loc":["body","metadata"],
				"msg":"Dictionary should have at most 65536 bytes of JSON"}]}`,
		},
	})
}

// TestFaultsOfFilters: each route that searches says what is wrong with what it is asked for.
func TestFaultsOfFilters(t *testing.T) {
	k := gateways.New(t, nil)
	refused := func(method, path, body, want string) gateways.Scenario {
		return gateways.Scenario{
			Name: "refused", Method: method, Path: path, Body: body, Status: 422, Want: `{"detail":[` + want + `]}`,
		}
	}
	many := jsontest.MembersOf(route.MaxFilter + 1)
	k.Play([]gateways.Scenario{
		refused("POST", "/assistants/search", `{"sort_by":"x"}`,
			`{"loc":["body","sort_by"],"msg":"Input should be 'created_at', 'updated_at', 'name', 'assistant_id' or 'graph_id'"}`),
		refused("POST", "/assistants/count", `{"name":5}`, `{"type":"string_type","loc":["body","name"],"input":5}`),
		refused("POST", "/assistants/lead_agent/versions", `{"metadata":{"a b":1}}`,
			`{"loc":["body","metadata"],"msg":"Value error, Invalid metadata filter entries: 'a b' (unsafe key)"}`),
		refused("POST", "/assistants/lead_agent/latest", `{"version":0}`,
			`{"type":"greater_than_equal","loc":["body","version"]}`),
		refused("POST", "/assistants/lead_agent/latest", `{"version":2147483648}`,
			`{"type":"less_than_equal","loc":["body","version"]}`),
		refused("DELETE", "/assistants/lead_agent?delete_threads=x", "",
			`{"type":"bool_parsing","loc":["query","delete_threads"],"input":"x"}`),
		refused("POST", "/threads/count", `{"metadata":`+many+`}`,
			`{"loc":["body","metadata"],"msg":"Value error, Invalid metadata filter entries: more than 64"}`),
		refused("POST", "/threads/search", `{"metadata":5}`,
			`{"type":"dict_type","loc":["body","metadata"],"input":5}`),
		refused("POST", "/threads/t/history", `{"metadata":5}`,
			`{"type":"dict_type","loc":["body","metadata"],"input":5}`),
		refused("POST", "/threads/search", `{"ids":5}`, `{"type":"list_type","loc":["body","ids"],"input":5}`),
		refused("POST", "/threads/t/history", `{"before":{"configurable":{"checkpoint_id":5}}}`,
			`{"type":"string_type","loc":["body","before","configurable","checkpoint_id"]}`),
		refused("POST", "/store/items/search", `{"filter":`+many+`}`,
			`{"type":"too_long","loc":["body","filter"],"msg":"Dictionary should have at most 64 items"}`),
		refused("POST", "/store/items/search", `{"filter":{"a":{"$eq":1,"$gt":2}}}`,
			`{"loc":["body","filter","a","*"]},{"loc":["body","filter","a","*"]}`),
		refused("DELETE", "/store/items", `{"key":"k"}`, `{"type":"missing","loc":["body","namespace"],"input":null}`),
		refused("PUT", "/store/items", `{"namespace":["a"],"key":null,"value":{}}`,
			`{"type":"missing","loc":["body","key"],"input":null}`),
		refused("PUT", "/store/items", `{"namespace":["a"],"key":"k","value":{},"ttl":0}`,
			`{"type":"greater_than","loc":["body","ttl"],"input":0,"ctx":{"gt":0}}`),
		refused("PUT", "/store/items", `{"namespace":`+jsontest.ListOf(1001, `"a"`)+`,"key":"k","value":{}}`,
			`{"type":"too_long","loc":["body","namespace"]}`),
		refused("GET", "/threads/t/history?limit=0", "",
			`{"type":"greater_than_equal","loc":["query","limit"],"input":"0","ctx":{"ge":1}}`),
		refused("GET", "/threads/t/artifacts/mnt/user-data/outputs/a.txt?download=x", "",
			`{"type":"bool_parsing","loc":["query","download"]}`),
	})
	for range 20 { // members have no order
		k.Play([]gateways.Scenario{refused("POST", "/store/items/search",
			`{"filter":{"a":1,"b":"x","c":[1],"d":{"$gt":1},"e":null}}`, `{"loc":["body","filter","d","$gt"]}`)})
	}
	k.Play([]gateways.Scenario{
		{
			Name: "a thousand labels", Method: "PUT", Path: "/store/items",
			Body: `{"namespace":` + jsontest.ListOf(1000, `"a"`) + `,"key":"k","value":{}}`, Status: 422,
			Want: `{"detail":"A namespace has at most 16 labels. Received: 1000"}`,
		},
		{
			Name: "the shortest life", Method: "PUT", Path: "/store/items",
			Body: `{"namespace":["a"],"key":"k","value":{},"ttl":0.000016666666666666667}`, Status: 204,
		},
		{
			Name: "all that the rest says", Method: "POST", Path: "/threads/search",
			Body: `{"sort_by":"state_updated_at","sort_order":"asc"}`, Status: 200,
		},
		{
			Name: "the last version that can be", Method: "POST", Path: "/assistants/lead_agent/latest",
			Body: `{"version":2147483647}`, Status: 404,
		},
		{
			Name: "by the graph", Method: "POST", Path: "/assistants/search", Body: `{"sort_by":"graph_id"}`,
			Status: 200, Want: `[{}]`,
		},
		{Name: "no such thread", Method: "GET", Path: "/threads/t/history?before=x", Status: 200, Want: `[]`},
	})
	if !strings.Contains(k.Do("POST", "/threads/search", `{"select":[]}`).Body.String(), "[") {
		t.Error("nothing selected is no list")
	}
}
