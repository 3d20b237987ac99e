package runs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	runroutes "github.com/pudu-ai/pudu/internal/gateway/runs"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// TestAThreadIsFollowed from the first run that is active on: each run once and in their order, those too that are made
// later, until the server stops. What has ended before is not told.
func TestAThreadIsFollowed(t *testing.T) {
	streams := &gateways.Streams{}
	k := gateways.New(t, func(c *gateway.Config) { c.Watch = streams })
	k.Run("t", "hello")
	first := k.Start("t")
	k.Play([]gateways.Scenario{{
		Name: "a second one", Method: "POST", Path: "/threads/t/runs",
		Body: `{"input":{"messages":"hello"},"stream_mode":["updates"]}`, Status: 200,
		Keep: map[string]string{"run_id": "second"},
	}})
	third := k.SubmitLater("t")
	res, _ := k.Open("GET", "/threads/t/stream", "")
	if got := res.Header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Error(got)
	}
	frames := gateways.FramesOf(res.Body)
	until := func(ends int) (names, ids []string) {
		for f := range frames {
			if names = append(names, f.Event); f.Event == "metadata" {
				id, _ := jsontest.At(jsontest.Decode(t, []byte(f.Data)), "run_id").(string)
				ids = append(ids, id)
			}
			if f.Event == "end" {
				if ends--; ends == 0 {
					break
				}
			}
		}
		return names, ids
	}
	k.Free()
	names, ids := until(2)
	if want := []string{"metadata", "values", "values", "end", "metadata", "updates", "end"}; !slices.Equal(names,
		want) || !slices.Equal(ids, []string{first.ID, k.Vars["second"]}) {
		t.Errorf("%v of %v", names, ids)
	}
	k.Do("POST", "/runs/"+third.ID+"/cancel", "")
	if names, _ = until(1); !slices.Equal(names, []string{"end"}) {
		t.Errorf("of one that was cancelled before it began: %v", names)
	}
	fourth := k.Run("t", "hello")
	if names, ids = until(1); !slices.Equal(names, []string{"metadata", "values", "values", "end"}) ||
		!slices.Equal(ids, []string{fourth.ID}) {
		t.Errorf("of a later one: %v of %v", names, ids)
	}
	if open := streams.Now.Load(); open != 1 {
		t.Errorf("%d streams are open", open)
	}
	k.Stop()
	if names, _ = until(1); len(names) > 0 {
		t.Errorf("behind the end: %v", names)
	}
	gateways.Eventually(t, func() bool { return streams.Now.Load() == 0 })
}

// TestAThreadIsFollowedByItsModes: those of the query stand for all runs.
func TestAThreadIsFollowedByItsModes(t *testing.T) {
	k := gateways.New(t, nil)
	k.Start("t")
	res, _ := k.Open("GET", "/threads/t/stream?stream_mode=updates", "")
	k.Free()
	var got []string
	for f := range gateways.FramesOf(res.Body) {
		if got = append(got, f.Event); f.Event == "end" {
			break
		}
	}
	if !slices.Equal(got, []string{"metadata", "updates", "end"}) {
		t.Errorf("frames %v", got)
	}
	k.Play([]gateways.Scenario{
		{
			Name: "an unknown mode", Method: "GET", Path: "/threads/t/stream?stream_mode=x", Status: 422,
			Want: `{"detail":[{"type":"unsupported_stream_mode","loc":["query","stream_mode"],"input":"x"}]}`,
		},
		{
			Name: "no truth", Method: "GET", Path: "/threads/t/stream?cancel_on_disconnect=x", Status: 422,
			Want: `{"detail":[{"loc":["query","cancel_on_disconnect"]}]}`,
		},
		{
			Name: "no truth either", Method: "GET", Path: "/threads/t/stream?stream_mode=values&stream_subgraphs=x",
			Status: 422, Want: `{"detail":[{"loc":["query","stream_subgraphs"]}]}`,
		},
	})
	for n := int64(1); n <= 2; n++ {
		if w := k.Send(gateways.Troubled(k.Request("GET", "/threads/t/stream", ""),
			&gateways.Trouble{N: n})); w.Code != http.StatusServiceUnavailable {
			t.Errorf("call %d: %d %s", n, w.Code, w.Body)
		}
	}
}

