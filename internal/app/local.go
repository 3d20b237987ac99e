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
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/runs"
)

// Local is a Pudu whose runs are carried out by this process, for programs that embed it.
type Local struct {
	*cli.Session

	engine *engine
	life   context.Context //nolint:containedctx // of what the handler begins, without its end

	mu      sync.Mutex
	handler http.Handler // once it was asked for
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
	e, err := a.newEngine(cfg, dir, o)
	if err != nil {
		return nil, err
	}
	if a.Log != nil { // who gives no log did not ask for a line about each run
		e.watch.log = e.log
	}
	if err := e.start(ctx, e.forRuns()); err != nil {
		return nil, err
	}
	return &Local{Session: e.session(notes), engine: e, life: context.WithoutCancel(ctx)}, nil
}

// Door says who may come in by the handler, and the private networks whose webhooks may be called.
type Door struct {
	Guard    gateway.Guard
	Webhooks []netip.Prefix
}

// Handler is the whole server. With the first call, whose door is the one that counts, this process begins to do a
// server's work: to go on with unfinished runs, to start those that wait, to call webhooks, and to drop what has
// outlived its use.
func (l *Local) Handler(d Door) http.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handler == nil {
		l.handler = l.engine.behind(l.life, d, l.Session)
	}
	return l.handler
}

// behind is the whole server without its listeners. What works behind it ends with the engine.
func (e *engine) behind(ctx context.Context, d Door, s *cli.Session) http.Handler {
	all := &turns{before: e.refresh}
	e.reloading.Lock() // runs may work already, and find that the models are others
	c := e.gatewayConfig(s, config.Server{})
	c.Guard = d.Guard
	all.set(e.newGateway(c, d.Webhooks))
	e.doors = edges{{gateway: all, config: c}}
	e.reloading.Unlock()
	_ = e.start(ctx, e.forHandler(all.stop)) // nothing of it can fail
	return all
}

// Close ends what works behind the handler, leaves its runs to the next start, and closes the session.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Session.Close()
}

// Snapshot is a thread's state as its last step has left it.
func (l *Local) Snapshot(ctx context.Context, threadID string) (runs.Snapshot, error) {
	return l.engine.manager.For(access.Default()).Snapshot(ctx, threadID, "")
}

// Upload keeps a file of at most limit bytes in a thread's uploads, in the place of one of its name.
func (l *Local) Upload(threadID, name string, content io.Reader, limit int64) error {
	return l.engine.upload(context.Background(), access.FromRow(l.UserID), threadID, name, content, limit)
}

// Delete removes a thread with its files.
func (l *Local) Delete(ctx context.Context, threadID string) error {
	err := l.engine.deleteThread(ctx, access.Default(), threadID)
	if err == nil {
		l.engine.audit.Record(ctx, audit.Of(audit.Local(), audit.Delete, "thread", threadID))
	}
	return err
}
