package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// TestRequestsLeaveNoFileOpen, whatever becomes of them.
func TestRequestsLeaveNoFileOpen(t *testing.T) {
	k := shelf(t, nil)
	k.put("t", "outputs/my.skill", archiveOf(t, "my/SKILL.md"))
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	requests := func() {
		for _, path := range []string{"outputs/a.txt", "outputs/sub", "outputs/none", "outputs/my.skill/SKILL.md", "outputs/my.skill/none", "outputs/out.txt", "..%2f..%2fx"} {
			k.do("GET", artifacts+path, "")
		}
		for _, text := range []string{"hello\nworld\n", "other"} {
			k.do("PUT", artifacts+"outputs/a.txt", change(text, "hello\nworld\n"))
			k.do("PUT", artifacts+"outputs/a.txt", change("hello\nworld\n", "other"))
		}
		k.do("GET", "/threads/t/uploads/list", "")
		k.upload("t", file("x.txt", "x"), file("y.txt", "y"))
		for _, name := range []string{"x.txt", "y.txt", "none", "%2e%2e"} {
			k.do("DELETE", "/threads/t/uploads/"+name, "")
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what nobody holds
	requests()                                       // the store opens what it keeps
	before := open()
	for range 10 {
		requests()
	}
	if after := open(); after > before+4 { // the store's own may come and go
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

// watched is a context that counts who waits for its end.
type watched struct {
	context.Context

	done       chan struct{}
	ever, open atomic.Int64
}

func (w *watched) Done() <-chan struct{} { return w.done }

func (w *watched) AfterFunc(func()) func() bool {
	w.ever.Add(1)
	w.open.Add(1)
	return func() bool { w.open.Add(-1); return true }
}

// TestStreamsLeaveNothingBehind: a server does not remember who has followed its runs.
func TestStreamsLeaveNothingBehind(t *testing.T) {
	k := newServer(t, nil)
	w := &watched{Context: context.Background(), done: make(chan struct{})}
	k.stopping = w
	run := k.run("t", "hello")
	for _, path := range []string{"GET /runs/{run}/stream", "GET /threads/t/runs/{run}/log", "GET /runs/{run}/join", "POST /runs/{run}/cancel?wait=1", "POST /runs/wait", "POST /runs/stream"} {
		method, path, _ := strings.Cut(path, " ")
		if strings.Contains(path, "cancel") {
			run = k.submitLater("t")
		}
		ever := w.ever.Load()
		if res := k.do(method, strings.ReplaceAll(path, "{run}", run.ID), ""); res.Code >= 300 {
			t.Errorf("%s: %d %s", path, res.Code, res.Body)
		}
		if w.ever.Load() == ever || w.open.Load() != 0 {
			t.Errorf("%s: %d wait for the server's end", path, w.open.Load())
		}
	}
	k.start("u")
	res, goes := k.open("GET", "/threads/u/stream", "")
	k.free()
	for f := range framesOf(res.Body) {
		if f.event == "end" {
			break
		}
	}
	eventually(t, func() bool { return w.open.Load() == 1 }) // the stream itself, but not the run's
	goes()
	eventually(t, func() bool { return w.open.Load() == 0 })
}

// slow is a client that takes a second for what it is sent.
type slow struct{ *sink }

func (s slow) Write(p []byte) (int, error) {
	time.Sleep(time.Second)
	return s.sink.Write(p)
}

// TestBlanksAreWrittenAlone: what comes behind them is written when the last one is.
func TestBlanksAreWrittenAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := slow{newSink()}
		quiet := keepAlive(w, 5*time.Second)
		time.Sleep(5500 * time.Millisecond)
		quiet()
		if took := time.Since(w.begun); took != 6*time.Second || len(w.writes) != 1 {
			t.Errorf("it is quiet after %v and %d writes", took, len(w.writes))
		}
	})
}

// TestBlanksOfAnAnswer come as often as those of a stream are looked for.
func TestBlanksOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub := &broken{happens: func(string) error { time.Sleep(16 * time.Second); return errors.New("torn") }}
		s := &Server{Config: Config{Hub: hub, Limits: Limits{Heartbeat: 15 * time.Second}}, stopping: t.Context()}
		w := newSink()
		func() {
			defer func() {
				if err := recover(); err != http.ErrAbortHandler {
					t.Errorf("it ends with %v", err)
				}
			}()
			_ = s.await(w, (&http.Request{}).WithContext(t.Context()), store.Run{}, false)
		}()
		if len(w.writes) != 3 {
			t.Errorf("%d blanks at %v", len(w.writes), w.at)
		}
	})
}

