package threads_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/threads"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestSourcesOfStates: what made a state is told with it.
func TestSourcesOfStates(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "ask")
	k.Vars["run"] = k.Start("t").ID
	k.Play([]gateways.Scenario{
		{Name: "roll back", Method: "POST", Path: "/runs/{run}/cancel?action=rollback&wait=true", Status: 204},
		{
			Name: "a fork of the state before", Method: "POST", Path: "/threads/t/history", Body: `{"limit":1}`,
			Status: 200,
			Want: `[{"metadata":{"source":"fork","run_id":"{run}"},"next":["tools"],"tasks":[{"name":"tools",
				"error":null}],"values":{"messages":[{},{}]}}]`,
		},
		{
			Name: "a title alone is an input", Method: "POST", Path: "/threads/u/runs/wait",
			Body: `{"if_not_exists":"create","input":{"title":"x"}}`, Status: 200,
		},
		{
			Name: "it is told", Method: "POST", Path: "/threads/u/history", Body: `{"metadata":{"source":"input"}}`,
			Status: 200, Want: `[{"values":{"title":"x"}}]`,
		},
		{
			Name: "a breakpoint", Method: "POST", Path: "/threads/v/runs/wait",
			Body: `{"if_not_exists":"create","input":{"messages":"count"},"interrupt_before":["tools"]}`, Status: 200,
		},
		{Name: "going on", Method: "POST", Path: "/threads/v/runs/wait", Body: `{"input":null}`, Status: 200},
		{
			Name: "is no input", Method: "POST", Path: "/threads/v/history", Body: `{}`, Status: 200,
			Want: `[{"metadata":{"source":"loop"}},{"metadata":{"source":"loop"}},
				{"metadata":{"source":"loop"}},{"metadata":{"source":"input"}},{"checkpoint_id":"0"}]`,
		},
	})
}

// TestAHistoryReadsARunOnce, however many states it has made, and looks for the run of a state that none has made at
// all.
func TestAHistoryReadsARunOnce(t *testing.T) {
	st := &gateways.Counted{}
	k := gateways.New(t, func(c *gateway.Config) { st.Store, c.Store = c.Store, st })
	k.Run("t", "count")
	k.Do("POST", "/threads/t/state", `{"values":{"title":"x"}}`)
	st.Looks.Store(0)
	w := k.Do("POST", "/threads/t/history", `{"metadata":{"graph_id":"lead_agent"}}`)
	if list, _ := jsontest.Decode(t, w.Body.Bytes()).([]any); len(list) != 4 || st.Looks.Load() != 1 {
		t.Errorf("%d states, %d looks at runs", len(list), st.Looks.Load())
	}
}

// TestTheBoundOfAHistory: values are told until they are more than the bound together, and small ones behind it too.
func TestTheBoundOfAHistory(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	// with its quotes
	for _, summary := range []string{jsontest.Long(threads.SmallValue - 2), jsontest.Long(threads.SmallValue - 1)} {
		if w := k.Do("POST", "/threads/t/state",
			`{"values":{"messages":[{"type":"human","id":"m","content":"hello"}],"summary_text":"`+summary+
				`"}}`); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	size := 0
	var list []struct{ Values map[string]json.RawMessage }
	if err := json.Unmarshal(k.Do("POST", "/threads/t/history", `{"limit":2}`).Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	for _, st := range list {
		for _, v := range st.Values {
			size += len(v)
		}
	}
	for bound, want := range map[int]string{
		size:     `[{"values":{"messages":[{}],"summary_text":"*"}},{"values":{"messages":[{}],"summary_text":"*"}}]`,
		size - 1: `[{"values":{"messages":[{}],"summary_text":"*"}},{"values":{"messages":"<absent>","summary_text":"*"}}]`,
		1:        `[{"values":{"messages":"<absent>","summary_text":"<absent>"}},{"values":{"messages":"<absent>","summary_text":"*"}}]`,
	} {
		k.Change(func(c *gateway.Config) { c.Limits.History = bound })
		k.Play([]gateways.Scenario{{
			Name: fmt.Sprint(bound), Method: "POST", Path: "/threads/t/history", Body: `{"limit":2}`, Status: 200,
			Want: want,
		}})
	}
}

// TestCallsOfUsualRequests: what clients ask often costs no more questions to the store than it needs.
func TestCallsOfUsualRequests(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "hello")
	for path, method := range map[string]string{
		"/assistants/nope": "GET", "/assistants/00000000-0000-4000-8000-00000000000g": "GET", "/threads/t/runs/" +
			jsontest.Long(257): "GET", "/threads/a%00b": "DELETE", "/threads/%ff": "DELETE", "/threads/" +
			jsontest.Long(257): "DELETE",
	} {
		tr := &gateways.Trouble{}
		if w := k.Send(gateways.Troubled(k.Request(method, path, ""), tr)); w.Code != http.StatusNotFound ||
			tr.Calls.Load() > 0 {
			t.Errorf("%s: %d calls, %d %s", path, tr.Calls.Load(), w.Code, w.Body)
		}
	}
	// Of what can be no checkpoint's id only the thread is looked for.
	tr := &gateways.Trouble{}
	if w := k.Send(gateways.Troubled(k.Request("GET", "/threads/t/state/a%00%ff", ""),
		tr)); w.Code != http.StatusNotFound || tr.Calls.Load() != 1 {
		t.Errorf("%d calls, %d %s", tr.Calls.Load(), w.Code, w.Body)
	}
	for _, c := range []struct {
		method, path, body string
		calls              int64
	}{
		{"POST", "/threads", `{}`, 1}, {"POST", "/threads/t/history", `{"before":"xyz"}`, 1},
		{"GET", "/assistants/lead_agent", "", 0}, {"POST", "/threads/search", `{}`, 1},
		{"POST", "/threads/count", `{"ids":[]}`, 0},
		{"POST", "/threads/search", `{"status":"none"}`, 0},
		{"GET", "/runs/" + run.ID, "", 2 /* with what the runs below it took */},
		{"POST", "/assistants/lead_agent/versions", "", 0},
		{"POST", "/assistants/lead_agent/latest", `{"version":1}`, 0},
		{"POST", "/threads/search", `{"ids":["a"],"select":["thread_id"]}`, 1},
		{"GET", "/threads/t/runs?status=none", "", 0}, {"POST", "/threads/t/runs", `{"input":{},"after_seconds":9}`, 1},
	} {
		tr := &gateways.Trouble{}
		if w := k.Send(gateways.Troubled(k.Request(c.method, c.path, c.body), tr)); w.Code != http.StatusOK ||
			tr.Calls.Load() != c.calls {
			t.Errorf("%s %s %s: %d calls, want %d; %d %s", c.method, c.path, c.body, tr.Calls.Load(), c.calls, w.Code,
				w.Body)
		}
	}
}
