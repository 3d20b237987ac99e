package bin_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/state"
)

func TestBin(t *testing.T) {
	databases.Run(t, []database.Feature{job.Feature()}, []databases.Case{
		{Name: "trash and restore", Test: trashAndRestore}, {Name: "runs", Test: runs}, {Name: "empty", Test: empty},
		{Name: "time", Test: outlived}, {Name: "a restore in between", Test: restoredInBetween},
		{Name: "marks", Test: marks}, {Name: "rename", Test: rename}, {Name: "of others", Test: ofOthers},
		{Name: "copied", Test: copied}, {Name: "one cannot be deleted", Test: oneFails},
	})
}

var now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// kit is a bin whose clock stands where it was set.
type kit struct {
	*databases.Fixture
	*bin.Bin

	at   time.Time
	drop func(id string) error
}

func newKit(f *databases.Fixture, threads ...store.Thread) *kit {
	schema, err := state.NewSchema(threadstate.Title)
	f.Must(err)
	k := &kit{Fixture: f, at: now, drop: func(string) error { return nil }}
	k.Bin = bin.New(bin.Config{
		Store: f, Schema: schema, Now: func() time.Time { return k.at },
		Keep: func() (trashed, temporary time.Duration) { return 30 * 24 * time.Hour, 24 * time.Hour },
		Drop: func(ctx context.Context, u access.User, id string, still func(store.Thread) bool) error {
			if err := k.drop(id); err != nil {
				return err
			}
			return f.For(u).DropThread(ctx, id, still)
		},
	})
	for i, t := range threads {
		t.CreatedAt = now.Add(time.Duration(i) * time.Second)
		t.UpdatedAt = t.CreatedAt
		f.Must(f.For(f.Ann()).CreateThread(f.Context(), t))
	}
	return k
}

func (k *kit) mine() *bin.Mine { return k.For(k.Ann()) }

// shelf are the ids of a listing, in its order, joined.
func (k *kit) shelf(f store.ThreadFilter) string {
	k.Helper()
	list, err := k.Store.For(k.Ann()).SearchThreads(k.Context(), f)
	k.Must(err)
	n, err := k.Store.For(k.Ann()).CountThreads(k.Context(), f)
	k.Must(err)
	k.Equal("count", n, len(list))
	ids := make([]string, len(list))
	for i, t := range list {
		ids[i] = t.ID
	}
	return strings.Join(ids, " ")
}

func (k *kit) binned() string {
	return k.shelf(store.ThreadFilter{Shelf: store.InBin, Sort: "trashed_at"})
}

// sweep deletes what has had its time.
func (k *kit) sweep() {
	k.Helper()
	kinds := k.Kinds()
	_, err := kinds[1].Run(k.Context(), job.Job{})
	k.Must(err)
}

func trashAndRestore(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"}, store.Thread{ID: "b"},
		store.Thread{ID: "c", Metadata: json.RawMessage(`{"deerflow_pinned":true}`)})
	t, err := k.mine().Trash(f.Context(), "b")
	f.Must(err)
	f.Equal("marks", t.Trashed() && t.TrashedAt.Equal(now) && !t.Archived() && !t.Temporary(), true)
	f.Equal("end", k.Ends(t), now.Add(30*24*time.Hour))
	k.at = now.Add(time.Hour)
	t, err = k.mine().Trash(f.Context(), "b") // which does not begin its time anew
	f.Must(err)
	f.Equal("since", t.TrashedAt, now)
	_, err = k.mine().Trash(f.Context(), "c")
	f.Must(err)
	f.Equal("list", k.shelf(store.ThreadFilter{}), "a")
	f.Equal("pinned first", k.shelf(store.ThreadFilter{Pinned: true}), "a")
	f.Equal("by ids", k.shelf(store.ThreadFilter{IDs: []string{"a", "b"}}), "a")
	f.Equal("bin", k.binned(), "c b")
	k.Reopen()
	t, err = k.mine().Restore(f.Context(), "b")
	f.Must(err)
	f.Equal("restored", t.Marks == 0 && t.TrashedAt.IsZero() && t.UpdatedAt.Equal(now.Add(time.Second)), true)
	_, err = k.mine().Restore(f.Context(), "b") // where it stands already
	f.Must(err)
	f.Equal("list", k.shelf(store.ThreadFilter{}), "b a")
	_, err = k.mine().Trash(f.Context(), "none")
	f.Want(err, store.ErrNotFound, "none")
	_, err = k.mine().Restore(f.Context(), "none")
	f.Want(err, store.ErrNotFound, "none")
	f.Must(f.For(f.Ann()).DeleteThread(f.Context(), "c")) // for good, also from there
	f.Equal("bin", k.binned(), "")
	f.Sound()
}

