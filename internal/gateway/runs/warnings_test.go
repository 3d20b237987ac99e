package runs_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/gateway"
	runroutes "github.com/pudu-ai/pudu/internal/gateway/runs"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestNearMissesOfOptions: the context is free, but a name that is nearly an option's is told in the run's metadata.
func TestNearMissesOfOptions(t *testing.T) {
	k := gateways.New(t, nil)
	const own = "00000000-0000-4000-8000-000000000017"
	k.Play([]gateways.Scenario{
		{
			Name: "an assistant", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"` + own + `","graph_id":"lead_agent","metadata":{"of":"it"}}`, Status: 200,
		},
		{
			Name: "near", Method: "POST", Path: "/runs", Status: 200,
			Body: `{"input":{"messages":"hello"},"assistant_id":"` + own + `","metadata":{"mine":1},
			"context":{"modelName":"x","isPlanMode":true,"mode":"pro","anything":{"model_nam":1},"node":1},
			"config":{"context":{"subagents_enabled":true},"configurable":{"Reasoning-Effort":"high","thread_id":"near"}}}`,
			Want: `{"metadata":{"of":"it","mine":1,"pudu_warnings":[
				"context.isPlanMode is no option and has no effect; did you mean \"is_plan_mode\"?",
				"context.modelName is no option and has no effect; did you mean \"model_name\"?",
				"config.context.subagents_enabled is no option and has no effect; did you mean \"subagent_enabled\"?",
				"config.configurable.Reasoning-Effort is no option and has no effect; did you mean \"reasoning_effort\"?"]},
				"kwargs":{"context":{"modelName":"x","anything":{"model_nam":1}}}}`,
		},
		{
			Name: "behind a known one", Method: "POST", Path: "/runs", Status: 200,
			Body: `{"input":{"messages":"hello"},"context":{"agent_name":"","aaa":1,"model_nam":"x"}}`,
			Want: `{"metadata":{"pudu_warnings":["context.model_nam is no option and has no effect; did you mean \"model_name\"?"]}}`,
		},
		{
			Name: "none", Method: "POST", Path: "/runs", Status: 200,
			Want: `{"metadata":{"pudu_warnings":"<absent>"}}`,
			Body: `{"input":{"messages":"hello"},"context":{"model_name":"fake","thinking_enabled":true,
				"mode":"flash","user_name":"x","locale":"de","":1}}`,
		},
	})
	many := make([]string, 3*runroutes.MaxWarnings)
	for i := range many {
		many[i] = `"` + strings.Repeat("_", i%2) + `model_name` + strings.Repeat(" ", i/2) + `x":1`
	}
	w := k.Do("POST", "/runs", `{"input":{"messages":"hello"},"context":{"modelnam":1,"agentname":1,`+
		strings.Join(many, ",")+`}}`)
	if list, _ := jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "metadata.pudu_warnings").([]any); len(list) == 0 ||
		len(list) > runroutes.MaxWarnings {
		t.Errorf("%d warnings in %.2000s", len(list), w.Body)
	}
}

// TestAnAssistantOfAnUnknownModel is refused when it is made, and not when it is used.
func TestAnAssistantOfAnUnknownModel(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Models = []gateway.Model{{Name: "fake"}, {Name: "other"}} })
	refused := func(name, body string, loc string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "POST", Path: "/assistants", Body: `{"graph_id":"lead_agent",` + body + `}`,
			Status: 422,
			Want: `{"detail":[{"type":"value_error","loc":["body",` + loc + `],
				"msg":"Value error, Model 'nope' is not configured; choose among fake, other"}]}`,
		}
	}
	k.Play([]gateways.Scenario{
		refused("context", `"context":{"model_name":"nope"}`, `"context","model_name"`),
		refused("its other name", `"context":{"model":"nope"}`, `"context","model"`),
		refused("configurable", `"config":{"configurable":{"model_name":"nope"}}`,
			`"config","configurable","model_name"`),
		refused("context of config", `"config":{"context":{"model_name":"nope"}}`, `"config","context","model_name"`),
		{
			Name: "known", Method: "POST", Path: "/assistants", Status: 200,
			Keep: map[string]string{"assistant_id": "own"},
			Body: `{"graph_id":"lead_agent","context":{"model_name":"other","model":7},"config":{"configurable":{"model":"fake"}}}`,
		},
		{
			Name: "changed to an unknown one", Method: "PATCH", Path: "/assistants/{own}",
			Body: `{"context":{"model_name":"nope"}}`, Status: 422,
		},
		{
			Name: "still the first version", Method: "GET", Path: "/assistants/{own}", Status: 200,
			Want: `{"version":1,"context":{"model_name":"other"}}`,
		},
	})
	k.Models = k.Models[:1] // the model leaves the configuration
	k.Play([]gateways.Scenario{{
		Name: "another change", Method: "PATCH", Path: "/assistants/{own}", Body: `{"name":"renamed"}`, Status: 200,
		Want: `{"name":"renamed"}`,
	}})
}

// TestFaultsInASentence: LangGraph's SDK for Python shows a message, not a list.
func TestFaultsInASentence(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{
		{
			Name: "a mode", Method: "POST", Path: "/runs/stream",
			Body: `{"input":{},"stream_mode":["values","events"]}`, Status: 422,
			Want: `{"detail":[{"type":"unsupported_stream_mode","loc":["body","stream_mode"]}],
				"message":"body.stream_mode: stream mode \"events\" is not supported; choose among ` +
				`values, updates, messages-tuple, messages, custom, tasks, checkpoints, debug"}`,
		},
		{
			Name: "two faults", Method: "POST", Path: "/threads", Body: `{"thread_id":"a b","if_exists":"x"}`,
			Status: 422,
			Want: `{"message":"body.thread_id: String should match pattern '^[A-Za-z0-9_-]{1,64}$'; ` +
				`body.if_exists: Input should be 'do_nothing' or 'raise'"}`,
		},
		{
			Name: "a sentence stays one", Method: "GET", Path: "/threads/nope", Status: 404,
			Want: `{"detail":"Thread nope not found","message":"<absent>"}`,
		},
	})
	w := k.Do("POST", "/threads/search", `{"metadata":{`+strings.Repeat(`"a `+strings.Repeat("b", 90)+`":1,`, 1)+
		`"x":`+"[]"+`},"limit":"`+strings.Repeat("9", 5000)+`"}`)
	if text, _ := jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "message").(string); w.Code != 422 || text == "" ||
		len(text) > 1000+100 {
		t.Errorf("%d %.3000s", w.Code, w.Body)
	}
}

