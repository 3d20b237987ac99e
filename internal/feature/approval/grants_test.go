package approval_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/approval"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestGrants(t *testing.T) {
	databases.Run(t, []database.Feature{approval.Feature()}, []databases.Case{
		{Name: "given, used, revoked", Test: roundTrip}, {Name: "bounds", Test: bounds},
		{Name: "threads", Test: threads}, {Name: "with an answer", Test: admitted}, {Name: "of others", Test: ofOthers},
		{Name: "revoked elsewhere", Test: elsewhere}, {Name: "copied, restored and deleted", Test: kept},
	})
}

var now = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

func grant(id, thread, pattern string) approval.Grant {
	return approval.Grant{
		ID: id, Tool: "bash", ThreadID: thread, Via: "token ci", GivenAt: now,
		Pattern: approval.Pattern{Text: pattern, Exact: !strings.HasSuffix(pattern, "*")},
	}
}

func bash(line string) json.RawMessage {
	return fmt.Appendf(nil, `{"command":%q,"description":"x"}`, line)
}

// used is the id of the grant that covers a command on a thread; empty if none does.
func used(f *databases.Fixture, mine *approval.Mine, thread, line string) string {
	f.Helper()
	g, found, err := mine.Use(f.Context(), thread, "bash", bash(line), now.Add(time.Minute))
	f.Must(err)
	f.Equal("found", found, g.ID != "")
	return g.ID
}

func thread(f *databases.Fixture, u access.User, id string) {
	f.Helper()
	f.Must(f.Store.For(u).CreateThread(f.Context(), store.Thread{ID: id}))
}

func roundTrip(f *databases.Fixture) {
	mine := approval.NewGrants(f).For(f.Ann())
	given, err := mine.Add(f.Context(), grant("1", "", "git status*"))
	f.Must(err)
	f.Equal("given", given, grant("1", "", "git status*"))
	again, err := mine.Add(f.Context(), grant("2", "", "git status*"))
	f.Must(err)
	f.Equal("given again", again.ID, "1")
	exact := grant("3", "", "git status*")
	exact.Pattern.Exact = true
	_, err = mine.Add(f.Context(), exact)
	f.Must(err)

	thread(f, f.Ann(), "t")
	for line, want := range map[string]string{
		"git status": "1", "git status -s": "1", "git status*": "3", "git status; rm -rf /": "", "git statu": "",
	} {
		f.Equal(line, used(f, mine, "t", line), want)
	}
	f.Reopen()
	mine = approval.NewGrants(f.Store).For(f.Ann())
	list, err := mine.List(f.Context(), false, 1000, 0)
	f.Must(err)
	want := grant("1", "", "git status*")
	want.Uses, want.UsedAt = 2, now.Add(time.Minute)
	f.Equal("used", list[1], want)

	f.Must(mine.Revoke(f.Context(), "1", now.Add(time.Hour)))
	f.Want(mine.Revoke(f.Context(), "1", now), store.ErrNotFound, "1")
	f.Equal("revoked", used(f, mine, "t", "git status"), "")
	list, err = mine.List(f.Context(), false, 1000, 0)
	f.Must(err)
	f.Equal("active", len(list), 1)
	list, err = mine.List(f.Context(), true, 1, 1)
	f.Must(err)
	f.Equal("with those that were revoked", list[0].RevokedAt, now.Add(time.Hour))
	_, err = mine.Add(f.Context(), grant("4", "", "git status*")) // anew
	f.Must(err)
	f.Equal("given anew", used(f, mine, "t", "git status"), "4")
	f.Sound()
}