// TestAFollowedThreadThatBreaksOff ends: the client comes back for the rest.
func TestAFollowedThreadThatBreaksOff(t *testing.T) {
	spoiled := &gateways.Trouble{Spoil: func(r *store.Run) { r.Request = json.RawMessage("{") }}
	for name, c := range map[string]struct {
		query   string
		trouble *gateways.Trouble
	}{"torn": {"", &gateways.Trouble{}}, "modes that cannot be read": {"", spoiled},
		"a request that cannot be read": {"?stream_mode=values", spoiled}} {
		k := gateways.New(t, func(c *gateway.Config) {
			c.Hub = &gateways.Broken{Happens: func(string) error { return errors.New("torn") }}
		})
		k.SubmitLater("t")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Send(gateways.Troubled(k.Request("GET", "/threads/t/stream"+c.query, "").WithContext(ctx), c.trouble))
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

// TestStreamsThatBreakOff are told of in the log, with the run, unless the client has gone or the server stops. Streams
// are counted while they last.
func TestStreamsThatBreakOff(t *testing.T) {
	var log bytes.Buffer
	hub, streams := &gateways.Broken{}, &gateways.Streams{}
	k := gateways.New(t, func(c *gateway.Config) {
		c.Hub, c.Watch, c.Log = hub, streams, slog.New(slog.NewTextHandler(&log, nil))
	})
	run := k.Run("t", "hello")
	for _, c := range []struct {
		err  error
		gone bool
		told bool
	}{{errors.New("torn"), false, true}, {runroutes.ErrGone, false, false}, {route.ErrStopping, false, false},
		{context.Canceled, true, false}} {
		for path, line := range map[string]string{"stream": `msg="stream broke off"`,
			"log": `msg="the log of a run broke off"`} {
			log.Reset()
			ctx, cancel := context.WithCancel(t.Context())
			open := int64(0)
			hub.Happens = func(string) error {
				if open = streams.Now.Load(); c.gone {
					cancel()
				}
				return c.err
			}
			w := k.Send(k.Request("GET", "/threads/t/runs/"+run.ID+"/"+path, "").WithContext(ctx))
			cancel()
			told := strings.Contains(log.String(), line+" run="+run.ID+" error="+c.err.Error())
			if w.Code != http.StatusOK || told != c.told || !told && log.Len() > 0 {
				t.Errorf("%s, %v: %d, the log is %q", path, c.err, w.Code, &log)
			}
			if open != 1 || streams.Now.Load() != 0 {
				t.Errorf("%s: %d streams, then %d", path, open, streams.Now.Load())
			}
		}
	}
}

// TestACancelThatFails when a client goes is told of in the log, where it asked for a cancel.
func TestACancelThatFails(t *testing.T) {
	var log bytes.Buffer
	hub := &gateways.Broken{}
	k := gateways.New(t, func(c *gateway.Config) { c.Hub, c.Log = hub, slog.New(slog.NewTextHandler(&log, nil)) })
	hub.Happens = func(id string) error {
		if err := k.Data().DeleteRun(t.Context(), id); err != nil {
			t.Error(err)
		}
		return runroutes.ErrGone
	}
	for query, told := range map[string]bool{"": false, "?cancel_on_disconnect=true": true} {
		run := k.Run("t", "hello")
		log.Reset()
		k.Do("GET", "/threads/t/runs/"+run.ID+"/stream"+query, "")
		if got := strings.Contains(log.String(), `msg="the run of a client that has gone was not cancelled" run=`+
			run.ID); got != told {
			t.Errorf("%q: %s", query, &log)
		}
	}
}

// TestARunThatEndedBeforeItBegan: a stream of it has an end alone.
func TestARunThatEndedBeforeItBegan(t *testing.T) {
	k := gateways.New(t, nil)
	run := k.SubmitLater("t")
	k.Do("POST", "/runs/"+run.ID+"/cancel", "")
	if w := k.Do("GET", "/runs/"+run.ID+"/stream", ""); w.Body.String() != "event: end\ndata: null\n\n" {
		t.Errorf("%q", w.Body)
	}
	evs, end := logOf(k, run, "")
	if len(evs) > 0 || end.Status != event.StatusInterrupted || end.StopReason != store.Cancelled || end.Attempt != 0 {
		t.Errorf("%v %+v", evs, end)
	}
}

// TestJoin: a client that takes streams gets one, and what it asks for is looked at.
func TestJoin(t *testing.T) {
	k := gateways.New(t, nil)
	k.Vars["run"] = k.Run("t", "hello").ID
	r := k.Request("GET", k.Fill("/threads/t/runs/{run}/join?stream_mode=updates"), "")
	r.Header.Set("Accept", "text/event-stream, application/json")
	if w := k.Send(r); w.Header().Get("Content-Type") != "text/event-stream; charset=utf-8" ||
		!slices.Equal(gateways.Events(gateways.ParseSSE(t, w.Body.String())), []string{"metadata", "updates", "end"}) {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	k.Play([]gateways.Scenario{{
		Name: "no truth", Method: "GET", Path: "/threads/t/runs/{run}/join?cancel_on_disconnect=x", Status: 422,
		Want: `{"detail":[{"loc":["query","cancel_on_disconnect"],"input":"x"}]}`,
	}})
}

// TestWhoWaitsAndGoes has its run cancelled if it asked for that, and else not.
func TestWhoWaitsAndGoes(t *testing.T) {
	for _, cancels := range []bool{true, false} {
		k := gateways.New(t, nil)
		mode := map[bool]string{true: "cancel", false: "continue"}[cancels]
		_, goes := k.Open("POST", "/runs/wait", `{"input":{"messages":"wait"},"on_disconnect":"`+mode+
			`","config":{"configurable":{"thread_id":"t"}}}`)
		<-k.Begun
		query := map[bool]string{true: "?cancel_on_disconnect=1"}[cancels]
		other := k.Start("u")
		_, leaves := k.Open("GET", "/runs/"+other.ID+"/join"+query, "")
		goes()
		leaves()
		for _, thread := range []string{"t", "u"} {
			if cancels {
				gateways.Eventually(t, func() bool { return k.RunsOf(thread)[0].StopReason == store.Cancelled })
				continue
			}
			time.Sleep(10 * time.Millisecond)
			if run := k.RunsOf(thread)[0]; !run.Active() || run.Stop != "" {
				t.Errorf("the run is %+v", run)
			}
		}
	}
}

// TestAWaitIsKeptAlive with blanks, which JSON allows before a value.
func TestAWaitIsKeptAlive(t *testing.T) {
	k := gateways.New(t, func(c *gateway.Config) { c.Limits.Heartbeat = 9 * time.Millisecond })
	res, _ := k.Open("POST", "/runs/wait", `{"input":{"messages":"wait"}}`)
	begin := make([]byte, 3)
	if _, err := io.ReadFull(res.Body, begin); err != nil || string(begin) != "\n\n\n" {
		t.Errorf("%q, %v", begin, err)
	}
	k.Free()
	rest, err := io.ReadAll(res.Body)
	if body := strings.TrimLeft(string(rest), "\n"); err != nil || !json.Valid(rest) || !strings.HasSuffix(body, "}") {
		t.Errorf("%q, %v", rest, err)
	}
}

// TestAnEndThatCannotBeRead cuts the connection of who waits for it, so that it asks again, and is told of in the log.
func TestAnEndThatCannotBeRead(t *testing.T) {
	var log bytes.Buffer
	hub := &gateways.Broken{}
	k := gateways.New(t, func(c *gateway.Config) { c.Hub, c.Log = hub, slog.New(slog.NewTextHandler(&log, nil)) })
	run := k.Run("t", "hello")
	hub.Run, hub.Happens = run, func(id string) error { return k.Data().DeleteThread(t.Context(), "t") }
	if w, cut := k.Cut(k.Request("GET", "/runs/"+run.ID+"/join", "")); !cut || w.Body.Len() > 0 {
		t.Errorf("cut %t: %d %s", cut, w.Code, w.Body)
	}
	if !strings.Contains(log.String(), `level=ERROR msg="cannot read the end of a run" run=`+run.ID) {
		t.Errorf("the log is %s", &log)
	}
}
