package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

func TestRun(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("longer than a socket's name may be/", 6))
	for name, c := range map[string]struct {
		dir  string
		door func(*site) client.Config
	}{
		"at an address":               {t.TempDir(), (*site).url},
		"by the socket":               {t.TempDir(), (*site).socket},
		"by a socket in a deep place": {long, (*site).socket},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.dir, talker{chunks: 3, end: closed()})
			cl, got := s.dial(c.door(s)), seen{t: t}
			out, err := cl.Run(t.Context(), request("t", "go"),
				map[string][]byte{"a b.txt": []byte("A"), `"ü".csv`: []byte("U")}, got.show, silent)
			if err != nil || out.Run.Status != event.StatusSuccess || out.Run.ThreadID != "t" || out.Run.Attempt != 1 {
				t.Fatalf("run %+v, error %v", out.Run, err)
			}
			msgs := agent.Messages.Get(out.State)
			if got.text() != "0 1 2 end" || len(msgs) != 2 || msgs[0].Text() != "go" || msgs[1].Text() != got.text() {
				t.Errorf("streamed %q, the state has %v", got.text(), msgs)
			}
			if d := cmp.Diff(s.log(out.Run), got.durable); d != "" {
				t.Errorf("(-stored +shown)\n%s", d)
			}
			if d := cmp.Diff(message.Usage{InputTokens: 2, OutputTokens: 3, TotalTokens: 5}, out.Usage); d != "" {
				t.Error(d)
			}
			if names := s.uploads("t"); !slices.Equal(names, []string{`"ü".csv`, "a b.txt"}) {
				t.Errorf("the uploads are %q", names)
			}
		})
	}
}

// TestCutConnections: wherever the connection breaks, every event is shown, once and in order.
func TestCutConnections(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{chunks: 200, end: closed()})
	for name, cuts := range map[string][]int64{
		"the dial answers, nothing else does":       {5000, 0, 0, 0},
		"while it starts, then in the first events": {900, 300, 200, 700},
		"in the middle of lines":                    {900, 1500, 901, 2203, 4099, 7777},
		"now and then":                              {15_000, 6000, 7000, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProxy(t, s.addr, cuts...)
			cl, err := client.Dial(t.Context(), p.config())
			for err != nil { // a short one hits the dial
				cl, err = client.Dial(t.Context(), p.config())
			}
			defer cl.Close()
			thread, got := strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", ""), seen{t: t}
			var notes []string
			out, err := cl.Run(t.Context(), request(thread, "go"), map[string][]byte{"a": []byte("A")}, got.show,
				func(n string) { notes = append(notes, n) })
			if err != nil || out.Run.Status != event.StatusSuccess {
				t.Fatalf("run %+v, error %v", out.Run, err)
			}
			all := seen{t: t}
			if _, err := s.dial(s.url()).Resume(t.Context(), out.Run, all.show, silent); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(s.log(out.Run), got.durable); d != "" || got.text() != all.text() ||
				!strings.HasSuffix(got.text(), "199 end") {
				t.Errorf("%q (-stored +shown)\n%s", got.text(), d)
			}
			if p.left() > 0 || !slices.Equal(s.uploads(thread), []string{"a"}) {
				t.Errorf("%d cuts were not made, the uploads are %q", p.left(), s.uploads(thread))
			}
			if len(notes) == 0 || !strings.Contains(notes[0], "the server at http://"+p.addr) ||
				!strings.Contains(notes[0], "trying again for 1m0s") {
				t.Errorf("the notes are %q", notes)
			}
			if list, err := s.data().ListRuns(t.Context(), store.RunFilter{ThreadID: thread}); err != nil ||
				len(list) != 1 {
				t.Errorf("%d runs were made, %v", len(list), err)
			}
		})
	}
}

