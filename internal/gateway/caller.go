package gateway

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
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
func (s *Server) authenticated(w http.ResponseWriter, r *http.Request, asks, public bool) (*http.Request, bool) {
	by, token, ok := s.principal(r, asks, public)
	if ok {
		if asks && by.User.Check() == nil {
			s.Audit.SignedIn(r.Context(), by, token)
		}
		return r.WithContext(logctx.With(route.Called(r.Context(), by), logctx.IDs{User: by.User.ID(), Token: token})), true
	}
	s.Watch.Refused()
	why := "wrong"
	if tokenOf(r) == "" {
		why = "missing"
	}
	s.Log.WarnContext(r.Context(), "token refused", "why", why, "method", route.Clip(r.Method),
		"path", route.Clip(r.URL.Path), "from", route.From(r))
	refused := audit.Of(access.Principal{Via: "address " + route.From(r)}, audit.SignIn, "token", "")
	refused.Refused = "the token is " + why
	s.Audit.Record(r.Context(), refused)
	w.Header().Set("WWW-Authenticate", "Bearer")
	return r, refuse(w, http.StatusUnauthorized, "The token is missing or wrong: send it as Authorization: Bearer TOKEN")
}

// principal is who sends the request, and the name of the token that says so; false if there must be one. Who asks for a public
// route need not be anybody.
func (s *Server) principal(r *http.Request, asks, public bool) (by access.Principal, token string, ok bool) {
	by = access.Principal{User: s.User, Role: cmp.Or(s.Role, access.Admin), Scopes: s.Scopes}
	by.Via = cmp.Or(s.Via, "loopback")
	switch {
	case asks:
		token, ok = s.Guard.knows(r)
		if !ok {
			return access.Principal{}, "", public
		}
		by.Via = strings.TrimSpace("token " + token)
		return by, token, ok
	case s.Guard.Open:
		by.Via = cmp.Or(s.Via, "open address")
	}
	return by, "", true
}
