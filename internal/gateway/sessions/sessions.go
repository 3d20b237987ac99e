// Package sessions is the group of routes of the caller's session: a browser trades its token for a cookie, asks who it
// is, and signs out. The guard of the gateway looks at the cookie as it looks at tokens.
//
//	gateway -> sessions -> session.Sessions -> a cookie, and who asks
package sessions

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// Group are the routes, with what they work with. Every field is required.
type Group struct {
	*route.Env

	// Sessions are those of all users.
	Sessions *session.Sessions
	// Asks reports whether callers must bring a token, Secure whether a client sent a request by https, and Sum is the
	// SHA-256 of the token of a name.
	Asks   func() bool
	Secure func(*http.Request) bool
	Sum    func(token string) (session.Sum, bool)
}

// Routes are those of the caller's session. Whoever has one may end it.
func (g *Group) Routes() []route.Route {
	const path = "/session"
	return route.Under("session",
		route.Get(path, "Who the caller is, and whether a token is asked for", g.get).
			Access(route.Anyone, "").Of(route.User).Rate(route.Free).Body(route.None),
		route.Post(path, "Trade the token for the cookie of a session", g.begin).
			Access(access.Viewer, "session:read").Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.SignIn, "session"),
		route.Delete(path, "End the session, and take the cookie back", g.end).
			Access(route.Anyone, "session:write").Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "session"),
		route.Get("/sessions", "List the caller's sessions, those that were used last first", g.list).
			Access(access.Viewer, "session:read").Of(route.User).Rate(route.Cheap).Body(route.None),
		route.Delete("/sessions/{session_id}", "End one of them; the browser has to sign in again", g.endOne).
			Access(access.Regular, "session:write").Of(route.User).Rate(route.Write).Body(route.None).
			Audits(audit.Delete, "session"),
	)
}

// name is the name of the cookie. Servers on ports of one machine share a browser's cookies, so it has the port; the
// prefix has the browser refuse what another server below the same domain would put in its place.
func name(r *http.Request, secure bool) string {
	name := "pudu_session"
	if _, port, err := net.SplitHostPort(r.Host); err == nil && port != "" {
		name += "_" + port
	}
	if secure {
		return "__Host-" + name
	}
	return name
}

// CookieOf is the cookie of a session that the request brings; empty if it brings none.
func CookieOf(r *http.Request, secure bool) string {
	c, err := r.Cookie(name(r, secure))
	if err != nil {
		return ""
	}
	return c.Value
}

// Cookie is what the browser is to keep; an empty value takes it back. Pages of other sites may lead here, as links in
// mails do, and their scripts, forms and images come without it.
func Cookie(r *http.Request, secure bool, value string) *http.Cookie {
	c := &http.Cookie{ //nolint:gosec // where there is no https, it cannot be for that alone
		Name: name(r, secure), Value: value, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
		MaxAge: int(session.Keep.Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

type sessionJSON struct {
	// SignedIn says that the caller is somebody; without a token everybody is.
	SignedIn bool `json:"signed_in"`
	// TokenRequired says that callers must bring a token.
	TokenRequired bool        `json:"token_required"`
	User          string      `json:"user_id"`
	Role          access.Role `json:"role"`
	// Scopes narrow the role; null is all that it may do.
	Scopes []string `json:"scopes"`
	Via    string   `json:"via"`
	// Ends is when the session ends if it is not used again; null if there is none.
	Ends *time.Time `json:"ends_at"`
}

func (g *Group) who(by access.Principal) sessionJSON {
	out := sessionJSON{
		SignedIn: by.User.Check() == nil, TokenRequired: g.Asks(), User: by.User.ID(), Role: by.Role, Scopes: by.Scopes,
		Via: by.Via,
	}
	if by.Session != "" {
		ends := by.Until.UTC()
		out.Ends = &ends
	}
	return out
}

type nothing struct{}

func (g *Group) get(ctx context.Context, _ *nothing) (sessionJSON, error) {
	return g.who(route.Caller(ctx)), nil
}

// browser is who sends a request, for its cookie, and the session that the request began or ended.
type browser struct {
	*http.Request

	session string
}

// ReadFrom implements [route.Reader].
func (b *browser) ReadFrom(in *route.Input, _ string) { b.Request = in.Request() }

type in struct {
	Browser browser `header:"Cookie"`
}

// Audited implements [route.Audited].
func (in *in) Audited() (object string, ok bool) { return in.Browser.session, in.Browser.session != "" }

// answer is one that sets the cookie, or takes it back.
type answer struct {
	sessionJSON

	cookie *http.Cookie // nil leaves it as it is
}

// Respond implements [route.Responder].
func (a answer) Respond(w http.ResponseWriter) error {
	if a.cookie != nil {
		http.SetCookie(w, a.cookie)
	}
	w.Header().Set("Cache-Control", "no-store")
	return route.Reply(w, http.StatusOK, a.sessionJSON)
}

// begin begins a session for who brings a token. Who needs none, or has a session, gets no other one.
func (g *Group) begin(ctx context.Context, in *in) (answer, error) {
	by, r := route.Caller(ctx), in.Browser.Request
	sum, good := g.Sum(by.Token)
	if !g.Asks() || by.Session != "" || !good {
		return answer{g.who(by), nil}, nil
	}
	s, err := g.Sessions.Begin(ctx, by.User, by.Token, sum, r.UserAgent(), g.Now())
	if err != nil {
		return answer{}, err
	}
	in.Browser.session, by.Session, by.Until = s.ID, s.ID, s.Ends
	return answer{g.who(by), Cookie(r, g.Secure(r), s.Cookie)}, nil
}

// end ends the session that the request came by, and tells who the caller is without it. A cookie of one that has ended
// is taken back too.
func (g *Group) end(ctx context.Context, in *in) (answer, error) {
	by, r := route.Caller(ctx), in.Browser.Request
	if by.Session != "" {
		err := g.Sessions.End(ctx, by.User, by.Session)
		switch {
		case err == nil:
			in.Browser.session = by.Session
		case !errors.Is(err, session.ErrNone):
			return answer{}, err
		}
		by = access.Principal{}
	}
	return answer{g.who(by), Cookie(r, g.Secure(r), "")}, nil
}
