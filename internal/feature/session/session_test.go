package session_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/session"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestSession(t *testing.T) {
	databases.Run(t, []database.Feature{session.Feature()}, []databases.Case{
		{Name: "from the beginning to the end", Test: whole}, {Name: "its token", Test: token},
		{Name: "it lasts", Test: lasts}, {Name: "bounds", Test: bounds}, {Name: "of others", Test: ofOthers},
		{Name: "listed", Test: listed}, {Name: "a dump signs nobody in", Test: dumped},
	})
}

// agent is what a hostile browser calls itself.
var agent = "Fire\x1b[31mfox\n\xff" + strings.Repeat("ä", 1000)

var now = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

// tokens are good tokens by their names.
type tokens map[string]string

func (t tokens) sum(name string) (session.Sum, bool) {
	secret, ok := t[name]
	return sha256.Sum256([]byte(secret)), ok
}

var good = tokens{"": "single", "ci": "one"}

func begin(f *databases.Fixture, u access.User, name string, at time.Time) session.Session {
	sum, _ := good.sum(name)
	s, err := session.New(f.Store).Begin(f.Context(), u, name, sum, agent, at)
	f.Must(err)
	return s
}

func whole(f *databases.Fixture) {
	made := begin(f, f.Ann(), "ci", now)
	begin(f, f.Bob(), "ci", now)
	f.Reopen()
	all := session.New(f.Store)
	got, err := all.Find(f.Context(), made.Cookie, good.sum, now.Add(time.Hour))
	f.Must(err)
	want := made
	want.Cookie, want.Agent, want.Begun = "", "", time.Time{} // which the list tells
	f.Equal("session", got, want)
	for _, cookie := range []string{
		"", "x", made.ID, made.ID + ".", made.ID + "." + strings.Repeat("A", 26), strings.ToLower(made.Cookie),
		made.Cookie + "A", strings.Repeat("A", 26) + "." + strings.Repeat("A", 26), made.Cookie + "\x00",
	} {
		_, err := all.Find(f.Context(), cookie, good.sum, now)
		f.Want(err, session.ErrNone, "")
	}
	ends := all
	if other := f.Another(); other != nil { // what one node begins another one ends
		ends = session.New(other)
		_, err := ends.Find(f.Context(), made.Cookie, good.sum, now)
		f.Must(err)
	}
	f.Must(ends.End(f.Context(), f.Ann(), made.ID))
	f.Want(all.End(f.Context(), f.Ann(), made.ID), session.ErrNone, "")
	_, err = all.Find(f.Context(), made.Cookie, good.sum, now)
	f.Want(err, session.ErrNone, "")
	f.Sound()
	f.Must(f.Close())
	_, err = all.Find(f.Context(), made.Cookie, good.sum, now)
	f.Want(err, store.ErrClosed, "")
	sum, _ := good.sum("ci")
	_, err = all.Begin(f.Context(), f.Ann(), "ci", sum, agent, now)
	f.Want(err, store.ErrClosed, "")
	f.Reopen()
}

// token: a session ends with its token, also if another one has its name now.
func token(f *databases.Fixture) {
	all := session.New(f.Store)
	for _, name := range []string{"", "ci"} {
		s := begin(f, f.Ann(), name, now)
		for _, after := range []tokens{{}, {name: "another"}} {
			_, err := all.Find(f.Context(), s.Cookie, after.sum, now)
			f.Want(err, session.ErrNone, "")
		}
	}
}

// lasts: a session that is used lasts, and one that is not ends.
func lasts(f *databases.Fixture) {
	all, day := session.New(f.Store), 24*time.Hour
	s := begin(f, f.Ann(), "ci", now)
	for at := now; at.Before(now.Add(100 * day)); at = at.Add(29 * day) {
		got, err := all.Find(f.Context(), s.Cookie, good.sum, at)
		f.Must(err)
		f.Equal("it ends", got.Ends, at.Add(session.Keep))
		f.Equal("the cookie is sent again", got.Cookie != "", at != now)
	}
	_, err := all.Find(f.Context(), s.Cookie, good.sum, now.Add(87*day+session.Keep))
	f.Want(err, session.ErrNone, "")
}

func bounds(f *databases.Fixture) {
	all := session.New(f.Store)
	made := make([]session.Session, 0, session.MaxPerToken+5)
	other := begin(f, f.Ann(), "", now)
	for i := range cap(made) {
		made = append(made, begin(f, f.Ann(), "ci", now.Add(time.Duration(i)*time.Second)))
	}
	for i, s := range append(made, other) {
		_, err := all.Find(f.Context(), s.Cookie, good.sum, now.Add(time.Hour))
		f.Equal(fmt.Sprint("session ", i), err == nil, i >= 5)
	}
}

func ofOthers(f *databases.Fixture) {
	all, hers := session.New(f.Store), begin(f, f.Ann(), "ci", now)
	f.Want(all.End(f.Context(), f.Bob(), hers.ID), session.ErrNone, "")
	f.Want(all.End(f.Context(), access.User{}, hers.ID), access.ErrNoUser, "")
	sum, _ := good.sum("ci")
	_, err := all.Begin(f.Context(), access.User{}, "ci", sum, agent, now)
	f.Want(err, access.ErrNoUser, "")
	_, err = all.Find(f.Context(), hers.Cookie, good.sum, now)
	f.Must(err)
}

// dumped: a dump has that there were sessions, and nothing that signs in; they go with their user.
func dumped(f *databases.Fixture) {
	made := begin(f, f.Ann(), "ci", now)
	var all strings.Builder
	_, err := f.Store.System().Dump(f.Context(), &all)
	f.Must(err)
	_, err = f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	_, err = session.New(f.Store).Find(f.Context(), made.Cookie, good.sum, now)
	f.Want(err, session.ErrNone, "")
	_, err = f.Store.System().Load(f.Context(), strings.NewReader(all.String()), nil)
	f.Must(err)
	_, err = session.New(f.Store).Find(f.Context(), made.Cookie, good.sum, now)
	f.Want(err, session.ErrNone, "")
	f.Sound()
}

// listed: a user's sessions with what tells them apart, without what signs in.
func listed(f *databases.Fixture) {
	all := session.New(f.Store)
	first, second := begin(f, f.Ann(), "ci", now), begin(f, f.Ann(), "", now.Add(time.Hour))
	begin(f, f.Bob(), "ci", now)
	list, err := all.List(f.Context(), f.Ann(), 10, now.Add(2*time.Hour))
	f.Must(err)
	first.Cookie, second.Cookie = "", ""
	f.Equal("sessions", list, []session.Session{second, first})
	if got := list[0]; !got.Used().Equal(now.Add(time.Hour).Truncate(time.Microsecond)) || len(got.Agent) > 256+
		len("…") || strings.ContainsAny(got.Agent, "\x1b\n") || !utf8.ValidString(got.Agent) ||
		!strings.HasPrefix(got.Agent, "Fire") {
		f.Errorf("%+v", got)
	}
	list, err = all.List(f.Context(), f.Ann(), 1, now)
	f.Must(err)
	f.Equal("of a bounded list", len(list), 1)
	list, err = all.List(f.Context(), f.Ann(), 10, now.Add(session.Keep))
	f.Must(err)
	f.Equal("sessions that are not over", len(list), 1)
	_, err = all.List(f.Context(), access.User{}, 10, now)
	f.Want(err, access.ErrNoUser, "")
}
