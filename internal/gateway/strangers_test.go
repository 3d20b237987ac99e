package gateway

import (
	"testing"

	"github.com/pudu-ai/pudu/event"
)

// TestRunsOfOthers: what belongs to somebody else is not there, by whatever way it is asked for, and nothing happens to it.
func TestRunsOfOthers(t *testing.T) {
	k := newServer(t, nil)
	order := k.ask("theirs", "wait")
	order.UserID = "somebody else"
	theirs, err := k.Manager.Submit(t.Context(), order)
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
	run, err := k.Store.Run(t.Context(), theirs.ID)
	if err != nil || run.Status != event.StatusRunning || run.Stop != "" {
		t.Errorf("their run is %+v, %v", run, err)
	}
}
