package client_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/feature/calls"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// token is what the servers of the tests ask for.
const token = "secret"

// talker is a model that writes many chunks, and then waits until it may end.
type talker struct {
	chunks int
	began  chan struct{} // where it is not nil, each call sends on it first
	end    chan struct{}
}

func (talker) Name() string { return "test/talker" }
func (f talker) Stream(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		if f.began != nil {
			f.began <- struct{}{}
		}
		for i := range f.chunks {
			if !yield(message.Chunk{Text: fmt.Sprintf("%d ", i)}, nil) {
				return
			}
		}
		select {
		case <-f.end:
			yield(message.Chunk{Text: "end", FinishReason: "stop",
				Usage: &message.Usage{InputTokens: 2, OutputTokens: 3, TotalTokens: 5}}, nil)
		case <-ctx.Done():
			yield(message.Chunk{}, ctx.Err())
		}
	}
}

// closed is an end that may come at once.
func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// site is a server on a data folder, with a door at an address and one in the folder. It can be stopped and started.
type site struct {
	t     *testing.T
	dir   string
	addr  string
	model model.ChatModel

	store   store.Store
	manager *runs.Manager
	stop    func()
	starts  atomic.Int64
}

func newSite(t *testing.T, dir string, m model.ChatModel) *site {
	t.Helper()
	s := &site{t: t, dir: dir, addr: "127.0.0.1:0", model: m}
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

// user is whose token the client has.
func user() access.User { return access.FromRow("user") }

// data is what he has.
func (s *site) data() store.UserData { return s.store.For(user()) }

func (s *site) deleteThread(ctx context.Context, u access.User, id string) error {
	return s.store.For(u).DeleteThread(ctx, id)
}

// start starts the server, at the address that it had before.
func (s *site) start() {
	s.t.Helper()
	st, err := sqlstore.Open(s.t.Context(), sqlstore.Config{Dir: s.dir, Features: feature.All()})
	s.must(err)
	a, err := agent.New(agent.Config{Model: s.model, Channels: threadstate.Channels()})
	s.must(err)
	hub := follow.New(follow.Config{Store: st})
	s.store = st
	s.manager = runs.NewManager(runs.Config{
		Store: st, Owner: fmt.Sprint("test:", s.starts.Add(1)),
		Feed: func(run store.Run) runs.Feed { return hub.Own(run) },
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		},
	})
	release, err := s.manager.KeepLease(s.t.Context())
	s.must(err)
	c := gateway.Config{
		Manager: s.manager, Hub: hub, Store: st, Items: items.New(st), Assistants: assistants.New(st),
		Folders: folders.New(st), Approvals: approval.NewGrants(st), Keeper: &gateways.Keeper{},
		Toolbox: gateways.NoToolbox(), FolderFiles: gateways.FolderFilesIn(st, s.dir), FolderQuota: 1 << 20,
		DeleteFolder: gateways.DeleteFolderIn(st, s.dir),
		Bin: bin.New(bin.Config{Store: st,
			Keep: func() (trashed, temporary time.Duration) { return time.Hour, time.Hour }}),
		News:  news.NewHub(news.Config{Store: st}),
		Files: s.files, FileHistory: gateways.HistoryIn(s.t.TempDir()), DeleteThread: s.deleteThread, User: user(),
		Calls:  calls.New(st, calls.Config{Schema: a.Schema(), Messages: agent.Messages.Get}),
		Models: []gateway.Model{{Name: "one"}, {Name: "provider/two"}},
		About: gateway.About{Version: "1", PID: os.Getpid(), Model: "test/talker", Why: "as \x1b[31mit is",
			Sandbox: "none", Notes: []string{"a\nnote"}},
		Guard: gateway.Guard{Token: token}, Limits: gateway.Limits{Upload: 1 << 20},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { s.manager.Serve(ctx, nil) })
	var lc net.ListenConfig
	tcp, err := lc.Listen(s.t.Context(), "tcp", s.addr)
	s.must(err)
	s.addr = tcp.Addr().String()
	socket, err := client.Listen(s.t.Context(), s.dir)
	s.must(err)
	closeTCP := serve(&serving, gateway.New(c), tcp)
	c.Guard = gateway.Guard{Open: true}
	closeSocket := serve(&serving, gateway.New(c), socket)
	s.stop = sync.OnceFunc(func() {
		closeTCP()
		closeSocket()
		cancel()
		serving.Wait()
		release()
		hub.Close()
		if err := st.Close(); err != nil {
			s.t.Error(err)
		}
	})
}

