package gateway_test

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway/shape"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestARunBehindAnActiveOne: the default is LangGraph's at the root, whose clients close a stream and send the next
// message, and DeerFlow's below /api.
func TestARunBehindAnActiveOne(t *testing.T) {
	k := gateways.New(t, nil)
	k.Start("t")
	const hello = `{"input":{"messages":"hello"}}`
	const named = `{"input":{"messages":"hello"},"config":{"configurable":{"thread_id":"t"}}}`
	k.Play([]gateways.Scenario{
		{Name: "DeerFlow's", Method: "POST", Path: "/api/threads/t/runs", Body: hello, Status: 409},
		{Name: "its LangGraph mount", Method: "POST", Path: "/api/langgraph/threads/t/runs", Body: hello, Status: 409},
		{Name: "its stateless one", Method: "POST", Path: "/api/runs", Body: named, Status: 409},
		{
			Name: "named below /api", Method: "POST", Path: "/api/threads/t/runs",
			Body: `{"input":{"messages":"hello"},"multitask_strategy":"enqueue"}`, Status: 200,
			Want: `{"status":"pending","multitask_strategy":"enqueue"}`,
		},
		{
			Name: "LangGraph's", Method: "POST", Path: "/threads/t/runs", Body: hello, Status: 200,
			Want: `{"status":"pending","multitask_strategy":"enqueue","queue_position":2}`,
			Keep: map[string]string{"run_id": "last"},
		},
		{
			Name: "named at the root", Method: "POST", Path: "/threads/t/runs",
			Body: `{"multitask_strategy":"reject"}`, Status: 409,
		},
		{
			Name: "null is the default", Method: "POST", Path: "/runs", Status: 200, Want: `{"status":"pending"}`,
			Body: `{"input":{"messages":"hello"},"multitask_strategy":null,"config":{"configurable":{"thread_id":"t"}}}`,
			Keep: map[string]string{"run_id": "last"},
		},
	})
	k.Free()
	k.Play([]gateways.Scenario{
		{
			Name: "all of them", Method: "GET", Path: "/runs/{last}/join", Status: 200,
			Want: `{"messages":[{},{},{},{},{},{},{},{}]}`,
		},
	})
}

// TestAThreadTellsItsAssistant: clients list the threads of an assistant by these members.
func TestAThreadTellsItsAssistant(t *testing.T) {
	k := gateways.New(t, nil)
	const own, hello = "00000000-0000-4000-8000-000000000018", `{"input":{"messages":"hello"}}`
	const lead = `"graph_id":"lead_agent","assistant_id":"` + shape.SystemAssistant + `"`
	k.Play([]gateways.Scenario{
		{
			Name: "an assistant", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"` + own + `","graph_id":"lead_agent"}`, Status: 200,
		},
		{
			Name: "a thread", Method: "POST", Path: "/threads", Body: `{"thread_id":"t","metadata":{"kept":1}}`,
			Status: 200, Want: `{"metadata":{"graph_id":"<absent>"}}`,
		},
		{Name: "its first run", Method: "POST", Path: "/threads/t/runs/wait", Body: hello, Status: 200},
		{Name: "then", Method: "GET", Path: "/threads/t", Status: 200, Want: `{"metadata":{"kept":1,` + lead + `}}`},
		{
			Name: "a run of another assistant", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":{"messages":"hello"},"assistant_id":"` + own + `"}`, Status: 200,
		},
		{
			Name: "the first one stays", Method: "GET", Path: "/threads/t", Status: 200,
			Want: `{"metadata":{"kept":1,` + lead + `}}`,
		},
		{
			Name: "a run that makes its thread", Method: "POST", Path: "/runs",
			Body: `{"input":{"messages":"hello"},"assistant_id":"` + own + `"}`, Status: 200,
			Keep: map[string]string{"thread_id": "fresh"},
		},
		{
			Name: "that one", Method: "GET", Path: "/threads/{fresh}", Status: 200,
			Want: `{"metadata":{"graph_id":"lead_agent","assistant_id":"` + own + `"}}`,
		},
		{
			Name: "what a client has set", Method: "POST", Path: "/threads",
			Body: `{"thread_id":"u","metadata":{"graph_id":"mine"}}`, Status: 200,
		},
		{Name: "a run there", Method: "POST", Path: "/threads/u/runs/wait", Body: hello, Status: 200},
		{
			Name: "stays too", Method: "GET", Path: "/threads/u", Status: 200,
			Want: `{"metadata":{"graph_id":"mine","assistant_id":"` + shape.SystemAssistant + `"}}`,
		},
		{
			Name: "the list of the lead agent", Method: "POST", Path: "/threads/search",
			Body: `{"metadata":{"assistant_id":"` + shape.SystemAssistant + `"},"sort_by":"created_at"}`, Status: 200,
			Want: `[{"thread_id":"u"},{"thread_id":"t"}]`,
		},
		{
			Name: "the list of an assistant", Method: "POST", Path: "/threads/search",
			Body: `{"metadata":{"assistant_id":"` + own + `"}}`, Status: 200, Want: `[{"thread_id":"{fresh}"}]`,
		},
	})
}

