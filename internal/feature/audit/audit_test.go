package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/lib/logctx"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestAudit(t *testing.T) {
	databases.Run(t, []database.Feature{audit.Feature()}, []databases.Case{
		{Name: "round trip", Test: roundTrip}, {Name: "bounds", Test: bounds}, {Name: "kept", Test: kept},
	})
}

func principal(f *databases.Fixture, u access.User) access.Principal {
	f.Helper()
	return access.Principal{User: u, Role: access.Regular, Via: "token ci"}
}

func list(f *databases.Fixture, l *audit.Log, filter audit.Filter) (lines []string) {
	f.Helper()
	if filter.Limit == 0 {
		filter.Limit = 100
	}
	rows, err := l.List(f.Context(), filter)
	f.Must(err)
	for _, e := range rows {
		line := fmt.Sprintf("%s by %s: %s %s %s", e.User, e.Via, e.Verb, e.Kind, e.Object)
		if e.Refused != "" {
			line += " refused " + e.Refused
		}
		lines = append(lines, line)
	}
	return lines
}

func roundTrip(f *databases.Fixture) {
	l := audit.New(f.Store, nil, nil)
	began := time.Now().Add(-time.Second)
	ctx := logctx.With(f.Context(), logctx.IDs{Request: "r1"})
	l.Record(ctx, audit.Of(principal(f, f.Ann()), audit.Delete, "thread", "t"))
	l.SignedIn(ctx, principal(f, f.Bob()), "ci")
	l.SignedIn(ctx, principal(f, f.Bob()), "ci") // the first time is told
	f.Reopen()
	l = audit.New(f.Store, nil, nil)
	rows, err := l.List(f.Context(), audit.Filter{Limit: 10, User: "ann"})
	f.Must(err)
	if len(rows) != 1 || rows[0].ID == "" || rows[0].At.Before(began) || rows[0].Role != "user" || rows[0].Times != 1 ||
		rows[0].Request != "r1" {
		f.Errorf("%+v", rows)
	}
	signIn, deletion := "bob by token ci: sign-in token ci", "ann by token ci: delete thread t"
	f.Equal("all", list(f, l, audit.Filter{}), []string{signIn, deletion})
	f.Equal("page", list(f, l, audit.Filter{Limit: 1, Offset: 1}), []string{deletion})
	f.Equal("since", list(f, l, audit.Filter{Since: time.Now().Add(time.Hour)}), []string(nil))
	l.SignedIn(ctx, principal(f, f.Bob()), "ci")
	f.Equal("of another process", len(list(f, l, audit.Filter{})), 3)
	f.Sound()
}

func bounds(f *databases.Fixture) {
	l := audit.New(f.Store, nil, nil)
	l.Record(f.Context(), audit.Of(principal(f, f.Ann()), audit.Delete, "file", "a\x00"+strings.Repeat("ä", 1000)))
	rows, err := l.List(f.Context(), audit.Filter{Limit: 1})
	f.Must(err)
	if len(rows) != 1 || len(rows[0].Object) > 260 || !strings.HasPrefix(rows[0].Object, "a\uFFFDä") {
		f.Errorf("%+v", rows)
	}
	if _, err := l.List(f.Context(), audit.Filter{Limit: 1002}); err == nil {
		f.Error("List took any limit")
	}
	var none *audit.Log
	none.Record(f.Context(), audit.Entry{})
	none.SignedIn(f.Context(), access.Principal{}, "")
	none.Close(f.Context())
}

// kept: rows are in a dump, stay when their user goes, and go by their age.
func kept(f *databases.Fixture) {
	l := audit.New(f.Store, nil, nil)
	l.Record(f.Context(), audit.Of(principal(f, f.Ann()), audit.Delete, "thread", "t"))
	var all strings.Builder
	_, err := f.Store.System().Dump(f.Context(), &all)
	f.Must(err)
	_, err = f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("behind its user", len(list(f, l, audit.Filter{})), 1)
	for after, want := range map[time.Duration]int64{audit.Keep - time.Hour: 0, audit.Keep + time.Hour: 1} {
		c, err := f.Store.System().Collect(f.Context(), store.Retention{Rows: time.Now().Add(after), DryRun: true})
		f.Must(err)
		f.Equal("dropped", c.Rows, want)
	}
	_, err = f.Store.System().Collect(f.Context(), store.Retention{Rows: time.Now().Add(2 * audit.Keep)})
	f.Must(err)
	f.Equal("when its time is over", len(list(f, l, audit.Filter{})), 0)
	_, err = f.Store.System().Load(f.Context(), strings.NewReader(all.String()), nil)
	f.Must(err)
	f.Equal("restored", len(list(f, l, audit.Filter{})), 1)
	f.Sound()
}

// refusal is one by somebody at an address.
func refusal(addr string) audit.Entry {
	e := audit.Of(access.Principal{Via: "address " + addr}, audit.SignIn, "token", "")
	e.Refused = "the token is wrong"
	return e
}

// TestAFloodOfRefusals writes a row a minute, which counts the others, and the last of them when the log is closed.
func TestAFloodOfRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written []string
		st := memory{write: func(args []any) { written = append(written, fmt.Sprintf("%v %v", args[4], args[9])) }}
		l := audit.New(st, nil, nil)
		for range 3 {
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() { l.Record(t.Context(), refusal("a")) })
			}
			all.Wait()
			time.Sleep(2 * audit.Window)
		}
		l.Record(t.Context(), refusal("b"))
		l.Record(t.Context(), refusal("b"))
		l.Close(t.Context())
		got := strings.Join(written, ", ")
		if want := "address a 1, address a 50, address a 50, address b 1, address a 49, address b 1"; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		written = nil
		for i := range 5000 {
			l.Record(t.Context(), refusal(fmt.Sprint(i)))
		}
		if n := len(written); n > 1100 {
			t.Errorf("%d rows of 5000 addresses", n)
		}
	})
}

// TestWhatTheCommandLineLooksAt is not told; what it changes is, and what others look at.
func TestWhatTheCommandLineLooksAt(t *testing.T) {
	var written []string
	l := audit.New(memory{write: func(args []any) { written = append(written, fmt.Sprint(args[4], args[5])) }}, nil,
		nil)
	l.Record(t.Context(), audit.Of(audit.Local(), audit.Look, "jobs", ""),
		audit.Of(audit.Local(), audit.Delete, "job", "a/b"),
		audit.Of(access.Principal{Via: "command line socket"}, audit.Look, "jobs", ""))
	if want := "[clidelete command line socketlook]"; fmt.Sprint(written) != want {
		t.Errorf("got %q, want %s", written, want)
	}
}

// TestAuditThatCannotBeWritten is told to the log and counted; it does not wait long.
func TestAuditThatCannotBeWritten(t *testing.T) {
	var out bytes.Buffer
	lost := 0
	l := audit.New(memory{err: errors.New("away")}, slog.New(slog.NewTextHandler(&out, nil)), func() { lost++ })
	l.Record(t.Context(), audit.Of(audit.Local(), audit.Delete, "thread", "t7"))
	if said := out.String(); lost != 1 || !strings.Contains(said, "level=ERROR") ||
		!strings.Contains(said, "object=t7") ||
		!strings.Contains(said, "error=away") {
		t.Errorf("lost %d, %s", lost, said)
	}
}
