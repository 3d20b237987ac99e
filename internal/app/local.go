package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/webhook"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/internal/runs"
)

// Local is a Pudu whose runs are carried out by this process, for programs that embed it.
type Local struct {
	*cli.Session

	house *house
	// begin begins a server's work, and returns its handler and what ends it.
	begin func(d Door) (http.Handler, func())

	mu      sync.Mutex
	handler http.Handler // once it was asked for
	stop    func()       // ends what works behind the handler
}

// OpenLocal sets everything up for runs of this process. It fails with store.ErrLocked where another holds the data
// folder: that one's agents lack what this program brings along.
func (a App) OpenLocal(ctx context.Context, o cli.Options) (*Local, error) {
	cfg, dir, notes, err := a.settings(o)
	if err != nil {
		return nil, err
	}
	if a.Log != nil {
		a.Log = slog.New(logctx.Handler(a.Log.Handler()))
	}
	h, err := a.assemble(ctx, cfg, dir, o)
	if err != nil {
		return nil, err
	}
	if a.Log != nil { // who gives no log did not ask for a line about each run
		h.watch.log = h.log
	}
	session := h.session(append(notes, h.notes...))
	begin := func(d Door) (http.Handler, func()) { return h.behind(context.WithoutCancel(ctx), d, session) }
	return &Local{Session: session, house: h, begin: begin, stop: func() {}}, nil
}

// Door says who may come in by the handler, and the private networks whose webhooks may be called.
type Door struct {
	Guard    gateway.Guard
	Webhooks []netip.Prefix
}

// Handler is the whole server. With the first call, whose door is the one that counts, this process begins to do a server's
// work: to go on with unfinished runs, to start those that wait, to call webhooks, and to drop what has outlived its use.
func (l *Local) Handler(d Door) http.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handler == nil {
		l.handler, l.stop = l.begin(d)
	}
	return l.handler
}

// behind is the whole server without its listeners, and what ends the work behind it.
func (h *house) behind(ctx context.Context, d Door, s *cli.Session) (http.Handler, func()) {
	c := h.gatewayConfig(s, config.Server{})
	c.Guard = d.Guard
	g := gateway.New(c)
	h.report, h.webhooks = g.Report, webhook.New(outgoing.New(outgoing.Config{Allow: d.Webhooks}))
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { h.manager.Serve(ctx, nil) })
	background.Go(func() { h.collect(ctx) })
	return g, func() {
		g.Stop()
		cancel()
		background.Wait()
	}
}

// Close ends what works behind the handler and leaves its runs to the next start, then closes the session.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	return l.Session.Close()
}

// Snapshot is a thread's state as its last step has left it.
func (l *Local) Snapshot(ctx context.Context, threadID string) (runs.Snapshot, error) {
	return l.house.manager.For(access.Default()).Snapshot(ctx, threadID, "")
}

// Upload keeps a file of at most limit bytes in a thread's uploads, in the place of one of its name.
func (l *Local) Upload(threadID, name string, content io.Reader, limit int64) error {
	return l.house.upload(access.FromRow(l.UserID), threadID, name, content, limit)
}

// Delete removes a thread with its files.
func (l *Local) Delete(ctx context.Context, threadID string) error {
	return l.house.deleteThread(ctx, access.Default(), threadID)
}
