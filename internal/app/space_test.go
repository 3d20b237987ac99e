package app

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// boxed is what spaces need, with real sandboxes.
func boxed(t *testing.T) *engine {
	t.Helper()
	e := &engine{dir: t.TempDir(), history: filehistory.New(filehistory.Config{}),
		box: openSandbox(t.Context(), config.Default(), nil)}
	if e.box.off != "" {
		machinetest.Cannot(t, "no sandbox: "+e.box.off)
	}
	e.disk, e.pool = userdata.New(e.dir), pool.New(pool.Config{Provider: e.box.provider})
	t.Cleanup(func() { e.pool.Close() })
	if err := os.Chmod(e.dir, 0o711); err != nil { // a sandbox of root runs as another user
		t.Fatal(err)
	}
	return e
}

// leave has a run leave a secret, in its thread's files and in its sandbox alone; it returns what others had left
// there, and the sandbox. The run lasts until the test ends, or is over if it shall park.
func leave(t *testing.T, e *engine, run store.Run, park bool) (found, instance string) {
	t.Helper()
	space, _, err := e.space(t.Context(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { space.Close() })
	box, err := space.Sandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	secret := run.UserID + "/" + run.ThreadID
	script := "cat /mnt/user-data/outputs/secret /tmp/secret 2>/dev/null; echo " + secret +
		" | tee /mnt/user-data/outputs/secret > /tmp/secret"
	if res, err := box.Run(t.Context(), sandbox.Command{Script: script, Stdout: &out}); err != nil || res.Exit != 0 {
		t.Fatal(secret, res, err)
	}
	if raw, err := space.Files().ReadFile(sandbox.Outputs+"/secret", 100); string(raw) != secret+"\n" {
		t.Errorf("the server reads %q where %s wrote, %v", raw, secret, err)
	}
	if park {
		space.Park()
	}
	return out.String(), sandbox.InstanceOf(box)
}

// TestUsersDoNotMeet: two users whose threads have one id, and a user's two threads, share no file and no sandbox,
// whether it is in use or waits in the pool. Each finds its own again.
func TestUsersDoNotMeet(t *testing.T) {
	for _, park := range []bool{false, true} {
		e := boxed(t)
		mine := map[string]string{}
		for round := range 2 {
			for _, run := range []store.Run{{UserID: "default", ThreadID: "t"}, {UserID: "bob", ThreadID: "t"},
				{UserID: "bob", ThreadID: "u"}} {
				who := run.UserID + "/" + run.ThreadID
				found, instance := leave(t, e, run, park)
				if want := strings.Repeat(who+"\n", 2*round); found != want || cmp.Or(mine[who], instance) != instance {
					t.Errorf("parked %v: %s finds %q in sandbox %s, its own is %s", park, who, found, instance,
						mine[who])
				}
				mine[who] = instance
			}
		}
	}
	if _, _, err := boxed(t).space(t.Context(), store.Run{ThreadID: "t"}, nil); !errors.Is(err, access.ErrNoUser) {
		t.Errorf("a run of nobody has a place: %v", err)
	}
}

// filed is what files need: a store, and a disk.
func filed(t *testing.T) *engine {
	t.Helper()
	e := &engine{dir: t.TempDir(), history: filehistory.New(filehistory.Config{})}
	e.disk = userdata.New(e.dir)
	e.current.Store(&settings{})
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: e.dir, Features: feature.All()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	e.store = st
	return e
}

// TestFilesOfHiddenThread: whoever asks by the id of a hidden thread has the files of its root, and their history.
func TestFilesOfHiddenThread(t *testing.T) {
	ctx, now, e := t.Context(), time.Now(), filed(t)
	st, bob := e.store, access.FromRow("bob")
	run, err := st.For(bob).Admit(ctx, store.Admission{
		Run: store.Run{ID: "run", ThreadID: "t", Owner: "node", Request: []byte(`{}`), CreatedAt: now,
			UpdatedAt: now},
		Thread: store.Thread{ID: "t", CreatedAt: now, UpdatedAt: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	fence, err := st.System().ClaimRun(ctx, run.ID, run.Owner, run.Attempt, now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.System().AdmitChild(ctx, fence, store.Admission{
		Run: store.Run{ID: "child", ThreadID: "hidden", Key: "k", Request: []byte(`{}`), CreatedAt: now,
			UpdatedAt: now},
		Thread: store.Thread{CreatedAt: now, UpdatedAt: now},
		Begin:  &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.upload(ctx, bob, "hidden", "note", strings.NewReader("x"), 1); err != nil {
		t.Fatal(err)
	}
	files, err := e.files(ctx, bob, "t")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if raw, err := files.ReadFile(sandbox.Uploads+"/note", 1); string(raw) != "x" {
		t.Errorf("the root has %q, %v", raw, err)
	}
	if by, err := e.makers(ctx, bob, "hidden", nil); by[sandbox.Uploads+"/note"].Kind != filehistory.ByUpload {
		t.Errorf("made by %v, %v", by, err)
	}
	if folders, err := e.disk.Threads(); len(folders) != 1 {
		t.Errorf("%v, %v", folders, err)
	}
}

// TestRemovedThreadLeavesNothing: a new thread of the id of one that was removed finds neither its files nor its
// sandbox.
func TestRemovedThreadLeavesNothing(t *testing.T) {
	e := boxed(t)
	var err error
	if e.store, err = sqlstore.Open(t.Context(), sqlstore.Config{Dir: e.dir, Features: feature.All()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.store.Close() })
	bob := access.FromRow("bob")
	for range 2 {
		if err := e.store.For(bob).
			CreateThread(t.Context(), store.Thread{ID: "t", CreatedAt: time.Now(), UpdatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if found, _ := leave(t, e, store.Run{UserID: "bob", ThreadID: "t"}, true); found != "" {
			t.Errorf("it finds %q", found)
		}
		if err := e.deleteThread(t.Context(), bob, "t"); err != nil {
			t.Fatal(err)
		}
	}
}

// occupied is a store and a data folder in which each of these users and threads has a file; thread "t" is bob's.
func occupied(t *testing.T) (store.Store, string) {
	t.Helper()
	dir := t.TempDir()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir, Features: feature.All()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	for _, th := range []store.Thread{{ID: "t", UserID: "bob"}, {ID: "u", UserID: "bob"}, {ID: "v", UserID: "default"},
		{ID: "..", UserID: "bob"}} {
		th.CreatedAt, th.UpdatedAt = time.Now(), time.Now()
		if err := st.For(access.FromRow(th.UserID)).CreateThread(t.Context(), th); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bob/threads/t", "bob/threads/u", "default/threads/t", "default/threads/v"} {
		if err := os.MkdirAll(filepath.Join(dir, "users", name, "user-data/workspace"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return st, dir
}

// foldersIn are the threads' folders that are there.
func foldersIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	found, err := userdata.New(dir).Threads()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		list = append(list, f.Name())
	}
	return list
}

func TestRemoveThread(t *testing.T) {
	st, dir := occupied(t)
	bob := access.FromRow("bob")
	var dropped []string
	drop := func(sandbox string) { dropped = append(dropped, sandbox) }
	for _, id := range []string{"t", ".."} { // the second one has no folder
		if err := removeThread(t.Context(), st.For(bob), userdata.New(dir), id, drop); err != nil {
			t.Fatal(id, err)
		}
	}
	if got, want := foldersIn(t, dir), []string{"users/bob/threads/u", "users/default/threads/t",
		"users/default/threads/v"}; !slices.Equal(got, want) {
		t.Errorf("left is %q", got)
	}
	if err := removeThread(t.Context(), st.For(bob), userdata.New(dir), "t", drop); err == nil {
		t.Error("a thread was removed twice")
	}
	if len(dropped) != 1 || !strings.HasSuffix(dropped[0], ".t") {
		t.Errorf("sandboxes %q were dropped", dropped)
	}
}

// TestCollectLooksForTheUsersThread: a folder of somebody whose thread it is not belongs to no thread.
func TestCollectLooksForTheUsersThread(t *testing.T) {
	st, dir := occupied(t)
	c := &collection{store: st.System(), dir: dir, disk: userdata.New(dir), now: time.Now().Add(2 * grace)}
	if err := c.run(t.Context()); err != nil || len(c.out.Failed) > 0 {
		t.Fatal(err, c.out.Failed)
	}
	if want := []string{"users/default/threads/t"}; !slices.Equal(c.out.Folders, want) {
		t.Errorf("collected %q", c.out.Folders)
	}
	if got, want := foldersIn(t, dir), []string{"users/bob/threads/t", "users/bob/threads/u",
		"users/default/threads/v"}; !slices.Equal(got, want) {
		t.Errorf("left is %q", got)
	}
}

func TestFilesAreTheCallers(t *testing.T) {
	e := filed(t)
	if err := e.upload(t.Context(), access.FromRow("ada"), "t", "a.txt", strings.NewReader("hers"), 10); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{"ada": "hers", "bob": ""} {
		raw, err := runner{e, access.FromRow(user)}.ReadFile(t.Context(), "t", sandbox.Uploads+"/a.txt", 10)
		if string(raw) != want || (err == nil) != (want != "") {
			t.Errorf("%s reads %q, %v", user, raw, err)
		}
	}
	if err := e.upload(t.Context(), access.User{}, "t", "a.txt", strings.NewReader("x"), 10); err == nil {
		t.Error("nobody uploads a file")
	}
}

// TestRunsBelowShareTheSpace: a run below another one works on the files, and in the sandbox, of the thread at the top.
func TestRunsBelowShareTheSpace(t *testing.T) {
	e := boxed(t)
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e.store = st
	now := time.Now()
	run, err := st.For(access.FromRow("ann")).Admit(t.Context(), store.Admission{
		Thread: store.Thread{ID: "t", CreatedAt: now, UpdatedAt: now},
		Run:    store.Run{ID: "r", ThreadID: "t", Owner: "me", CreatedAt: now, UpdatedAt: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	child, err := st.AdmitChild(t.Context(), store.Fence{RunID: "r", Attempt: 1}, store.Admission{
		Run:   store.Run{ID: "c", ThreadID: "hidden", Key: "k", CreatedAt: now, UpdatedAt: now},
		Begin: &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, first := leave(t, e, run, false)
	found, second := leave(t, e, child, false)
	if found != "ann/t\nann/t\n" || first != second {
		t.Errorf("below is found %q, in sandbox %s beside %s", found, second, first)
	}
}
