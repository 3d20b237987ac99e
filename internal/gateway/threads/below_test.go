package threads_test

import (
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// TestTheStateOfASubAgent: by its namespace, in the thread of who gave the task, and in no other.
func TestTheStateOfASubAgent(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"other"}`)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	k.Play([]gateways.Scenario{{
		Name: "run", Method: "POST", Path: "/threads/t/runs", Body: `{"input":{"messages":"wait"}}`, Status: 200,
		Keep: map[string]string{"run_id": "run"},
	}})
	<-k.Begun
	parent, err := k.Store.For(access.FromRow(gateways.User)).Run(t.Context(), k.Vars["run"])
	if err != nil {
		t.Fatal(err)
	}
	at, now := store.Fence{RunID: parent.ID, Attempt: parent.Attempt}, time.Now()
	for _, id := range []string{"below", "deep"} {
		namespace := `["tools:1"]`
		if id == "deep" {
			namespace = `["tools:1","tools:2"]`
		}
		child, err := k.Store.System().AdmitChild(t.Context(), at, store.Admission{
			Run: store.Run{ID: id, ThreadID: id, Key: id, Request: []byte(`{"namespace":` + namespace + `}`),
				CreatedAt: now, UpdatedAt: now},
			Begin: &event.Event{ID: event.ID{Attempt: 1, N: 1}, Time: now,
				Data: event.Run{Status: event.StatusRunning}},
		})
		if err != nil {
			t.Fatal(err)
		}
		at = store.Fence{RunID: child.ID, Attempt: child.Attempt}
		said := message.New(message.AI, "it is "+id)
		said.ID = "m-" + id
		u := agent.Messages.Append(said)
		s, _, err := state.State{}.Apply(u)
		if err == nil {
			_, err = k.Store.System().Commit(t.Context(), at, store.Step{Now: now, State: s, Next: agent.NodeModel,
				Updates: []store.NodeUpdate{{Node: agent.NodeModel, Update: u}}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func(name, thread, namespace string, status int, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "POST", Path: "/threads/" + thread + "/state/checkpoint",
			Body: `{"checkpoint":{"checkpoint_ns":"` + namespace + `"}}`, Status: status, Want: want}
	}
	k.Play([]gateways.Scenario{
		look("below", "t", "tools:1", 200, `{"values":{"messages":[{"content":"it is below"}]},"next":["model"],
			"checkpoint":{"thread_id":"t","checkpoint_ns":"tools:1"}}`),
		look("deeper", "t", "tools:1|tools:2", 200, `{"values":{"messages":[{"content":"it is deep"}]}}`),
		look("nothing there", "t", "tools:2", 404, ""),
		look("nothing so deep", "t", "tools:1|tools:3", 404, ""),
		look("not that thread's", "other", "tools:1", 404, ""),
	})
}