func serve(serving *sync.WaitGroup, g *gateway.Server, l net.Listener) (stop func()) {
	srv := &http.Server{Handler: g, ReadHeaderTimeout: time.Second}
	serving.Go(func() { _ = srv.Serve(l) })
	return func() {
		g.Stop()
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close()
		}
	}
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// host is where a file of a thread is on this machine.
func (s *site) host(thread, name string) string { return filepath.Join(s.dir, "threads", thread, name) }

func (s *site) files(_ context.Context, _ access.User, id string) (*sandbox.Files, error) {
	var mounts []sandbox.Mount
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		if err := os.MkdirAll(s.host(id, name), 0o750); err != nil {
			return nil, err
		}
		mounts = append(mounts, sandbox.Mount{Host: s.host(id, name), Path: sandbox.UserData + "/" + name})
	}
	return sandbox.NewFiles(mounts, sandbox.FilesOptions{})
}

// uploads are the names in a thread's uploads.
func (s *site) uploads(thread string) (names []string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.host(thread, "uploads"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (s *site) url() client.Config    { return client.Config{URL: "http://" + s.addr, Token: token} }
func (s *site) socket() client.Config { return client.Config{Dir: s.dir} }

func (s *site) dial(c client.Config) *client.Client {
	s.t.Helper()
	return dial(s.t, c)
}

func dial(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// log are the ids of the durable events of a run.
func (s *site) log(run store.Run) (ids []event.ID) {
	s.t.Helper()
	evs, err := s.data().Events(s.t.Context(), run.ID, event.ID{}, 10_000)
	s.must(err)
	for _, ev := range evs {
		ids = append(ids, ev.ID)
	}
	return ids
}

func request(thread, text string) runs.Request {
	return runs.Request{ThreadID: thread, Input: []message.Message{message.New(message.Human, text)},
		Model: "test/talker"}
}

func ignore(event.Event) {}
func silent(string)      {}

// seen checks that events come in order and each once, and takes the text.
type seen struct {
	t       *testing.T
	last    event.ID
	durable []event.ID
	pieces  []string
}

func (s *seen) text() string { return strings.Join(s.pieces, "") }

func (s *seen) show(ev event.Event) {
	if ev.ID.Compare(s.last) <= 0 {
		s.t.Errorf("event %s after %s", ev.ID, s.last)
	}
	s.last = ev.ID
	if c, ok := ev.Data.(event.Chunk); ok {
		s.pieces = append(s.pieces, c.Text)
	}
	if !ev.Data.Kind().Live() {
		s.durable = append(s.durable, ev.ID)
	}
}

// proxy stands between a client and a server. It cuts each connection after so many bytes of the server's, for as long
// as there are cuts; a negative one lets nothing through and keeps the connection open.
type proxy struct {
	addr string
	mu   sync.Mutex
	cuts []int64
	used int // cuts that were made
}

func newProxy(t *testing.T, to string, cuts ...int64) *proxy {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String(), cuts: cuts}
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			working.Go(func() { p.pass(ctx, conn, to) })
		}
	})
	t.Cleanup(func() {
		stop()
		_ = l.Close()
		working.Wait()
	})
	return p
}

func (p *proxy) pass(ctx context.Context, conn net.Conn, to string) {
	defer conn.Close()
	var d net.Dialer
	back, err := d.DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer back.Close()
	defer context.AfterFunc(ctx, func() { conn.Close(); back.Close() })()
	var sending sync.WaitGroup
	defer sending.Wait()
	defer back.Close()
	sending.Go(func() {
		_, _ = io.Copy(back, conn)
		_ = back.Close()
	})
	switch n, cut := p.next(); {
	case !cut:
		_, _ = io.Copy(conn, back)
	case n < 0:
		<-ctx.Done()
	default:
		_, _ = io.CopyN(conn, back, n)
	}
	_ = conn.Close()
}

func (p *proxy) next() (n int64, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == len(p.cuts) {
		return 0, false
	}
	p.used++
	return p.cuts[p.used-1], true
}

// left is how many cuts were not made.
func (p *proxy) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.cuts) - p.used
}

func (p *proxy) config() client.Config { return client.Config{URL: "http://" + p.addr, Token: token} }