func bounds(f *databases.Fixture) {
	mine := approval.NewGrants(f).For(f.Ann())
	for _, change := range []func(*approval.Grant){
		func(g *approval.Grant) { g.ID = "" }, func(g *approval.Grant) { g.Tool = "" },
		func(g *approval.Grant) { g.Tool = "a b" }, func(g *approval.Grant) { g.Pattern.Text = "" },
		func(g *approval.Grant) { g.Pattern.Text = "x\x00" },
		func(g *approval.Grant) { g.Pattern = approval.Pattern{Text: "*"} },
		func(g *approval.Grant) { g.Pattern.Text = strings.Repeat("x", approval.MaxPattern+1) },
	} {
		g := grant("x", "", "ls")
		change(&g)
		if _, err := mine.Add(f.Context(), g); err == nil {
			f.Errorf("Add took %+v", g)
		}
	}
	if _, err := mine.List(f.Context(), false, 1002, 0); err == nil {
		f.Error("List took any limit")
	}
	widest := grant("widest", "", strings.Repeat("x", approval.MaxPattern))
	_, err := mine.Add(f.Context(), widest)
	f.Must(err)
	for i := range 205 { // what was revoked makes room
		id := fmt.Sprint("old", i)
		_, err := mine.Add(f.Context(), grant(id, "", "ls "+id))
		f.Must(err)
		f.Must(mine.Revoke(f.Context(), id, now.Add(time.Duration(i)*time.Second)))
	}
	list, err := mine.List(f.Context(), true, 1000, 0)
	f.Must(err)
	f.Equal("kept", len(list), 202) // the widest, the last, and those that the last found
	f.Must(f.Across(f.Context(), func(j database.Joint) error {
		tx := j.For(approval.Feature().Name, f.Ann())
		for i := range 798 {
			give := grant(fmt.Sprint(i), "", fmt.Sprint("ls ", i)).Give()[0]
			if _, err := tx.Exec(give.Name, give.Args...); err != nil {
				return err
			}
		}
		return nil
	}))
	list, err = mine.List(f.Context(), true, 1001, 0)
	f.Must(err)
	f.Equal("all", len(list), 1000)
	_, err = mine.Add(f.Context(), grant("the last", "", "ls last")) // in the place of one that was revoked
	f.Must(err)
	_, err = mine.Add(f.Context(), grant("one more", "", "ls one more"))
	f.Want(err, database.ErrQuota, "1000")
}

func threads(f *databases.Fixture) {
	mine := approval.NewGrants(f).For(f.Ann())
	thread(f, f.Ann(), "a")
	thread(f, f.Ann(), "b")
	_, err := mine.Add(f.Context(), grant("1", "a", "ls"))
	f.Must(err)
	f.Equal("in its thread", used(f, mine, "a", "ls"), "1")
	f.Equal("in another", used(f, mine, "b", "ls"), "")
	f.Equal("in none", used(f, mine, "nowhere", "ls"), "")
	f.Equal("in the empty one", used(f, mine, "", "ls"), "")

	// A run below another has the grants of the thread at the top, and only those.
	for _, top := range []string{"a", "b"} {
		hidden := child(f, top)
		f.Equal("below "+top, used(f, mine, hidden, "ls"), map[string]string{"a": "1", "b": ""}[top])
		_, err := mine.Add(f.Context(), grant("hidden", hidden, "ls"))
		f.Want(err, store.ErrNotFound, "")
	}
	f.Must(f.Store.For(f.Ann()).CopyThread(f.Context(), "a", "", store.Thread{ID: "copy"}))
	f.Equal("in a copy", used(f, mine, "copy", "ls"), "")

	_, err = mine.Add(f.Context(), grant("2", "nowhere", "ls"))
	f.Want(err, store.ErrNotFound, "")
	thread(f, f.Ann(), "c")
	_, err = mine.Add(f.Context(), grant("3", "c", "ls"))
	f.Must(err)
	f.Must(f.Store.For(f.Ann()).DeleteThread(f.Context(), "c"))
	list, err := mine.List(f.Context(), true, 1000, 0)
	f.Must(err)
	f.Equal("after the thread", len(list), 1)
	thread(f, f.Ann(), "c") // another of that name
	f.Equal("in a thread of the same name", used(f, mine, "c", "ls"), "")
	f.Sound()
}

// child makes a run below one on a thread, and returns its hidden thread.
func child(f *databases.Fixture, top string) string {
	f.Helper()
	_, err := f.Store.For(f.Ann()).Admit(f.Context(), store.Admission{
		Run: store.Run{ID: "r-" + top, ThreadID: top, CreatedAt: now}, Strategy: store.Enqueue, MustExist: true,
	})
	f.Must(err)
	fence, err := f.Store.System().ClaimRun(f.Context(), "r-"+top, "node", 0, now)
	f.Must(err)
	hidden := "hidden-" + top
	_, err = f.Store.System().AdmitChild(f.Context(), fence, store.Admission{
		Run:   store.Run{ID: "c-" + top, ThreadID: hidden, Key: "k", Request: json.RawMessage("{}"), CreatedAt: now},
		Begin: &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}},
	})
	f.Must(err)
	return hidden
}

