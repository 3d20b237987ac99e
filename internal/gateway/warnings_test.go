package gateway

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// TestNearMissesOfOptions: the context is free, but a name that is nearly an option's is told in the run's metadata.
func TestNearMissesOfOptions(t *testing.T) {
	k := newServer(t, nil)
	const own = "00000000-0000-4000-8000-000000000017"
	k.play([]scenario{
		{name: "an assistant", method: "POST", path: "/assistants", body: `{"assistant_id":"` + own + `","graph_id":"lead_agent","metadata":{"of":"it"}}`, status: 200},
		{name: "near", method: "POST", path: "/runs", status: 200, body: `{"input":{"messages":"hello"},"assistant_id":"` + own + `","metadata":{"mine":1},
			"context":{"modelName":"x","isPlanMode":true,"mode":"pro","anything":{"model_nam":1},"node":1},
			"config":{"context":{"subagents_enabled":true},"configurable":{"Reasoning-Effort":"high","thread_id":"near"}}}`,
			want: `{"metadata":{"of":"it","mine":1,"pudu_warnings":[
				"context.isPlanMode is no option and has no effect; did you mean \"is_plan_mode\"?",
				"context.modelName is no option and has no effect; did you mean \"model_name\"?",
				"config.context.subagents_enabled is no option and has no effect; did you mean \"subagent_enabled\"?",
				"config.configurable.Reasoning-Effort is no option and has no effect; did you mean \"reasoning_effort\"?"]},
				"kwargs":{"context":{"modelName":"x","anything":{"model_nam":1}}}}`},
		{name: "behind a known one", method: "POST", path: "/runs", status: 200, body: `{"input":{"messages":"hello"},"context":{"agent_name":"","aaa":1,"model_nam":"x"}}`,
			want: `{"metadata":{"pudu_warnings":["context.model_nam is no option and has no effect; did you mean \"model_name\"?"]}}`},
		{name: "none", method: "POST", path: "/runs", status: 200, want: `{"metadata":{"pudu_warnings":"<absent>"}}`,
			body: `{"input":{"messages":"hello"},"context":{"model_name":"fake","thinking_enabled":true,"mode":"flash","user_name":"x","locale":"de","":1}}`},
	})
	many := make([]string, 3*maxWarnings)
	for i := range many {
		many[i] = `"` + strings.Repeat("_", i%2) + `model_name` + strings.Repeat(" ", i/2) + `x":1`
	}
	w := k.do("POST", "/runs", `{"input":{"messages":"hello"},"context":{"modelnam":1,"agentname":1,`+strings.Join(many, ",")+`}}`)
	if list, _ := at(decode(t, w.Body.Bytes()), "metadata.pudu_warnings").([]any); len(list) == 0 || len(list) > maxWarnings {
		t.Errorf("%d warnings in %.2000s", len(list), w.Body)
	}
}

// TestAnAssistantOfAnUnknownModel is refused when it is made, and not when it is used.
func TestAnAssistantOfAnUnknownModel(t *testing.T) {
	k := newServer(t, func(c *Config) { c.Models = []Model{{Name: "fake"}, {Name: "other"}} })
	refused := func(name, body string, loc string) scenario {
		return scenario{
			name: name, method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent",` + body + `}`, status: 422,
			want: `{"detail":[{"type":"value_error","loc":["body",` + loc + `],"msg":"Value error, Model 'nope' is not configured; choose among fake, other"}]}`,
		}
	}
	k.play([]scenario{
		refused("context", `"context":{"model_name":"nope"}`, `"context","model_name"`),
		refused("its other name", `"context":{"model":"nope"}`, `"context","model"`),
		refused("configurable", `"config":{"configurable":{"model_name":"nope"}}`, `"config","configurable","model_name"`),
		refused("context of config", `"config":{"context":{"model_name":"nope"}}`, `"config","context","model_name"`),
		{name: "known", method: "POST", path: "/assistants", status: 200, keep: map[string]string{"assistant_id": "own"},
			body: `{"graph_id":"lead_agent","context":{"model_name":"other","model":7},"config":{"configurable":{"model":"fake"}}}`},
		{name: "changed to an unknown one", method: "PATCH", path: "/assistants/{own}", body: `{"context":{"model_name":"nope"}}`, status: 422},
		{name: "still the first version", method: "GET", path: "/assistants/{own}", status: 200, want: `{"version":1,"context":{"model_name":"other"}}`},
	})
	k.Models = k.Models[:1] // the model leaves the configuration
	k.play([]scenario{{name: "another change", method: "PATCH", path: "/assistants/{own}", body: `{"name":"renamed"}`, status: 200, want: `{"name":"renamed"}`}})
}

// TestFaultsInASentence: LangGraph's SDK for Python shows a message, not a list.
func TestFaultsInASentence(t *testing.T) {
	k := newServer(t, nil)
	k.play([]scenario{
		{name: "a mode", method: "POST", path: "/runs/stream", body: `{"input":{},"stream_mode":["values","events"]}`, status: 422,
			want: `{"detail":[{"type":"unsupported_stream_mode","loc":["body","stream_mode"]}],
				"message":"body.stream_mode: stream mode \"events\" is not supported; choose among values, updates, messages-tuple, messages, custom, tasks, checkpoints, debug"}`},
		{name: "two faults", method: "POST", path: "/threads", body: `{"thread_id":"a b","if_exists":"x"}`, status: 422,
			want: `{"message":"body.thread_id: String should match pattern '^[A-Za-z0-9_-]{1,64}$'; body.if_exists: Input should be 'do_nothing' or 'raise'"}`},
		{name: "a sentence stays one", method: "GET", path: "/threads/nope", status: 404, want: `{"detail":"Thread nope not found","message":"<absent>"}`},
	})
	w := k.do("POST", "/threads/search", `{"metadata":{`+strings.Repeat(`"a `+strings.Repeat("b", 90)+`":1,`, 1)+`"x":`+"[]"+`},"limit":"`+strings.Repeat("9", 5000)+`"}`)
	if text, _ := at(decode(t, w.Body.Bytes()), "message").(string); w.Code != 422 || text == "" || len(text) > maxMessage+100 {
		t.Errorf("%d %.3000s", w.Code, w.Body)
	}
}

// TestTheWebhookOfARestoredRun: a run from a backup says that nobody is told of its end.
func TestTheWebhookOfARestoredRun(t *testing.T) {
	k := newServer(t, nil)
	w := k.do("POST", "/threads/t/runs", `{"if_not_exists":"create","input":{"messages":"hello"},"after_seconds":3600,"webhook":"https://hook.example/T0KEN","metadata":{"mine":1}}`)
	var dump bytes.Buffer
	if _, err := k.Store.System().Dump(t.Context(), &dump); err != nil || w.Code != http.StatusOK {
		t.Fatal(w, err)
	}
	restored := newServer(t, nil)
	if _, err := restored.Store.System().Load(t.Context(), &dump, nil); err != nil {
		t.Fatal(err)
	}
	run := restored.runs("t")[0]
	restored.play([]scenario{{name: "restored", method: "GET", path: "/threads/t/runs/" + run.ID, status: 200,
		want: `{"metadata":{"mine":1,"pudu_warnings":["` + webhookDropped + `"]},"kwargs":{"webhook":null}}`}})
}
