package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
)

// away is a bus that has lost the way to the others.
type away struct{ bus.Bus }

func (away) Stats() bus.Stats { return bus.Stats{Published: 9, Dropped: 1} }
func (away) Healthy() error   { return errors.New("away") }

// all has every figure there is.
func all() *Metrics {
	m := New()
	m.Read(Source{
		Version: "v1",
		Runs: func() runs.Stats {
			return runs.Stats{Active: 3, TakenOver: 2, Ended: map[string]int64{"success": 7}}
		},
		Sandboxes: func() pool.Stats { return pool.Stats{Open: 4, InUse: 2, Waiting: 1, Opened: 9, Failed: 5} },
		Queue: func(context.Context) (store.Queue, error) {
			return store.Queue{Waiting: 4, Oldest: time.Now().Add(-time.Hour)}, nil
		},
		Database: func() store.Stats {
			return store.Stats{InUse: 1, Idle: 2, Waits: 3, Queued: 4, Commits: 5, Failed: 6,
				Committing: 1500 * time.Millisecond, Bytes: 7}
		},
		Jobs: func(context.Context) ([]job.Count, error) {
			return []job.Count{{Kind: "webhook", Waiting: 2, Dead: 1, Oldest: time.Now().Add(-time.Minute)}}, nil
		},
		Disk: func() (int64, int64, error) { return 1 << 40, 1 << 30, nil },
		Bus:  away{},
	})
	m.Answered("/threads", "GET", 200, 3*time.Millisecond)
	m.Streaming(1)
	m.Refused()
	m.Limited("work")
	m.JobTried("webhook", "done")
	m.RunBegun(time.Second)
	m.RunEnded("success", time.Second)
	m.ModelCalled(modelcall.Call{
		Model: "gpt", Took: 3 * time.Second, First: 150 * time.Millisecond,
		Usage: message.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15, CacheRead: 4, CacheCreation: 3,
			Reasoning: 2},
	}, "")
	m.ModelCalled(modelcall.Call{Model: "gpt", Took: time.Second, Err: errors.New("busy")}, "busy")
	m.ModelCost("gpt", "USD", 0.25)
	m.ToolCalled("bash", "ok", 20*time.Millisecond)
	m.CommandRun(sandbox.Result{Exit: 1}, nil, time.Millisecond)
	m.CommandRun(sandbox.Result{Limit: "memory", Exit: 137}, nil, time.Millisecond)
	m.CommandRun(sandbox.Result{}, errors.New("closed"), time.Millisecond)
	m.FileCopied(100)
	m.FileNotKept()
	m.FilesRestored(3)
	return m
}

func read(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestFigures(t *testing.T) {
	text := read(t, all())
	for _, want := range []string{
		`pudu_build_info{version="v1"} 1`, "pudu_runs_active 3", "pudu_runs_taken_over_total 2",
		`pudu_runs_ended_total{status="success"} 7`, "pudu_runs_waiting 4", "pudu_runs_waiting_seconds 3600",
		"pudu_bus_published_total 9", "pudu_bus_dropped_total 1", "pudu_bus_up 0", "pudu_streams_open 1",
		`pudu_http_requests_total{method="GET",route="/threads",status="200"} 1`,
		`pudu_http_request_seconds_bucket{route="/threads",le="0.004"} 1`, "pudu_tokens_refused_total 1",
		`pudu_requests_limited_total{class="work"} 1`, "pudu_run_wait_seconds_sum 1",
		`pudu_run_seconds_count{status="success"} 1`, `pudu_model_calls_total{model="gpt"} 2`,
		`pudu_model_errors_total{class="busy",model="gpt"} 1`, `pudu_model_call_seconds_sum{model="gpt"} 4`,
		`pudu_model_first_chunk_seconds_count{model="gpt"} 1`, `pudu_model_tokens_total{kind="input",model="gpt"} 10`,
		`pudu_model_tokens_total{kind="output",model="gpt"} 5`,
		`pudu_model_tokens_total{kind="cache_read",model="gpt"} 4`,
		`pudu_model_tokens_total{kind="cache_creation",model="gpt"} 3`,
		`pudu_model_tokens_total{kind="reasoning",model="gpt"} 2`,
		`pudu_model_cost_total{currency="USD",model="gpt"} 0.25`, `pudu_tool_calls_total{outcome="ok",tool="bash"} 1`,
		`pudu_tool_seconds_count{tool="bash"} 1`, `pudu_sandbox_commands_total{outcome="failed"} 1`,
		`pudu_sandbox_commands_total{outcome="memory"} 1`, `pudu_sandbox_commands_total{outcome="broken"} 1`,
		"pudu_sandbox_command_seconds_count 3", "pudu_sandboxes_open 4", "pudu_sandboxes_in_use 2",
		"pudu_sandboxes_waiting 1", "pudu_sandboxes_opened_total 9", "pudu_sandboxes_failed_total 5",
		"pudu_database_up 1", `pudu_database_connections{state="in_use"} 1`,
		`pudu_database_connections{state="idle"} 2`, "pudu_database_connection_waits_total 3",
		"pudu_database_writes_waiting 4", "pudu_database_commits_total 5", "pudu_database_commit_errors_total 6",
		"pudu_database_commit_seconds_total 1.5", "pudu_database_bytes 7", "pudu_disk_bytes 1.099511627776e+12",
		"pudu_disk_free_bytes 1.073741824e+09", "pudu_file_history_copies_total 1",
		"pudu_file_history_copied_bytes_total 100", "pudu_file_history_not_kept_total 1",
		"pudu_file_history_restored_total 3", "go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestEveryFigureIsInTheDocs, and every one of the docs is there.
func TestEveryFigureIsInTheDocs(t *testing.T) {
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := make(map[string]bool)
	for _, m := range regexp.MustCompile("`(pudu_[a-z_]+)").FindAllStringSubmatch(string(raw), -1) {
		docs[m[1]] = false
	}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (pudu_[a-z_]+) `).FindAllStringSubmatch(read(t, all()), -1) {
		if _, there := docs[m[1]]; !there {
			t.Errorf("docs/operations.md does not have %s", m[1])
		}
		docs[m[1]] = true
	}
	for name, there := range docs {
		if !there {
			t.Errorf("docs/operations.md has %s, which there is not", name)
		}
	}
}

// TestTheListOfFiguresDoesNotGrow with what models and clients make up.
func TestTheListOfFiguresDoesNotGrow(t *testing.T) {
	m := New()
	for i := range 3 * maxNames {
		m.ToolCalled(fmt.Sprint("tool-", i), "ok", time.Second)
		m.ModelCalled(modelcall.Call{Model: fmt.Sprint("model-", i)}, "")
	}
	text := read(t, m)
	for _, figure := range []string{"pudu_tool_calls_total{", "pudu_model_calls_total{"} {
		if n := strings.Count(text, figure); n != maxNames+1 {
			t.Errorf("%d of %s", n, figure)
		}
	}
	if want := `pudu_tool_calls_total{outcome="ok",tool="other"} 400`; !strings.Contains(text, want) {
		t.Errorf("no %s", want)
	}
}

// TestADatabaseThatIsDown leaves figures out and says so.
func TestADatabaseThatIsDown(t *testing.T) {
	m := New()
	m.Read(Source{Queue: func(context.Context) (store.Queue, error) { return store.Queue{}, errors.New("down") }})
	if text := read(t, m); !strings.Contains(text, "\npudu_database_up 0") ||
		strings.Contains(text, "pudu_runs_waiting") {
		t.Errorf("%s", text)
	}
}
