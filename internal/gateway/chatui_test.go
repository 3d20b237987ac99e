package gateway

import (
	"testing"
)

// TestARunBehindAnActiveOne: the default is LangGraph's at the root, whose clients close a stream and send the next message,
// and DeerFlow's below /api.
func TestARunBehindAnActiveOne(t *testing.T) {
	k := newServer(t, nil)
	k.start("t")
	const hello = `{"input":{"messages":"hello"}}`
	const named = `{"input":{"messages":"hello"},"config":{"configurable":{"thread_id":"t"}}}`
	k.play([]scenario{
		{name: "DeerFlow's", method: "POST", path: "/api/threads/t/runs", body: hello, status: 409},
		{name: "its LangGraph mount", method: "POST", path: "/api/langgraph/threads/t/runs", body: hello, status: 409},
		{name: "its stateless one", method: "POST", path: "/api/runs", body: named, status: 409},
		{name: "named below /api", method: "POST", path: "/api/threads/t/runs", body: `{"input":{"messages":"hello"},"multitask_strategy":"enqueue"}`,
			status: 200, want: `{"status":"pending","multitask_strategy":"enqueue"}`},
		{name: "LangGraph's", method: "POST", path: "/threads/t/runs", body: hello, status: 200,
			want: `{"status":"pending","multitask_strategy":"enqueue","queue_position":2}`, keep: map[string]string{"run_id": "last"}},
		{name: "named at the root", method: "POST", path: "/threads/t/runs", body: `{"multitask_strategy":"reject"}`, status: 409},
		{name: "null is the default", method: "POST", path: "/runs", status: 200, want: `{"status":"pending"}`,
			body: `{"input":{"messages":"hello"},"multitask_strategy":null,"config":{"configurable":{"thread_id":"t"}}}`, keep: map[string]string{"run_id": "last"}},
	})
	k.free()
	k.play([]scenario{
		{name: "all of them", method: "GET", path: "/runs/{last}/join", status: 200, want: `{"messages":[{},{},{},{},{},{},{},{}]}`},
	})
}

