package route

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/store"
)

// Env is what all routes work with. Every field but Audit is set.
type Env struct {
	Store store.Store
	// Limits bounds what a request may ask for.
	Limits Limits
	Log    *slog.Logger
	Now    func() time.Time
	// Watch is told of requests and streams.
	Watch Watcher
	// Audit keeps who did what; nil keeps nothing.
	Audit *audit.Log
	// Stopping ends when the streams shall.
	Stopping context.Context

	limiter limiter
}

// Mine is what the caller has.
func (e *Env) Mine(ctx context.Context) store.UserData { return e.Store.For(Caller(ctx).User) }

// ErrStopping ends a stream because the server stops; the client goes on elsewhere, or after the restart.
var ErrStopping = errors.New("the server stops")

// Until is the context of a stream: it ends with the request, and when the server stops.
func (e *Env) Until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.Stopping, func() { cancel(ErrStopping) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Watcher counts requests and streams. It is a metrics.Metrics.
type Watcher interface {
	// Answered tells of a request that was answered, by the path of its route.
	Answered(route, method string, status int, took time.Duration)
	// Streaming tells of a stream that begins (1) or ends (-1).
	Streaming(change int)
	// Refused tells of a request without a good token.
	Refused()
	// Limited tells of a request that is one too many of its class.
	Limited(class string)
}

// Limits are the bounds of a request. Zero fields have their defaults.
type Limits struct {
	Body      int64         // bytes of a JSON body; 16 MiB
	Upload    int64         // bytes of one uploaded file; 50 MiB
	Files     int           // of one upload; 10
	Uploads   int64         // bytes of all files of one upload; 100 MiB
	History   int           // bytes of the values of a history; 16 MiB. Entries behind that come without their messages
	Heartbeat time.Duration // of a quiet stream; 15 s
	Write     time.Duration // that a client may take for one piece of a stream; 30 s
}

// WithDefaults fills in what is zero.
func (l Limits) WithDefaults() Limits {
	or(&l.Body, 16<<20)
	or(&l.Upload, 50<<20)
	or(&l.Files, 10)
	or(&l.Uploads, 100<<20)
	or(&l.History, 16<<20)
	or(&l.Heartbeat, 15*time.Second)
	or(&l.Write, 30*time.Second)
	return l
}

func or[T comparable](v *T, def T) {
	if *v == *new(T) {
		*v = def
	}
}

// callerKey is the key of a request's principal in its context, which alone comes with it through the mux.
type callerKey struct{}

// Called is the context of what is done for a principal.
func Called(ctx context.Context, by access.Principal) context.Context {
	return context.WithValue(ctx, callerKey{}, by)
}

// Caller is whom something is done for: nobody, who has nothing and may do nothing, in a context that does not say.
func Caller(ctx context.Context) access.Principal {
	by, _ := ctx.Value(callerKey{}).(access.Principal)
	return by
}

// Base is what goes before the path in a Content-Location: "/api" for a request that came under it.
func Base(r *http.Request) string {
	if strings.HasPrefix("/"+strings.TrimLeft(r.RequestURI, "/"), "/api/") {
		return "/api"
	}
	return ""
}

// From is the address that a request comes from: the last proxy's, if there is one.
func From(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// answered counts a request and notes it in the log, where that is to have everything.
func (e *Env) answered(r *http.Request, rt Route, status int, took time.Duration) {
	e.Watch.Answered(rt.Path, rt.Method, status, took)
	if e.Log.Enabled(r.Context(), slog.LevelDebug) {
		e.Log.DebugContext(r.Context(), "request answered", "method", rt.Method, "route", rt.Path, "status", status,
			"duration_ms", took.Milliseconds(), "from", From(r), "via", Caller(r.Context()).Via)
	}
}
