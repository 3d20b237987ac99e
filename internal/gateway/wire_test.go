package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestSlackInRequests: what clients send beside what they mean, since their own libraries fill it in.
func TestSlackInRequests(t *testing.T) {
	k := gateways.New(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	wait := func(name, body string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "POST", Path: "/runs/wait", Body: body, Status: 200,
			Want: `{"messages":[{"type":"human","content":"hello"},{"type":"ai","content":"Hi there."}],
				"__error__":"<absent>"}`,
		}
	}
	refused := func(name, body, detail string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "POST", Path: "/threads/t/runs", Body: body, Status: 422,
			Want: `{"detail":[` + detail + `]}`,
		}
	}
	const hello = `{"input":{"messages":"hello"},`
	k.Play([]gateways.Scenario{
		wait("a command that is empty", hello+`"command":{}}`),
		wait("a command of nulls", hello+`"command":{"resume":null,"update":null,"goto":null}}`),
		wait("nulls everywhere",
			hello+`"command":null,"config":{"configurable":null,"recursion_limit":null,"context":null},"context":null,"metadata":null,
			"checkpoint":{"checkpoint_id":null,"checkpoint_ns":null,"checkpoint_map":null},"stream_mode":null,"interrupt_before":null,"if_not_exists":null,
			"multitask_strategy":null,"on_disconnect":null,"on_completion":null,"after_seconds":null,"webhook":null,
			"assistant_id":null,"durability":null}`),
		wait("numbers as strings", hello+
			`"config":{"recursion_limit":"1000"},"after_seconds":"0","stream_subgraphs":"false"}`),
		wait("whole numbers with a point", hello+`"config":{"recursion_limit":1000.0},"stream_subgraphs":0}`),
		wait("a pair of role and text", `{"input":{"messages":["human","hello"]}}`),
		{
			Name: "an empty command without input", Method: "POST", Path: "/threads/t/runs/wait",
			Body: `{"command":{}}`, Status: 200, Want: `{"__error__":"*"}`,
		},

		refused("half a step", `{"config":{"recursion_limit":1.5}}`,
			`{"type":"int_parsing","loc":["body","config","recursion_limit"]}`),
		refused("a truth that is none", `{"stream_subgraphs":"perhaps"}`,
			`{"type":"bool_parsing","loc":["body","stream_subgraphs"],"input":"perhaps"}`),
		refused("no number of seconds", `{"after_seconds":"NaN"}`,
			`{"type":"value_error","loc":["body","after_seconds"]}`),
		refused("metadata of another type, said once", `{"metadata":[]}`,
			`{"type":"dict_type","loc":["body","metadata"]}`),
		refused("no message", `{"input":{"messages":[null]}}`,
			`{"type":"value_error","loc":["body","input","messages"]}`),
		refused("a node with an input of its own", `{"command":{"goto":[{"node":"tools","input":{}}]}}`,
			`{"type":"list_type","loc":["body","command","goto"]}`),
		refused("no message of a command", `{"command":{"update":{"messages":[1]}}}`,
			`{"type":"value_error","loc":["body","command","messages"]}`),
	})
}

// TestAnIDThatIsNotOfTheRun: the browser keeps the id of another run, or one that will never be.
func TestAnIDThatIsNotOfTheRun(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "hello")
	ids := func(last string) (out []string) {
		r := k.Request(http.MethodGet, "/threads/t/runs/"+run.ID+"/stream?stream_mode=values&cancel_on_disconnect=0",
			"")
		r.Header.Set("Last-Event-ID", last)
		for _, f := range gateways.ParseSSE(t, k.Send(r).Body.String()) {
			out = append(out, f.ID)
		}
		return out
	}
	all := ids("")
	if len(all) < 3 {
		t.Fatalf("frames %v", all)
	}
	for _, last := range []string{"-1", "7-1", "1795254533111-5", "nonsense"} {
		if got := ids(last); !slices.Equal(got, all) {
			t.Errorf("after %q: %v, want %v", last, got, all)
		}
	}
	if got := ids(all[1]); !slices.Equal(got, all[2:]) {
		t.Errorf("after %q: %v, want %v", all[1], got, all[2:])
	}
}

// TestNextInFramesAndStates: a checkpoint's frame and its state name the same next node and task.
func TestNextInFramesAndStates(t *testing.T) {
	k := gateways.New(t, nil)
	w := k.Do("POST", "/threads/t/runs/stream",
		`{"input":{"messages":"count"},"stream_mode":"checkpoints","if_not_exists":"create"}`)
	states := jsontest.Decode(t, k.Do("POST", "/threads/t/history", `{"limit":100}`).Body.Bytes()).([]any)
	seen := 0
	for _, f := range gateways.ParseSSE(t, w.Body.String()) {
		if f.Event != "checkpoints" {
			continue
		}
		seen++
		frame := jsontest.Decode(t, []byte(f.Data))
		for _, st := range states {
			if jsontest.At(st, "checkpoint_id") != jsontest.At(frame, "config.configurable.checkpoint_id") {
				continue
			}
			for _, path := range []string{"next", "tasks.0.id", "tasks.0.name"} {
				if why := jsontest.Unlike(jsontest.At(frame, path), jsontest.At(st, path)); why != "" {
					t.Errorf("%s in %v of the frame and the state: %s", path, jsontest.At(frame, "next"), why)
				}
			}
		}
	}
	if seen != len(states)-1 || seen < 4 { // the empty state at the end was no frame
		t.Errorf("%d frames, %d states", seen, len(states))
	}
}