// TestASlowReader: one who does not keep up loses the connection, if anything, and still gets every event once.
func TestASlowReader(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{chunks: 15_000, end: closed()})
	for _, door := range []client.Config{s.url(), s.socket()} {
		got := seen{t: t}
		wait := sync.OnceFunc(func() { s.waitUntilIdle() })
		out, err := s.dial(door).Run(t.Context(), request("t", "go"), nil, func(ev event.Event) {
			wait()
			got.show(ev)
		}, silent)
		if err != nil || out.Run.Status != event.StatusSuccess {
			t.Fatalf("run %+v, error %v", out.Run, err)
		}
		if d := cmp.Diff(s.log(out.Run), got.durable); d != "" || !strings.HasSuffix(got.text(), " 14999 end") {
			t.Errorf("(-stored +shown)\n%s", d)
		}
	}
}

func (s *site) waitUntilIdle() {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if s.manager.Stats().Active == 0 {
			return
		}
	}
	s.t.Error("a run waits for its reader")
}

// TestTheServerIsStartedAgain: who works with an address waits for the server and sees the rest.
func TestTheServerIsStartedAgain(t *testing.T) {
	end := make(chan struct{})
	s := newSite(t, t.TempDir(), talker{chunks: 2, end: end})
	var notes []string
	var restarting sync.WaitGroup
	restart := sync.OnceFunc(func() {
		restarting.Go(func() {
			s.stop()
			s.start()
			close(end)
		})
	})
	got := seen{t: t}
	out, err := s.dial(s.url()).Run(t.Context(), request("t", "go"), nil, func(ev event.Event) {
		got.show(ev)
		if strings.HasSuffix(got.text(), "0 1 ") {
			restart()
		}
	}, func(n string) { notes = append(notes, n) })
	restarting.Wait()
	if err != nil || out.Run.Status != event.StatusSuccess || out.Run.Attempt != 2 {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	if d := cmp.Diff(s.log(out.Run), got.durable); d != "" || !strings.HasSuffix(got.text(), "0 1 end") {
		t.Errorf("%q (-stored +shown)\n%s", got.text(), d)
	}
	if len(notes) != 1 {
		t.Errorf("the notes are %q", notes)
	}
}

// TestTheServerOfTheFolderStops: nobody waits for it; its run goes on when it is started again.
func TestTheServerOfTheFolderStops(t *testing.T) {
	end := make(chan struct{})
	s := newSite(t, t.TempDir(), talker{chunks: 1, end: end})
	cl := s.dial(s.socket())
	var stopping sync.WaitGroup
	stop := sync.OnceFunc(func() { stopping.Go(s.stop) })
	out, err := cl.Run(t.Context(), request("t", "go"), nil, func(ev event.Event) {
		if ev.Data.Kind() == event.KindChunk {
			stop()
		}
	}, func(n string) { t.Errorf("a note: %s", n) })
	stopping.Wait()
	if err == nil || err.Error() != "the server stopped; the run goes on when it is started again" ||
		!out.Run.Active() {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	if _, err := client.Dial(t.Context(), s.socket()); err == nil {
		t.Error("the server still answers")
	}
	if _, err := os.Lstat(filepath.Join(s.dir, client.SocketName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := cl.Run(t.Context(), request("u", "go"), nil, ignore, silent); err == nil ||
		!strings.Contains(err.Error(), "the server stopped; whether it has begun is not known") {
		t.Errorf("error %v", err)
	}
	s.start()
	close(end)
	if out, err = s.dial(s.socket()).Resume(t.Context(), out.Run, ignore, silent); err != nil ||
		out.Run.Status != event.StatusSuccess {
		t.Errorf("run %+v, error %v", out.Run, err)
	}
}

func TestCancel(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{chunks: 1, end: make(chan struct{})})
	for name, door := range map[string]client.Config{"address": s.url(), "socket": s.socket()} {
		for _, c := range []struct {
			cause  error
			status string
			error  string
		}{
			{runs.ErrCancelled, event.StatusInterrupted, ""},
			{runs.ErrRolledBack, event.StatusError, store.RolledBack},
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			out, err := s.dial(door).Run(ctx, request(name, "go"), nil, func(ev event.Event) {
				if ev.Data.Kind() == event.KindChunk {
					cancel(c.cause)
				}
			}, silent)
			if err != nil || out.Run.Status != c.status || out.Run.StopReason != store.Cancelled ||
				out.Run.Error != c.error {
				t.Errorf("%s, %v: run %+v, error %v", name, c.cause, out.Run, err)
			}
			cancel(nil)
		}
	}
}

// TestCancelBeforeTheRun: while the files are on their way there is nothing to cancel yet.
func TestCancelBeforeTheRun(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	ctx, cancel := context.WithCancelCause(t.Context())
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.addr})
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/uploads") {
			pass.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		cancel(runs.ErrCancelled)
		<-r.Context().Done()
	}))
	defer busy.Close()
	defer http.DefaultClient.CloseIdleConnections()
	cl := s.dial(client.Config{URL: busy.URL, Token: token})
	out, err := cl.Run(ctx, request("t", "go"), map[string][]byte{"a": []byte("A")}, ignore, silent)
	if !errors.Is(err, runs.ErrCancelled) || out.Run.ID != "" {
		t.Errorf("run %+v, error %v", out.Run, err)
	}
	if list, err := s.data().ListRuns(t.Context(), store.RunFilter{}); err != nil || len(list) != 0 {
		t.Errorf("the runs are %v, %v", list, err)
	}
}

