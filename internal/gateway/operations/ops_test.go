package operations_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

func TestOperations(t *testing.T) {
	down := false
	k := gateways.New(t, func(c *gateway.Config) {
		c.About = gateway.About{Version: "v1", Model: "a/b", Sandbox: "bubblewrap", Address: "http://x", Data: "/d<b>"}
		c.Models = []gateway.Model{{Name: "one", Model: "a/one", Thinking: true}, {Name: "x/two"}}
		c.Ready = func(context.Context) error {
			if down {
				return errors.New("the database is away")
			}
			return nil
		}
	})
	k.Run("t<i>"[:1], "hello <script>")
	k.Play([]gateways.Scenario{
		{Name: "health", Method: "GET", Path: "/health", Status: 200, Want: `{"status":"healthy"}`},
		{Name: "ok", Method: "GET", Path: "/api/langgraph/ok", Status: 200, Want: `{"ok":true}`},
		{Name: "ready", Method: "GET", Path: "/ready", Status: 200},
		{
			Name: "info", Method: "GET", Path: "/info", Status: 200,
			Want: `{"version":"v1","flags":{"assistants":true,"crons":false}}`,
		},
		{
			Name: "models", Method: "GET", Path: "/api/models", Status: 200,
			Want: `{"models":[{"name":"one","model":"a/one","display_name":"one","description":null,
				"supports_thinking":true,"supports_reasoning_effort":false},{"name":"x/two"}],
				"token_usage":{"enabled":true}}`,
		},
		{Name: "model", Method: "GET", Path: "/api/models/x/two", Status: 200, Want: `{"name":"x/two"}`},
		{
			Name: "no model", Method: "GET", Path: "/api/models/three", Status: 404,
			Want: `{"detail":"Model 'three' not found"}`,
		},
		{
			Name: "features", Method: "GET", Path: "/api/features", Status: 200,
			Want: `{"agents_api":{"enabled":true},"browser_control":{"enabled":false},"mcp_tasks":{"enabled":false}}`,
		},
		{Name: "no metrics", Method: "GET", Path: "/metrics", Status: 404},
	})
	page := k.Do("GET", "/", "") // the same for everybody: it tells nothing of anybody
	if body := page.Body.String(); page.Code != 200 || strings.Contains(body, "hello") ||
		strings.Contains(body, "/d<b>") {
		t.Errorf("%d %s", page.Code, body)
	}
	docs := k.Do("GET", "/docs", "").Body.String()
	var api struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(k.Do("GET", "/openapi.json", "").Body.Bytes(), &api); err != nil {
		t.Fatal(err)
	}
	for _, r := range k.Routes() {
		if api.Paths[r.Template()][strings.ToLower(r.Method)] == nil ||
			!strings.Contains(docs, "<code>"+r.Template()+"</code>") {
			t.Errorf("%s %s is not described", r.Method, r.Path)
		}
	}
	down = true
	k.Play([]gateways.Scenario{{
		Name: "not ready", Method: "GET", Path: "/ready", Status: 503, Headers: map[string]string{"Retry-After": "1"},
	}})
	k.Stop()
	down = false
	k.Play([]gateways.Scenario{{Name: "stopping", Method: "GET", Path: "/ready", Status: 503}})
}

// TestReadiness: who asks is told why the server takes no runs, so far as that is anybody's business, and when to ask
// again.
func TestReadiness(t *testing.T) {
	var log bytes.Buffer
	var down error
	k := gateways.New(t, func(c *gateway.Config) {
		c.Ready = func(context.Context) error { return down }
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	ready := func(name string, status int, after, want string) gateways.Scenario {
		return gateways.Scenario{
			Name: name, Method: "GET", Path: "/ready", Status: status,
			Headers: map[string]string{"Retry-After": after}, Want: want,
		}
	}
	k.Play([]gateways.Scenario{ready("it is", 200, "", `{"status":"ready"}`)})
	down = errors.New("the queue is full")
	k.Play([]gateways.Scenario{ready("it is not", 503, "1", `{"detail":"Not ready: see the log"}`)})
	if !strings.Contains(log.String(), `msg="not ready" error="the queue is full"`) {
		t.Errorf("the log is %s", &log)
	}
	down = store.ErrDiskFull
	k.Play([]gateways.Scenario{ready("its disk is full", 503, "5",
		`{"detail":"The server's disk is full; nothing is taken in until there is room again"}`)})
	down = nil
	k.Change(func(c *gateway.Config) { c.Ready = nil })
	k.Play([]gateways.Scenario{ready("nobody says that it is not", 200, "", "")})
	k.Stop()
	k.Play([]gateways.Scenario{ready("it stops", 503, "1", `{"detail":"The server is stopping"}`)})
}

// TestMetricsAreServed where there are any.
func TestMetricsAreServed(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("pudu_up 1\n"))
		})
	})
	if w := k.Do("GET", "/metrics", ""); w.Code != 200 || w.Body.String() != "pudu_up 1\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestOpenAPIBodies: what brings something says so, and nothing else.
func TestOpenAPIBodies(t *testing.T) {
	k := gateways.New(t, nil)
	api := jsontest.At(jsontest.Decode(t, k.Do("GET", "/openapi.json", "").Body.Bytes()), "paths").(map[string]any)
	for _, r := range k.Routes() {
		op := jsontest.At(api[r.Template()], strings.ToLower(r.Method))
		want := `{"requestBody":"<absent>"}`
		switch r.Bound {
		case route.JSON, route.Maybe:
			want = `{"requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}}}`
		case route.List:
			want = `{"requestBody":{"content":{"application/json":{"schema":{"type":"array"}}}}}`
		case route.Form:
			want = `{"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object"}}}}}`
		}
		if why := jsontest.Unlike(jsontest.Decode(t, []byte(want)), op); why != "" || jsontest.At(op,
			"summary") != r.Summary || jsontest.At(op, "tags.0") != r.Group ||
			jsontest.At(op, "responses.default.description") != "see docs/api.md" {
			t.Errorf("%s %s: %s in %v", r.Method, r.Path, why, op)
		}
		list, _ := jsontest.At(op, "parameters").([]any)
		for _, p := range list {
			if jsontest.At(p, "in") != "path" {
				continue
			}
			if why := jsontest.Unlike(map[string]any{"in": "path", "required": true,
				"schema": map[string]any{"type": "string"}}, p); why != "" {
				t.Errorf("%s %s: %s", r.Method, r.Path, why)
			}
		}
	}
}