func admit(f *databases.Fixture, run, thread, owner string) (store.Run, error) {
	return f.For(f.Ann()).Admit(f.Context(), store.Admission{
		Run:    store.Run{ID: run, ThreadID: thread, Owner: owner, CreatedAt: now, UpdatedAt: now},
		Thread: store.Thread{ID: thread, CreatedAt: now, UpdatedAt: now}, Strategy: store.Enqueue,
	})
}

// runs: what runs is asked to stop, what waits is ended, and nothing comes in.
func runs(f *databases.Fixture) {
	k := newKit(f)
	data := f.For(f.Ann())
	for _, run := range []string{"first", "second"} {
		_, err := admit(f, run, "t", "me")
		f.Must(err)
	}
	var stopped []string
	k.Stop = func(_ context.Context, _ access.User, id string) error { stopped = append(stopped, id); return nil }
	_, err := k.mine().Trash(f.Context(), "t")
	f.Must(err)
	first, err := data.Run(f.Context(), "first")
	f.Must(err)
	second, err := data.Run(f.Context(), "second")
	f.Must(err)
	f.Equal("runs", []string{first.Status, first.Stop, second.Status, strings.Join(stopped, " ")},
		[]string{event.StatusRunning, store.StopInterrupt, event.StatusInterrupted, "first"})
	_, err = admit(f, "third", "t", "")
	f.Want(err, store.ErrTrashed, "restore it first")
	f.Want(k.mine().Rename(f.Context(), "t", "x"), store.ErrTrashed, "restore it first")
	_, err = f.System().Commit(f.Context(), store.Fence{RunID: "first", Attempt: 1},
		store.Step{Run: &store.RunChange{Status: event.StatusInterrupted}, Now: now})
	f.Must(err)
	_, err = k.mine().Restore(f.Context(), "t")
	f.Must(err)
	_, err = admit(f, "third", "t", "")
	f.Must(err)
	f.Sound()
}

// empty: from one moment on none of them comes back; the job that is stored with that deletes them, also after a crash
// in between.
func empty(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"}, store.Thread{ID: "b"}, store.Thread{ID: "stays"})
	n, err := k.mine().Empty(f.Context())
	f.Equal("an empty bin", n == 0 && err == nil, true)
	for _, id := range []string{"a", "b"} {
		_, err := k.mine().Trash(f.Context(), id)
		f.Must(err)
	}
	n, err = k.mine().Empty(f.Context())
	f.Must(err)
	f.Equal("emptied", n, 2)
	f.Equal("bin", k.binned(), "")
	_, err = k.mine().Restore(f.Context(), "a")
	f.Want(err, store.ErrNotFound, "a")
	_, err = k.mine().Trash(f.Context(), "a")
	f.Want(err, store.ErrNotFound, "a")
	k.Reopen() // the process was killed
	jobs, err := job.NewQueue(f.Store).List(f.Context(), job.Filter{})
	f.Must(err)
	f.Equal("job", len(jobs) == 1 && jobs[0].Kind == "bin-emptying" && jobs[0].User == "ann", true)
	_, err = k.Kinds()[0].Run(f.Context(), job.Job{})
	f.Must(err)
	f.Equal("left", k.shelf(store.ThreadFilter{Shelf: store.Everywhere}), "stays")
	k.AtOnce = true
	_, err = k.mine().Trash(f.Context(), "stays")
	f.Must(err)
	n, err = k.mine().Empty(f.Context())
	f.Equal("emptied", n == 1 && err == nil, true)
	f.Equal("left without a job", k.shelf(store.ThreadFilter{Shelf: store.Everywhere}), "")
	f.Sound()
}