func TestTheSecondRunOfAThreadIsAConflict(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: make(chan struct{})})
	req := request("t", "first")
	req.UserID = "user"
	if _, err := s.manager.For(user()).Submit(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	for _, uploads := range []map[string][]byte{nil, {"a": []byte("A")}} {
		out, err := s.dial(s.url()).Run(t.Context(), request("t", "second"), uploads, ignore, silent)
		if !errors.Is(err, store.ErrConflict) || out.Run.ID != "" {
			t.Errorf("run %+v, error %v", out.Run, err)
		}
	}
	if names := s.uploads("t"); names != nil {
		t.Errorf("%q was uploaded", names)
	}
}

// TestWhatIsSaidToARun is known by its id, can be taken back until it is a run, and is followed then.
func TestWhatIsSaidToARun(t *testing.T) {
	began, end := make(chan struct{}, 10), make(chan struct{})
	s := newSite(t, t.TempDir(), talker{began: began, end: end})
	req := request("t", "first")
	req.UserID = "user"
	if _, err := s.manager.For(user()).Submit(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	<-began // what is said before the first call of the model is read with it
	c := s.dial(s.url())
	var ids []string
	for _, text := range []string{"one", "two"} {
		id, err := c.Say(t.Context(), request("t", text))
		if err != nil {
			t.Fatal(err)
		}
		if run, err := c.Said(t.Context(), "t", id); err != nil || run.ID != id || !run.Active() {
			t.Errorf("it is %+v, %v", run, err)
		}
		ids = append(ids, id)
	}
	if err := c.TakeBack(t.Context(), "t", ids[0]); err != nil {
		t.Error(err)
	}
	if _, err := c.Said(t.Context(), "t", ids[0]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("taken back: %v", err)
	}
	close(end)
	out, err := c.Resume(t.Context(), store.Run{ID: ids[1], ThreadID: "t"}, ignore, silent)
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Errorf("run %+v, error %v", out.Run, err)
	}
	if err := c.TakeBack(t.Context(), "t", ids[1]); !errors.Is(err, store.ErrConflict) {
		t.Errorf("too late: %v", err)
	}
	if _, err := c.Say(t.Context(), request("nowhere", "x")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("on no thread: %v", err)
	}
}

// TestAServerThatDoesNotAnswer: it is asked for a while, and not for ever.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	p := newProxy(t, s.addr, slices.Repeat([]int64{-1}, 100)...)
	cfg := s.url()
	run, err := s.dial(cfg).Run(t.Context(), request("t", "go"), nil, ignore, silent)
	if err != nil {
		t.Fatal(err)
	}
	// it answers when it is dialled, also where much else goes on
	cfg.Idle, cfg.Patience = 10*time.Second, 150*time.Millisecond
	cl := s.dial(cfg)
	s.stop()
	notes := 0
	out, err := cl.Resume(t.Context(), run.Run, ignore, func(string) { notes++ })
	if err == nil || !strings.Contains(err.Error(), "the run goes on there") ||
		!strings.Contains(err.Error(), s.addr) || out.Run.ID != run.Run.ID || notes != 1 {
		t.Errorf("run %+v, error %v, %d notes", out.Run, err, notes)
	}
	if _, err := client.Dial(t.Context(),
		client.Config{URL: "http://" + p.addr, Idle: 30 * time.Millisecond}); err == nil {
		t.Error("a silent server was dialled")
	}
}

