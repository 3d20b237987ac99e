package app

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// TestUsersDoNotMeet: two users whose threads have one id, and a user's two threads, share no file, no sandbox that waits in the
// pool, and no account of the machine's that an id of a sandbox names.
func TestUsersDoNotMeet(t *testing.T) {
	h := &house{dir: t.TempDir(), box: openSandbox(t.Context(), config.Default(), nil)}
	if h.box.off != "" {
		machinetest.Cannot(t, "no sandbox: "+h.box.off)
	}
	h.disk, h.pool = userdata.New(h.dir), pool.New(pool.Config{Provider: h.box.provider})
	defer h.pool.Close()
	if err := os.Chmod(h.dir, 0o711); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{} // instances of sandboxes
	for _, run := range []store.Run{
		{UserID: "default", ThreadID: "t"}, {UserID: "bob", ThreadID: "t"}, {UserID: "bob", ThreadID: "u"}, {UserID: "bob", ThreadID: "t"},
	} {
		who := run.UserID + "/" + run.ThreadID
		space, err := h.space(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		box, err := space.Sandbox(t.Context())
		if err != nil {
			t.Fatal(who, err)
		}
		var out strings.Builder
		script := "cat /mnt/user-data/*/secret /tmp/secret 2>/dev/null; echo " + who + " | tee /mnt/user-data/outputs/secret > /tmp/secret"
		if res, err := box.Run(t.Context(), sandbox.Command{Script: script, Stdout: &out}); err != nil || res.Exit != 0 {
			t.Fatal(who, res, err)
		}
		instance := sandbox.InstanceOf(box)
		want := ""
		if owner := seen[instance]; owner != "" { // its own, which was warm
			want = who + "\n" + who + "\n"
		}
		if owner := cmp.Or(seen[instance], who); owner != who || out.String() != want {
			t.Errorf("%s is in the sandbox of %s and finds %q", who, owner, out.String())
		}
		seen[instance] = who
		if err := space.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d sandboxes: a thread finds its own warm", len(seen))
	}
	if _, err := h.space(t.Context(), store.Run{ThreadID: "t"}); err == nil {
		t.Error("a run of nobody has a place")
	}
}

// occupied is a store and a data folder in which each of these users and threads has a file; thread "t" is bob's.
func occupied(t *testing.T) (store.Store, string) {
	t.Helper()
	dir := t.TempDir()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	for _, th := range []store.Thread{{ID: "t", UserID: "bob"}, {ID: "u", UserID: "bob"}, {ID: "v", UserID: "default"}, {ID: "..", UserID: "bob"}} {
		th.CreatedAt, th.UpdatedAt = time.Now(), time.Now()
		if err := st.CreateThread(t.Context(), th); err != nil {
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

// folders are the threads' folders that are there.
func folders(t *testing.T, dir string) (list []string) {
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
	for _, id := range []string{"t", ".."} { // the second one has no folder
		if err := removeThread(t.Context(), st, userdata.New(dir), id); err != nil {
			t.Fatal(id, err)
		}
	}
	if got, want := folders(t, dir), []string{"users/bob/threads/u", "users/default/threads/t", "users/default/threads/v"}; !slices.Equal(got, want) {
		t.Errorf("left is %q", got)
	}
	if err := removeThread(t.Context(), st, userdata.New(dir), "t"); err == nil {
		t.Error("a thread was removed twice")
	}
}

// TestCollectLooksForTheUsersThread: a folder of somebody whose thread it is not belongs to no thread.
func TestCollectLooksForTheUsersThread(t *testing.T) {
	st, dir := occupied(t)
	c := &collection{store: st, dir: dir, disk: userdata.New(dir), now: time.Now().Add(2 * grace)}
	if err := c.run(t.Context()); err != nil || len(c.out.Failed) > 0 {
		t.Fatal(err, c.out.Failed)
	}
	if want := []string{"users/default/threads/t"}; !slices.Equal(c.out.Folders, want) {
		t.Errorf("collected %q", c.out.Folders)
	}
	if got, want := folders(t, dir), []string{"users/bob/threads/t", "users/bob/threads/u", "users/default/threads/v"}; !slices.Equal(got, want) {
		t.Errorf("left is %q", got)
	}
}

func TestFilesAreTheCallers(t *testing.T) {
	h := &house{disk: userdata.New(t.TempDir())}
	if err := h.upload(access.FromRow("ada"), "t", "a.txt", strings.NewReader("hers"), 10); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{"ada": "hers", "bob": ""} {
		raw, err := runner{h, access.FromRow(user)}.ReadFile(t.Context(), "t", sandbox.Uploads+"/a.txt", 10)
		if string(raw) != want || (err == nil) != (want != "") {
			t.Errorf("%s reads %q, %v", user, raw, err)
		}
	}
	if err := h.upload(access.User{}, "t", "a.txt", strings.NewReader("x"), 10); err == nil {
		t.Error("nobody uploads a file")
	}
}
