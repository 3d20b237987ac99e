package folders_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
)

func TestFolders(t *testing.T) {
	databases.Run(t, []database.Feature{folders.Feature()}, []databases.Case{
		{Name: "round trip", Test: roundTrip}, {Name: "bounds", Test: bounds}, {Name: "threads", Test: threads},
		{Name: "of others", Test: ofOthers}, {Name: "copied, restored and deleted", Test: kept},
	})
}

var now = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

func folder(id string) folders.Folder {
	return folders.Folder{ID: id, Name: "Folder " + id, Colour: "#00aaFF", Instructions: "Be brief\x00.",
		CreatedAt: now, UpdatedAt: now}
}

func thread(f *databases.Fixture, u access.User, id string) {
	f.Must(f.Store.For(u).CreateThread(f.Context(), store.Thread{ID: id}))
}

func roundTrip(f *databases.Fixture) {
	mine := folders.New(f).For(f.Ann())
	want := folder("1")
	f.Must(mine.Create(f.Context(), want))
	f.Want(mine.Create(f.Context(), want), store.ErrConflict, "1")
	want.Instructions, want.Threads = "Be brief\uFFFD.", []string{}
	got, err := mine.Folder(f.Context(), "1")
	f.Must(err)
	f.Equal("folder", got, want)

	name, none := "A", ""
	f.Must(mine.Update(f.Context(), "1", folders.Patch{Name: &name, Colour: &none}, now.Add(time.Second)))
	want.Name, want.Colour, want.UpdatedAt = name, none, now.Add(time.Second)
	f.Reopen()
	mine = folders.New(f.Store).For(f.Ann())
	got, err = mine.Folder(f.Context(), "1")
	f.Must(err)
	f.Equal("changed", got, want)

	f.Must(mine.Create(f.Context(), folder("2")))
	list, err := mine.List(f.Context(), 1, 1)
	f.Must(err)
	f.Equal("second of the list", len(list) == 1 && list[0].ID == "2", true)
	f.Must(mine.Delete(f.Context(), "1"))
	f.Want(mine.Delete(f.Context(), "1"), store.ErrNotFound, "1")
	_, err = mine.Folder(f.Context(), "1")
	f.Want(err, store.ErrNotFound, "1")
	f.Want(mine.Update(f.Context(), "1", folders.Patch{}, now), store.ErrNotFound, "1")
	f.Sound()
}

func bounds(f *databases.Fixture) {
	mine := folders.New(f).For(f.Ann())
	for _, change := range []func(*folders.Folder){
		func(x *folders.Folder) { x.ID = "" }, func(x *folders.Folder) { x.Name = "" },
		func(x *folders.Folder) { x.Colour = "red" },
		func(x *folders.Folder) { x.Name = strings.Repeat("n", folders.MaxName+1) },
		func(x *folders.Folder) { x.Instructions = strings.Repeat("i", folders.MaxInstructions+1) },
	} {
		x := folder("x")
		change(&x)
		if mine.Create(f.Context(), x) == nil {
			f.Errorf("Create took %.100s", fmt.Sprint(x))
		}
	}
	if _, err := mine.List(f.Context(), 1002, 0); err == nil {
		f.Error("List took any limit")
	}
	for i := range 1000 {
		f.Must(mine.Create(f.Context(), folder(fmt.Sprint(i))))
	}
	f.Want(mine.Create(f.Context(), folder("one more")), database.ErrQuota, "1000")
}

