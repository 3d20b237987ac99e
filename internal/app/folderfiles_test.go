package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/sandbox"
)

// shelved is an engine with real sandboxes and a store, in which ann has the threads "t" and "u", bob has "v".
func shelved(t *testing.T) *engine {
	t.Helper()
	e := boxed(t)
	e.current.Store(&settings{})
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: e.dir, Features: feature.All()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	e.store = st
	for thread, user := range map[string]string{"t": "ann", "u": "ann", "v": "bob"} {
		err := st.For(access.FromRow(user)).
			CreateThread(t.Context(), store.Thread{ID: thread, CreatedAt: time.Now(), UpdatedAt: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// folder makes a folder of a user, with a file "name" that says the folder's id, and puts threads into it.
func (e *engine) folder(t *testing.T, user, folder string, threads ...string) {
	t.Helper()
	now, mine := time.Now(), folders.New(e.store).For(access.FromRow(user))
	err := mine.Create(t.Context(), folders.Folder{ID: folder, Name: folder, CreatedAt: now, UpdatedAt: now})
	for _, thread := range threads {
		err = errors.Join(err, mine.Put(t.Context(), folder, thread, now))
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := e.folderFiles(t.Context(), access.FromRow(user), folder)
	if err == nil {
		err = errors.Join(files.WriteFile(sandbox.Folder+"/name", []byte(folder), false), files.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sees is what a run of a thread reads in the folder of its thread, by a command and by the file tools; neither may
// write there.
func (e *engine) sees(t *testing.T, user, thread string) string {
	t.Helper()
	run := store.Run{UserID: user, ThreadID: thread}
	_, mounts, err := e.folderOf(t.Context(), access.FromRow(user), thread)
	if err != nil {
		t.Fatal(err)
	}
	space, _, err := e.space(t.Context(), run, mounts)
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	box, err := space.Sandbox(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	script := "cat /mnt/folder/name; for f in name new; do echo x > /mnt/folder/$f && echo WROTE; done; rm -f /mnt/folder/name && echo REMOVED"
	if len(mounts) == 0 {
		script = "cat /mnt/folder/name; ls /mnt/folder && echo THERE"
	}
	if _, err := box.Run(t.Context(), sandbox.Command{Script: script, Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	raw, err := space.Files().ReadFile(sandbox.Folder+"/name", 100)
	if string(raw) != out.String() || (err == nil) != (len(mounts) > 0) {
		t.Errorf("a command reads %q, a tool %q, %v", &out, raw, err)
	}
	for _, name := range []string{"/name", "/new"} {
		if err := space.Files().WriteFile(sandbox.Folder+name, []byte("x"), false); err == nil {
			t.Errorf("a tool wrote %s", name)
		}
	}
	space.Park()
	return out.String()
}

// TestFolderOfARun: a run sees the files of the folder that its thread is in when it begins, and of no other; that an
// earlier sandbox of the thread waits in the pool changes nothing.
func TestFolderOfARun(t *testing.T) {
	e := shelved(t)
	ann := folders.New(e.store).For(access.FromRow("ann"))
	e.folder(t, "ann", "mine", "t")
	e.folder(t, "ann", "other")
	e.folder(t, "bob", "mine", "v") // of the same id
	if err := ann.Put(t.Context(), "mine", "v", time.Now()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("bob's thread is put into ann's folder: %v", err)
	}
	want := func(thread, user, folder string) {
		t.Helper()
		if got := e.sees(t, user, thread); got != folder {
			t.Errorf("thread %s of %s sees folder %q, not %q", thread, user, got, folder)
		}
	}
	want("t", "ann", "mine")
	want("u", "ann", "")
	want("v", "bob", "mine")
	if err := ann.Put(t.Context(), "other", "t", time.Now()); err != nil {
		t.Fatal(err)
	}
	want("t", "ann", "other")
	if err := e.deleteFolder(t.Context(), access.FromRow("ann"), "other"); err != nil {
		t.Fatal(err)
	}
	want("t", "ann", "")
	want("v", "bob", "mine")
	if err := e.deleteFolder(t.Context(), access.FromRow("ann"), "mine"); err != nil {
		t.Fatal(err)
	}
	want("v", "bob", "mine")
	if _, err := e.folderFiles(t.Context(), access.FromRow("ann"), "mine"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the files of a folder that is gone are opened: %v", err)
	}
}

// TestFolderOfAHiddenThread: a run below another one, and who looks at its files, see the folder of the thread at the
// top.
func TestFolderOfAHiddenThread(t *testing.T) {
	e := shelved(t)
	e.folder(t, "ann", "mine", "t")
	ann, now := access.FromRow("ann"), time.Now()
	run, err := e.store.For(ann).Admit(t.Context(), store.Admission{
		Thread: store.Thread{ID: "t", CreatedAt: now, UpdatedAt: now},
		Run:    store.Run{ID: "r", ThreadID: "t", Owner: "me", CreatedAt: now, UpdatedAt: now},
	})
	if err != nil {
		t.Fatal(err)
	}
	child, err := e.store.System().AdmitChild(t.Context(), store.Fence{RunID: run.ID, Attempt: 1}, store.Admission{
		Run:   store.Run{ID: "c", ThreadID: "hidden", Key: "k", CreatedAt: now, UpdatedAt: now},
		Begin: &event.Event{ID: event.ID{Attempt: 1, N: 1}, Data: event.Run{Status: event.StatusRunning}},
	})
	if err != nil {
		t.Fatal(err)
	}
	place, err := e.place(t.Context(), child)
	if err != nil || e.sees(t, "ann", place.Thread()) != "mine" {
		t.Errorf("it works at %v, %v", place, err)
	}
	files, err := e.files(t.Context(), ann, "hidden")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if raw, err := files.ReadFile(sandbox.Folder+"/name", 10); string(raw) != "mine" || err != nil {
		t.Errorf("%q %v", raw, err)
	}
	if err := files.WriteFile(sandbox.Folder+"/name", nil, false); !errors.Is(err, sandbox.ErrReadOnly) {
		t.Error(err)
	}
}

// TestFolderFilesAreCollected: what a deletion that was cut off has left is removed, at once where it had begun to
// remove the files; what belongs to a folder stays.
func TestFolderFilesAreCollected(t *testing.T) {
	e := shelved(t)
	for _, name := range []string{"kept", "cut"} {
		e.folder(t, "ann", name)
	}
	e.folder(t, "bob", "cut")
	if err := folders.New(e.store).For(access.FromRow("ann")).Delete(t.Context(), "cut"); err != nil { // and killed
		t.Fatal(err)
	}
	gone := filepath.Join(e.dir, "users/bob/folders/.gone-"+id.New(time.Now()))
	if err := os.MkdirAll(filepath.Join(gone, "files"), 0o755); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(e.dir, "users/ann/folders/kept/files/.pudu-0123456789abcdef.tmp")
	if err := os.WriteFile(half, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	collect := func(now time.Time, dry bool) []string {
		t.Helper()
		c := &collection{store: e.store.System(), folders: folders.New(e.store), dir: e.dir, disk: e.disk, now: now,
			dryRun: dry}
		if err := c.run(t.Context()); err != nil || len(c.out.Failed) > 0 {
			t.Fatal(err, c.out.Failed)
		}
		return c.out.Folders
	}
	name := strings.TrimPrefix(gone, e.dir+"/")
	for _, round := range []struct {
		now  time.Time
		dry  bool
		want []string
	}{
		{time.Now(), true, []string{name}}, {time.Now(), false, []string{name}},
		{time.Now().Add(2 * grace), false, []string{"users/ann/folders/cut"}}, {time.Now().Add(2 * grace), false, nil},
	} {
		if got := collect(round.now, round.dry); !slices.Equal(got, round.want) {
			t.Errorf("collected %q, not %q", got, round.want)
		}
	}
	list, err := e.disk.Shared()
	if err != nil || len(list) != 2 || list[0].Name() != "users/ann/folders/kept" ||
		list[1].Name() != "users/bob/folders/cut" {
		t.Error(list, err)
	}
	if _, err := os.Lstat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was cut off is still there: %v", err)
	}
}
