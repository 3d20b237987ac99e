package runsecrets_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/runsecrets"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestRunSecrets(t *testing.T) {
	var cases []databases.Case
	for _, c := range []struct {
		name string
		test func(*fixture)
	}{
		{"kept", kept}, {"of others", ofOthers}, {"every end", everyEnd}, {"deleted", deleted}, {"said to a run", said},
		{"no backup", noBackup},
	} {
		cases = append(cases, databases.Case{Name: c.name, Test: func(f *databases.Fixture) { c.test(newFixture(f)) }})
	}
	databases.Run(t, []database.Feature{runsecrets.Feature()}, cases)
}

type fixture struct {
	*databases.Fixture

	all *runsecrets.Secrets
}

func newFixture(f *databases.Fixture) *fixture {
	key, err := secrets.Open(f.TempDir(), base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32)))
	if err != nil {
		f.Fatal(err)
	}
	return &fixture{f, runsecrets.New(f, key)}
}

var (
	now    = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)
	values = secrets.Values{"API_KEY": "hush-hush-1", "PEM": "-----BEGIN\nhush=\n"}
)

// admit brings in a run of ann's with the values, which owner executes at once if there is one.
func (f *fixture) admit(run, thread, owner string, s store.Strategy) store.Run {
	f.Helper()
	also, err := f.all.For(f.Ann()).Keep(run, thread, values)
	if err != nil {
		f.Fatal(err)
	}
	r, err := f.For(f.Ann()).Admit(f.Context(), store.Admission{
		Run:    store.Run{ID: run, ThreadID: thread, Owner: owner, Key: "key " + run, CreatedAt: now, UpdatedAt: now},
		Thread: store.Thread{ID: thread, CreatedAt: now, UpdatedAt: now}, Also: also, Strategy: s,
	})
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// wants asks for the values of runs by ann: there are some, or none any more.
func (f *fixture) wants(there bool, runs ...string) {
	f.Helper()
	for _, run := range runs {
		v, err := f.all.For(f.Ann()).Of(f.Context(), run)
		switch {
		case there && (err != nil || cmp.Diff(map[string]string(values), map[string]string(v)) != ""):
			f.Errorf("run %s has %v, %v", run, v, err)
		case !there && (v != nil || !errors.Is(err, runsecrets.ErrGone)):
			f.Errorf("run %s still has %v, %v", run, v, err)
		}
	}
}

func kept(f *fixture) {
	f.admit("r", "t", "owner", store.Reject)
	f.wants(true, "r")
	f.admit("r2", "u", "", store.Reject)
	if _, err := f.all.For(f.Ann()).Keep("r3", "t", secrets.Values{"PATH": "hush"}); err == nil ||
		strings.Contains(err.Error(), "hush") {
		f.Errorf("a bad name: %v", err)
	}
	first := f.admit("r", "t", "owner", store.Reject) // asked for again with its key
	f.Equal("run", first.ID, "r")
	f.wants(true, "r", "r2")
}

// ofOthers: by the ids of what is ann's bob finds nothing; nobody is refused; and the values are sealed for their run
// alone.
func ofOthers(f *fixture) {
	f.admit("r", "t", "owner", store.Reject)
	if v, err := f.all.For(f.Bob()).Of(f.Context(), "r"); v != nil || !errors.Is(err, runsecrets.ErrGone) {
		f.Errorf("bob has %v, %v", v, err)
	}
	if v, err := f.all.For(access.User{}).Of(f.Context(), "r"); v != nil || !errors.Is(err, access.ErrNoUser) {
		f.Errorf("nobody has %v, %v", v, err)
	}
	also, err := f.all.For(f.Ann()).Keep("r", "t", values)
	if err != nil {
		f.Fatal(err)
	}
	also[0].Args[0] = "other" // the row of another run
	_, err = f.For(f.Ann()).
		Admit(f.Context(), store.Admission{Run: store.Run{ID: "other", ThreadID: "o", CreatedAt: now},
			Thread: store.Thread{ID: "o"}, Also: also})
	if err != nil {
		f.Fatal(err)
	}
	if v, err := f.all.For(f.Ann()).Of(f.Context(), "other"); v != nil || !errors.Is(err, secrets.ErrBroken) {
		f.Errorf("another run opens them: %v, %v", v, err)
	}
}

// everyEnd: whatever ends a run ends its secrets with it, in the same transaction.
func everyEnd(f *fixture) {
	end := func(run store.Run, change store.RunChange) {
		f.Helper()
		f.wants(true, run.ID)
		if _, err := f.System().Commit(f.Context(), store.Fence{RunID: run.ID, Attempt: run.Attempt},
			store.Step{Now: now, Run: &change}); err != nil {
			f.Fatal(err)
		}
		f.wants(change.Status == event.StatusRunning, run.ID)
	}
	for i, change := range []store.RunChange{
		{Status: event.StatusSuccess}, {Status: event.StatusSuccess, Asks: true},
		{Status: event.StatusError, Error: "x"}, {Status: event.StatusError, Error: store.RolledBack},
		{Status: event.StatusInterrupted}, {Status: event.StatusInterrupted, StopReason: store.Cancelled},
	} {
		end(f.admit("r"+string(rune('0'+i)), "t", "owner", store.Reject), change)
	}
	working := f.admit("working", "u", "owner", store.Reject)
	end(working, store.RunChange{Status: event.StatusRunning, Usage: []byte("{}")}) // no end
	waiting := f.admit("waiting", "u", "", store.Enqueue)
	if _, err := f.For(f.Ann()).StopRun(f.Context(), waiting.ID, store.StopInterrupt, now); err != nil {
		f.Fatal(err)
	}
	f.wants(false, waiting.ID)
	waiting = f.admit("waiting2", "u", "", store.Enqueue)
	f.admit("instead", "u", "", store.Interrupt) // ends what waits, and asks what works to end
	f.wants(false, waiting.ID)
	f.wants(true, working.ID, "instead")
	end(working, store.RunChange{Status: event.StatusError, Error: store.RolledBack})
	f.Sound()
}

// deleted: with its thread, and with its user.
func deleted(f *fixture) {
	f.admit("r", "t", "", store.Reject)
	if _, err := f.For(f.Ann()).StopRun(f.Context(), "r", store.StopInterrupt, now); err != nil {
		f.Fatal(err)
	}
	if err := f.For(f.Ann()).DeleteThread(f.Context(), "t"); err != nil {
		f.Fatal(err)
	}
	f.admit("r2", "u", "", store.Reject)
	if _, err := f.System().DeleteUser(f.Context(), f.Ann()); err != nil {
		f.Fatal(err)
	}
	f.wants(false, "r", "r2")
}

// said: what is said to a run at work brings secrets for the case that it becomes a run of its own, and for no other.
func said(f *fixture) {
	run := f.admit("r", "t", "owner", store.Reject)
	for _, id := range []string{"s1", "s2"} {
		f.admit(id, "t", "", store.Steer)
	}
	f.wants(true, "s1", "s2")
	step := store.Step{Now: now, Takes: []string{"s1"}}
	if _, err := f.System().Commit(f.Context(), store.Fence{RunID: run.ID, Attempt: run.Attempt}, step); err != nil {
		f.Fatal(err)
	}
	if err := f.For(f.Ann()).TakeBack(f.Context(), "t", "s2"); err != nil {
		f.Fatal(err)
	}
	f.wants(false, "s1", "s2")
	f.wants(true, "r")
}

// noBackup: neither a dump of everything nor that of a thread has anything of them.
func noBackup(f *fixture) {
	f.admit("r", "t", "", store.Reject)
	var all, one bytes.Buffer
	if _, err := f.System().Dump(f.Context(), &all); err != nil {
		f.Fatal(err)
	}
	if _, err := f.For(f.Ann()).DumpThread(f.Context(), "t", &one); err != nil {
		f.Fatal(err)
	}
	if text := all.String() + one.String(); strings.Contains(text, "run_secret") || strings.Contains(text, "sealed:") ||
		strings.Contains(text, "hush") {
		f.Errorf("a dump has them: %s", text)
	}
}
