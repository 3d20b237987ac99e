package gateway

import (
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
)

func TestAssistantsThatAreAlwaysThere(t *testing.T) {
	k := newServer(t, nil)
	lead := `{"assistant_id":"bee7d354-5df5-5f26-a978-10ea053f620d","graph_id":"lead_agent","name":"lead_agent","description":"*","config":{},"context":{},
		"metadata":{"created_by":"system"},"version":1,"created_at":"*","updated_at":"*"}`
	k.play([]scenario{
		{name: "search", method: "POST", path: "/api/assistants/search", status: 200, want: `[` + lead + `]`, headers: map[string]string{"X-Pagination-Total": "1", "X-Pagination-Next": ""}},
		{name: "filters that fit", method: "POST", path: "/assistants/search", body: `{"graph_id":"lead_agent","name":"LEAD","metadata":{"created_by":"system"},"limit":1}`, status: 200, want: `[` + lead + `]`},
		{name: "another graph", method: "POST", path: "/assistants/search", body: `{"graph_id":"other"}`, status: 200, want: `[]`},
		{name: "another name", method: "POST", path: "/assistants/search", body: `{"name":"x"}`, status: 200, want: `[]`},
		{name: "other metadata", method: "POST", path: "/assistants/search", body: `{"metadata":{"created_by":"nobody"}}`, status: 200, want: `[]`},
		{name: "selected", method: "POST", path: "/assistants/search", body: `{"select":["graph_id"]}`, status: 200, want: `[{"graph_id":"lead_agent","assistant_id":"<absent>"}]`},
		{name: "behind the end", method: "POST", path: "/assistants/search", body: `{"offset":1}`, status: 200, want: `[]`},
		{name: "count", method: "POST", path: "/assistants/count", body: `{}`, status: 200, want: `1`},
		{name: "count none", method: "POST", path: "/assistants/count", body: `{"name":"x"}`, status: 200, want: `0`},
		{name: "get by name", method: "GET", path: "/api/langgraph/assistants/lead_agent", status: 200, want: lead},
		{name: "get by id", method: "GET", path: "/assistants/BEE7D354-5df5-5f26-a978-10ea053f620d", status: 200, want: lead},
		{name: "unknown name", method: "GET", path: "/assistants/nope", status: 404, want: `{"detail":"Assistant nope not found"}`},
		{name: "unknown id", method: "GET", path: "/assistants/00000000-0000-4000-8000-000000000404", status: 404},
		{name: "versions", method: "POST", path: "/assistants/lead_agent/versions", body: `{}`, status: 200, want: `[` + lead + `]`},
		{name: "latest", method: "POST", path: "/assistants/lead_agent/latest", body: `{"version":1}`, status: 200, want: lead},
		{name: "no other version", method: "POST", path: "/assistants/lead_agent/latest", body: `{"version":2}`, status: 404, want: `{"detail":"Version 2 of assistant lead_agent not found"}`},
		{name: "patch", method: "PATCH", path: "/assistants/lead_agent", body: `{"name":"x"}`, status: 403, want: `{"detail":"*"}`},
		{name: "delete", method: "DELETE", path: "/assistants/lead_agent", status: 403},
		{name: "create", method: "POST", path: "/assistants", body: `{"assistant_id":"bee7d354-5df5-5f26-a978-10ea053f620d","graph_id":"lead_agent"}`, status: 409},
		{
			name: "graph", method: "GET", path: "/assistants/lead_agent/graph?xray=true", status: 200,
			want: `{"graph_id":"lead_agent","nodes":[{"id":"__start__","data":{"name":"__start__"}},{"id":"model","type":"runnable"},{"id":"tools"},{"id":"__end__"}],
				"edges":[{"source":"__start__","target":"model","conditional":false},{"source":"model","target":"tools","conditional":true},
				{"source":"model","target":"__end__","conditional":true},{"source":"tools","target":"model","conditional":true},{"source":"tools","target":"__end__","conditional":true}]}`,
		},
		{
			name: "schemas", method: "GET", path: "/assistants/lead_agent/schemas", status: 200,
			want: `{"graph_id":"lead_agent","config_schema":{"type":"object"},"input_schema":{"type":"object"},"output_schema":{"type":"object"},
				"context_schema":{"type":"object","properties":{"model_name":{"type":"string","enum":["fake"]},
					"max_concurrent_subagents":{"minimum":1,"maximum":4},"max_total_subagents":{"minimum":1,"maximum":50}}},
				"state_schema":{"type":"object","properties":{"messages":{"type":"array","langgraph_type":"messages"},"title":{"type":"string"},"todos":{"items":{"properties":{"content":{"type":"string"}}}}}}}`,
		},
		{name: "subgraphs", method: "GET", path: "/assistants/lead_agent/subgraphs?recurse=true", status: 200, want: `{}`},
		{name: "a subgraph", method: "GET", path: "/assistants/lead_agent/subgraphs/x", status: 200, want: `{}`},
		{name: "graph of none", method: "GET", path: "/assistants/nope/graph", status: 404, want: `{"detail":"Assistant nope not found"}`},
		{name: "schemas of none", method: "GET", path: "/assistants/nope/schemas", status: 404},
		{name: "subgraphs of none", method: "GET", path: "/assistants/nope/subgraphs", status: 404},
	})
}

