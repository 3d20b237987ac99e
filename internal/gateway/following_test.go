package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// open sends a request that is answered while it lasts. It is cut when the test ends, or by the returned function.
func (k *kit) open(method, path, body string) (*http.Response, func()) {
	k.t.Helper()
	server := httptest.NewServer(k)
	ctx, cancel := context.WithCancel(k.t.Context())
	k.t.Cleanup(func() {
		cancel()
		server.Client().CloseIdleConnections()
		server.Close()
	})
	r, err := http.NewRequestWithContext(ctx, method, server.URL+path, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := server.Client().Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = res.Body.Close() })
	return res, cancel
}

// framesOf are the frames of a stream, as they come.
func framesOf(body io.Reader) <-chan frame {
	frames := make(chan frame, 100)
	go func() {
		defer close(frames)
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, 1<<20)
		var f frame
		for lines.Scan() {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "event":
				f.event = value
			case "data":
				f.data = value
			case "":
				if f.event != "" {
					frames <- f
				}
				f = frame{}
			}
		}
	}()
	return frames
}

// TestAThreadIsFollowed from the first run that is active on: each run once and in their order, those too that are made later,
// until the server stops. What has ended before is not told.
func TestAThreadIsFollowed(t *testing.T) {
	streams := &streaming{}
	k := newServer(t, func(c *Config) { c.Watch = streams })
	k.run("t", "hello")
	first := k.start("t")
	k.play([]scenario{{
		name: "a second one", method: "POST", path: "/threads/t/runs", body: `{"input":{"messages":"hello"},"stream_mode":["updates"]}`, status: 200,
		keep: map[string]string{"run_id": "second"},
	}})
	third := k.submitLater("t")
	res, _ := k.open("GET", "/threads/t/stream", "")
	if got := res.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Error(got)
	}
	frames := framesOf(res.Body)
	until := func(ends int) (names, ids []string) {
		for f := range frames {
			if names = append(names, f.event); f.event == "metadata" {
				id, _ := at(decode(t, []byte(f.data)), "run_id").(string)
				ids = append(ids, id)
			}
			if f.event == "end" {
				if ends--; ends == 0 {
					break
				}
			}
		}
		return names, ids
	}
	k.free()
	names, ids := until(2)
	if want := []string{"metadata", "values", "values", "end", "metadata", "updates", "end"}; !slices.Equal(names, want) || !slices.Equal(ids, []string{first.ID, k.vars["second"]}) {
		t.Errorf("%v of %v", names, ids)
	}
	k.do("POST", "/runs/"+third.ID+"/cancel", "")
	if names, _ = until(1); !slices.Equal(names, []string{"end"}) {
		t.Errorf("of one that was cancelled before it began: %v", names)
	}
	fourth := k.run("t", "hello")
	if names, ids = until(1); !slices.Equal(names, []string{"metadata", "values", "values", "end"}) || !slices.Equal(ids, []string{fourth.ID}) {
		t.Errorf("of a later one: %v of %v", names, ids)
	}
	if open := streams.now.Load(); open != 1 {
		t.Errorf("%d streams are open", open)
	}
	k.Stop()
	if names, _ = until(1); len(names) > 0 {
		t.Errorf("behind the end: %v", names)
	}
	eventually(t, func() bool { return streams.now.Load() == 0 })
}

// TestAThreadIsFollowedByItsModes: those of the query stand for all runs.
func TestAThreadIsFollowedByItsModes(t *testing.T) {
	k := newServer(t, nil)
	k.start("t")
	res, _ := k.open("GET", "/threads/t/stream?stream_mode=updates", "")
	k.free()
	var got []string
	for f := range framesOf(res.Body) {
		if got = append(got, f.event); f.event == "end" {
			break
		}
	}
	if !slices.Equal(got, []string{"metadata", "updates", "end"}) {
		t.Errorf("frames %v", got)
	}
	k.play([]scenario{
		{name: "an unknown mode", method: "GET", path: "/threads/t/stream?stream_mode=x", status: 422, want: `{"detail":[{"type":"unsupported_stream_mode","loc":["query","stream_mode"],"input":"x"}]}`},
		{name: "no truth", method: "GET", path: "/threads/t/stream?cancel_on_disconnect=x", status: 422, want: `{"detail":[{"loc":["query","cancel_on_disconnect"]}]}`},
		{name: "no truth either", method: "GET", path: "/threads/t/stream?stream_mode=values&stream_subgraphs=x", status: 422, want: `{"detail":[{"loc":["query","stream_subgraphs"]}]}`},
	})
	for n := int64(1); n <= 2; n++ {
		if w := k.send(troubled(k.request("GET", "/threads/t/stream", ""), &trouble{n: n})); w.Code != http.StatusServiceUnavailable {
			t.Errorf("call %d: %d %s", n, w.Code, w.Body)
		}
	}
}

