package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
)

// TestWithoutAModelRunsAreRefusedBeforeTheyAreAdmitted, on every route that starts one, and none is answered by the
// demonstration that did not ask for it.
func TestWithoutAModelRunsAreRefusedBeforeTheyAreAdmitted(t *testing.T) {
	t.Parallel()
	e := engineOf(t, &vendor{}, "title: {enabled: false}\n")
	e.hub = follow.New(follow.Config{Store: e.store})
	g := gateway.New(e.gatewayConfig(e.session(nil), config.Server{}))
	post := func(path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w
	}
	if w := post("/threads", `{"thread_id":"t"}`); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if w := post("/assistants",
		`{"graph_id":"lead_agent","assistant_id":"0190b7c8-7f1e-7a54-9a30-0242ac120002","name":"x"}`); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	for _, body := range []string{
		`{"input":{"messages":"hello"}}`,
		`{"input":{"messages":"hello"},"after_seconds":60}`,
		`{"input":null}`,
		`{"command":{"resume":"yes"}}`,
		`{"assistant_id":"0190b7c8-7f1e-7a54-9a30-0242ac120002","input":{"messages":"hello"}}`,
		`{"input":{"messages":"hello"},"config":{"configurable":{"model_name":"nobody"}}}`,
		`{"input":{"messages":"hello"},"context":{"agent_name":"nobody"}}`,
	} {
		for _, path := range []string{"/runs", "/runs/stream", "/runs/wait", "/threads/t/runs",
			"/threads/t/runs/stream", "/threads/t/runs/wait", "/api/langgraph/runs/wait"} {
			refused(t, path, body, post(path, body))
		}
		refused(t, "batch", body, post("/runs/batch", "["+body+"]"))
	}
	list, err := e.mine().ListRuns(t.Context(), store.RunFilter{Limit: 10})
	if err != nil || len(list) > 0 {
		t.Fatalf("admitted: %+v, %v", list, err)
	}
	for _, body := range []string{
		`{"input":{"messages":"hello"},"context":{"model_name":"demo"}}`,
		`{"input":{"messages":"hello"},"context":{"model":"demo"}}`,
		`{"input":{"messages":"hello"},"config":{"configurable":{"model_name":"demo"}}}`,
	} {
		if w := post("/runs/wait", body); w.Code != http.StatusOK ||
			!strings.Contains(w.Body.String(), "This was the scripted demonstration") {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

func refused(t *testing.T, path, body string, w *httptest.ResponseRecorder) {
	t.Helper()
	for _, part := range []string{"no language model", "OPENAI_API_KEY", "model_name", config.Demo} {
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%s %s: %d %s, want %q", path, body, w.Code, w.Body, part)
		}
	}
}

// TestARunIsNotAnsweredByAnotherModel: one that was admitted while there was a model is left to fail, or to wait for
// it, where there is none.
func TestARunIsNotAnsweredByAnotherModel(t *testing.T) {
	t.Parallel()
	e := engineOf(t, &vendor{}, "title: {enabled: false}\n")
	req := runs.Request{ThreadID: "t", Model: "openai/gpt-5.5"}
	run, err := e.manager.For(access.Default()).Admit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	show := func(event.Event) {}
	if _, err := (runner{engine: e}).Resume(t.Context(), run, show, func(string) {}); err == nil ||
		!strings.Contains(err.Error(), "no language model") {
		t.Errorf("%v", err)
	}
	if at, err := e.mine().Run(t.Context(), run.ID); err != nil || !at.Active() {
		t.Errorf("the run is lost: %+v, %v", at, err)
	}
}
