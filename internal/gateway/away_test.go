package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// errand is a request to a route.
type errand struct {
	method, path, body string
	// end is what an answer ends with that begins before the store is asked for the last time: it is cut off where that fails.
	end string
	// behind is what is needed anew for each try.
	behind func()
}

// TestADatabaseThatIsAway: whichever call of a request the store refuses, the client is told to come again, and never that
// all went well.
func TestADatabaseThatIsAway(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Run("t", "count")
	k.Run("asks", "ask")
	k.Put("t", "uploads/a.txt", "x")
	k.Put("t", "outputs/a.txt", "hello")
	const own = "00000000-0000-4000-8000-000000000903"
	k.Play([]gateways.Scenario{
		{
			Name: "an assistant", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"` + own + `","graph_id":"lead_agent"}`, Status: 200,
		},
		{
			Name: "its second version", Method: "PATCH", Path: "/assistants/" + own, Body: `{"name":"second"}`,
			Status: 200,
		},
		{
			Name: "an item", Method: "PUT", Path: "/store/items", Body: `{"namespace":["a"],"key":"k","value":{}}`,
			Status: 204,
		},
		{
			Name: "a state", Method: "GET", Path: "/threads/t/state", Status: 200,
			Keep: map[string]string{"checkpoint_id": "at"},
		},
	})
	k.Vars["run"], k.Vars["own"] = k.RunsOf("t")[0].ID, own
	for _, a := range awayRequests(k.Kit) {
		calls := 0
		for n := int64(1); ; n++ {
			if a.behind != nil {
				a.behind()
			}
			tr := &gateways.Trouble{N: n}
			w, cut := k.Cut(gateways.Troubled(k.Request(a.method, k.Fill(a.path), k.Fill(a.body)), tr))
			if tr.Calls.Load() < n {
				if cut || w.Code >= 300 || !strings.Contains(w.Body.String(), a.end) {
					t.Errorf("%s %s is no good request: %d %s", a.method, a.path, w.Code, w.Body)
				}
				break
			}
			if calls++; a.end != "" && w.Code == http.StatusOK && cut == (a.end == stateEnd) && !strings.Contains(w.Body.String(), a.end) {
				continue
			}
			if want := `{"detail":"The server's database cannot be reached; try again"}`; w.Code != http.StatusServiceUnavailable ||
				w.Body.String() != want || w.Header().Get("Retry-After") != "5" {
				t.Errorf("%s %s, call %d: %d %.300s", a.method, a.path, n, w.Code, w.Body)
			}
		}
		if calls == 0 {
			t.Errorf("%s %s asks the store nothing", a.method, a.path)
		}
	}
}

// The ends of the answers that begin early.
const streamEnd, stateEnd, logEnd = "event: end", `{"messages":`, `{"run":`

func awayRequests(k *gateways.Kit) []errand {
	const hello, stateless = `{"input":{"messages":"hello"},"checkpoint_id":"{at}"}`, `{"input":{"messages":"hello"}}`
	ended := func() { k.Vars["gone"] = k.Run("gone", "hello").ID }
	waits := func() { k.Vars["later"] = k.SubmitLater("later").ID }
	return []errand{
		{method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent"}`},
		{method: "POST", path: "/assistants", body: `{"assistant_id":"{own}","graph_id":"lead_agent","if_exists":"do_nothing"}`},
		{method: "POST", path: "/assistants/search"},
		{method: "POST", path: "/assistants/count"},
		{method: "GET", path: "/assistants/{own}"},
		{method: "PATCH", path: "/assistants/{own}", body: `{"name":"x"}`},
		{method: "POST", path: "/assistants/{own}/versions"},
		{method: "POST", path: "/assistants/{own}/latest", body: `{"version":1}`},
		{method: "GET", path: "/assistants/{own}/graph"},
		{method: "GET", path: "/assistants/{own}/schemas"},
		{method: "GET", path: "/assistants/{own}/subgraphs"},
		{method: "DELETE", path: "/assistants/{own}"},
		{method: "POST", path: "/threads"},
		{method: "POST", path: "/threads", body: `{"thread_id":"t"}`},
		{method: "POST", path: "/threads", body: `{"supersteps":[{"updates":[{"values":{"title":"x"}}]}]}`},
		{method: "POST", path: "/threads/search", body: `{"ids":["asks"]}`},
		{method: "POST", path: "/threads/count"},
		{method: "GET", path: "/threads/t"},
		{method: "PATCH", path: "/threads/t", body: `{"metadata":{"a":1}}`},
		{method: "DELETE", path: "/threads/gone", behind: ended},
		{method: "POST", path: "/threads/t/copy"},
		{method: "GET", path: "/threads/asks/state"},
		{method: "POST", path: "/threads/t/state", body: `{"values":{"title":"x"}}`},
		{method: "GET", path: "/threads/t/state/{at}"},
		{method: "POST", path: "/threads/t/state/checkpoint"},
		{method: "GET", path: "/threads/t/history"},
		{method: "POST", path: "/threads/asks/history"},
		{method: "POST", path: "/threads/t/history", body: `{"before":"{at}","metadata":{"source":"loop"}}`},
		{method: "POST", path: "/threads/t/runs", body: hello},
		{method: "GET", path: "/threads/t/runs"},
		{method: "POST", path: "/threads/t/runs/stream", body: hello, end: streamEnd},
		{method: "POST", path: "/threads/t/runs/wait", body: hello, end: stateEnd},
		{method: "GET", path: "/threads/t/runs/{run}"},
		{method: "POST", path: "/threads/later/runs/{later}/cancel", behind: waits},
		{method: "POST", path: "/threads/later/runs/{later}/cancel?wait=true", behind: waits},
		{method: "POST", path: "/threads/later/runs/{later}/stream?action=interrupt&wait=true", behind: waits},
		{method: "POST", path: "/runs/cancel", body: `{"status":"pending"}`, behind: waits},
		{method: "POST", path: "/runs/cancel", body: `{"thread_id":"later","run_ids":["{later}"]}`, behind: waits},
		{method: "DELETE", path: "/threads/gone/runs/{gone}", behind: ended},
		{method: "GET", path: "/threads/t/runs/{run}/join", end: stateEnd},
		{method: "GET", path: "/threads/t/runs/{run}/stream", end: streamEnd},
		{method: "POST", path: "/threads/t/runs/{run}/stream", end: streamEnd},
		{method: "GET", path: "/threads/t/runs/{run}/log", end: logEnd},
		{method: "POST", path: "/runs", body: stateless},
		{method: "POST", path: "/runs/stream", body: stateless, end: streamEnd},
		{method: "POST", path: "/runs/wait", body: stateless, end: stateEnd},
		{method: "PUT", path: "/store/items", body: `{"namespace":["a"],"key":"k","value":{}}`},
		{method: "GET", path: "/store/items?namespace=a&key=k"},
		{method: "POST", path: "/store/items/search"},
		{method: "POST", path: "/store/namespaces"},
		{method: "DELETE", path: "/store/items", body: `{"namespace":["a"],"key":"k"}`},
		{method: "GET", path: "/threads/t/uploads/list"},
		{method: "DELETE", path: "/threads/t/uploads/a.txt"},
		{method: "GET", path: "/threads/t/artifacts/mnt/user-data/outputs/a.txt"},
		{
			method: "PUT", path: "/threads/t/artifacts/mnt/user-data/outputs/a.txt",
			body: `{"content":"hello","expected_sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}`,
		},
		{method: "GET", path: "/"},
	}
}