// TestAThreadTellsItsAssistant: clients list the threads of an assistant by these members.
func TestAThreadTellsItsAssistant(t *testing.T) {
	k := newServer(t, nil)
	const own, hello = "00000000-0000-4000-8000-000000000018", `{"input":{"messages":"hello"}}`
	const lead = `"graph_id":"lead_agent","assistant_id":"` + systemAssistant + `"`
	k.play([]scenario{
		{name: "an assistant", method: "POST", path: "/assistants", body: `{"assistant_id":"` + own + `","graph_id":"lead_agent"}`, status: 200},
		{name: "a thread", method: "POST", path: "/threads", body: `{"thread_id":"t","metadata":{"kept":1}}`, status: 200, want: `{"metadata":{"graph_id":"<absent>"}}`},
		{name: "its first run", method: "POST", path: "/threads/t/runs/wait", body: hello, status: 200},
		{name: "then", method: "GET", path: "/threads/t", status: 200, want: `{"metadata":{"kept":1,` + lead + `}}`},
		{name: "a run of another assistant", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"hello"},"assistant_id":"` + own + `"}`, status: 200},
		{name: "the first one stays", method: "GET", path: "/threads/t", status: 200, want: `{"metadata":{"kept":1,` + lead + `}}`},
		{name: "a run that makes its thread", method: "POST", path: "/runs", body: `{"input":{"messages":"hello"},"assistant_id":"` + own + `"}`, status: 200, keep: map[string]string{"thread_id": "fresh"}},
		{name: "that one", method: "GET", path: "/threads/{fresh}", status: 200, want: `{"metadata":{"graph_id":"lead_agent","assistant_id":"` + own + `"}}`},
		{name: "what a client has set", method: "POST", path: "/threads", body: `{"thread_id":"u","metadata":{"graph_id":"mine"}}`, status: 200},
		{name: "a run there", method: "POST", path: "/threads/u/runs/wait", body: hello, status: 200},
		{name: "stays too", method: "GET", path: "/threads/u", status: 200, want: `{"metadata":{"graph_id":"mine","assistant_id":"` + systemAssistant + `"}}`},
		{name: "the list of the lead agent", method: "POST", path: "/threads/search", body: `{"metadata":{"assistant_id":"` + systemAssistant + `"},"sort_by":"created_at"}`, status: 200, want: `[{"thread_id":"u"},{"thread_id":"t"}]`},
		{name: "the list of an assistant", method: "POST", path: "/threads/search", body: `{"metadata":{"assistant_id":"` + own + `"}}`, status: 200, want: `[{"thread_id":"{fresh}"}]`},
	})
}

// TestTheFirstInputOnceMore: going on from the state before it, as clients do that ask for the first answer again.
func TestTheFirstInputOnceMore(t *testing.T) {
	k := newServer(t, nil)
	const origin = `"checkpoint":{"checkpoint_id":"0","checkpoint_ns":""}`
	k.play([]scenario{
		{name: "a thread", method: "POST", path: "/threads", body: `{"thread_id":"t"}`, status: 200},
		{name: "nothing to do once more", method: "POST", path: "/threads/t/runs/wait", body: `{` + origin + `}`, status: 200, want: `{"__error__":"*"}`},
		{name: "the first", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":[{"type":"human","id":"m1","content":"count"}],"title":"Kept"}}`, status: 200},
		{name: "the second", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"hello"}}`, status: 200, want: `{"messages":[{},{},{},{},{},{}]}`},
		{name: "the first again", method: "POST", path: "/threads/t/runs/wait", body: `{"input":null,` + origin + `}`, status: 200,
			want: `{"messages":[{"id":"m1","content":"count"},{"type":"ai"},{"type":"tool","content":"counted"},{"content":"Hi there."}],"title":"Kept","__error__":"<absent>"}`},
		{name: "a branch", method: "GET", path: "/threads/t/state", status: 200, want: `{"next":[],"values":{"messages":[{},{},{},{}]}}`},
		{name: "and again", method: "POST", path: "/threads/t/runs/wait", body: `{"command":{},` + origin + `}`, status: 200,
			want: `{"messages":[{"id":"m1"},{},{},{}],"__error__":"<absent>"}`},
		{name: "another input there", method: "POST", path: "/threads/t/runs/wait", body: `{"input":{"messages":"anew"},` + origin + `}`, status: 200, want: `{"messages":[{"content":"anew"},{}]}`},
		{name: "a thread that began with a state", method: "POST", path: "/threads", status: 200,
			body: `{"thread_id":"s","supersteps":[{"updates":[{"values":{"messages":[{"type":"human","content":"x"}]},"as_node":"__start__"}]}]}`},
		{name: "has no run to make again", method: "POST", path: "/threads/s/runs/wait", body: `{` + origin + `}`, status: 200, want: `{"__error__":"*"}`},
	})
}

// TestIDsOfHiddenMessages: LangChain's clients show no message whose id begins like this.
func TestIDsOfHiddenMessages(t *testing.T) {
	k := newServer(t, nil)
	const hidden = `"additional_kwargs":{"hide_from_ui":true}`
	input := `{"input":{"messages":[{"type":"human","content":"secret",` + hidden + `},{"type":"human","id":"own","content":"named",` + hidden + `},{"type":"human","content":"hello"}]}}`
	w := k.do("POST", "/runs/wait", input)
	list, _ := at(decode(t, w.Body.Bytes()), "messages").([]any)
	if len(list) != 4 {
		t.Fatalf("%s", w.Body)
	}
	for i, want := range []bool{true, false, false, false} {
		id, _ := at(list[i], "id").(string)
		if got := len(id) > len("do-not-render-") && id[:len("do-not-render-")] == "do-not-render-"; got != want {
			t.Errorf("message %d has the id %q", i, id)
		}
	}
	if id := at(list[1], "id"); id != "own" {
		t.Errorf("the client's id became %v", id)
	}
}
