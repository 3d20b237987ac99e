package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/buffertest"
	"github.com/pudu-ai/pudu/message"
)

// logged keeps the lines of a log in JSON.
type logged struct{ buffertest.Buffer }

// lines are those with the message, without their time.
func (e *logged) lines(t *testing.T, msg string) (list []map[string]any) {
	t.Helper()
	for text := range strings.Lines(e.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line["msg"] == msg {
			delete(line, "time")
			list = append(list, line)
		}
	}
	return list
}

// watched is an engine that logs to the one that is returned.
func watched(t *testing.T, v *vendor) (*engine, *logged) {
	t.Helper()
	e := engineOf(t, v, `
llm_call: {retry_base_delay_ms: 1, retry_cap_delay_ms: 2, burst_retry_base_delay_ms: 1, retry_max_attempts: 2}
title: {enabled: false}
models:
  - {name: main, provider: openai, model: main-1, api_key: k, VENDOR, fallbacks: [spare], use_responses_api: false}
  - {name: spare, provider: openai, model: spare-1, api_key: k, VENDOR, use_responses_api: false,
     pricing: {currency: USD, input_per_million: 1000, output_per_million: 5000}}
`)
	log := &logged{}
	e.watch.log = slog.New(logctx.Handler(slog.NewJSONHandler(log, nil)))
	e.watch.metrics.Read(e.figures())
	return e, log
}

func wants() runs.Request {
	return runs.Request{
		ThreadID: "t", RequestID: "r-1", Token: "ci", Input: []message.Message{message.New(message.Human, "hello")},
	}
}

// has reports what a line lacks of what it must have.
func has(t *testing.T, line, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if line[key] != value {
			t.Errorf("%s is %v, want %v, in %v", key, line[key], value, line)
		}
	}
}

// TestTheLogTellsOfARun: that it began, which calls of a model failed, and how it ended, each with the ids.
func TestTheLogTellsOfARun(t *testing.T) {
	e, log := watched(t, &vendor{words: map[string]string{"spare-1": "hello"}})
	out, err := e.manager.For(access.Default()).Run(t.Context(), wants(), nil)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("%+v, %v", out.Run, err)
	}
	ids := map[string]any{"request": "r-1", "token": "ci", "run": out.Run.ID, "thread": "t", "user": access.Default().
		ID()}
	for msg, want := range map[string]map[string]any{
		"run started":       {"level": "INFO", "attempt": 1.0},
		"model call failed": {"level": "WARN", "model": "main", "class": "busy", "status": 503.0},
		"run ended": {
			"level": "INFO", "status": event.StatusSuccess, "tokens": 11.0, "input_tokens": 10.0, "output_tokens": 1.0,
			"cost_usd": 0.015,
		},
	} {
		lines := log.lines(t, msg)
		if n := map[string]int{"model call failed": 2}[msg]; len(lines) != max(n, 1) {
			t.Fatalf("%q: %v", msg, lines)
		}
		has(t, lines[0], ids)
		has(t, lines[0], want)
		if _, timed := lines[0]["duration_ms"]; !timed && msg != "run started" {
			t.Errorf("%q does not say how long it took", msg)
		}
	}
	w := httptest.NewRecorder()
	e.watch.metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`pudu_model_calls_total{model="main"} 2`, `pudu_model_errors_total{class="busy",model="main"} 2`,
		`pudu_model_calls_total{model="spare"} 1`, `pudu_model_tokens_total{kind="input",model="spare"} 10`,
		`pudu_model_cost_total{currency="USD",model="spare"} 0.015`, `pudu_run_seconds_count{status="success"} 1`,
		`pudu_run_wait_seconds_count 1`, "pudu_database_up 1", "pudu_runs_waiting 0", "pudu_disk_free_bytes ",
		"pudu_sandboxes_open 0",
	} {
		if !strings.Contains(w.Body.String(), "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestTheLogTellsWhyARunFailed, at a level that a log of warnings has.
func TestTheLogTellsWhyARunFailed(t *testing.T) {
	e, log := watched(t, &vendor{})
	if _, err := e.manager.For(access.Default()).Run(t.Context(), wants(), nil); err != nil {
		t.Fatal(err)
	}
	lines := log.lines(t, "run ended")
	if len(lines) != 1 {
		t.Fatal(lines)
	}
	has(t, lines[0], map[string]any{"level": "WARN", "status": event.StatusError})
	if cause, _ := lines[0]["cause"].(string); cause == "" {
		t.Errorf("no cause in %v", lines[0])
	}
}

// TestTheLogTellsOfARunThatEndsWhileItWaits: by a cancel, and by a new run that takes its place.
func TestTheLogTellsOfARunThatEndsWhileItWaits(t *testing.T) {
	e, log := watched(t, &vendor{})
	first := wants()
	running, err := e.manager.For(access.Default()).Admit(t.Context(), first) // holds the thread; nobody executes it
	if err != nil {
		t.Fatal(err)
	}
	waits := wants()
	waits.Strategy = store.Enqueue
	var ids []string
	for range 2 {
		run, err := e.manager.For(access.Default()).Admit(t.Context(), waits)
		if err != nil || run.Status != event.StatusPending {
			t.Fatal(run, err)
		}
		ids = append(ids, run.ID)
	}
	if _, err := e.manager.For(access.Default()).Cancel(t.Context(), ids[0], store.StopInterrupt); err != nil {
		t.Fatal(err)
	}
	replaces := wants()
	replaces.Strategy = store.Interrupt
	if _, err := e.manager.For(access.Default()).Admit(t.Context(), replaces); err != nil {
		t.Fatal(err)
	}
	lines := log.lines(t, "run ended")
	if len(lines) != 2 {
		t.Fatalf("%v", lines)
	}
	for i, line := range lines {
		has(t, line, map[string]any{"run": ids[i], "request": "r-1", "thread": "t", "status": event.StatusInterrupted,
			"cause": store.Cancelled})
	}
	if err := e.manager.Fail(context.WithoutCancel(t.Context()), running, context.Canceled); err != nil {
		t.Fatal(err)
	}
	if lines = log.lines(t, "run ended"); len(lines) != 3 || lines[2]["run"] != running.ID {
		t.Errorf("%v", lines)
	}
}