// outlived: what is in the bin and what is temporary goes when its time is over, and not before.
func outlived(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"}, store.Thread{ID: "b", Marks: store.Temporary}, store.Thread{ID: "c"})
	_, err := k.mine().Trash(f.Context(), "a")
	f.Must(err)
	_, err = admit(f, "r", "b", "me") // which keeps it
	f.Must(err)
	k.at = now.Add(30 * 24 * time.Hour)
	k.sweep()
	f.Equal("not yet", k.shelf(store.ThreadFilter{Shelf: store.Everywhere, Sort: "thread_id", Ascending: true}),
		"a b c")
	k.at = k.at.Add(time.Microsecond)
	k.sweep()
	f.Equal("trashed", k.shelf(store.ThreadFilter{Shelf: store.Everywhere, Sort: "thread_id", Ascending: true}), "b c")
	end := k.at
	_, err = f.System().Commit(f.Context(), store.Fence{RunID: "r", Attempt: 1},
		store.Step{Run: &store.RunChange{Status: event.StatusSuccess}, Now: end})
	f.Must(err)
	k.at = end.Add(24 * time.Hour)
	k.sweep()
	f.Equal("temporary", k.shelf(store.ThreadFilter{IDs: []string{"b"}}), "b")
	k.at = k.at.Add(time.Second)
	k.sweep()
	f.Equal("left", k.shelf(store.ThreadFilter{Shelf: store.Everywhere}), "c")
}

// restoredInBetween: a thread that is restored after it was found to have had its time is not deleted.
func restoredInBetween(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"})
	_, err := k.mine().Trash(f.Context(), "a")
	f.Must(err)
	k.drop = func(id string) error {
		_, err := k.mine().Restore(f.Context(), id)
		return err
	}
	k.at = now.Add(365 * 24 * time.Hour)
	k.sweep()
	f.Equal("left", k.shelf(store.ThreadFilter{}), "a")
}

func marks(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"}, store.Thread{ID: "b", Marks: store.Temporary})
	yes, no := true, false
	f.Equal("a temporary one is in no list", k.shelf(store.ThreadFilter{}), "a")
	f.Equal("it is found by its id", k.shelf(store.ThreadFilter{IDs: []string{"b"}}), "b")
	t, err := k.mine().Mark(f.Context(), "a", bin.Marks{Archived: &yes, Pinned: &yes})
	f.Must(err)
	f.Equal("marked", t.Archived() && string(t.Metadata) == `{"deerflow_pinned":true}` && t.UpdatedAt.Equal(now), true)
	f.Equal("list", k.shelf(store.ThreadFilter{Pinned: true}), "")
	f.Equal("archive", k.shelf(store.ThreadFilter{Shelf: store.InArchive}), "a")
	_, err = k.mine().Trash(f.Context(), "a")
	f.Must(err)
	f.Equal("archive", k.shelf(store.ThreadFilter{Shelf: store.InArchive}), "")
	t, err = k.mine().Restore(f.Context(), "a") // to where it was
	f.Equal("restored", t.Archived() && err == nil, true)
	_, err = k.mine().Mark(f.Context(), "a", bin.Marks{Archived: &no})
	f.Must(err)
	_, err = k.mine().Mark(f.Context(), "b", bin.Marks{Temporary: &no})
	f.Must(err)
	f.Equal("list", k.shelf(store.ThreadFilter{}), "b a")
	for _, m := range []bin.Marks{{Temporary: &yes}, {Archived: &yes}} { // which keeps it
		t, err = k.mine().Mark(f.Context(), "b", m)
		f.Must(err)
	}
	f.Equal("archived", t.Marks, store.Archived)
}