// admitted: a grant is there with the run that its answer makes, or not at all, and once.
func admitted(f *databases.Fixture) {
	mine := approval.NewGrants(f).For(f.Ann())
	admit := func(run, key string, g approval.Grant) error {
		_, err := f.Store.For(f.Ann()).Admit(f.Context(), store.Admission{
			Run: store.Run{ID: run, ThreadID: "t", Key: key, CreatedAt: now}, Thread: store.Thread{ID: "t"},
			Also: g.Give(),
		})
		return err
	}
	count := func() int {
		list, err := mine.List(f.Context(), true, 1000, 0)
		f.Must(err)
		return len(list)
	}
	f.Must(admit("r1", "key", grant("1", "t", "ls")))
	f.Equal("with its run", count(), 1)
	f.Must(mine.Revoke(f.Context(), "1", now))
	f.Must(admit("r2", "key", grant("2", "t", "ls"))) // the same request again
	f.Equal("of a known key", used(f, mine, "t", "ls"), "")
	f.Want(admit("r3", "", grant("3", "t", "ls")), store.ErrConflict, "r3") // the thread is busy
	f.Equal("of a run that was refused", count(), 1)

	also := append(grant("4", "t", "ls").Give(), store.Statement{Feature: "approval", Name: "nothing"})
	_, err := f.Store.For(f.Ann()).Admit(f.Context(), store.Admission{
		Run: store.Run{ID: "r4", ThreadID: "u", CreatedAt: now}, Thread: store.Thread{ID: "u"}, Also: also,
	})
	if err == nil {
		f.Error("a statement that there is none of was done")
	}
	_, err = f.Store.For(f.Ann()).Run(f.Context(), "r4")
	f.Want(err, store.ErrNotFound, "r4")
	f.Equal("of a transaction that failed", count(), 1)
}

func ofOthers(f *databases.Fixture) {
	hers := approval.NewGrants(f).For(f.Ann())
	thread(f, f.Ann(), "hers")
	thread(f, f.Bob(), "his")
	for id, where := range map[string]string{"1": "", "2": "hers"} {
		_, err := hers.Add(f.Context(), grant(id, where, "ls "+id))
		f.Must(err)
	}
	for user, missing := range map[access.User]error{f.Bob(): store.ErrNotFound, {}: access.ErrNoUser} {
		his := approval.NewGrants(f).For(user)
		f.Want(his.Revoke(f.Context(), "1", now), missing, "")
		list, err := his.List(f.Context(), true, 10, 0)
		f.Equal("list", len(list) == 0 && (err == nil) == (user == f.Bob()), true)
		for _, line := range []string{"ls 1", "ls 2"} {
			for _, where := range []string{"hers", "his"} {
				_, found, err := his.Use(f.Context(), where, "bash", bash(line), now)
				f.Equal("use", !found && (err == nil) == (user == f.Bob()), true)
			}
		}
		_, err = his.Add(f.Context(), grant("3", "hers", "ls"))
		f.Want(err, missing, "")
	}
	_, err := approval.NewGrants(f).For(f.Bob()).Add(f.Context(), grant("1", "", "ls 1")) // of his own
	f.Must(err)
	f.Equal("hers", used(f, hers, "hers", "ls 2"), "2")
	f.Sound()
}

// elsewhere: what one process revokes, another does not use any more.
func elsewhere(f *databases.Fixture) {
	if !f.Shared() {
		return // one process has the whole database
	}
	mine := approval.NewGrants(f).For(f.Ann())
	other := approval.NewGrants(f.Another()).For(f.Ann())
	thread(f, f.Ann(), "t")
	_, err := mine.Add(f.Context(), grant("1", "", "ls"))
	f.Must(err)
	f.Equal("in the other process", used(f, other, "t", "ls"), "1")
	f.Must(mine.Revoke(f.Context(), "1", now))
	f.Equal("revoked", used(f, other, "t", "ls"), "")
}

// kept: grants are in a copy, also that they were revoked, and go with the user.
func kept(f *databases.Fixture) {
	mine := approval.NewGrants(f).For(f.Ann())
	thread(f, f.Ann(), "t")
	for id, where := range map[string]string{"1": "", "2": "t", "3": ""} {
		_, err := mine.Add(f.Context(), grant(id, where, "ls "+id))
		f.Must(err)
	}
	f.Must(mine.Revoke(f.Context(), "3", now))
	want, err := mine.List(f.Context(), true, 10, 0)
	f.Must(err)
	var all strings.Builder
	n, err := f.Store.System().Dump(f.Context(), &all)
	f.Must(err)
	f.Equal("dump", n, store.Holding{Threads: 1, Rows: 3})
	gone, err := f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("deleted", gone, store.Forgotten{Threads: 1, Rows: 2})
	list, err := mine.List(f.Context(), true, 10, 0)
	f.Must(err)
	f.Equal("left", len(list), 0)
	_, err = f.Store.System().Load(f.Context(), strings.NewReader(all.String()), nil)
	f.Must(err)
	list, err = mine.List(f.Context(), true, 10, 0)
	f.Must(err)
	f.Equal("restored", list, want)
	f.Sound()
}
