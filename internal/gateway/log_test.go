package gateway

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

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

// logOf reads a log to its end.
func (k *kit) logOf(run store.Run, after string) (evs []event.Event, end endJSON) {
	k.t.Helper()
	w := k.do(http.MethodGet, "/threads/"+run.ThreadID+"/runs/"+run.ID+"/log?after="+after, "")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/x-ndjson" {
		k.t.Fatalf("status %d, %s: %s", w.Code, w.Header(), w.Body)
	}
	lines := strings.Split(strings.TrimSuffix(w.Body.String(), "\n"), "\n")
	last := len(lines) - 1
	var closing struct{ Run endJSON }
	if err := json.Unmarshal([]byte(lines[last]), &closing); err != nil || closing.Run.RunID != run.ID {
		k.t.Fatalf("the last line is %s, %v", lines[last], err)
	}
	for _, line := range lines[:last] {
		var ev event.Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			k.t.Fatalf("%v in %s", err, line)
		}
		evs = append(evs, ev)
	}
	return evs, closing.Run
}

func TestTheLogOfARunFromAnyEventOn(t *testing.T) {
	k := newServer(t, nil)
	run := k.run("t", "count")
	evs, end := k.logOf(run, "")
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
	stored, err := k.data().Events(t.Context(), run.ID, event.ID{}, 1000)
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
		rest, _ := k.logOf(run, ev.ID.String())
		if d := cmp.Diff(evs[i+1:], rest); d != "" && len(evs[i+1:])+len(rest) > 0 {
			t.Errorf("after %s (-want +got)\n%s", ev.ID, d)
		}
	}
}

func TestTheLogHoldsNoPrivateChannels(t *testing.T) {
	k := newServer(t, nil)
	run := k.run("t", "count")
	stored, err := k.data().Events(t.Context(), run.ID, event.ID{}, 1000)
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
	if evs, _ := k.logOf(run, ""); slices.ContainsFunc(evs, private) {
		t.Error("a private channel is in the log")
	}
}

func TestPublishedKeepsTheOtherWrites(t *testing.T) {
	k := newServer(t, nil)
	for in, want := range map[string]string{
		``:                                      ``,
		`[]`:                                    `[]`,
		`[{"c":"title","op":"put","v": "x"}]`:   `[{"c":"title","op":"put","v": "x"}]`,
		`[{"c":"loop_steps","op":"put","v":1}]`: `[]`,
		`[{"c":"a","op":"put","v":{}},{"c":"loop_stop","op":"put","v":1},{"c":"b\n","op":"delete","v":null}]`:                       `[{"c":"a","op":"put","v":{}},{"c":"b\n","op":"delete","v":null}]`,
		"[{\"c\":\"loop_stop\",\"op\":\"put\",\"v\":1},{\"c\":\"messages\",\"op\":\"append\",\"v\":[{\"content\":\"<&>\u2028\"}]}]": "[{\"c\":\"messages\",\"op\":\"append\",\"v\":[{\"content\":\"<&>\u2028\"}]}]",
	} {
		got, err := published(k.Manager.Schema(), json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestLinesOfTheLogHaveNoLineBreaks(t *testing.T) {
	k := newServer(t, nil)
	w := httptest.NewRecorder()
	out := newOutlet(w, k.Limits, "application/x-ndjson", "\n")
	defer out.close()
	l := &logger{outlet: out, schema: k.Manager.Schema()}
	evs := []event.Event{{ID: event.ID{Attempt: 1, N: 1}, Open: 7, Data: event.ToolStart{CallID: "c", Args: json.RawMessage("{\n\"a\":\r\n \"b \\n c\"}")}}}
	if err := l.events(evs); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"1-1","time":"0001-01-01T00:00:00Z","kind":"tool_start","data":{"call_id":"c","message_id":"","tool":"","args":{"a":"b \n c"}}}` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("got %q", got)
	}
}

func TestTheLogIsLive(t *testing.T) {
	k := newServer(t, func(c *Config) { c.Limits.Heartbeat = 30 * time.Millisecond })
	srv := httptest.NewServer(k)
	defer srv.Close()
	defer srv.Client().CloseIdleConnections()
	run := k.start("t")
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
				k.free()
			}
		}
	}
	if blank < 2 || !strings.Contains(last, `"status":"success"`) {
		t.Errorf("%d heartbeats, the end is %s, %v", blank, last, lines.Err())
	}
}

func TestRefusedLogs(t *testing.T) {
	k := newServer(t, nil)
	k.vars["run"] = k.run("t", "hello").ID
	k.play([]scenario{
		{name: "no id", method: "GET", path: "/threads/t/runs/{run}/log?after=7", status: 422, want: `{"detail":[{"loc":["query","after"]}]}`},
		{name: "no run", method: "GET", path: "/threads/t/runs/x/log", status: 404, want: `{"detail":"Run x not found"}`},
		{name: "another thread's", method: "GET", path: "/threads/u/runs/{run}/log", status: 404},
	})
	k.Stop()
	k.play([]scenario{{name: "stopping", method: "GET", path: "/threads/t/runs/{run}/log", status: 503, headers: map[string]string{"Retry-After": "1"}}})
}