func rename(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"})
	for _, title := range []string{"one", "two"} {
		f.Must(k.mine().Rename(f.Context(), "a", title))
		at, err := f.For(f.Ann()).Checkpoint(f.Context(), k.Schema, "a", "")
		f.Must(err)
		t, err := f.For(f.Ann()).Thread(f.Context(), "a")
		f.Must(err)
		f.Equal("title", []string{threadstate.Title.Get(at.State), t.Title}, []string{title, title})
	}
	for _, title := range []string{"", strings.Repeat("x", bin.MaxTitle+1)} {
		if k.mine().Rename(f.Context(), "a", title) == nil {
			f.Errorf("Rename took %.10q", title)
		}
	}
	_, err := admit(f, "r", "a", "me")
	f.Must(err)
	f.Want(k.mine().Rename(f.Context(), "a", "x"), store.ErrConflict, "active run")
	f.Want(k.mine().Rename(f.Context(), "none", "x"), store.ErrNotFound, "none")
}

func ofOthers(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "hers"}, store.Thread{ID: "deleted"})
	_, err := k.mine().Trash(f.Context(), "deleted")
	f.Must(err)
	yes := true
	for user, want := range map[access.User]error{f.Bob(): store.ErrNotFound, {}: access.ErrNoUser} {
		his := k.For(user)
		_, err := his.Trash(f.Context(), "hers")
		f.Want(err, want, "")
		_, err = his.Restore(f.Context(), "deleted")
		f.Want(err, want, "")
		_, err = his.Mark(f.Context(), "hers", bin.Marks{Archived: &yes})
		f.Want(err, want, "")
		f.Want(his.Rename(f.Context(), "hers", "his"), want, "")
		n, err := his.Empty(f.Context())
		f.Equal("emptied", n == 0 && (err == nil) == (user == f.Bob()), true)
		list, err := his.List(f.Context(), store.InBin, 10, 0)
		f.Equal("list", len(list) == 0 && (err == nil) == (user == f.Bob()), true)
	}
	f.Equal("hers", k.shelf(store.ThreadFilter{})+", "+k.binned(), "hers, deleted")
}

// copied: marks are in a dump, and go with the user.
func copied(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"}, store.Thread{ID: "b", Marks: store.Temporary})
	_, err := k.mine().Trash(f.Context(), "a")
	f.Must(err)
	var all strings.Builder
	_, err = f.System().Dump(f.Context(), &all)
	f.Must(err)
	gone, err := f.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("deleted", gone, store.Forgotten{Threads: 2})
	_, err = f.System().Load(f.Context(), strings.NewReader(all.String()), nil)
	f.Must(err)
	f.Equal("bin", k.binned(), "a")
	t, err := k.mine().Restore(f.Context(), "a")
	f.Equal("restored", t.ID == "a" && err == nil, true)
	f.Equal("list", k.shelf(store.ThreadFilter{}), "a")
}

// oneFails: what cannot be deleted is told, and keeps nothing else.
func oneFails(f *databases.Fixture) {
	k := newKit(f, store.Thread{ID: "a"}, store.Thread{ID: "b"})
	for _, id := range []string{"a", "b"} {
		_, err := k.mine().Trash(f.Context(), id)
		f.Must(err)
	}
	broken := errors.New("the disk is broken")
	k.drop = func(id string) error {
		if id == "a" {
			return broken
		}
		return nil
	}
	_, err := k.mine().Empty(f.Context())
	f.Must(err)
	f.Want(k.Sweep(f.Context(), store.Outlived{}), broken, "a")
	list, err := f.System().Outlived(f.Context(), store.Outlived{}, 10)
	f.Equal("left", len(list) == 1 && err == nil, true)
}