// TestAFollowedThreadThatBreaksOff ends: the client comes back for the rest.
func TestAFollowedThreadThatBreaksOff(t *testing.T) {
	spoiled := &trouble{spoil: func(r *store.Run) { r.Request = json.RawMessage("{") }}
	for name, c := range map[string]struct {
		query   string
		trouble *trouble
	}{"torn": {"", &trouble{}}, "modes that cannot be read": {"", spoiled}, "a request that cannot be read": {"?stream_mode=values", spoiled}} {
		k := newServer(t, func(c *Config) { c.Hub = &broken{happens: func(string) error { return errors.New("torn") }} })
		k.submitLater("t")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.send(troubled(k.request("GET", "/threads/t/stream"+c.query, "").WithContext(ctx), c.trouble))
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Errorf("%s: it goes on", name)
		}
		cancel()
		<-done
	}
}

// broken is a hub with which something happens.
type broken struct {
	happens func(runID string) error
	run     store.Run
}

func (b *broken) Follow(_ context.Context, _ access.User, runID string, _ event.ID, _ func([]event.Event) error) (store.Run, error) {
	return b.run, b.happens(runID)
}

// TestStreamsThatBreakOff are told of in the log, with the run, unless the client has gone or the server stops. Streams are
// counted while they last.
func TestStreamsThatBreakOff(t *testing.T) {
	var log bytes.Buffer
	hub, streams := &broken{}, &streaming{}
	k := newServer(t, func(c *Config) { c.Hub, c.Watch, c.Log = hub, streams, slog.New(slog.NewTextHandler(&log, nil)) })
	run := k.run("t", "hello")
	for _, c := range []struct {
		err  error
		gone bool
		told bool
	}{{errors.New("torn"), false, true}, {errGone, false, false}, {errStopping, false, false}, {context.Canceled, true, false}} {
		for path, line := range map[string]string{"stream": `msg="stream broke off"`, "log": `msg="the log of a run broke off"`} {
			log.Reset()
			ctx, cancel := context.WithCancel(t.Context())
			open := int64(0)
			hub.happens = func(string) error {
				if open = streams.now.Load(); c.gone {
					cancel()
				}
				return c.err
			}
			w := k.send(k.request("GET", "/threads/t/runs/"+run.ID+"/"+path, "").WithContext(ctx))
			cancel()
			told := strings.Contains(log.String(), line+" run="+run.ID+" error="+c.err.Error())
			if w.Code != http.StatusOK || told != c.told || !told && log.Len() > 0 {
				t.Errorf("%s, %v: %d, the log is %q", path, c.err, w.Code, &log)
			}
			if open != 1 || streams.now.Load() != 0 {
				t.Errorf("%s: %d streams, then %d", path, open, streams.now.Load())
			}
		}
	}
}

// TestACancelThatFails when a client goes is told of in the log, where it asked for a cancel.
func TestACancelThatFails(t *testing.T) {
	var log bytes.Buffer
	hub := &broken{}
	k := newServer(t, func(c *Config) { c.Hub, c.Log = hub, slog.New(slog.NewTextHandler(&log, nil)) })
	hub.happens = func(id string) error {
		if err := k.data().DeleteRun(t.Context(), id); err != nil {
			t.Error(err)
		}
		return errGone
	}
	for query, told := range map[string]bool{"": false, "?cancel_on_disconnect=true": true} {
		run := k.run("t", "hello")
		log.Reset()
		k.do("GET", "/threads/t/runs/"+run.ID+"/stream"+query, "")
		if got := strings.Contains(log.String(), `msg="the run of a client that has gone was not cancelled" run=`+run.ID); got != told {
			t.Errorf("%q: %s", query, &log)
		}
	}
}

// TestARunThatEndedBeforeItBegan: a stream of it has an end alone.
func TestARunThatEndedBeforeItBegan(t *testing.T) {
	k := newServer(t, nil)
	run := k.submitLater("t")
	k.do("POST", "/runs/"+run.ID+"/cancel", "")
	if w := k.do("GET", "/runs/"+run.ID+"/stream", ""); w.Body.String() != "event: end\ndata: null\n\n" {
		t.Errorf("%q", w.Body)
	}
	evs, end := k.logOf(run, "")
	if len(evs) > 0 || end.Status != event.StatusInterrupted || end.StopReason != store.Cancelled || end.Attempt != 0 {
		t.Errorf("%v %+v", evs, end)
	}
}

