package sessions

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/gateway/route"
)

// listedJSON is a session in a list.
type listedJSON struct {
	ID string `json:"session_id"`
	// Via is how the audit log names it: by the token that began it.
	Via       string    `json:"via"`
	Agent     string    `json:"user_agent"`
	CreatedAt time.Time `json:"created_at"`
	// UsedAt is known to about a day.
	UsedAt time.Time `json:"last_used_at"`
	Ends   time.Time `json:"ends_at"`
	// Current says that the request came by it.
	Current bool `json:"current"`
}

// most bounds the list.
const most = 1000

// list lists the caller's sessions. Those whose token was revoked are over and left out.
func (g *Group) list(ctx context.Context, _ *nothing) ([]listedJSON, error) {
	by, out := route.Caller(ctx), []listedJSON{}
	list, err := g.Sessions.List(ctx, by.User, most, g.Now())
	for _, s := range list {
		if _, good := g.Sum(s.Token); good {
			out = append(out, listed(s, by.Session))
		}
	}
	return out, err
}

func listed(s session.Session, current string) listedJSON {
	return listedJSON{
		s.ID, strings.TrimSpace("session " + s.Token), s.Agent, s.Begun.UTC(), s.Used().UTC(), s.Ends.UTC(),
		s.ID == current,
	}
}

type oneIn struct {
	ID      string  `path:"session_id"`
	Browser browser `header:"Cookie"`
}

// ended is the answer to the end of a session.
type ended struct{ cookie *http.Cookie } // that takes the caller's own back; nil if it was another one

// Respond implements [route.Responder].
func (e ended) Respond(w http.ResponseWriter) error {
	if e.cookie != nil {
		http.SetCookie(w, e.cookie)
	}
	return route.Status(http.StatusNoContent).Respond(w)
}

// endOne ends a session of the caller, also that which the request came by.
func (g *Group) endOne(ctx context.Context, in *oneIn) (out ended, err error) {
	by, r := route.Caller(ctx), in.Browser.Request
	err = g.Sessions.End(ctx, by.User, in.ID)
	if errors.Is(err, session.ErrNone) {
		return out, route.NotFound("Session", route.Clip(in.ID))
	}
	if in.ID == by.Session {
		out.cookie = Cookie(r, g.Secure(r), "")
	}
	return out, err
}