// TestTheWebhookOfARestoredRun: a run from a backup says that nobody is told of its end.
func TestTheWebhookOfARestoredRun(t *testing.T) {
	k := gateways.New(t, nil)
	w := k.Do("POST", "/threads/t/runs",
		`{"if_not_exists":"create","input":{"messages":"hello"},"after_seconds":3600,"webhook":"https://hook.example/T0KEN","metadata":{"mine":1}}`)
	var dump bytes.Buffer
	if _, err := k.Store.System().Dump(t.Context(), &dump); err != nil || w.Code != http.StatusOK {
		t.Fatal(w, err)
	}
	at := sqlstore.Config{Dir: t.TempDir(), Features: feature.All()}
	fresh, err := sqlstore.Open(t.Context(), at) // nobody works in it yet
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.System().Load(t.Context(), &dump, nil); err != nil {
		t.Fatal(err)
	}
	if err := fresh.Close(); err != nil {
		t.Fatal(err)
	}
	restored := gateways.NewAt(t, at, agent.Config{Tools: gateways.Tools()}, nil)
	run := restored.RunsOf("t")[0]
	restored.Play([]gateways.Scenario{{Name: "restored", Method: "GET", Path: "/threads/t/runs/" + run.ID, Status: 200,
		Want: `{"metadata":{"mine":1,"pudu_warnings":["` + runroutes.WebhookDropped +
			`"]},"kwargs":{"webhook":null}}`}})
}
