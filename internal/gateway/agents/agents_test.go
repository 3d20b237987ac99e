package agents_test

import (
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// TestAgents: what DeerFlow's recordings do not show of bounds, names and runs.
func TestAgents(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{
		{Name: "create", Method: "POST", Path: "/api/agents", Body: `{"name":"Writer","model":"fake","soul":"Brief."}`,
			Status: 201, Want: `{"name":"writer","model":"fake"}`},
		{Name: "a soul too long", Method: "PUT", Path: "/agents/writer", Body: `{"soul":"` +
			strings.Repeat("s", 65537) + `"}`, Status: 422,
			Want: `{"detail":[{"type":"string_too_long","loc":["body","soul"]}]}`},
		{Name: "half a token", Method: "PUT", Path: "/agents/writer", Body: `{"model_settings":{"max_tokens":1.5}}`,
			Status: 422,
			Want:   `{"detail":[{"loc":["body","model_settings","max_tokens"]}]}`},
		{Name: "no list", Method: "PUT", Path: "/agents/writer", Body: `{"skills":7}`, Status: 422},
		{Name: "up and out", Method: "GET", Path: "/agents/..%2Fx", Status: 404},
		{Name: "as an assistant", Method: "GET", Path: "/assistants/writer", Status: 200,
			Want: `{"assistant_id":"writer","context":{"agent_name":"writer"}}`},
		{Name: "a run of it", Method: "POST", Path: "/runs/wait",
			Body: `{"assistant_id":"writer","input":{"messages":"hello"}}`, Status: 200},
		{Name: "a run of none", Method: "POST", Path: "/runs/wait",
			Body: `{"assistant_id":"nobody","input":{"messages":"hello"}}`, Status: 404},
		{Name: "a profile too long", Method: "PUT", Path: "/user-profile", Body: `{"content":"` +
			strings.Repeat("s", 16385) + `"}`, Status: 422,
			Want: `{"detail":[{"type":"string_too_long","loc":["body","content"]}]}`},
	})
}

// TestFactsGoWithTheAgent: what is remembered for an agent alone is forgotten with it, also when a crash came between
// them.
func TestFactsGoWithTheAgent(t *testing.T) {
	k := gateways.New(t, nil)
	k.Play([]gateways.Scenario{
		{Name: "create", Method: "POST", Path: "/agents", Body: `{"name":"Writer"}`, Status: 201},
		{Name: "a fact of it", Method: "POST", Path: "/memory/facts", Body: `{"content":"likes tea","agent":"writer"}`,
			Status: 200},
		{Name: "a fact of all", Method: "POST", Path: "/memory/facts", Body: `{"content":"likes cake"}`, Status: 200},
		{Name: "delete", Method: "DELETE", Path: "/agents/WRITER", Status: 204},
		{Name: "what is left", Method: "GET", Path: "/memory/facts", Status: 200,
			Want: `{"facts":[{"content":"likes cake"}]}`},
		{Name: "left by a crash", Method: "POST", Path: "/memory/facts",
			Body: `{"content":"likes tea","agent":"writer"}`, Status: 200},
		{Name: "delete again", Method: "DELETE", Path: "/agents/writer", Status: 404},
		{Name: "nothing is", Method: "GET", Path: "/memory/facts", Status: 200,
			Want: `{"facts":[{"content":"likes cake"}]}`},
	})
}

// TestOff: the configuration can switch the routes off.
func TestOff(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.AgentsOff = true })
	k.Play([]gateways.Scenario{
		{Name: "list", Method: "GET", Path: "/agents", Status: 403, Want: `{"detail":"*"}`},
		{Name: "profile", Method: "PUT", Path: "/user-profile", Body: `{}`, Status: 403},
		{Name: "features", Method: "GET", Path: "/features", Status: 200, Want: `{"agents_api":{"enabled":false}}`},
	})
}
