package runs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	runroutes "github.com/pudu-ai/pudu/internal/gateway/runs"
	"github.com/pudu-ai/pudu/internal/gateway/shape"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestAnAssistantsOptionsAreDefaults for what the request leaves open, option by option and wherever it names one.
func TestAnAssistantsOptionsAreDefaults(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000902"
	for _, c := range []struct{ name, assistant, request, config, context, model string }{
		{
			"all of them", `"config":{"recursion_limit":9,"tags":["a"],"configurable":{"is_plan_mode":true,"k":1}},
			"context":{"agent_name":"poet","model_name":"fake"}`,
			``, `{"configurable":{"is_plan_mode":true,"k":1},"recursion_limit":9,"tags":["a"]}`,
			`{"agent_name":"poet","model_name":"fake"}`, "fake",
		},
		{
			"what the request does not say",
			`"config":{"recursion_limit":9,"configurable":{"is_plan_mode":true,"k":1}},"context":{"agent_name":"poet","reasoning_effort":"low"}`,
			`"config":{"recursion_limit":5,"configurable":{"k":2,"l":3}},"context":{"agent_name":"other"}`,
			`{"configurable":{"is_plan_mode":true,"k":2,"l":3},"recursion_limit":5}`,
			`{"agent_name":"other","reasoning_effort":"low"}`, "",
		},
		{
			"a choice that stands elsewhere is the request's",
			`"config":{"configurable":{"is_plan_mode":true,"model_name":"fake"}},"context":{"agent_name":"poet","model_name":"fake"}`,
			`"config":{"configurable":{"agent_name":"other","model_name":"none"}},"context":{"is_plan_mode":false}`,
			`{"configurable":{"agent_name":"other","model_name":"none"}}`, `{"is_plan_mode":false}`, "",
		},
		{
			"null says nothing", `"context":{"agent_name":"poet"},"config":{"configurable":{"k":1}}`,
			`"context":{"agent_name":null,"b":null},"config":{"configurable":null}`, `{"configurable":{"k":1}}`,
			`{"agent_name":"poet","b":null}`, "",
		},
		{"nothing at all", `"context":{},"config":{}`, ``, ``, ``, ""},
		{"a model of its configurable", `"config":{"configurable":{"model_name":"fake"}}`, ``,
			`{"configurable":{"model_name":"fake"}}`, ``, "fake"},
		{
			"what is the server's to say",
			`"config":{"configurable":{"user_id":"x","k":1},"context":{"is_internal":true}},"context":{"channel_name":"github","secrets":{},"__x":1}`,
			`"context":{"a":1}`, `{"configurable":{"k":1}}`, `{"a":1}`, "",
		},
		{"what is no object", `"config":{"configurable":[1],"recursion_limit":"many"}`, ``,
			`{"recursion_limit":"many"}`, ``, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := gateways.New(t, nil)
			body := `{"input":{"messages":"hi"},"assistant_id":"` + id + `"`
			if c.request != "" {
				body += "," + c.request
			}
			k.Play([]gateways.Scenario{
				{
					Name: "assistant", Method: "POST", Path: "/assistants",
					Body: `{"assistant_id":"` + id + `","graph_id":"lead_agent",` + c.assistant + `}`, Status: 200,
				},
				{
					Name: "run", Method: "POST", Path: "/runs", Body: body + "}", Status: 200,
					Keep: map[string]string{"run_id": "run"},
				},
			})
			req := kept(t, k)
			got, want := []string{string(req.Config), string(req.Context), req.Model},
				[]string{c.config, c.context, c.model}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(c.config, `"recursion_limit":9`) != (req.MaxSteps == 9) || strings.Contains(c.config,
				`"recursion_limit":5`) != (req.MaxSteps == 5) {
				t.Errorf("at most %d steps", req.MaxSteps)
			}
		})
	}
}

// kept is the request of the run {run} as it is stored.
func kept(t *testing.T, k *gateways.Kit) (req runs.Request) {
	t.Helper()
	run, err := k.Data().Run(t.Context(), k.Vars["run"])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(run.Request, &req); err != nil {
		t.Fatal(err)
	}
	return req
}

