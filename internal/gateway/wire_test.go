package gateway

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/store"
)

// TestSlackInRequests: what clients send beside what they mean, since their own libraries fill it in.
func TestSlackInRequests(t *testing.T) {
	k := newServer(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	wait := func(name, body string) scenario {
		return scenario{
			name: name, method: "POST", path: "/runs/wait", body: body, status: 200,
			want: `{"messages":[{"type":"human","content":"hello"},{"type":"ai","content":"Hi there."}],"__error__":"<absent>"}`,
		}
	}
	refused := func(name, body, detail string) scenario {
		return scenario{name: name, method: "POST", path: "/threads/t/runs", body: body, status: 422, want: `{"detail":[` + detail + `]}`}
	}
	const hello = `{"input":{"messages":"hello"},`
	k.play([]scenario{
		wait("a command that is empty", hello+`"command":{}}`),
		wait("a command of nulls", hello+`"command":{"resume":null,"update":null,"goto":null}}`),
		wait("nulls everywhere", hello+`"command":null,"config":{"configurable":null,"recursion_limit":null,"context":null},"context":null,"metadata":null,
			"checkpoint":{"checkpoint_id":null,"checkpoint_ns":null,"checkpoint_map":null},"stream_mode":null,"interrupt_before":null,"if_not_exists":null,
			"multitask_strategy":null,"on_disconnect":null,"on_completion":null,"after_seconds":null,"webhook":null,"assistant_id":null,"durability":null}`),
		wait("numbers as strings", hello+`"config":{"recursion_limit":"1000"},"after_seconds":"0","stream_subgraphs":"false"}`),
		wait("whole numbers with a point", hello+`"config":{"recursion_limit":1000.0},"stream_subgraphs":0}`),
		wait("a pair of role and text", `{"input":{"messages":["human","hello"]}}`),
		{name: "an empty command without input", method: "POST", path: "/threads/t/runs/wait", body: `{"command":{}}`, status: 200, want: `{"__error__":"*"}`},

		refused("half a step", `{"config":{"recursion_limit":1.5}}`, `{"type":"int_parsing","loc":["body","config","recursion_limit"]}`),
		refused("a truth that is none", `{"stream_subgraphs":"perhaps"}`, `{"type":"bool_parsing","loc":["body","stream_subgraphs"],"input":"perhaps"}`),
		refused("no number of seconds", `{"after_seconds":"NaN"}`, `{"type":"value_error","loc":["body","after_seconds"]}`),
		refused("metadata of another type, said once", `{"metadata":[]}`, `{"type":"dict_type","loc":["body","metadata"]}`),
		refused("no message", `{"input":{"messages":[null]}}`, `{"type":"value_error","loc":["body","input","messages"]}`),
		refused("a node with an input of its own", `{"command":{"goto":[{"node":"tools","input":{}}]}}`, `{"type":"list_type","loc":["body","command","goto"]}`),
		refused("no message of a command", `{"command":{"update":{"messages":[1]}}}`, `{"type":"value_error","loc":["body","command","messages"]}`),
	})
}

func TestModelOfARun(t *testing.T) {
	k := newServer(t, func(c *Config) {
		c.Models = []Model{{Name: "fake", Model: "vendor/fake-1"}, {Name: "other", Model: "other-1"}}
	})
	for _, tt := range []struct{ name, options, want string }{
		{"none", `"config":{}`, `{"model_name":"fake","ls_model_name":"fake-1","ls_provider":"vendor"}`},
		{"by the context", `"context":{"model_name":"other"}`, `{"model_name":"other","ls_model_name":"other-1","ls_provider":"<absent>"}`},
		{"by the configuration", `"config":{"configurable":{"model_name":"other"}}`, `{"model_name":"other"}`},
		{"an unknown one that was configured", `"config":{"configurable":{"model_name":"nope"}}`, `{"run_id":"*"}`},
	} {
		w := k.do("POST", "/runs/stream", `{"input":{"messages":"hello"},"stream_mode":"messages-tuple",`+tt.options+`}`)
		fs := parseSSE(t, w.Body.String())
		if len(fs) < 2 || fs[1].event != "messages" {
			t.Errorf("%s: %v", tt.name, events(fs))
			continue
		}
		if why := unlike(decode(t, []byte(tt.want)), at(decode(t, []byte(fs[1].data)), "1")); why != "" {
			t.Errorf("%s: %s in %s", tt.name, why, fs[1].data)
		}
	}
	for _, options := range []string{`"context":{"model_name":"nope"}`, `"config":{"context":{"model_name":"nope"}}`} {
		k.play([]scenario{{
			name: "an unknown one", method: "POST", path: "/runs", body: `{` + options + `}`, status: 400,
			want: `{"detail":"Model 'nope' is not in the configured model allowlist"}`,
		}})
	}
}

// TestAnIDThatIsNotOfTheRun: the browser keeps the id of another run, or one that will never be.
func TestAnIDThatIsNotOfTheRun(t *testing.T) {
	k := newServer(t, nil)
	run := k.run("t", "hello")
	ids := func(last string) (out []string) {
		r := k.request(http.MethodGet, "/threads/t/runs/"+run.ID+"/stream?stream_mode=values&cancel_on_disconnect=0", "")
		r.Header.Set("Last-Event-ID", last)
		for _, f := range parseSSE(t, k.send(r).Body.String()) {
			out = append(out, f.id)
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
	k := newServer(t, nil)
	w := k.do("POST", "/threads/t/runs/stream", `{"input":{"messages":"count"},"stream_mode":"checkpoints","if_not_exists":"create"}`)
	states := decode(t, k.do("POST", "/threads/t/history", `{"limit":100}`).Body.Bytes()).([]any)
	seen := 0
	for _, f := range parseSSE(t, w.Body.String()) {
		if f.event != "checkpoints" {
			continue
		}
		seen++
		frame := decode(t, []byte(f.data))
		for _, st := range states {
			if at(st, "checkpoint_id") != at(frame, "config.configurable.checkpoint_id") {
				continue
			}
			for _, path := range []string{"next", "tasks.0.id", "tasks.0.name"} {
				if why := unlike(at(frame, path), at(st, path)); why != "" {
					t.Errorf("%s in %v of the frame and the state: %s", path, at(frame, "next"), why)
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
	k := newServer(t, nil)
	// A human message as a middleware of the lead agent stamps it.
	stamp := func(run, text string) string {
		return `{"type":"human","content":"` + text + `","additional_kwargs":{"run_id":` + run + `}}`
	}
	first := k.run("t", "count")
	state := `{"values":{"messages":[{"type":"remove","id":"__remove_all__"},` + stamp(`"`+first.ID+`"`, "one") + `,
		{"type":"ai","content":"","tool_calls":[{"name":"count","args":{},"id":"c"}],"id":"a1"},{"type":"tool","content":"1","tool_call_id":"c","id":"b1"},
		{"type":"ai","content":"done","id":"a2","additional_kwargs":{"k":1}},` + stamp(`5`, "two") + `,{"type":"ai","content":"by hand","id":"a3"},
		` + stamp(`"gone"`, "three") + `,{"type":"ai","content":"of a run that is gone","id":"a4","usage_metadata":{"input_tokens":1,"output_tokens":2,"total_tokens":3}}]}}`
	if w := k.do("POST", "/threads/t/state", state); w.Code != 200 {
		t.Fatal(w.Body)
	}
	want := strings.ReplaceAll(`{"values":{"messages":[{"run_id":"<absent>"},
		{"id":"a1","run_id":"RUN","additional_kwargs":{"turn_duration":"<absent>"}},{"id":"b1","run_id":"RUN","additional_kwargs":{"turn_duration":"<absent>"}},
		{"id":"a2","run_id":"RUN","additional_kwargs":{"k":1,"turn_duration":0},"content":"done"},
		{},{"id":"a3","run_id":"<absent>","additional_kwargs":{"turn_duration":"<absent>"}},
		{},{"id":"a4","run_id":"gone","usage_metadata":{"total_tokens":3},"additional_kwargs":{"turn_duration":"<absent>"}}]}}`, "RUN", first.ID)
	k.play([]scenario{
		{name: "history", method: "POST", path: "/threads/t/history", body: `{"limit":1}`, status: 200, want: `[` + want + `]`},
		{name: "the state is as it was", method: "GET", path: "/threads/t/state", status: 200, want: `{"values":{"messages":[{},{"run_id":"<absent>"},{},{},{},{},{},{}]}}`},
		{name: "of no messages", method: "POST", path: "/threads", body: `{"thread_id":"bare","supersteps":[{"updates":[{"values":{"title":"x"},"as_node":"model"}]}]}`, status: 200},
		{name: "of no messages", method: "POST", path: "/threads/bare/history", status: 200, want: `[{"values":{"messages":"<absent>"}},{"checkpoint_id":"0"}]`},
	})
}

// TestTitleOfASideChat: a thread is not called by what its client wrote for the model alone.
func TestTitleOfASideChat(t *testing.T) {
	k := newServer(t, nil)
	if err := k.data().CreateThread(t.Context(), store.Thread{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	k.play([]scenario{
		{
			name: "run", method: "POST", path: "/threads/t/runs/wait", status: 200,
			body: `{"input":{"messages":[{"type":"human","content":"CONTEXT","additional_kwargs":{"hide_from_ui":true}},{"type":"human","content":"Why so?"}]}}`,
		},
		{name: "search", method: "POST", path: "/threads/search", body: `{"select":["values"]}`, status: 200, want: `[{"values":{"title":"Why so?"}}]`},
	})
}

// TestThreadsOfTheGraph: chat clients list the threads of the graph that they talk to.
func TestThreadsOfTheGraph(t *testing.T) {
	k := newServer(t, nil)
	k.run("t", "hello")
	k.play([]scenario{
		{name: "search", method: "POST", path: "/threads/search", body: `{"metadata":{"graph_id":"lead_agent"}}`, status: 200, want: `[{"thread_id":"t"}]`},
		{name: "a thread without a run", method: "POST", path: "/threads", body: `{"thread_id":"bare"}`, status: 200},
		{name: "is one of the graph's", method: "POST", path: "/threads/search", body: `{"metadata":{"graph_id":"lead_agent"}}`, status: 200, want: `[{"thread_id":"bare"},{"thread_id":"t"}]`},
		{name: "of another", method: "POST", path: "/threads/search", body: `{"metadata":{"graph_id":"other"}}`, status: 200, want: `[]`},
		{name: "and more", method: "POST", path: "/threads/count", body: `{"metadata":{"graph_id":"lead_agent","k":1}}`, status: 200, want: `0`},
	})
}