// TestTurnsInHistory: the web client shows how long a run took, and asks for what it changed.
func TestTurnsInHistory(t *testing.T) {
	k := gateways.New(t, nil)
	// A human message as a middleware of the lead agent stamps it.
	stamp := func(run, text string) string {
		return `{"type":"human","content":"` + text + `","additional_kwargs":{"run_id":` + run + `}}`
	}
	first := k.Run("t", "count")
	state := `{"values":{"messages":[{"type":"remove","id":"__remove_all__"},` + stamp(`"`+first.ID+`"`, "one") + `,
		{"type":"ai","content":"","tool_calls":[{"name":"count","args":{},"id":"c"}],"id":"a1"},{"type":"tool","content":"1","tool_call_id":"c","id":"b1"},
		{"type":"ai","content":"done","id":"a2","additional_kwargs":{"k":1}},` + stamp(`5`, "two") + `,{"type":"ai","content":"by hand","id":"a3"},
		` + stamp(`"gone"`, "three") + `,{"type":"ai","content":"of a run that is gone","id":"a4",
			"usage_metadata":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}]}}`
	if w := k.Do("POST", "/threads/t/state", state); w.Code != 200 {
		t.Fatal(w.Body)
	}
	want := strings.ReplaceAll(`{"values":{"messages":[{"run_id":"<absent>"},
		{"id":"a1","run_id":"RUN","additional_kwargs":{"turn_duration":"<absent>"}},{"id":"b1","run_id":"RUN",
		"additional_kwargs":{"turn_duration":"<absent>"}},
		{"id":"a2","run_id":"RUN","additional_kwargs":{"k":1,"turn_duration":0},"content":"done"},
		{},{"id":"a3","run_id":"<absent>","additional_kwargs":{"turn_duration":"<absent>"}},
		{},{"id":"a4","run_id":"gone","usage_metadata":{"total_tokens":3},"additional_kwargs":{"turn_duration":"<absent>"}}]}}`, "RUN", first.ID)
	k.Play([]gateways.Scenario{
		{
			Name: "history", Method: "POST", Path: "/threads/t/history", Body: `{"limit":1}`, Status: 200,
			Want: `[` + want + `]`,
		},
		{
			Name: "the state is as it was", Method: "GET", Path: "/threads/t/state", Status: 200,
			Want: `{"values":{"messages":[{},{"run_id":"<absent>"},{},{},{},{},{},{}]}}`,
		},
		{
			Name: "of no messages", Method: "POST", Path: "/threads",
			Body:   `{"thread_id":"bare","supersteps":[{"updates":[{"values":{"title":"x"},"as_node":"model"}]}]}`,
			Status: 200,
		},
		{
			Name: "of no messages", Method: "POST", Path: "/threads/bare/history", Status: 200,
			Want: `[{"values":{"messages":"<absent>"}},{"checkpoint_id":"0"}]`,
		},
	})
}

// TestTitleOfASideChat: a thread is not called by what its client wrote for the model alone.
func TestTitleOfASideChat(t *testing.T) {
	k := gateways.New(t, nil)
	if err := k.Data().CreateThread(t.Context(), store.Thread{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	k.Play([]gateways.Scenario{
		{
			Name: "run", Method: "POST", Path: "/threads/t/runs/wait", Status: 200,
			Body: `{"input":{"messages":[{"type":"human","content":"CONTEXT",
				"additional_kwargs":{"hide_from_ui":true}},{"type":"human","content":"Why so?"}]}}`,
		},
		{
			Name: "search", Method: "POST", Path: "/threads/search", Body: `{"select":["values"]}`, Status: 200,
			Want: `[{"values":{"title":"Why so?"}}]`,
		},
	})
}

// TestThreadsOfTheGraph: chat clients list the threads of the graph that they talk to.
func TestThreadsOfTheGraph(t *testing.T) {
	k := gateways.New(t, nil)
	k.Run("t", "hello")
	k.Play([]gateways.Scenario{
		{
			Name: "search", Method: "POST", Path: "/threads/search", Body: `{"metadata":{"graph_id":"lead_agent"}}`,
			Status: 200, Want: `[{"thread_id":"t"}]`,
		},
		{Name: "a thread without a run", Method: "POST", Path: "/threads", Body: `{"thread_id":"bare"}`, Status: 200},
		{
			Name: "is one of the graph's", Method: "POST", Path: "/threads/search",
			Body: `{"metadata":{"graph_id":"lead_agent"}}`, Status: 200,
			Want: `[{"thread_id":"bare"},{"thread_id":"t"}]`,
		},
		{
			Name: "of another", Method: "POST", Path: "/threads/search", Body: `{"metadata":{"graph_id":"other"}}`,
			Status: 200, Want: `[]`,
		},
		{
			Name: "and more", Method: "POST", Path: "/threads/count",
			Body: `{"metadata":{"graph_id":"lead_agent","k":1}}`, Status: 200, Want: `0`,
		},
	})
}
