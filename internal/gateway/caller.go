package gateway

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/gateway/sessions"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
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

// refused says why a request is not let in.
type refused struct {
	status int
	// why is for the log, of what kind, and detail for the caller.
	why, kind, detail string
}

func (e *refused) Error() string { return e.detail }

// authenticated finds out who sends a request, by a token or by a session, where one is needed, and refuses the request
// if it has none that is good. Who asks for a public route need not be anybody.
func (s *Server) authenticated(w http.ResponseWriter, r *http.Request, asks, public bool) (*http.Request, bool) {
	by, err := s.principal(w, r, asks)
	no, _ := errors.AsType[*refused](err)
	switch {
	case err == nil:
		if asks && by.Session == "" && by.User.Check() == nil {
			s.Audit.SignedIn(r.Context(), by, by.Token)
		}
	case no == nil:
		s.env.Fail(w, r, err)
		return r, false
	case public && no.status != http.StatusForbidden:
		by = access.Principal{}
	default:
		return r, s.turnAway(w, r, no)
	}
	return r.WithContext(logctx.With(route.Called(r.Context(), by), logctx.IDs{User: by.User.ID(), Token: by.Token})),
		true
}

// turnAway refuses a request, and has the log, the audit log and the figures tell of it.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, no *refused) bool {
	from := s.Guard.client(r)
	s.Watch.Refused()
	s.Log.WarnContext(r.Context(), no.kind+" refused", "why", no.why, "method", route.Clip(r.Method),
		"path", route.Clip(r.URL.Path), "from", from)
	entry := audit.Of(access.Principal{Via: "address " + from}, audit.SignIn, no.kind, "")
	entry.Refused = "the " + no.kind + " is " + no.why
	s.Audit.Record(r.Context(), entry)
	switch no.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(int(triesWindow.Seconds())))
	}
	return refuse(w, no.status, no.detail)
}

// principal is who sends the request. A token counts before a session.
func (s *Server) principal(w http.ResponseWriter, r *http.Request, asks bool) (by access.Principal, err error) {
	by = access.Principal{User: s.User, Role: cmp.Or(s.Role, access.Admin), Scopes: s.Scopes}
	by.Via = cmp.Or(s.Via, "loopback")
	cookie := sessions.CookieOf(r, s.Guard.secure(r))
	switch {
	case !asks && s.Guard.Open:
		by.Via = cmp.Or(s.Via, "open address")
		return by, nil
	case !asks:
		return by, nil
	case tokenOf(r) != "" || cookie == "" || s.Sessions == nil:
		by.Token, err = s.byToken(r)
		by.Via = strings.TrimSpace("token " + by.Token)
		return by, err
	}
	return s.bySession(w, r, by, cookie)
}

// byToken is the name of the token that the request brings.
func (s *Server) byToken(r *http.Request) (string, error) {
	const detail = "The token is missing or wrong: send it as Authorization: Bearer TOKEN"
	switch from := s.Guard.client(r); {
	case tokenOf(r) == "":
		return "", &refused{http.StatusUnauthorized, "missing", "token", detail}
	case s.tries.over(from, s.Now()):
		return "", &refused{http.StatusTooManyRequests, "one after too many", "token",
			"Too many wrong tokens came from " + from + "; try again in a minute"}
	default:
		name, ok := s.Guard.knows(r)
		if ok {
			return name, nil
		}
		s.tries.wrong(from, s.Now())
		return "", &refused{http.StatusUnauthorized, "wrong", "token", detail}
	}
}

// bySession is who sends a request with the cookie of a session: whoever has its token, now.
func (s *Server) bySession(w http.ResponseWriter, r *http.Request, by access.Principal,
	cookie string) (access.Principal, error) {
	found, err := s.Sessions.Find(store.WithPatience(r.Context(), time.Second), cookie, s.Guard.sum, s.Now())
	if errors.Is(err, session.ErrNone) {
		return by, &refused{http.StatusUnauthorized, "over", "session", "The session has ended: sign in again"}
	}
	if err != nil {
		return by, err
	}
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
	if !safe && !s.Guard.ownPage(r) {
		return by, &refused{http.StatusForbidden, "used by another page", "session",
			"With the cookie of a session only pages of this server may change something; others send a token"}
	}
	if found.Cookie != "" {
		http.SetCookie(w, sessions.Cookie(r, s.Guard.secure(r), found.Cookie))
	}
	by.User, by.Token, by.Session, by.Until = found.User, found.Token, found.ID, found.Ends
	by.Via = strings.TrimSpace("session " + found.Token)
	return by, nil
}