func TestEveryChannelHasASchema(t *testing.T) {
	k := newServer(t, nil)
	has := channelSchemas()
	for name, ch := range k.Manager.Schema() {
		if (has[name] == nil) != ch.Private() {
			t.Errorf("channel %s: private %t, has a schema %t", name, ch.Private(), has[name] != nil)
		}
	}
}

func TestAssistantsOfClients(t *testing.T) {
	k := newServer(t, nil)
	const one = "00000000-0000-4000-8000-000000000901"
	if err := k.Assistants.For(access.FromRow("other")).Create(t.Context(), assistants.Assistant{
		ID: "00000000-0000-4000-8000-000000000999", GraphID: GraphID,
	}); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", maxAssistantName+1)
	k.play([]scenario{
		{
			name: "create", method: "POST", path: "/assistants", status: 200,
			body: `{"assistant_id":"` + one + `","graph_id":"lead_agent","name":"mine","metadata":{"a":1,"user_id":"m"},"config":{"recursion_limit":50,"configurable":{"k":"v"}},"context":{"model_name":"fake"},"description":"d"}`,
			want: `{"assistant_id":"` + one + `","version":1,"config":{"recursion_limit":50,"configurable":{"k":"v"}},"context":{"model_name":"fake"},"created_at":"*","graph_id":"lead_agent","metadata":{"a":1,"user_id":"<absent>"},"name":"mine","description":"d"}`,
		},
		{name: "again", method: "POST", path: "/assistants", body: `{"assistant_id":"` + one + `","graph_id":"lead_agent"}`, status: 409, want: `{"detail":"Assistant ` + one + ` already exists"}`},
		{name: "again, do_nothing", method: "POST", path: "/assistants", body: `{"assistant_id":"` + one + `","graph_id":"lead_agent","if_exists":"do_nothing"}`, status: 200, want: `{"name":"mine"}`},
		{name: "somebody else's, do_nothing", method: "POST", path: "/assistants", body: `{"assistant_id":"00000000-0000-4000-8000-000000000999","graph_id":"lead_agent","if_exists":"do_nothing"}`, status: 404},
		{name: "without an id and a name", method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent"}`, status: 200, want: `{"assistant_id":"*","name":"Untitled","description":null,"metadata":{},"config":{}}`, keep: map[string]string{"assistant_id": "two"}},
		{name: "without a graph", method: "POST", path: "/assistants", body: `{}`, status: 422, want: `{"detail":[{"type":"missing","loc":["body","graph_id"]}]}`},
		{name: "of an unknown graph", method: "POST", path: "/assistants", body: `{"graph_id":"no_such_graph"}`, status: 404, want: `{"detail":"Graph no_such_graph not found"}`},
		{name: "with a bad id", method: "POST", path: "/assistants", body: `{"assistant_id":"x","graph_id":"lead_agent"}`, status: 422, want: `{"detail":[{"type":"uuid_parsing"}]}`},
		{name: "with a long name", method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent","name":"` + long + `"}`, status: 422, want: `{"detail":[{"type":"string_too_long","loc":["body","name"]}]}`},
		{name: "with a NUL", method: "POST", path: "/assistants", body: `{"graph_id":"lead_agent","name":"a\u0000b"}`, status: 422},
		{name: "search", method: "POST", path: "/assistants/search", body: `{"limit":2}`, status: 200, want: `[{"name":"lead_agent"},{"name":"Untitled"}]`, headers: map[string]string{"X-Pagination-Next": "2", "X-Pagination-Total": "3"}},
		{name: "the next page", method: "POST", path: "/assistants/search", body: `{"limit":2,"offset":2}`, status: 200, want: `[{"name":"mine"}]`, headers: map[string]string{"X-Pagination-Next": "", "X-Pagination-Total": "3"}},
		{name: "by name", method: "POST", path: "/assistants/search", body: `{"name":"MIN","sort_by":"name","sort_order":"asc"}`, status: 200, want: `[{"name":"mine"}]`},
		{name: "count", method: "POST", path: "/assistants/count", body: `{"metadata":{"a":1}}`, status: 200, want: `1`},
		{name: "patch", method: "PATCH", path: "/assistants/" + one, body: `{"metadata":{"b":2},"name":"renamed"}`, status: 200, want: `{"version":2,"name":"renamed","metadata":{"a":1,"b":2},"description":"d","config":{"recursion_limit":50}}`},
		{name: "patch with a bad config", method: "PATCH", path: "/assistants/" + one, body: `{"config":[]}`, status: 422, want: `{"detail":[{"type":"dict_type","loc":["body","config"]}]}`},
		{name: "patch with another graph", method: "PATCH", path: "/assistants/" + one, body: `{"graph_id":"x"}`, status: 404},
		{name: "versions", method: "POST", path: "/assistants/" + one + "/versions", body: `{}`, status: 200, want: `[{"version":2,"name":"renamed"},{"version":1,"name":"mine"}]`},
		{name: "a page of versions", method: "POST", path: "/assistants/" + one + "/versions", body: `{"limit":1,"offset":1}`, status: 200, want: `[{"version":1}]`},
		{name: "behind the versions", method: "POST", path: "/assistants/" + one + "/versions", body: `{"offset":9}`, status: 200, want: `[]`},
		{name: "versions by metadata", method: "POST", path: "/assistants/" + one + "/versions", body: `{"metadata":{"b":2}}`, status: 200, want: `[{"version":2}]`},
		{name: "latest", method: "POST", path: "/assistants/" + one + "/latest", body: `{"version":1}`, status: 200, want: `{"version":1,"name":"mine"}`},
		{name: "is in force", method: "GET", path: "/assistants/" + one, status: 200, want: `{"version":1,"name":"mine"}`},
		{name: "no such version", method: "POST", path: "/assistants/" + one + "/latest", body: `{"version":9}`, status: 404},
		{name: "no version", method: "POST", path: "/assistants/" + one + "/latest", body: `{}`, status: 422, want: `{"detail":[{"type":"missing"}]}`},
		{name: "its graph", method: "GET", path: "/assistants/" + one + "/graph", status: 200},
		{name: "delete with threads", method: "DELETE", path: "/assistants/" + one + "?delete_threads=true", status: 422},
		{name: "delete", method: "DELETE", path: "/assistants/" + one, status: 200, want: `["` + one + `"]`},
		{name: "delete again", method: "DELETE", path: "/assistants/" + one, status: 404},
		{name: "gone", method: "GET", path: "/assistants/" + one, status: 404},
		{name: "somebody else's", method: "GET", path: "/assistants/00000000-0000-4000-8000-000000000999", status: 404},
	})
}