// TestAClientCannotSayWhoItIs nor how its run came.
func TestAClientCannotSayWhoItIs(t *testing.T) {
	k := gateways.New(t, nil)
	var owned []string
	for _, name := range runroutes.ServerOwned {
		owned = append(owned, `"`+name+`":"forged"`)
	}
	forged := strings.Join(owned, ",")
	k.Play([]gateways.Scenario{{
		Name: "run", Method: "POST", Path: "/runs", Status: 200, Keep: map[string]string{"run_id": "run"},
		Body: `{"input":{"messages":"hi"},"context":{"is_plan_mode":true,` + forged + `},"config":{` + forged + `,
			"configurable":{"a":1,` + forged + `},"context":{` + forged + `}}}`,
		Want: `{"kwargs":{"context":{"is_plan_mode":true,"channel_name":"<absent>","user_id":"<absent>"},
			"config":{"configurable":{"a":1}}}}`,
	}})
	if req := kept(t, k); strings.Contains(string(req.Config)+string(req.Context), "forged") ||
		req.UserID != gateways.User {
		t.Errorf("%s %s, of %s", req.Config, req.Context, req.UserID)
	}
	for _, name := range []string{"user_id", "user_role", "is_internal", "channel_name", "non_interactive"} {
		if !strings.Contains(forged, `"`+name+`"`) {
			t.Errorf("a client can set %s", name)
		}
	}
}

// TestTheSchemaListsOptionsThatCount: each one is read, in the type that it has there, and none is the server's.
func TestTheSchemaListsOptionsThatCount(t *testing.T) {
	values := map[string]string{"string": `"x"`, "boolean": "true", "integer": "1"}
	none := lead.ReadOptions(nil, nil)
	for name, s := range shape.Options(nil).Properties {
		got := lead.ReadOptions(nil, json.RawMessage(`{"`+name+`":`+values[s.Type]+`}`))
		if cmp.Equal(none, got) || s.Description == "" || slices.Contains(runroutes.ServerOwned, name) {
			t.Errorf("%s (%s) is not read, not described or not a client's to set", name, s.Type)
		}
		if s.Maximum == nil {
			continue
		}
		most, more := fmt.Sprintf(`{"%s":%.0f}`, name, *s.Maximum), fmt.Sprintf(`{"%s":%.0f}`, name, *s.Maximum+1)
		if !cmp.Equal(lead.ReadOptions(nil, []byte(most)), lead.ReadOptions(nil, []byte(more))) ||
			cmp.Equal(none, lead.ReadOptions(nil, []byte(most))) {
			t.Errorf("%s is not bounded by %v", name, *s.Maximum)
		}
	}
}

// TestModelOfARun: the frames name the model that answers, the default one too.
func TestModelOfARun(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		c.Models = []gateway.Model{{Name: "fake", Model: "vendor/fake-1"}, {Name: "other", Model: "other-1"}}
	})
	for _, tt := range []struct{ name, options, want string }{
		{"none", `"config":{}`, `{"model_name":"fake","ls_model_name":"fake-1","ls_provider":"vendor"}`},
		{"by the context", `"context":{"model_name":"other"}`,
			`{"model_name":"other","ls_model_name":"other-1","ls_provider":"<absent>"}`},
		{"by the configuration", `"config":{"configurable":{"model_name":"other"}}`, `{"model_name":"other"}`},
		{"an unknown one that was configured", `"config":{"configurable":{"model_name":"nope"}}`,
			`{"run_id":"*","ls_model_name":"nope"}`},
		{"by the context of the configuration", `"config":{"context":{"model_name":"other"}}`,
			`{"model_name":"other"}`},
	} {
		w := k.Do("POST", "/runs/stream", `{"input":{"messages":"hello"},"stream_mode":"messages-tuple",`+tt.options+
			`}`)
		fs := gateways.ParseSSE(t, w.Body.String())
		if len(fs) < 2 || fs[1].Event != "messages" {
			t.Errorf("%s: %v", tt.name, gateways.Events(fs))
			continue
		}
		if why := jsontest.Unlike(jsontest.Decode(t, []byte(tt.want)),
			jsontest.At(jsontest.Decode(t, []byte(fs[1].Data)), "1")); why != "" {
			t.Errorf("%s: %s in %s", tt.name, why, fs[1].Data)
		}
	}
	for _, options := range []string{`"context":{"model_name":"nope"}`, `"config":{"context":{"model_name":"nope"}}`} {
		k.Play([]gateways.Scenario{{
			Name: "an unknown one", Method: "POST", Path: "/runs", Body: `{` + options + `}`, Status: 400,
			Want: `{"detail":"Model 'nope' is not in the configured model allowlist"}`,
		}})
	}
}