// TestEventsThatCannotBeWritten end a log, without an end of the run.
func TestEventsThatCannotBeWritten(t *testing.T) {
	k := newServer(t, nil)
	for name, data := range map[string]event.Data{
		"writes": event.State{Writes: json.RawMessage(`[{"c":`)}, "writes of a tool": event.ToolEnd{CallID: "c", Writes: json.RawMessage(`{`)},
		"arguments": event.ToolStart{CallID: "c", Args: json.RawMessage(`{`)}, "none": nil,
	} {
		w := newSink()
		out := newOutlet(w, k.Limits, "x", "")
		if err := (&logger{outlet: out, schema: k.Manager.Schema()}).events([]event.Event{{ID: event.ID{Attempt: 1, N: 1}, Data: data}}); err == nil || len(w.writes) > 0 {
			t.Errorf("%s: %v, %q", name, err, w.writes)
		}
		out.close()
	}
	w := newSink()
	out := newOutlet(w, k.Limits, "x", "")
	defer out.close()
	l := &logger{outlet: out, schema: k.Manager.Schema()}
	if err := l.end(store.Run{Usage: json.RawMessage("{")}); err == nil || len(w.writes) > 0 {
		t.Errorf("an end without its tokens: %v, %q", err, w.writes)
	}
	w.fails = errors.New("broken pipe")
	if err := l.end(store.Run{}); !errors.Is(err, errGone) {
		t.Errorf("an end that nobody takes: %v", err)
	}
	if _, err := published(k.Manager.Schema(), json.RawMessage(`[{"c":`)); err == nil {
		t.Error("half an update is published")
	}
	private := event.ToolEnd{CallID: "c", Writes: json.RawMessage(`[{"c":"loop_stop","op":"put","v":1}]`)}
	if err := l.line(event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: private}); err != nil || strings.Contains(string(l.buf), "loop_stop") {
		t.Errorf("%s, %v", l.buf, err)
	}
}

// TestStatesThatCannotBeTold are a failure of the server, and no states without what is missing.
func TestStatesThatCannotBeTold(t *testing.T) {
	k := newServer(t, nil)
	run := k.run("t", "hello")
	unsound := &trouble{spoilState: func(cp *store.Checkpoint) {
		bad := message.New(message.Human, "x")
		bad.ID, bad.Kwargs = "bad", message.Fields{"k": json.RawMessage("{")}
		next, _, err := cp.State.Apply(agent.Messages.Append(bad))
		if err != nil {
			t.Error(err)
		}
		cp.State = next
	}}
	for _, path := range []string{"GET /threads/t", "GET /threads/t/state", "POST /threads/t/history", "POST /threads/t/copy", "POST /threads/t/state/checkpoint"} {
		method, path, _ := strings.Cut(path, " ")
		if w := k.send(troubled(k.request(method, path, ""), unsound)); w.Code != http.StatusInternalServerError || w.Body.String() != `{"detail":"Internal Server Error"}` {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
	}
	if w, cut := k.cut(troubled(k.request("GET", "/runs/"+run.ID+"/join", ""), unsound)); !cut || w.Body.Len() > 0 {
		t.Errorf("cut %t: %s", cut, w.Body)
	}
	if report, err := k.Report(context.WithValue(t.Context(), troubleKey{}, unsound), run); err == nil {
		t.Errorf("a report %s", report)
	}
}