func threads(f *databases.Fixture) {
	mine := folders.New(f).For(f.Ann())
	for _, id := range []string{"a", "b"} {
		f.Must(mine.Create(f.Context(), folder(id)))
		thread(f, f.Ann(), id)
	}
	is := func(folder, want string) {
		f.Helper()
		got, err := mine.Folder(f.Context(), folder)
		f.Must(err)
		f.Equal("threads of "+folder, strings.Join(got.Threads, " "), want)
	}
	f.Must(mine.Put(f.Context(), "a", "a", now))
	f.Must(mine.Put(f.Context(), "a", "b", now.Add(1000)))
	f.Must(mine.Put(f.Context(), "a", "b", now.Add(1000)))
	is("a", "b a")
	f.Must(mine.Put(f.Context(), "b", "a", now)) // which leaves a
	is("a", "b")
	is("b", "a")
	f.Want(mine.Put(f.Context(), "a", "nobody's", now), store.ErrNotFound, "nobody's")
	f.Want(mine.Put(f.Context(), "none", "a", now), store.ErrNotFound, "none")
	f.Want(mine.Remove(f.Context(), "a", "a"), store.ErrNotFound, "a")
	f.Must(mine.Remove(f.Context(), "b", "a"))
	is("b", "")
	for id, want := range map[string]string{"b": "Be brief\uFFFD.", "a": "", "nobody's": ""} {
		got, err := mine.Of(f.Context(), id)
		f.Must(err)
		f.Equal("instructions", []string{got.ID, got.Instructions}, []string{map[string]string{"b": "a"}[id], want})
	}
	thread(f, f.Ann(), "archived")
	f.Must(mine.Put(f.Context(), "a", "archived", now))
	_, err := f.Store.For(f.Ann()).PatchThread(f.Context(), "archived", store.ThreadPatch{Set: store.Archived})
	f.Must(err)
	list, err := mine.List(f.Context(), 10, 0)
	f.Must(err)
	one, err := mine.Folder(f.Context(), "a")
	f.Must(err)
	f.Equal("counts", []int{list[0].Count, list[1].Count, one.Count, len(one.Threads)}, []int{1, 0, 1, 2})
	each, err := mine.OfEach(f.Context(), []string{"a", "b", "archived", `"nobody's`})
	f.Must(err)
	f.Equal("of each", each, map[string]string{"b": "a", "archived": "a"})
	f.Must(mine.Delete(f.Context(), "a"))
	each, err = mine.OfEach(f.Context(), []string{"b"})
	f.Must(err)
	f.Equal("of none", each, map[string]string{})
	got, err := mine.Of(f.Context(), "b")
	f.Must(err)
	f.Equal("a folder that is gone", got, folders.Folder{})
	f.Must(mine.Put(f.Context(), "b", "b", now))
	f.Must(f.Store.For(f.Ann()).DeleteThread(f.Context(), "b"))
	is("b", "")
	f.Sound()
}

func ofOthers(f *databases.Fixture) {
	hers := folders.New(f).For(f.Ann())
	f.Must(hers.Create(f.Context(), folder("hers")))
	thread(f, f.Ann(), "hers")
	thread(f, f.Bob(), "his")
	f.Must(hers.Put(f.Context(), "hers", "hers", now))
	want, err := hers.Folder(f.Context(), "hers")
	f.Must(err)
	for user, missing := range map[access.User]error{f.Bob(): store.ErrNotFound, {}: access.ErrNoUser} {
		his := folders.New(f).For(user)
		_, err := his.Folder(f.Context(), "hers")
		f.Want(err, missing, "")
		list, err := his.List(f.Context(), 10, 0)
		f.Equal("list", len(list) == 0 && (err == nil) == (user == f.Bob()), true)
		name := "his"
		f.Want(his.Update(f.Context(), "hers", folders.Patch{Name: &name}, now), missing, "")
		f.Want(his.Delete(f.Context(), "hers"), missing, "")
		f.Want(his.Put(f.Context(), "hers", "his", now), missing, "")
		f.Want(his.Put(f.Context(), "hers", "hers", now), missing, "")
		f.Want(his.Remove(f.Context(), "hers", "hers"), missing, "")
		of, err := his.Of(f.Context(), "hers")
		each, err2 := his.OfEach(f.Context(), []string{"hers"})
		f.Equal("folders of each", len(each) == 0 && (err2 == nil) == (user == f.Bob()), true)
		f.Equal("its folder", of.ID == "" && (err == nil) == (user == f.Bob()), true)
	}
	his := folders.New(f).For(f.Bob())
	f.Must(his.Create(f.Context(), folder("hers"))) // of its own
	f.Want(his.Put(f.Context(), "hers", "hers", now), store.ErrNotFound, "")
	got, err := hers.Folder(f.Context(), "hers")
	f.Must(err)
	f.Equal("hers", got, want)
	var all []string
	f.Must(folders.New(f).Each(f.Context(), func(u access.User, id string) { all = append(all, u.ID()+"/"+id) }))
	slices.Sort(all)
	f.Equal("all", all, []string{f.Ann().ID() + "/hers", f.Bob().ID() + "/hers"})
	f.Sound()
}

// kept: folders are in a dump of all, what a thread is in goes with it, and all goes with the user.
func kept(f *databases.Fixture) {
	mine := folders.New(f).For(f.Ann())
	f.Must(mine.Create(f.Context(), folder("a")))
	thread(f, f.Ann(), "t")
	f.Must(mine.Put(f.Context(), "a", "t", now))
	var all strings.Builder
	n, err := f.Store.System().Dump(f.Context(), &all)
	f.Must(err)
	f.Equal("dump", n, store.Holding{Threads: 1, Rows: 2})
	gone, err := f.Store.System().DeleteUser(f.Context(), f.Ann())
	f.Must(err)
	f.Equal("deleted", gone, store.Forgotten{Threads: 1, Rows: 1})
	_, err = f.Store.System().Load(f.Context(), strings.NewReader(all.String()), nil)
	f.Must(err)
	got, err := mine.Folder(f.Context(), "a")
	f.Must(err)
	f.Equal("restored", strings.Join(got.Threads, " "), "t")
	f.Sound()
}
