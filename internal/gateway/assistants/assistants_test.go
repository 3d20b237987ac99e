package assistants_test

import (
	"strings"
	"testing"

	feature "github.com/pudu-ai/pudu/internal/feature/assistants"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/assistants"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestAssistantsThatAreAlwaysThere(t *testing.T) {
	k := gateways.New(t, nil)
	lead := `{"assistant_id":"bee7d354-5df5-5f26-a978-10ea053f620d","graph_id":"lead_agent","name":"lead_agent","description":"*","config":{},"context":{},
		"metadata":{"created_by":"system"},"version":1,"created_at":"*","updated_at":"*"}`
	k.Play([]gateways.Scenario{
		{
			Name: "search", Method: "POST", Path: "/api/assistants/search", Status: 200, Want: `[` + lead + `]`,
			Headers: map[string]string{"X-Pagination-Total": "1", "X-Pagination-Next": ""},
		},
		{
			Name: "filters that fit", Method: "POST", Path: "/assistants/search",
			Body: `{"graph_id":"lead_agent","name":"LEAD","metadata":{"created_by":"system"},"limit":1}`, Status: 200,
			Want: `[` + lead + `]`,
		},
		{
			Name: "another graph", Method: "POST", Path: "/assistants/search", Body: `{"graph_id":"other"}`,
			Status: 200, Want: `[]`,
		},
		{
			Name: "another name", Method: "POST", Path: "/assistants/search", Body: `{"name":"x"}`, Status: 200,
			Want: `[]`,
		},
		{
			Name: "other metadata", Method: "POST", Path: "/assistants/search",
			Body: `{"metadata":{"created_by":"nobody"}}`, Status: 200, Want: `[]`,
		},
		{
			Name: "selected", Method: "POST", Path: "/assistants/search", Body: `{"select":["graph_id"]}`,
			Status: 200, Want: `[{"graph_id":"lead_agent","assistant_id":"<absent>"}]`,
		},
		{
			Name: "behind the end", Method: "POST", Path: "/assistants/search", Body: `{"offset":1}`, Status: 200,
			Want: `[]`,
		},
		{Name: "count", Method: "POST", Path: "/assistants/count", Body: `{}`, Status: 200, Want: `1`},
		{Name: "count none", Method: "POST", Path: "/assistants/count", Body: `{"name":"x"}`, Status: 200, Want: `0`},
		{Name: "get by name", Method: "GET", Path: "/api/langgraph/assistants/lead_agent", Status: 200, Want: lead},
		{
			Name: "get by id", Method: "GET", Path: "/assistants/BEE7D354-5df5-5f26-a978-10ea053f620d", Status: 200,
			Want: lead,
		},
		{
			Name: "unknown name", Method: "GET", Path: "/assistants/nope", Status: 404,
			Want: `{"detail":"Assistant nope not found"}`,
		},
		{Name: "unknown id", Method: "GET", Path: "/assistants/00000000-0000-4000-8000-000000000404", Status: 404},
		{
			Name: "versions", Method: "POST", Path: "/assistants/lead_agent/versions", Body: `{}`, Status: 200,
			Want: `[` + lead + `]`,
		},
		{
			Name: "latest", Method: "POST", Path: "/assistants/lead_agent/latest", Body: `{"version":1}`, Status: 200,
			Want: lead,
		},
		{
			Name: "no other version", Method: "POST", Path: "/assistants/lead_agent/latest", Body: `{"version":2}`,
			Status: 404, Want: `{"detail":"Version 2 of assistant lead_agent not found"}`,
		},
		{
			Name: "patch", Method: "PATCH", Path: "/assistants/lead_agent", Body: `{"name":"x"}`, Status: 403,
			Want: `{"detail":"*"}`,
		},
		{Name: "delete", Method: "DELETE", Path: "/assistants/lead_agent", Status: 403},
		{
			Name: "create", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"bee7d354-5df5-5f26-a978-10ea053f620d","graph_id":"lead_agent"}`, Status: 409,
		},
		{
			Name: "graph", Method: "GET", Path: "/assistants/lead_agent/graph?xray=true", Status: 200,
			Want: `{"graph_id":"lead_agent","nodes":[{"id":"__start__","data":{"name":"__start__"}},{"id":"model",
				"type":"runnable"},{"id":"tools"},{"id":"__end__"}],
				"edges":[{"source":"__start__","target":"model","conditional":false},{"source":"model","target":"tools","conditional":true},
				{"source":"model","target":"__end__","conditional":true},{"source":"tools","target":"model",
				"conditional":true},{"source":"tools","target":"__end__","conditional":true}]}`,
		},
		{
			Name: "schemas", Method: "GET", Path: "/assistants/lead_agent/schemas", Status: 200,
			Want: `{"graph_id":"lead_agent","config_schema":{"type":"object"},"input_schema":{"type":"object"},"output_schema":{"type":"object"},
				"context_schema":{"type":"object","properties":{"model_name":{"type":"string","enum":["fake"]},
					"max_concurrent_subagents":{"minimum":1,"maximum":4},"max_total_subagents":{"minimum":1,"maximum":50}}},
				"state_schema":{"type":"object","properties":{"messages":{"type":"array",
				"langgraph_type":"messages"},"title":{"type":"string"},"todos":{"items":{"properties":{"content":{"type":"string"}}}}}}}`,
		},
		{
			Name: "subgraphs", Method: "GET", Path: "/assistants/lead_agent/subgraphs?recurse=true", Status: 200,
			Want: `{}`,
		},
		{Name: "a subgraph", Method: "GET", Path: "/assistants/lead_agent/subgraphs/x", Status: 200, Want: `{}`},
		{
			Name: "graph of none", Method: "GET", Path: "/assistants/nope/graph", Status: 404,
			Want: `{"detail":"Assistant nope not found"}`,
		},
		{Name: "schemas of none", Method: "GET", Path: "/assistants/nope/schemas", Status: 404},
		{Name: "subgraphs of none", Method: "GET", Path: "/assistants/nope/subgraphs", Status: 404},
	})
}

func TestEveryChannelHasASchema(t *testing.T) {
	k := gateways.New(t, nil)
	has := assistants.ChannelSchemas()
	for name, ch := range k.Manager.Schema() {
		if (has[name] == nil) != ch.Private() {
			t.Errorf("channel %s: private %t, has a schema %t", name, ch.Private(), has[name] != nil)
		}
	}
}

func TestAssistantsOfClients(t *testing.T) {
	k := gateways.New(t, nil)
	const one = "00000000-0000-4000-8000-000000000901"
	if err := k.Assistants.For(access.FromRow("other")).Create(t.Context(),
		feature.Assistant{ID: "00000000-0000-4000-8000-000000000999", GraphID: gateway.GraphID}); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 257)
	k.Play([]gateways.Scenario{
		{
			Name: "create", Method: "POST", Path: "/assistants", Status: 200,
			Body: `{"assistant_id":"` + one + `","graph_id":"lead_agent","name":"mine",
				"metadata":{"a":1,"user_id":"m"},"config":{"recursion_limit":50,"configurable":{"k":"v"}},
				"context":{"model_name":"fake"},"description":"d"}`,
			Want: `{"assistant_id":"` + one + `","version":1,"config":{"recursion_limit":50,"configurable":{"k":"v"}},
				"context":{"model_name":"fake"},"created_at":"*","graph_id":"lead_agent","metadata":{"a":1,"user_id":"<absent>"},
				"name":"mine","description":"d"}`,
		},
		{
			Name: "again", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"` + one + `","graph_id":"lead_agent"}`, Status: 409,
			Want: `{"detail":"Assistant ` + one + ` already exists"}`,
		},
		{
			Name: "again, do_nothing", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"` + one + `","graph_id":"lead_agent","if_exists":"do_nothing"}`, Status: 200,
			Want: `{"name":"mine"}`,
		},
		{
			Name: "somebody else's, do_nothing", Method: "POST", Path: "/assistants",
			Body:   `{"assistant_id":"00000000-0000-4000-8000-000000000999","graph_id":"lead_agent","if_exists":"do_nothing"}`,
			Status: 404,
		},
		{
			Name: "without an id and a name", Method: "POST", Path: "/assistants", Body: `{"graph_id":"lead_agent"}`,
			Status: 200, Want: `{"assistant_id":"*","name":"Untitled","description":null,"metadata":{},"config":{}}`,
			Keep: map[string]string{"assistant_id": "two"},
		},
		{
			Name: "without a graph", Method: "POST", Path: "/assistants", Body: `{}`, Status: 422,
			Want: `{"detail":[{"type":"missing","loc":["body","graph_id"]}]}`,
		},
		{
			Name: "of an unknown graph", Method: "POST", Path: "/assistants", Body: `{"graph_id":"no_such_graph"}`,
			Status: 404, Want: `{"detail":"Graph no_such_graph not found"}`,
		},
		{
			Name: "with a bad id", Method: "POST", Path: "/assistants",
			Body: `{"assistant_id":"x","graph_id":"lead_agent"}`, Status: 422,
			Want: `{"detail":[{"type":"uuid_parsing"}]}`,
		},
		{
			Name: "with a long name", Method: "POST", Path: "/assistants",
			Body: `{"graph_id":"lead_agent","name":"` + long + `"}`, Status: 422,
			Want: `{"detail":[{"type":"string_too_long","loc":["body","name"]}]}`,
		},
		{
			Name: "with a NUL", Method: "POST", Path: "/assistants",
			Body: `{"graph_id":"lead_agent","name":"a\u0000b"}`, Status: 422,
		},
		{
			Name: "search", Method: "POST", Path: "/assistants/search", Body: `{"limit":2}`, Status: 200,
			Want:    `[{"name":"lead_agent"},{"name":"Untitled"}]`,
			Headers: map[string]string{"X-Pagination-Next": "2", "X-Pagination-Total": "3"},
		},
		{
			Name: "the next page", Method: "POST", Path: "/assistants/search", Body: `{"limit":2,"offset":2}`,
			Status: 200, Want: `[{"name":"mine"}]`,
			Headers: map[string]string{"X-Pagination-Next": "", "X-Pagination-Total": "3"},
		},
		{
			Name: "by name", Method: "POST", Path: "/assistants/search",
			Body: `{"name":"MIN","sort_by":"name","sort_order":"asc"}`, Status: 200, Want: `[{"name":"mine"}]`,
		},
		{
			Name: "count", Method: "POST", Path: "/assistants/count", Body: `{"metadata":{"a":1}}`, Status: 200,
			Want: `1`,
		},
		{
			Name: "patch", Method: "PATCH", Path: "/assistants/" + one, Body: `{"metadata":{"b":2},"name":"renamed"}`,
			Status: 200,
			Want: `{"version":2,"name":"renamed","metadata":{"a":1,"b":2},"description":"d",
				"config":{"recursion_limit":50}}`,
		},
		{
			Name: "patch with a bad config", Method: "PATCH", Path: "/assistants/" + one, Body: `{"config":[]}`,
			Status: 422, Want: `{"detail":[{"type":"dict_type","loc":["body","config"]}]}`,
		},
		{
			Name: "patch with secrets", Method: "PATCH", Path: "/assistants/" + one,
			Body: `{"context":{"secrets":{"A":"hush"}}}`, Status: 422,
			Want: `{"detail":[{"type":"value_error","loc":["body","context","secrets"],"input":null}]}`,
		},
		{
			Name: "patch with another graph", Method: "PATCH", Path: "/assistants/" + one, Body: `{"graph_id":"x"}`,
			Status: 404,
		},
		{
			Name: "versions", Method: "POST", Path: "/assistants/" + one + "/versions", Body: `{}`, Status: 200,
			Want: `[{"version":2,"name":"renamed"},{"version":1,"name":"mine"}]`,
		},
		{
			Name: "a page of versions", Method: "POST", Path: "/assistants/" + one + "/versions",
			Body: `{"limit":1,"offset":1}`, Status: 200, Want: `[{"version":1}]`,
		},
		{
			Name: "behind the versions", Method: "POST", Path: "/assistants/" + one + "/versions",
			Body: `{"offset":9}`, Status: 200, Want: `[]`,
		},
		{
			Name: "versions by metadata", Method: "POST", Path: "/assistants/" + one + "/versions",
			Body: `{"metadata":{"b":2}}`, Status: 200, Want: `[{"version":2}]`,
		},
		{
			Name: "latest", Method: "POST", Path: "/assistants/" + one + "/latest", Body: `{"version":1}`,
			Status: 200, Want: `{"version":1,"name":"mine"}`,
		},
		{
			Name: "is in force", Method: "GET", Path: "/assistants/" + one, Status: 200,
			Want: `{"version":1,"name":"mine"}`,
		},
		{
			Name: "no such version", Method: "POST", Path: "/assistants/" + one + "/latest", Body: `{"version":9}`,
			Status: 404,
		},
		{
			Name: "no version", Method: "POST", Path: "/assistants/" + one + "/latest", Body: `{}`, Status: 422,
			Want: `{"detail":[{"type":"missing"}]}`,
		},
		{Name: "its graph", Method: "GET", Path: "/assistants/" + one + "/graph", Status: 200},
		{
			Name: "delete with threads", Method: "DELETE", Path: "/assistants/" + one + "?delete_threads=true",
			Status: 422,
		},
		{Name: "delete", Method: "DELETE", Path: "/assistants/" + one, Status: 200, Want: `["` + one + `"]`},
		{Name: "delete again", Method: "DELETE", Path: "/assistants/" + one, Status: 404},
		{Name: "gone", Method: "GET", Path: "/assistants/" + one, Status: 404},
		{Name: "somebody else's", Method: "GET", Path: "/assistants/00000000-0000-4000-8000-000000000999", Status: 404},
	})
}
