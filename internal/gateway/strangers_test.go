package gateway

import (
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
)

// TestRunsOfOthers: what belongs to somebody else is not there, by whatever way it is asked for, and nothing happens to it.
func TestRunsOfOthers(t *testing.T) {
	k := newServer(t, nil)
	order := k.ask("theirs", "wait")
	other := access.FromRow("somebody else")
	theirs, err := k.Manager.For(other).Submit(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	<-k.begun
	k.run("mine", "hello")
	k.vars["run"] = theirs.ID
	missing := func(method, path string) scenario {
		return scenario{name: "theirs", method: method, path: path, status: 404, want: `{"detail":"Run {run} not found"}`}
	}
	k.play([]scenario{missing("GET", "/threads/theirs/runs/{run}"), missing("GET", "/runs/{run}"), missing("GET", "/threads/mine/runs/{run}")})
	if t.Failed() { // to follow a run that is shown would take until its end
		return
	}
	var list []scenario
	for _, at := range []string{"/threads/theirs/runs/{run}", "/runs/{run}", "/api/threads/theirs/runs/{run}"} {
		list = append(list, missing("GET", at+"/join"), missing("GET", at+"/stream"), missing("POST", at+"/cancel"), missing("DELETE", at))
	}
	k.play(append(list,
		missing("POST", "/threads/theirs/runs/{run}/stream?action=interrupt"),
		missing("GET", "/threads/theirs/runs/{run}/log"),
		scenario{name: "their list", method: "GET", path: "/threads/theirs/runs", status: 200, want: `[]`},
		scenario{name: "by status", method: "GET", path: "/threads/theirs/runs?status=running", status: 200, want: `[]`},
		scenario{name: "mine", method: "GET", path: "/threads/mine/runs", status: 200, want: `[{"status":"success"}]`},
		scenario{name: "cancel them", method: "POST", path: "/runs/cancel", body: `{"thread_id":"theirs","run_ids":["{run}"]}`, status: 404},
		scenario{name: "cancel all", method: "POST", path: "/runs/cancel", body: `{"status":"all"}`, status: 404},
		scenario{name: "their thread", method: "GET", path: "/threads/theirs/stream", status: 404},
		scenario{name: "their state", method: "GET", path: "/threads/theirs/state", status: 404},
		scenario{name: "their history", method: "POST", path: "/threads/theirs/history", body: `{}`, status: 200, want: `[]`},
		scenario{name: "a run there", method: "POST", path: "/threads/theirs/runs", body: `{"input":{"messages":"hello"}}`, status: 404},
	))
	run, err := k.Store.For(other).Run(t.Context(), theirs.ID)
	if err != nil || run.Status != event.StatusRunning || run.Stop != "" {
		t.Errorf("their run is %+v, %v", run, err)
	}
}

// TestAssistantsOfOthers are not there either, and stay as they are.
func TestAssistantsOfOthers(t *testing.T) {
	k := newServer(t, nil)
	const id = "00000000-0000-4000-8000-000000000999"
	of := k.Assistants.For(access.FromRow("somebody else"))
	if err := of.Create(t.Context(), assistants.Assistant{ID: id, GraphID: GraphID, Name: "theirs"}); err != nil {
		t.Fatal(err)
	}
	const path = "/assistants/" + id
	missing := func(method, path, body string) scenario {
		return scenario{name: "theirs", method: method, path: path, body: body, status: 404, want: `{"detail":"Assistant ` + id + ` not found"}`}
	}
	k.play([]scenario{
		missing("GET", path, ""), missing("GET", path+"/graph", ""), missing("GET", path+"/schemas", ""), missing("GET", path+"/subgraphs", ""),
		missing("PATCH", path, `{"name":"mine"}`), missing("POST", path+"/versions", `{}`), missing("DELETE", path, ""),
		missing("POST", "/threads/t/runs", `{"if_not_exists":"create","assistant_id":"`+id+`","input":{"messages":"hello"}}`),
		{name: "its latest", method: "POST", path: path + "/latest", body: `{"version":1}`, status: 404},
		{name: "one of its id", method: "POST", path: "/assistants", body: `{"assistant_id":"` + id + `","graph_id":"lead_agent"}`, status: 409},
		{name: "by name", method: "POST", path: "/assistants/search", body: `{"name":"theirs"}`, status: 200, want: `[]`},
		{name: "counted", method: "POST", path: "/assistants/count", body: `{"name":"theirs"}`, status: 200, want: `0`},
	})
	list, err := of.Versions(t.Context(), id, 10, 0)
	if err != nil || len(list) != 1 || list[0].Name != "theirs" {
		t.Errorf("it is %+v, %v", list, err)
	}
}
