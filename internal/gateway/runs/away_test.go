package runs_test

import (
	"context"
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestADatabaseThatIsAway: whichever call the store refuses, nobody is told that all went well.
func TestADatabaseThatIsAway(t *testing.T) {
	const hello, stateless = `{"input":{"messages":"hello"},"checkpoint_id":"{at}"}`, `{"input":{"messages":"hello"}}`
	k := gateways.New(t, nil)
	k.Vars["run"] = k.Run("t", "count").ID
	k.Play([]gateways.Scenario{{
		Name: "a state", Method: "GET", Path: "/threads/t/state", Status: 200,
		Keep: map[string]string{"checkpoint_id": "at"},
	}})
	ended := func() { k.Vars["gone"] = k.Run("gone", "hello").ID }
	waits := func() { k.Vars["later"] = k.SubmitLater("later").ID }
	// Of a run that waits its place is told, too, if the store can say it: its answer does not fail with that.
	still := func() {
		gateways.Eventually(t, func() bool {
			list, err := k.Data().ListRuns(t.Context(),
				store.RunFilter{ThreadID: "t", Statuses: []string{event.StatusPending, event.StatusRunning}})
			return err == nil && len(list) == 0
		})
	}
	k.Away([]gateways.Errand{
		{Method: "POST", Path: "/threads/t/runs", Body: hello},
		{Method: "GET", Path: "/threads/t/runs", Before: still},
		{Method: "POST", Path: "/threads/t/runs/stream", Body: hello, End: gateways.StreamEnd},
		{Method: "POST", Path: "/threads/t/runs/wait", Body: hello, End: gateways.StateEnd},
		{Method: "GET", Path: "/threads/t/runs/{run}"},
		{Method: "POST", Path: "/threads/later/runs/{later}/cancel", Before: waits},
		{Method: "POST", Path: "/threads/later/runs/{later}/cancel?wait=true", Before: waits},
		{Method: "POST", Path: "/threads/later/runs/{later}/stream?action=interrupt&wait=true", Before: waits},
		{Method: "POST", Path: "/runs/cancel", Body: `{"status":"pending"}`, Before: waits},
		{Method: "POST", Path: "/runs/cancel", Body: `{"thread_id":"later","run_ids":["{later}"]}`, Before: waits},
		{Method: "DELETE", Path: "/threads/gone/runs/{gone}", Before: ended},
		{Method: "GET", Path: "/threads/t/runs/{run}/join", End: gateways.StateEnd},
		{Method: "GET", Path: "/threads/t/runs/{run}/stream", End: gateways.StreamEnd},
		{Method: "POST", Path: "/threads/t/runs/{run}/stream", End: gateways.StreamEnd},
		{Method: "GET", Path: "/threads/t/runs/{run}/log", End: gateways.LogEnd},
		{Method: "POST", Path: "/runs", Body: stateless},
		{Method: "POST", Path: "/runs/stream", Body: stateless, End: gateways.StreamEnd},
		{Method: "POST", Path: "/runs/wait", Body: stateless, End: gateways.StateEnd},
	})
}

// TestAnEndThatCannotBeTold: who waits for it is cut off, and nobody gets a state without what is missing.
func TestAnEndThatCannotBeTold(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "hello")
	if w, cut := k.Cut(gateways.Troubled(k.Request("GET", "/runs/"+run.ID+"/join", ""), gateways.Unsound())); !cut ||
		w.Body.Len() > 0 {
		t.Errorf("cut %t: %s", cut, w.Body)
	}
	if report, err := k.Report(context.WithValue(t.Context(), gateways.TroubleKey{}, gateways.Unsound()),
		run); err == nil {
		t.Errorf("a report %s", report)
	}
}
