package runs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	runroutes "github.com/pudu-ai/pudu/internal/gateway/runs"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

// logOf reads a log to its end.
func logOf(k *gateways.Kit, run store.Run, after string) (evs []event.Event, end runroutes.EndJSON) {
	k.T.Helper()
	w := k.Do(http.MethodGet, "/threads/"+run.ThreadID+"/runs/"+run.ID+"/log?after="+after, "")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/x-ndjson" {
		k.T.Fatalf("status %d, %s: %s", w.Code, w.Header(), w.Body)
	}
	lines := strings.Split(strings.TrimSuffix(w.Body.String(), "\n"), "\n")
	last := len(lines) - 1
	var closing struct{ Run runroutes.EndJSON }
	if err := json.Unmarshal([]byte(lines[last]), &closing); err != nil || closing.Run.RunID != run.ID {
		k.T.Fatalf("the last line is %s, %v", lines[last], err)
	}
	for _, line := range lines[:last] {
		var ev event.Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			k.T.Fatalf("%v in %s", err, line)
		}
		evs = append(evs, ev)
	}
	return evs, closing.Run
}

func TestTheLogOfARunFromAnyEventOn(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "count")
	evs, end := logOf(k, run, "")
	if end.Status != event.StatusSuccess || end.ThreadID != "t" || end.Attempt != 1 {
		t.Errorf("the end is %+v", end)
	}
	var text strings.Builder
	var durable []event.ID
	for _, ev := range evs {
		if c, ok := ev.Data.(event.Chunk); ok {
			text.WriteString(c.Text)
		}
		if !ev.Data.Kind().Live() {
			durable = append(durable, ev.ID)
		}
	}
	stored, err := k.Data().Events(t.Context(), run.ID, event.ID{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var want []event.ID
	for _, ev := range stored {
		want = append(want, ev.ID)
	}
	if d := cmp.Diff(want, durable); d != "" || text.String() != "Hi there." {
		t.Errorf("%q (-stored +sent)\n%s", text.String(), d)
	}
	for i, ev := range evs {
		rest, _ := logOf(k, run, ev.ID.String())
		if d := cmp.Diff(evs[i+1:], rest); d != "" && len(evs[i+1:])+len(rest) > 0 {
			t.Errorf("after %s (-want +got)\n%s", ev.ID, d)
		}
	}
}

func TestTheLogHoldsNoPrivateChannels(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.Run("t", "count")
	stored, err := k.Data().Events(t.Context(), run.ID, event.ID{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	private := func(ev event.Event) bool {
		d, ok := ev.Data.(event.State)
		return ok && bytes.Contains(d.Writes, []byte(`"c":"loop_steps"`))
	}
	if !slices.ContainsFunc(stored, private) {
		t.Fatal("nothing private was stored, so that nothing is tested")
	}
	if evs, _ := logOf(k, run, ""); slices.ContainsFunc(evs, private) {
		t.Error("a private channel is in the log")
	}
}

func TestTheLogIsLive(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Limits.Heartbeat = 30 * time.Millisecond })
	srv := httptest.NewServer(k)
	defer srv.Close()
	defer srv.Client().CloseIdleConnections()
	run := k.Start("t")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/threads/t/runs/"+run.ID+"/log", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	blank, last := 0, ""
	for lines.Scan() {
		if last = lines.Text(); last == "" {
			if blank++; blank == 2 {
				k.Free()
			}
		}
	}
	if blank < 2 || !strings.Contains(last, `"status":"success"`) {
		t.Errorf("%d heartbeats, the end is %s, %v", blank, last, lines.Err())
	}
}

func TestRefusedLogs(t *testing.T) {
	k := gateways.New(t, nil)
	k.Vars["run"] = k.Run("t", "hello").ID
	k.Play([]gateways.Scenario{
		{
			Name: "no id", Method: "GET", Path: "/threads/t/runs/{run}/log?after=7", Status: 422,
			Want: `{"detail":[{"loc":["query","after"]}]}`,
		},
		{
			Name: "no run", Method: "GET", Path: "/threads/t/runs/x/log", Status: 404,
			Want: `{"detail":"Run x not found"}`,
		},
		{Name: "another thread's", Method: "GET", Path: "/threads/u/runs/{run}/log", Status: 404},
	})
	k.Stop()
	k.Play([]gateways.Scenario{{
		Name: "stopping", Method: "GET", Path: "/threads/t/runs/{run}/log", Status: 503,
		Headers: map[string]string{"Retry-After": "1"},
	}})
}