func TestRefused(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved/info":
			http.Redirect(w, r, "https://elsewhere.example/info", http.StatusMovedPermanently)
		case "/broken/info":
			http.Error(w, "<html>\x1b[31mbad gateway", http.StatusBadGateway)
		default:
			_, _ = w.Write([]byte("<html>"))
		}
	}))
	defer page.Close()
	for name, c := range map[string]struct {
		cfg  client.Config
		want string
	}{
		"a wrong token": {client.Config{URL: "http://" + s.addr, Token: "wrong"},
			"does not know the token (401 Unauthorized); set PUDU_TOKEN"},
		"no token":        {client.Config{URL: "http://" + s.addr}, "401"},
		"another server":  {client.Config{URL: page.URL}, "is it a Pudu of this version?"},
		"a redirect":      {client.Config{URL: page.URL + "/moved"}, "it is now at https://elsewhere.example/info"},
		"a proxy's error": {client.Config{URL: page.URL + "/broken"}, "says 502 Bad Gateway: <html>bad gateway"},
		"no server":       {client.Config{URL: "http://127.0.0.1:9"}, "connection refused"},
		"no folder":       {client.Config{Dir: filepath.Join(t.TempDir(), "none")}, "nobody listens there"},
		"no URL":          {client.Config{URL: "localhost:2026"}, "write http://HOST:PORT"},
		"a password":      {client.Config{URL: "http://u:p@host"}, "has more than a host and a path"},
		"a query":         {client.Config{URL: "http://host/?q"}, "has more than a host and a path"},
	} {
		if _, err := client.Dial(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	cl := s.dial(s.url())
	if _, err := cl.Run(t.Context(), request("a b", "go"), nil, ignore, silent); err == nil ||
		!strings.Contains(err.Error(), "path thread_id: String should match pattern") {
		t.Errorf("a bad thread: %v", err)
	}
	gone := store.Run{ID: "none", ThreadID: "t", Status: event.StatusRunning}
	if _, err := cl.Resume(t.Context(), gone, ignore, silent); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func TestInfo(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	want := client.Info{Version: "1", PID: os.Getpid(), Model: "test/talker", Why: "as it is", Sandbox: "none",
		Notes: []string{"a note"}}
	if d := cmp.Diff(want, s.dial(client.Config{URL: "http://" + s.addr + "/api/", Token: token}).Info); d != "" {
		t.Error(d)
	}
}

// TestTheChoicesReachTheServer as the context of the run, with the model if that is another one than the server's.
func TestTheChoicesReachTheServer(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	cl := s.dial(s.url())
	for i, c := range []struct{ model, context, want string }{
		{"test/talker", ``, `{}`},
		{"", `{"is_plan_mode":true}`, `{"is_plan_mode":true}`},
		{"provider/two", `{"agent_name":"poet"}`, `{"agent_name":"poet","model_name":"provider/two"}`},
	} {
		req := request(fmt.Sprintf("t%d", i), "go")
		req.Model, req.Context = c.model, []byte(c.context)
		if c.context == "" {
			req.Context = nil
		}
		out, err := cl.Run(t.Context(), req, nil, ignore, silent)
		s.must(err)
		run, err := s.data().Run(t.Context(), out.Run.ID)
		s.must(err)
		var kept runs.Request
		s.must(json.Unmarshal(run.Request, &kept))
		if diff := cmp.Diff(c.want, string(kept.Context)); diff != "" {
			t.Error(diff)
		}
	}
}
