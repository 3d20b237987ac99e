package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestOperations(t *testing.T) {
	down := false
	k := newServer(t, func(c *Config) {
		c.About = About{Version: "v1", Model: "a/b", Sandbox: "bubblewrap", Address: "http://x", Data: "/d<b>"}
		c.Models = []Model{{Name: "one", Model: "a/one", Thinking: true}, {Name: "x/two"}}
		c.Ready = func(context.Context) error {
			if down {
				return errors.New("the database is away")
			}
			return nil
		}
	})
	k.run("t<i>"[:1], "hello <script>")
	k.play([]scenario{
		{name: "health", method: "GET", path: "/health", status: 200, want: `{"status":"healthy"}`},
		{name: "ok", method: "GET", path: "/api/langgraph/ok", status: 200, want: `{"ok":true}`},
		{name: "ready", method: "GET", path: "/ready", status: 200},
		{name: "info", method: "GET", path: "/info", status: 200, want: `{"version":"v1","flags":{"assistants":true,"crons":false}}`},
		{name: "models", method: "GET", path: "/api/models", status: 200, want: `{"models":[{"name":"one","model":"a/one","display_name":"one","description":null,"supports_thinking":true,"supports_reasoning_effort":false},{"name":"x/two"}],"token_usage":{"enabled":true}}`},
		{name: "model", method: "GET", path: "/api/models/x/two", status: 200, want: `{"name":"x/two"}`},
		{name: "no model", method: "GET", path: "/api/models/three", status: 404, want: `{"detail":"Model 'three' not found"}`},
		{name: "features", method: "GET", path: "/api/features", status: 200, want: `{"agents_api":{"enabled":false},"browser_control":{"enabled":false},"mcp_tasks":{"enabled":false}}`},
		{name: "no metrics", method: "GET", path: "/metrics", status: 404},
	})
	page := k.do("GET", "/", "")
	if body := page.Body.String(); page.Code != 200 || !strings.Contains(body, "hello &lt;script&gt;") || strings.Contains(body, "<script") || strings.Contains(body, "/d<b>") {
		t.Errorf("%d %s", page.Code, body)
	}
	docs := k.do("GET", "/docs", "").Body.String()
	var api struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(k.do("GET", "/openapi.json", "").Body.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	for _, r := range Routes() {
		if api.Paths[r.Template()][strings.ToLower(r.Method)] == nil || !strings.Contains(docs, "<code>"+r.Template()+"</code>") {
			t.Errorf("%s %s is not described", r.Method, r.Path)
		}
	}
	down = true
	k.play([]scenario{{name: "not ready", method: "GET", path: "/ready", status: 503, headers: map[string]string{"Retry-After": "1"}}})
	k.Stop()
	down = false
	k.play([]scenario{{name: "stopping", method: "GET", path: "/ready", status: 503}})
}
