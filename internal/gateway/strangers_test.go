package gateway_test

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/feature/assistants"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestRunsOfOthers: what belongs to somebody else is not there, by whatever way it is asked for, and nothing happens to
// it.
func TestRunsOfOthers(t *testing.T) {
	k := gateways.New(t, nil)
	order := k.Ask("theirs", "wait")
	other := access.FromRow("somebody else")
	theirs, err := k.Manager.For(other).Submit(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	<-k.Begun
	k.Run("mine", "hello")
	k.Vars["run"] = theirs.ID
	missing := func(method, path string) gateways.Scenario {
		return gateways.Scenario{
			Name: "theirs", Method: method, Path: path, Status: 404, Want: `{"detail":"Run {run} not found"}`,
		}
	}
	k.Play([]gateways.Scenario{missing("GET", "/threads/theirs/runs/{run}"), missing("GET", "/runs/{run}"),
		missing("GET", "/threads/mine/runs/{run}")})
	if t.Failed() { // to follow a run that is shown would take until its end
		return
	}
	var list []gateways.Scenario
	for _, at := range []string{"/threads/theirs/runs/{run}", "/runs/{run}", "/api/threads/theirs/runs/{run}"} {
		list = append(list, missing("GET", at+"/join"), missing("GET", at+"/stream"), missing("POST", at+"/cancel"),
			missing("DELETE", at))
	}
	k.Play(append(list,
		missing("POST", "/threads/theirs/runs/{run}/stream?action=interrupt"),
		missing("GET", "/threads/theirs/runs/{run}/log"),
		gateways.Scenario{Name: "their list", Method: "GET", Path: "/threads/theirs/runs", Status: 200, Want: `[]`},
		gateways.Scenario{
			Name: "by status", Method: "GET", Path: "/threads/theirs/runs?status=running", Status: 200, Want: `[]`,
		},
		gateways.Scenario{Name: "mine", Method: "GET", Path: "/threads/mine/runs", Status: 200,
			Want: `[{"status":"success"}]`},
		gateways.Scenario{
			Name: "cancel them", Method: "POST", Path: "/runs/cancel",
			Body: `{"thread_id":"theirs","run_ids":["{run}"]}`, Status: 404,
		},
		gateways.Scenario{Name: "cancel all", Method: "POST", Path: "/runs/cancel", Body: `{"status":"all"}`,
			Status: 404},
		gateways.Scenario{Name: "their thread", Method: "GET", Path: "/threads/theirs/stream", Status: 404,
			Want: `{"detail":"Thread theirs not found"}`},
		gateways.Scenario{Name: "their state", Method: "GET", Path: "/threads/theirs/state", Status: 404,
			Want: `{"detail":"Thread theirs not found"}`},
		gateways.Scenario{
			Name: "their history", Method: "POST", Path: "/threads/theirs/history", Body: `{}`, Status: 200,
			Want: `[]`,
		},
		gateways.Scenario{
			Name: "a run there", Method: "POST", Path: "/threads/theirs/runs", Body: `{"input":{"messages":"hello"}}`,
			Status: 404,
		},
	))
	run, err := k.Store.For(other).Run(t.Context(), theirs.ID)
	if err != nil || run.Status != event.StatusRunning || run.Stop != "" {
		t.Errorf("their run is %+v, %v", run, err)
	}
}

// TestAssistantsOfOthers are not there either, and stay as they are.
func TestAssistantsOfOthers(t *testing.T) {
	k := gateways.New(t, nil)
	const id = "00000000-0000-4000-8000-000000000999"
	of := k.Assistants.For(access.FromRow("somebody else"))
	if err := of.Create(t.Context(), assistants.Assistant{ID: id, GraphID: gateway.GraphID,
		Name: "theirs"}); err != nil {
		t.Fatal(err)
	}
	const path = "/assistants/" + id
	missing := func(method, path, body string) gateways.Scenario {
		return gateways.Scenario{
			Name: "theirs", Method: method, Path: path, Body: body, Status: 404,
			Want: `{"detail":"Assistant ` + id + ` not found"}`,
		}
	}
	k.Play([]gateways.Scenario{
		missing("GET", path, ""), missing("GET", path+"/graph", ""), missing("GET", path+"/schemas", ""),
		missing("GET", path+"/subgraphs", ""), missing("PATCH", path, `{"name":"mine"}`),
		missing("POST", path+"/versions", `{}`), missing("DELETE", path, ""),
		missing("POST", "/threads/t/runs", `{"if_not_exists":"create","assistant_id":"`+id+
			`","input":{"messages":"hello"}}`),
		{Name: "its latest", Method: "POST", Path: path + "/latest", Body: `{"version":1}`, Status: 404},
		{
			Name: "one of its id", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"` + id + `","graph_id":"lead_agent"}`, Status: 409,
		},
		{
			Name: "by name", Method: "POST", Path: "/assistants/search", Body: `{"name":"theirs"}`, Status: 200,
			Want: `[]`,
		},
		{Name: "counted", Method: "POST", Path: "/assistants/count", Body: `{"name":"theirs"}`, Status: 200, Want: `0`},
	})
	list, err := of.Versions(t.Context(), id, 10, 0)
	if err != nil || len(list) != 1 || list[0].Name != "theirs" {
		t.Errorf("it is %+v, %v", list, err)
	}
}