// TestGaps: only who stopped in the middle of a message whose pieces are gone is told of it.
func TestGaps(t *testing.T) {
	lost := event.Event{ID: event.ID{Attempt: 2, N: 9}, Data: event.Message{MessageID: "m", First: 5}}
	for _, c := range []struct {
		after string
		ev    event.Event
		told  bool
	}{
		{"2-5", lost, true}, {"2-8", lost, true}, {"2-8.3", lost, true}, {"2-4", lost, false}, {"2-9", lost, false}, {"1-6", lost, false}, {"3-6", lost, false},
		{"", lost, false}, {"x", lost, false},
		{"2-6", event.Event{ID: lost.ID, Data: event.Message{First: 5, Chunks: []event.Cut{{Text: 1}}}}, false},
		{"2-6", event.Event{ID: lost.ID, Data: event.Message{}}, false},
		{"2-6", event.Event{ID: lost.ID, Data: event.Run{}}, false},
	} {
		f, told := gap(store.Run{ID: "r"}, view{after: c.after}, []event.Event{{Data: event.Run{}}, c.ev})
		if told != c.told || !told && (f.Event != "" || f.Data != nil) {
			t.Errorf("after %q: %v %+v", c.after, told, f)
		}
		want := `{"code":"stream_replay_gap","earliest_available_event_id":"2-9","latest_available_event_id":"2-9","recovery":"reload_durable_state","requested_event_id":"` + c.after + `","run_id":"r"}`
		if told && (f.Event != "gap" || string(f.Data) != want || f.ID != "") {
			t.Errorf("%+v", f)
		}
	}
}

// TestJoin: a client that takes streams gets one, and what it asks for is looked at.
func TestJoin(t *testing.T) {
	k := newServer(t, nil)
	k.vars["run"] = k.run("t", "hello").ID
	r := k.request("GET", k.fill("/threads/t/runs/{run}/join?stream_mode=updates"), "")
	r.Header.Set("Accept", "text/event-stream, application/json")
	if w := k.send(r); w.Header().Get("Content-Type") != "text/event-stream; charset=utf-8" || !slices.Equal(events(parseSSE(t, w.Body.String())), []string{"metadata", "updates", "end"}) {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	k.play([]scenario{{name: "no truth", method: "GET", path: "/threads/t/runs/{run}/join?cancel_on_disconnect=x", status: 422, want: `{"detail":[{"loc":["query","cancel_on_disconnect"],"input":"x"}]}`}})
}

// TestWhoWaitsAndGoes has its run cancelled if it asked for that, and else not.
func TestWhoWaitsAndGoes(t *testing.T) {
	for _, cancels := range []bool{true, false} {
		k := newServer(t, nil)
		mode := map[bool]string{true: "cancel", false: "continue"}[cancels]
		_, goes := k.open("POST", "/runs/wait", `{"input":{"messages":"wait"},"on_disconnect":"`+mode+`","config":{"configurable":{"thread_id":"t"}}}`)
		<-k.begun
		query := map[bool]string{true: "?cancel_on_disconnect=1"}[cancels]
		other := k.start("u")
		_, leaves := k.open("GET", "/runs/"+other.ID+"/join"+query, "")
		goes()
		leaves()
		for _, thread := range []string{"t", "u"} {
			if cancels {
				eventually(t, func() bool { return k.runs(thread)[0].StopReason == store.Cancelled })
				continue
			}
			time.Sleep(10 * time.Millisecond)
			if run := k.runs(thread)[0]; !run.Active() || run.Stop != "" {
				t.Errorf("the run is %+v", run)
			}
		}
	}
}

// TestAWaitIsKeptAlive with blanks, which JSON allows before a value.
func TestAWaitIsKeptAlive(t *testing.T) {
	k := newServer(t, func(c *Config) { c.Limits.Heartbeat = 9 * time.Millisecond })
	res, _ := k.open("POST", "/runs/wait", `{"input":{"messages":"wait"}}`)
	begin := make([]byte, 3)
	if _, err := io.ReadFull(res.Body, begin); err != nil || string(begin) != "\n\n\n" {
		t.Errorf("%q, %v", begin, err)
	}
	k.free()
	rest, err := io.ReadAll(res.Body)
	if body := strings.TrimLeft(string(rest), "\n"); err != nil || !json.Valid(rest) || !strings.HasSuffix(body, "}") {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestAnEndThatCannotBeRead cuts the connection of who waits for it, so that it asks again, and is told of in the log.
func TestAnEndThatCannotBeRead(t *testing.T) {
	var log bytes.Buffer
	hub := &broken{}
	k := newServer(t, func(c *Config) { c.Hub, c.Log = hub, slog.New(slog.NewTextHandler(&log, nil)) })
	run := k.run("t", "hello")
	hub.run, hub.happens = run, func(id string) error { return k.data().DeleteThread(t.Context(), "t") }
	if w, cut := k.cut(k.request("GET", "/runs/"+run.ID+"/join", "")); !cut || w.Body.Len() > 0 {
		t.Errorf("cut %t: %d %s", cut, w.Code, w.Body)
	}
	if !strings.Contains(log.String(), `level=ERROR msg="cannot read the end of a run" run=`+run.ID) {
		t.Errorf("the log is %s", &log)
	}
}
