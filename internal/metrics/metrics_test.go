package metrics

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/runs"
)

// away is a bus that has lost the way to the others.
type away struct{ bus.Bus }

func (away) Stats() bus.Stats { return bus.Stats{Published: 9, Dropped: 1} }
func (away) Healthy() error   { return errors.New("away") }

func TestFigures(t *testing.T) {
	m := New(Source{
		Version: "v1",
		Runs:    func() runs.Stats { return runs.Stats{Active: 3, TakenOver: 2, Ended: map[string]int64{"success": 7}} },
		Waiting: func() (int, error) { return 4, nil },
		Bus:     away{},
	})
	m.Answered("/threads", "GET", 200, 3*time.Millisecond)
	m.Streaming(1)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`pudu_build_info{version="v1"} 1`, "pudu_runs_active 3", "pudu_runs_taken_over_total 2", `pudu_runs_ended_total{status="success"} 7`,
		"pudu_runs_waiting 4", "pudu_bus_published_total 9", "pudu_bus_dropped_total 1", "pudu_bus_up 0", "pudu_streams_open 1",
		`pudu_http_requests_total{method="GET",route="/threads",status="200"} 1`, `pudu_http_request_seconds_bucket{route="/threads",le="0.004"} 1`,
		"go_goroutines", "process_resident_memory_bytes",
	} {
		if !strings.Contains(w.Body.String(), want+"\n") && !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s", want)
		}
	}
	if w.Code != 200 {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