// TestTheFirstInputOnceMore: going on from the state before it, as clients do that ask for the first answer again.
func TestTheFirstInputOnceMore(t *testing.T) {
	k := gateways.New(t, nil)
	const origin = `"checkpoint":{"checkpoint_id":"0","checkpoint_ns":""}`
	k.Play([]gateways.Scenario{
		{Name: "a thread", Method: "POST", Path: "/threads", Body: `{"thread_id":"t"}`, Status: 200},
		{
			Name: "nothing to do once more", Method: "POST", Path: "/threads/t/runs/wait", Body: `{` + origin + `}`,
			Status: 200, Want: `{"__error__":"*"}`,
		},
		{
			Name: "the first", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":{"messages":[{"type":"human","id":"m1","content":"count"}],"title":"Kept"}}`, Status: 200,
		},
		{
			Name: "the second", Method: "POST", Path: "/threads/t/runs/wait", Body: `{"input":{"messages":"hello"}}`,
			Status: 200, Want: `{"messages":[{},{},{},{},{},{}]}`,
		},
		{
			Name: "the first again", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":null,` + origin + `}`, Status: 200,
			Want: `{"messages":[{"id":"m1","content":"count"},{"type":"ai"},{"type":"tool","content":"counted"},
				{"content":"Hi there."}],"title":"Kept","__error__":"<absent>"}`,
		},
		{
			Name: "a branch", Method: "GET", Path: "/threads/t/state", Status: 200,
			Want: `{"next":[],"values":{"messages":[{},{},{},{}]}}`,
		},
		{
			Name: "and again", Method: "POST", Path: "/threads/t/runs/wait", Body: `{"command":{},` + origin + `}`,
			Status: 200, Want: `{"messages":[{"id":"m1"},{},{},{}],"__error__":"<absent>"}`,
		},
		{
			Name: "another input there", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"input":{"messages":"anew"},` + origin + `}`, Status: 200,
			Want: `{"messages":[{"content":"anew"},{}]}`,
		},
		{
			Name: "a thread that began with a state", Method: "POST", Path: "/threads", Status: 200,
			Body: `{"thread_id":"s","supersteps":[{"updates":[{"values":{"messages":[{"type":"human","content":"x"}]},"as_node":"__start__"}]}]}`,
		},
		{
			Name: "has no run to make again", Method: "POST", Path: "/threads/s/runs/wait", Body: `{` + origin + `}`,
			Status: 200, Want: `{"__error__":"*"}`,
		},
	})
}

// TestIDsOfHiddenMessages: LangChain's clients show no message whose id begins like this.
func TestIDsOfHiddenMessages(t *testing.T) {
	k := gateways.New(t, nil)
	const hidden = `"additional_kwargs":{"hide_from_ui":true}`
	input := `{"input":{"messages":[{"type":"human","content":"secret",` + hidden + `},{"type":"human","id":"own",
		"content":"named",` + hidden + `},{"type":"human","content":"hello"}]}}`
	w := k.Do("POST", "/runs/wait", input)
	list, _ := jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "messages").([]any)
	if len(list) != 4 {
		t.Fatalf("%s", w.Body)
	}
	for i, want := range []bool{true, false, false, false} {
		id, _ := jsontest.At(list[i], "id").(string)
		if got := len(id) > len("do-not-render-") && id[:len("do-not-render-")] == "do-not-render-"; got != want {
			t.Errorf("message %d has the id %q", i, id)
		}
	}
	if id := jsontest.At(list[1], "id"); id != "own" {
		t.Errorf("the client's id became %v", id)
	}
}
