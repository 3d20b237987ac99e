package runs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/sinktest"
	"github.com/pudu-ai/pudu/state"
)

// schema is that of an engine without an agent of its own.
func schema() state.Schema { return runs.NewManager(runs.Config{}).Schema() }

func TestPublishedKeepsTheOtherWrites(t *testing.T) {
	for in, want := range map[string]string{
		``:                                      ``,
		`[]`:                                    `[]`,
		`[{"c":"title","op":"put","v": "x"}]`:   `[{"c":"title","op":"put","v": "x"}]`,
		`[{"c":"loop_steps","op":"put","v":1}]`: `[]`,
		`[{"c":"a","op":"put","v":{}},{"c":"loop_stop","op":"put","v":1},{"c":"b\n","op":"delete",
			"v":null}]`: `[{"c":"a","op":"put","v":{}},{"c":"b\n","op":"delete","v":null}]`,
		"[{\"c\":\"loop_stop\",\"op\":\"put\",\"v\":1},{\"c\":\"messages\",\"op\":\"append\"," +
			"\"v\":[{\"content\":\"<&>\u2028\"}]}]": "[{\"c\":\"messages\",\"op\":\"append\",\"v\":[{\"content\":\"<&>\u2028\"}]}]",
	} {
		got, err := published(schema(), json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
}

func TestLinesOfTheLogHaveNoLineBreaks(t *testing.T) {
	w := httptest.NewRecorder()
	out := route.NewOutlet(w, route.Limits{}.WithDefaults(), "application/x-ndjson", "\n")
	defer out.Close()
	l := &logger{Outlet: out, schema: schema()}
	evs := []event.Event{{ID: event.ID{Attempt: 1, N: 1}, Open: 7,
		Data: event.ToolStart{CallID: "c", Args: json.RawMessage("{\n\"a\":\r\n \"b \\n c\"}")}}}
	if err := l.events(evs); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"1-1","time":"0001-01-01T00:00:00Z","kind":"tool_start","data":{"call_id":"c","message_id":"","tool":"","args":{"a":"b \n c"}}}` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("got %q", got)
	}
}

// slow is a client that takes a second for what it is sent.
type slow struct{ *sinktest.Sink }

func (s slow) Write(p []byte) (int, error) {
	time.Sleep(time.Second)
	return s.Sink.Write(p)
}

// TestBlanksAreWrittenAlone: what comes behind them is written when the last one is.
func TestBlanksAreWrittenAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := slow{sinktest.New()}
		quiet := route.KeepAlive(w, 5*time.Second)
		time.Sleep(5500 * time.Millisecond)
		quiet()
		if took := time.Since(w.Begun); took != 6*time.Second || len(w.Writes) != 1 {
			t.Errorf("it is quiet after %v and %d writes", took, len(w.Writes))
		}
	})
}

// TestBlanksOfAnAnswer come as often as those of a stream are looked for.
func TestBlanksOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &broken{happens: func(string) error { time.Sleep(16 * time.Second); return errors.New("torn") }}
		g := &Group{Hub: hub, Env: &route.Env{Limits: route.Limits{Heartbeat: 15 * time.Second}, Stopping: t.Context()}}
		w := sinktest.New()
		func() {
			defer func() {
				if err := recover(); err != http.ErrAbortHandler {
					t.Errorf("it ends with %v", err)
				}
			}()
			_ = g.await(w, (&http.Request{}).WithContext(t.Context()), store.Run{}, "", false)
		}()
		if len(w.Writes) != 3 {
			t.Errorf("%d blanks at %v", len(w.Writes), w.At)
		}
	})
}

// TestEventsThatCannotBeWritten end a log, without an end of the run.
func TestEventsThatCannotBeWritten(t *testing.T) {
	for name, data := range map[string]event.Data{
		"writes":           event.State{Writes: json.RawMessage(`[{"c":`)},
		"writes of a tool": event.ToolEnd{CallID: "c", Writes: json.RawMessage(`{`)},
		"arguments":        event.ToolStart{CallID: "c", Args: json.RawMessage(`{`)}, "none": nil,
	} {
		w := sinktest.New()
		out := route.NewOutlet(w, route.Limits{}.WithDefaults(), "x", "")
		if err := (&logger{Outlet: out, schema: schema()}).events([]event.Event{{ID: event.ID{Attempt: 1, N: 1},
			Data: data}}); err == nil || len(w.Writes) > 0 {
			t.Errorf("%s: %v, %q", name, err, w.Writes)
		}
		out.Close()
	}
	w := sinktest.New()
	out := route.NewOutlet(w, route.Limits{}.WithDefaults(), "x", "")
	defer out.Close()
	l := &logger{Outlet: out, schema: schema()}
	if err := l.end(store.Run{Usage: json.RawMessage("{")}); err == nil || len(w.Writes) > 0 {
		t.Errorf("an end without its tokens: %v, %q", err, w.Writes)
	}
	w.Fails = errors.New("broken pipe")
	if err := l.end(store.Run{}); !errors.Is(err, route.ErrGone) {
		t.Errorf("an end that nobody takes: %v", err)
	}
	if _, err := published(schema(), json.RawMessage(`[{"c":`)); err == nil {
		t.Error("half an update is published")
	}
	private := event.ToolEnd{CallID: "c", Writes: json.RawMessage(`[{"c":"loop_stop","op":"put","v":1}]`)}
	if line, err := l.line(nil, event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: private}); err != nil ||
		strings.Contains(string(line), "loop_stop") {
		t.Errorf("%s, %v", line, err)
	}
}

// broken is a hub with which something happens.
type broken struct {
	happens func(runID string) error
	run     store.Run
}

func (b *broken) Follow(_ context.Context, _ access.User, runID string, _ event.ID,
	_ func([]event.Event) error) (store.Run, error) {
	return b.run, b.happens(runID)
}
