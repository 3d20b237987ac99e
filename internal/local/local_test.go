package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talker is a model that writes many chunks, and then waits until it may end.
type talker struct {
	chunks int
	end    chan struct{}
}

func (talker) Name() string { return "test/talker" }
func (f talker) Stream(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		for i := range f.chunks {
			if !yield(message.Chunk{Text: fmt.Sprintf("%d ", i)}, nil) {
				return
			}
		}
		select {
		case <-f.end:
			yield(message.Chunk{Text: "end", FinishReason: "stop"}, nil)
		case <-ctx.Done():
			yield(message.Chunk{}, ctx.Err())
		}
	}
}

// site is a server on a data folder and a client of it.
type site struct {
	dir     string
	client  *Client
	manager *runs.Manager
	uploads sync.Map // name -> content
	stop    func()
}

func newSite(t *testing.T, dir string, m model.ChatModel) *site {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.New(agent.Config{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{dir: dir}
	s.manager = runs.NewManager(runs.Config{Store: st, Owner: "test", Build: func(context.Context, runs.Job) (runs.Built, error) {
		return runs.Built{Agent: a, Close: func() error { return nil }}, nil
	}})
	server := Server{Info: Info{PID: os.Getpid(), Model: "test/talker"}, Manager: s.manager, Store: s.keep}
	ctx, cancel := context.WithCancel(t.Context())
	ready := make(chan struct{})
	var served sync.WaitGroup
	served.Go(func() {
		if err := server.Serve(ctx, dir, func() { close(ready) }); err != nil {
			t.Error(err)
		}
	})
	<-ready
	if s.client, err = Dial(t.Context(), dir, st); err != nil {
		t.Fatal(err)
	}
	s.stop = sync.OnceFunc(func() {
		s.manager.Stop()
		cancel()
		served.Wait()
		s.client.http.CloseIdleConnections()
	})
	t.Cleanup(func() {
		s.stop()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *site) keep(_, name string, content io.Reader, limit int64) error {
	raw, err := io.ReadAll(io.LimitReader(content, limit))
	if name == "bad" {
		return errors.New("no such luck")
	}
	s.uploads.Store(name, string(raw))
	return err
}

func request(text string) runs.Request {
	return runs.Request{ThreadID: "thread", UserID: "user", Input: []message.Message{message.New(message.Human, text)}}
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestRunThroughTheServer(t *testing.T) {
	for _, c := range []struct{ name, dir string }{{"short", "x"}, {"longer than a socket's name may be", strings.Repeat("long/", 40)}} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, filepath.Join(t.TempDir(), c.dir), talker{chunks: 3, end: closed()})
			var text strings.Builder
			out, err := s.client.Run(t.Context(), request("go"), map[string][]byte{"a b.txt": []byte("A"), "ü": []byte("U")}, func(ev event.Event) {
				if d, ok := ev.Data.(event.Chunk); ok {
					text.WriteString(d.Text)
				}
			})
			if err != nil || out.Run.Status != event.StatusSuccess {
				t.Fatalf("run %+v, error %v", out.Run, err)
			}
			if msgs := agent.Messages.Get(out.State); text.String() != "0 1 2 end" || msgs[len(msgs)-1].Text() != "0 1 2 end" {
				t.Errorf("streamed %q", text.String())
			}
			for name, want := range map[string]string{"a b.txt": "A", "ü": "U"} {
				if got, _ := s.uploads.Load(name); got != want {
					t.Errorf("upload %s is %v", name, got)
				}
			}
			if info, err := os.Stat(filepath.Join(s.dir, SocketName)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the socket: %v, %v", info, err)
			}
		})
	}
}

func TestAFailedUploadAdmitsNothing(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	_, err := s.client.Run(t.Context(), request("go"), map[string][]byte{"bad": nil}, func(event.Event) {})
	if err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("got %v", err)
	}
	if _, err := s.client.Run(t.Context(), request("again"), nil, func(event.Event) {}); err != nil {
		t.Errorf("the thread is blocked: %v", err)
	}
}

func TestTheSecondRunOfAThreadIsAConflict(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: make(chan struct{})})
	if _, err := s.manager.Admit(t.Context(), request("first")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Run(t.Context(), request("second"), nil, func(event.Event) {}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

func TestCancelThroughTheServer(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{chunks: 1, end: make(chan struct{})})
	ctx, cancel := context.WithCancelCause(t.Context())
	out, err := s.client.Run(ctx, request("go"), nil, func(ev event.Event) {
		if ev.Data.Kind() == event.KindChunk {
			cancel(runs.ErrCancelled)
		}
	})
	if err != nil || out.Run.StopReason != store.Cancelled {
		t.Errorf("run %+v, error %v", out.Run, err)
	}
}

// TestASlowReaderReadsOnInTheLog: a client that is too far behind loses the stream, delays nobody, and still gets every
// durable event once.
func TestASlowReaderReadsOnInTheLog(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{chunks: 3 * maxBehind, end: closed()})
	var last event.ID
	durable := 0
	out, err := s.client.Run(t.Context(), request("go"), nil, func(ev event.Event) {
		if last == (event.ID{}) {
			s.waitUntilDone(t)
		}
		if ev.ID.Compare(last) <= 0 {
			t.Errorf("event %s after %s", ev.ID, last)
		}
		last = ev.ID
		if !ev.Data.Kind().Live() {
			durable++
		}
	})
	if err != nil || out.Run.Status != event.StatusSuccess {
		t.Fatalf("run %+v, error %v", out.Run, err)
	}
	evs, err := s.client.store.Events(t.Context(), out.Run.ID, event.ID{}, 10_000)
	if err != nil || len(evs) != durable {
		t.Errorf("%d durable events were shown of %d, error %v", durable, len(evs), err)
	}
}

func (s *site) waitUntilDone(t *testing.T) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		list, err := s.client.store.ListRuns(context.Background(), store.RunFilter{})
		if err != nil {
			t.Error(err)
		}
		if len(list) == 1 && !list[0].Active() {
			return
		}
	}
	t.Error("the run waits for its reader")
}

func TestTheServerStops(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{chunks: 1, end: make(chan struct{})})
	out, err := s.client.Run(t.Context(), request("go"), nil, func(ev event.Event) {
		if ev.Data.Kind() == event.KindChunk {
			go s.stop()
		}
	})
	if err == nil || !out.Run.Active() {
		t.Errorf("run %+v, error %v", out.Run, err)
	}
	if _, err := Dial(t.Context(), s.dir, s.client.store); err == nil {
		t.Error("the server still answers")
	}
}

func TestBadRequests(t *testing.T) {
	s := newSite(t, t.TempDir(), talker{end: closed()})
	for name, c := range map[string]struct{ kind, body string }{
		"no multipart":    {"application/json", "{}"},
		"no boundary":     {"multipart/form-data", "x"},
		"cut off":         {"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{"},
		"no request":      {"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n{}\r\n--b--\r\n"},
		"request no JSON": {"multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n]\r\n--b--\r\n"},
		"empty":           {"multipart/form-data; boundary=b", ""},
	} {
		res, err := s.client.send(t.Context(), http.MethodPost, "/runs", c.kind, strings.NewReader(c.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		raw, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || !strings.Contains(string(raw), `"error"`) || strings.Contains(string(raw), "%!") {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
}
