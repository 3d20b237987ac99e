// Package session keeps the sessions of browsers. A browser signs in with a token once and has a cookie from then on,
// since images, PDFs and downloads send no other header. A session says no more than that the browser had a token: it
// is good as long as the token is, and does what that may do.
//
//	POST /session -> Begin -> cookie -> the gateway's guard -> Find -> who asks -> DELETE /session -> End
//
// A session is a row and no sealed cookie: signing out ends it at once on every node. The row has no secret. It keeps
// an HMAC of the token's SHA-256 by the secret of the cookie: who has the database learns neither, and the cookie fails
// with another token of the same name. A dump leaves it out, so that a backup that is restored signs nobody in.
package session

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/excerpt"
	"github.com/pudu-ai/pudu/internal/lib/inert"
)

const (
	// Keep is how long a session lasts after it was last used.
	Keep = 30 * 24 * time.Hour
	// MaxPerToken are the sessions of a token; those that were not used for the longest time go first.
	MaxPerToken = 100
	// note is how exactly it is known when a session was last used.
	note = 24 * time.Hour
	// maxAgent bounds what is kept of how a browser calls itself, in bytes, but for the mark of a cut.
	maxAgent = 256
)

// ErrNone says that there is no such session, or no longer.
var ErrNone = errors.New("the session has ended")

// Sum is the SHA-256 of a token.
type Sum = [sha256.Size]byte

// Session is a session of a browser.
type Session struct {
	ID   string
	User access.User
	// Token is the name of the token that began it.
	Token string
	// Ends is when it ends if it is not used again.
	Ends time.Time
	// Agent is what the browser that began it calls itself, and Begun when that was. [Sessions.Find] does not tell
	// them.
	Agent string
	Begun time.Time
	// Cookie is to be sent to the browser; empty if it has it already.
	Cookie string
}

// Used is when it was last used, to about a day.
func (s Session) Used() time.Time { return s.Ends.Add(-Keep) }

// Sessions are those of all users.
type Sessions struct{ db database.DB }

// New makes the sessions of a store.
func New(st database.Store) *Sessions { return &Sessions{st.Feature(Feature().Name)} }

// Begin begins a session for who has brought a token, in a browser that calls itself agent.
func (s *Sessions) Begin(ctx context.Context, u access.User, token string, sum Sum, agent string,
	now time.Time) (Session, error) {
	id, secret := rand.Text(), rand.Text()
	now = now.Truncate(time.Microsecond)
	out := Session{
		ID: id, User: u, Token: token, Ends: now.Add(Keep), Cookie: id + "." + secret,
		Agent: excerpt.Bound(inert.Line(agent), maxAgent), Begun: now,
	}
	err := s.db.For(u).Write(ctx, 0, func(tx database.Tx) error {
		_, err := tx.Exec("insert", id, token, sealOf(secret, sum), database.Micros(now), database.Micros(out.Ends),
			out.Agent)
		if err == nil {
			_, err = tx.Exec("trim", token, database.Micros(now), MaxPerToken)
		}
		return err
	})
	if err != nil {
		return Session{}, fmt.Errorf("begin a session: %w", err)
	}
	return out, nil
}

// sealOf is what a row keeps of the secret of a cookie and of a token.
func sealOf(secret string, sum Sum) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(sum[:])
	return hex.EncodeToString(mac.Sum(nil))
}

var cookiePattern = regexp.MustCompile(`^[A-Z2-7]{26}\.[A-Z2-7]{26}$`)

// Find is the session of a cookie; [ErrNone] if there is none, if it has ended, or if its token is not what it was. sum
// finds the tokens that are good by their names. A session that is used lasts longer: its Cookie is then to be sent
// again.
func (s *Sessions) Find(ctx context.Context, cookie string, sum func(token string) (Sum, bool),
	now time.Time) (Session, error) {
	if !cookiePattern.MatchString(cookie) {
		return Session{}, ErrNone
	}
	id, secret, _ := strings.Cut(cookie, ".")
	var user, seal string
	var ends int64
	out := Session{ID: id}
	err := s.db.System().Read(ctx, "find", func(r database.Row) (bool, error) {
		return false, r.Scan(&user, &out.Token, &seal, &ends)
	}, id, database.Micros(now))
	if err != nil {
		return Session{}, fmt.Errorf("find a session: %w", err)
	}
	token, good := sum(out.Token)
	if !good || !hmac.Equal([]byte(seal), []byte(sealOf(secret, token))) {
		return Session{}, ErrNone
	}
	out.User, out.Ends = access.FromRow(user), database.TimeOf(ends)
	if longer := now.Add(Keep); out.Ends.Before(longer.Add(-note)) {
		err = s.change(ctx, out.User, "renew", id, database.Micros(longer))
		switch {
		case errors.Is(err, ErrNone): // it was ended meanwhile
			return Session{}, ErrNone
		case err == nil: // else it lasts as long as it did
			out.Ends, out.Cookie = longer, cookie
		}
	}
	return out, nil
}

// List returns the sessions of a user, at most limit, those that were used last first. Some may be over because their
// token is.
func (s *Sessions) List(ctx context.Context, u access.User, limit int, now time.Time) (list []Session, err error) {
	err = s.db.For(u).Read(ctx, "list", func(r database.Row) (bool, error) {
		out := Session{User: u}
		var begun, ends int64
		err := r.Scan(&out.ID, &out.Token, &out.Agent, &begun, &ends)
		out.Begun, out.Ends = database.TimeOf(begun), database.TimeOf(ends)
		list = append(list, out)
		return true, err
	}, database.Micros(now), limit)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}

// End ends a session of a user; [ErrNone] if there is none.
func (s *Sessions) End(ctx context.Context, u access.User, id string) error {
	return s.change(ctx, u, "end", id)
}

func (s *Sessions) change(ctx context.Context, u access.User, statement string, args ...any) error {
	err := s.db.For(u).Write(ctx, 0, func(tx database.Tx) error {
		n, err := tx.Exec(statement, args...)
		if err == nil && n == 0 {
			err = ErrNone
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s a session: %w", statement, err)
	}
	return nil
}
