package gateway

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/assistants"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// requestHeader is where a request's id stands, in the request if a proxy has given it one, and in the answer.
const requestHeader = "X-Request-ID"

var requestID = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// identified gives the request its id, by which the log names it.
func (s *Server) identified(w http.ResponseWriter, r *http.Request) *http.Request {
	given := r.Header.Get(requestHeader)
	if !requestID.MatchString(given) {
		given = id.New(s.Now())
	}
	w.Header().Set(requestHeader, given)
	return r.WithContext(logctx.With(r.Context(), logctx.IDs{Request: given}))
}

// authenticated asks for a token where one is needed, and refuses the request if it has none that is good.
func (s *Server) authenticated(w http.ResponseWriter, r *http.Request, asks bool) (*http.Request, bool) {
	by, token, ok := s.principal(r, asks)
	if ok {
		return r.WithContext(logctx.With(called(r.Context(), by), logctx.IDs{User: by.User.ID(), Token: token})), true
	}
	s.Watch.Refused()
	why := "wrong"
	if tokenOf(r) == "" {
		why = "missing"
	}
	s.Log.WarnContext(r.Context(), "token refused", "why", why, "method", clip(r.Method), "path", clip(r.URL.Path), "from", from(r))
	w.Header().Set("WWW-Authenticate", "Bearer")
	return r, refuse(w, http.StatusUnauthorized, "The token is missing or wrong: send it as Authorization: Bearer TOKEN")
}

// principal is who sends the request, and the name of the token that says so; false if there must be one. Who asks for a public
// route need not be anybody.
func (s *Server) principal(r *http.Request, asks bool) (by access.Principal, token string, ok bool) {
	by = access.Principal{User: s.User, Role: access.Admin, Via: "loopback"}
	switch {
	case asks && public(r):
		return access.Principal{}, "", true
	case asks:
		token, ok = s.Guard.knows(r)
		by.Via = strings.TrimSpace("token " + token)
		return by, token, ok
	case s.Guard.Open:
		by.Via = "open address"
	}
	return by, "", true
}

// callerKey is the key of a request's principal in its context, which alone comes with it through the mux.
type callerKey struct{}

// called is the context of what is done for a principal.
func called(ctx context.Context, by access.Principal) context.Context {
	return context.WithValue(ctx, callerKey{}, by)
}

// caller is whom something is done for: nobody, who has nothing, in a context that does not say.
func caller(ctx context.Context) access.Principal {
	by, _ := ctx.Value(callerKey{}).(access.Principal)
	return by
}

// mine is what the caller has, and runs what he can do with runs.
func (s *Server) mine(ctx context.Context) store.UserData { return s.Store.For(caller(ctx).User) }

// items and assistants are the caller's.
func (s *Server) items(ctx context.Context) *items.Mine { return s.Items.For(caller(ctx).User) }

func (s *Server) assistants(ctx context.Context) *assistants.Mine {
	return s.Assistants.For(caller(ctx).User)
}

func (s *Server) runs(ctx context.Context) *runs.UserRuns { return s.Manager.For(caller(ctx).User) }

// from is the address that a request comes from: the last proxy's, if there is one.
func from(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// answered counts a request and notes it in the log, where that is to have everything.
func (s *Server) answered(r *http.Request, route Route, status int, took time.Duration) {
	s.Watch.Answered(route.Path, route.Method, status, took)
	if s.Log.Enabled(r.Context(), slog.LevelDebug) {
		s.Log.DebugContext(r.Context(), "request answered",
			"method", route.Method, "route", route.Path, "status", status, "duration_ms", took.Milliseconds(), "from", from(r), "via", caller(r.Context()).Via)
	}
}
