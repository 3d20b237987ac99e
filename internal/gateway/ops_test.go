package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/store"
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

// TestReadiness: who asks is told why the server takes no runs, so far as that is anybody's business, and when to ask again.
func TestReadiness(t *testing.T) {
	var log bytes.Buffer
	var down error
	k := newServer(t, func(c *Config) {
		c.Ready = func(context.Context) error { return down }
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	ready := func(name string, status int, after, want string) scenario {
		return scenario{name: name, method: "GET", path: "/ready", status: status, headers: map[string]string{"Retry-After": after}, want: want}
	}
	k.play([]scenario{ready("it is", 200, "", `{"status":"ready"}`)})
	down = errors.New("the queue is full")
	k.play([]scenario{ready("it is not", 503, "1", `{"detail":"Not ready: see the log"}`)})
	if !strings.Contains(log.String(), `msg="not ready" error="the queue is full"`) {
		t.Errorf("the log is %s", &log)
	}
	down = store.ErrDiskFull
	k.play([]scenario{ready("its disk is full", 503, "5", `{"detail":"The server's disk is full; nothing is taken in until there is room again"}`)})
	down = nil
	k.Ready = nil
	k.play([]scenario{ready("nobody says that it is not", 200, "", "")})
	k.Stop()
	k.play([]scenario{ready("it stops", 503, "1", `{"detail":"The server is stopping"}`)})
}

// TestMetricsAreServed where there are any.
func TestMetricsAreServed(t *testing.T) {
	k := newServer(t, func(c *Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("pudu_up 1\n")) })
	})
	if w := k.do("GET", "/metrics", ""); w.Code != 200 || w.Body.String() != "pudu_up 1\n" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestModels: what a client is to choose from is what may be shown, by the names for people where there are any.
func TestModels(t *testing.T) {
	k := newServer(t, func(c *Config) {
		c.Models = []Model{
			{Name: "a", DisplayName: "A", Model: "v/a", Description: "one", Thinking: true, ReasoningEffort: true, Vision: true}, {Name: "hid", Hidden: true}, {Name: "b"},
		}
	})
	const a = `{"name":"a","model":"v/a","display_name":"A","description":"one","supports_thinking":true,"supports_reasoning_effort":true,"supports_vision":true}`
	const b = `{"name":"b","model":"","display_name":"b","description":null,"supports_thinking":false,"supports_reasoning_effort":false,"supports_vision":false}`
	k.play([]scenario{
		{name: "list", method: "GET", path: "/models", status: 200, want: `{"models":[` + a + `,` + b + `],"token_usage":{"enabled":true}}`},
		{name: "a hidden one can be looked at", method: "GET", path: "/models/hid", status: 200, want: `{"name":"hid"}`},
		{name: "one", method: "GET", path: "/models/a", status: 200, want: a},
	})
}

// TestPagesAreHarmless: they run no script, load nothing, and are not kept.
func TestPagesAreHarmless(t *testing.T) {
	k := newServer(t, nil)
	for _, path := range []string{"/", "/docs"} {
		k.play([]scenario{{name: "a page", method: "HEAD", path: path, status: 200}})
		h := k.do("GET", path, "").Header()
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
	if err := k.html(httptest.NewRecorder(), "docs", struct{}{}); err == nil {
		t.Error("a page without what it shows is no error")
	}
}

// TestDocsHaveAHeadingForEachGroup, and one alone.
func TestDocsHaveAHeadingForEachGroup(t *testing.T) {
	k := newServer(t, nil)
	docs := k.do("GET", "/docs", "").Body.String()
	for _, r := range Routes() {
		if got := strings.Count(docs, "<h2>"+r.Group+"</h2>"); got != 1 {
			t.Errorf("%d headings %q", got, r.Group)
		}
	}
}

// TestOpenAPIBodies: what brings something says so, and nothing else.
func TestOpenAPIBodies(t *testing.T) {
	k := newServer(t, nil)
	api := at(decode(t, k.do("GET", "/openapi.json", "").Body.Bytes()), "paths").(map[string]any)
	for _, r := range Routes() {
		op := at(api[r.Template()], strings.ToLower(r.Method))
		want := `{"requestBody":"<absent>"}`
		if slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, r.Method) {
			want = `{"requestBody":{"content":{"application/json":{"schema":{"type":"object"}}}}}`
		}
		if why := unlike(decode(t, []byte(want)), op); why != "" || at(op, "summary") != r.Summary || at(op, "tags.0") != r.Group || at(op, "responses.default.description") != "see docs/api.md" {
			t.Errorf("%s %s: %s in %v", r.Method, r.Path, why, op)
		}
		list, _ := at(op, "parameters").([]any)
		for _, p := range list {
			if why := unlike(map[string]any{"in": "path", "required": true, "schema": map[string]any{"type": "string"}}, p); why != "" {
				t.Errorf("%s %s: %s", r.Method, r.Path, why)
			}
		}
	}
}
