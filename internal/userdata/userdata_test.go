package userdata

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

func place(t *testing.T, dir, user, thread string) Space {
	t.Helper()
	p, err := New(dir).User(access.FromRow(user)).Thread(thread)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWhatLiesOnDiskKeepsItsPlace: folders, and the ids from which the owners of their files follow, are those of old
// data.
func TestWhatLiesOnDiskKeepsItsPlace(t *testing.T) {
	p := place(t, "/data", "default", "t-1")
	want := []sandbox.Mount{
		{Host: "/data/users/default/threads/t-1/user-data/workspace", Path: sandbox.Workspace},
		{Host: "/data/users/default/threads/t-1/user-data/uploads", Path: sandbox.Uploads},
		{Host: "/data/users/default/threads/t-1/user-data/outputs", Path: sandbox.Outputs},
	}
	if diff := cmp.Diff(want, p.Mounts()); diff != "" || p.SandboxID() != "t-1" ||
		p.Name() != "users/default/threads/t-1" || p.Thread() != "t-1" {
		t.Error(p, p.SandboxID(), diff)
	}
	for id, want := range map[string]string{
		"user_1-A": "users/user_1-A/agents", "a@b.c": "users/a-b-c-d648b243a3e817ea/agents",
		"..": "users/---5ec1f7e700f37c3d/agents",
	} {
		if got, err := New("/data").User(access.FromRow(id)).Agents(); got != want || err != nil {
			t.Errorf("agents of %q: %s %v", id, got, err)
		}
	}
}

// TestHiddenThreadsWorkWhereTheirRootDoes: they have no folder and no sandbox of their own.
func TestHiddenThreadsWorkWhereTheirRootDoes(t *testing.T) {
	for _, thread := range []store.Thread{{ID: "t-1", UserID: "ann"}, {ID: "hidden", UserID: "ann", Root: "t-1"}} {
		if p, err := New("/data").Of(thread); err != nil || p != place(t, "/data", "ann", "t-1") {
			t.Errorf("%s: %v %v", thread.ID, p, err)
		}
	}
}

func TestNobodyAndBadThreadsHaveNoPlace(t *testing.T) {
	_, err := New("/data").User(access.User{}).Thread("t")
	_, errAgents := New("/data").User(access.User{}).Agents()
	if !errors.Is(err, access.ErrNoUser) || !errors.Is(errAgents, access.ErrNoUser) {
		t.Errorf("nobody: %v, %v", err, errAgents)
	}
	for _, id := range []string{"", ".", "..", "a/b", "a b", "a\n", "ä", strings.Repeat("x", 65), "a\x00"} {
		if p, err := New("/data").User(access.FromRow("u")).Thread(id); err == nil || p != (Space{}) {
			t.Errorf("thread %q was taken", id)
		}
	}
}

// TestHostile11UsersThatLookAlike is item 11 of the list of hostile inputs: users whose ids become the same once the
// characters are gone that no folder has, or that are called as another's folder is, have folders and sandboxes of
// their own.
func TestHostile11UsersThatLookAlike(t *testing.T) {
	ids := []string{
		"a@b.c", "a/b/c", "a b c", "a-b-c", "a.b.c", "a\\b\\c", "a\x00b\x00c", "A@b.c", "a@B.C",
		"a-b-c-d648b243a3e817ea", "..", "...", "--", "../..", "-----", "\u00e5", "a\u030a", "\xff", "\xfe",
		strings.Repeat("u", 300), strings.Repeat("u", 301),
	}
	folders, boxes := map[string]string{}, map[string]string{}
	for _, id := range ids {
		p := place(t, "/data", id, "t")
		checkPlace(t, p)
		folder := strings.ToLower(p.Name()) // some disks take both cases for one
		if other, ok := folders[folder]; ok {
			t.Errorf("%q and %q share the folder %s", id, other, folder)
		}
		if other, ok := boxes[p.SandboxID()]; ok {
			t.Errorf("%q and %q share the sandbox %s", id, other, p.SandboxID())
		}
		folders[folder], boxes[p.SandboxID()] = id, id
	}
}

// FuzzPlaces: no two pairs of a user and a thread meet, on disk or in a sandbox, and none leaves the folder of users.
func FuzzPlaces(f *testing.F) {
	f.Add("default", "t", "default", "u")
	f.Add("a@b.c", "t", "a-b-c-d648b243a3e817ea", "t") // what the first one's folder is called
	f.Add("..", "-", "---5ec1f7e700f37c3d", "-")
	f.Add("default", "-t", "default", "t")
	f.Add("u", "t", "u/threads/t", "t")
	f.Add("\xff", "a", "\xfe", "a")
	f.Add(strings.Repeat("x", 300), "t", strings.Repeat("x", 301), "t")
	f.Fuzz(func(t *testing.T, userA, threadA, userB, threadB string) {
		disk := New("/data")
		a, errA := disk.User(access.FromRow(userA)).Thread(threadA)
		b, errB := disk.User(access.FromRow(userB)).Thread(threadB)
		if (errA == nil) != (userA != "" && CheckThreadID(threadA) == nil) {
			t.Fatalf("%q, %q: %v", userA, threadA, errA)
		}
		if errA != nil || errB != nil {
			return
		}
		if same := userA == userB && threadA == threadB; (a.Name() == b.Name()) != same ||
			(a.SandboxID() == b.SandboxID()) != same {
			t.Fatalf("%q, %q is in %s %s, and %q, %q in %s %s", userA, threadA, a.Name(), a.SandboxID(), userB, threadB,
				b.Name(), b.SandboxID())
		}
		checkPlace(t, a)
	})
}

func checkPlace(t *testing.T, p Space) {
	t.Helper()
	parts := strings.Split(p.Name(), "/")
	if len(parts) != 4 || parts[0] != Root || parts[2] != threads ||
		slices.ContainsFunc(parts, func(s string) bool { return len(s) > 200 }) ||
		filepath.Clean(p.Name()) != p.Name() || !filepath.IsLocal(p.Name()) || Removed(p.Name()) {
		t.Fatalf("folder %q", p.Name())
	}
	for _, m := range p.Mounts() {
		below, err := filepath.Rel("/data", m.Host)
		if at, ok := MountOf(below + "/file"); err != nil || !ok || at != below ||
			!strings.HasPrefix(below, p.Name()+"/") {
			t.Fatalf("mount %q of %q", m.Host, p.Name())
		}
	}
	if err := (sandbox.Spec{ID: p.SandboxID(), Mounts: p.Mounts()}).Check(); err != nil || len(p.SandboxID()) > 100 {
		t.Fatal(p.SandboxID(), err)
	}
}

// write gives a thread a file in its workspace.
func write(t *testing.T, p Space, text string) {
	t.Helper()
	files, err := p.Files(nil, sandbox.FilesOptions{})
	if err == nil {
		err = errors.Join(files.WriteFile(sandbox.Workspace+"/f", []byte(text), false), files.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// read reads that file; empty if it is not there.
func read(t *testing.T, p Space) string {
	t.Helper()
	files, err := p.Open(true)
	if err != nil || files == nil {
		return ""
	}
	defer files.Close()
	text, _ := files.ReadFile(sandbox.Workspace+"/f", 100)
	return string(text)
}

func TestRemoveLeavesTheOthers(t *testing.T) {
	dir := t.TempDir()
	mine, theirs, other := place(t, dir, "ada", "t"), place(t, dir, "bob", "t"), place(t, dir, "ada", "u")
	write(t, mine, "mine")
	write(t, theirs, "theirs")
	write(t, other, "other")
	for range 2 { // the second time there is nothing
		if err := mine.Remove(); err != nil {
			t.Fatal(err)
		}
	}
	if a, b, c := read(t, mine), read(t, theirs), read(t, other); a != "" || b != "theirs" || c != "other" {
		t.Errorf("left are %q, %q, %q", a, b, c)
	}
	list, err := New(dir).Threads()
	if want := []Folder{other.Folder, theirs.Folder}; err != nil || !slices.Equal(list, want) {
		t.Errorf("%v, %v", list, err)
	}
}

// TestRemovalThatWasCutOff leaves a folder that is listed, told from the others, and removed at last.
func TestRemovalThatWasCutOff(t *testing.T) {
	dir := t.TempDir()
	if list, err := New(filepath.Join(dir, "none")).Threads(); len(list) != 0 || err != nil {
		t.Errorf("without a data folder: %v, %v", list, err)
	}
	write(t, place(t, dir, "ada", "t"), "x")
	gone := "users/ada/threads/.gone-X"
	for _, name := range []string{"users/ada/agents/t", "users/ada/threads/some body's", gone +
		"/user-data/workspace"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	list, err := New(dir).Threads()
	if err != nil || len(list) != 2 || list[0].Name() != gone || !Removed(gone) || Removed(list[1].Name()) ||
		list[1].Thread() != "t" {
		t.Fatalf("%v, %v", list, err)
	}
	if Removed("users/ada/threads/t/.gone-x") || Removed("users/ada/threads/t/user-data/workspace/.gone-x") {
		t.Error("an agent's own folder is taken for what is left of a thread")
	}
	if err := list[0].Remove(); err != nil {
		t.Fatal(err)
	}
	if list, err = New(dir).Threads(); len(list) != 1 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// TestOpenMakesNothing: a thread has the folders that it has used; who looks at its files finds nothing in the others.
func TestOpenMakesNothing(t *testing.T) {
	for _, used := range folders() {
		p := place(t, t.TempDir(), "ada", "t")
		if files, err := p.Open(true); files != nil || err != nil {
			t.Fatalf("a thread without folders has %v, %v", files, err)
		}
		if err := os.MkdirAll(p.mount(used).Host, 0o750); err != nil {
			t.Fatal(err)
		}
		files, err := p.Open(false)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range folders() {
			if list, err := files.ReadDir(sandbox.UserData + "/" + name); len(list) != 0 ||
				err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %v, %v", name, list, err)
			}
		}
		if made, err := os.ReadDir(filepath.Dir(p.mount(used).Host)); err != nil || len(made) != 1 ||
			files.Close() != nil {
			t.Errorf("folders %v, %v: looking made some", made, err)
		}
	}
}

// TestPartsAreAllThatTheServerMakes: gc takes a folder for young by them.
func TestPartsAreAllThatTheServerMakes(t *testing.T) {
	p := place(t, t.TempDir(), "ada", "t")
	want := []string{p.Name(), p.Name() + "/user-data"}
	for _, m := range p.Mounts() {
		want = append(want, p.Name()+"/user-data/"+filepath.Base(m.Host))
	}
	if diff := cmp.Diff(want, p.Parts()); diff != "" {
		t.Error(diff)
	}
}

// TestShared: the files of a folder are one user's, are shown read-only, and go in one step.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	disk := New(dir)
	of := func(user, id string) Shared {
		t.Helper()
		s, err := disk.User(access.FromRow(user)).Shared(id)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	mine, other, theirs := of("ann", "f"), of("ann", "g"), of("bob", "f")
	if mounts, err := mine.Mount(false); len(mounts) > 0 || err != nil {
		t.Errorf("nobody has put a file there: %v, %v", mounts, err)
	}
	for _, s := range []Shared{mine, other, theirs} {
		files, err := s.Files()
		if err == nil {
			err = errors.Join(files.WriteFile(sandbox.Folder+"/a", []byte(s.Name()), false), files.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []sandbox.Mount{{Host: filepath.Join(dir, "users/ann/folders/f/files"), Path: sandbox.Folder,
		ReadOnly: true}}
	for _, create := range []bool{false, true} {
		mounts, err := mine.Mount(create)
		if diff := cmp.Diff(want, mounts); diff != "" || err != nil || mine.Name() != "users/ann/folders/f" {
			t.Error(diff, err)
		}
	}
	read, err := sandbox.NewFiles(want, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if err := read.WriteFile(sandbox.Folder+"/b", nil, false); !errors.Is(err, sandbox.ErrReadOnly) {
		t.Errorf("a thread writes: %v", err)
	}
	if err := os.Rename(filepath.Join(dir, "users/ann/folders/f"),
		filepath.Join(dir, "users/ann/folders/.gone-X")); err != nil {
		t.Fatal(err)
	}
	list, err := disk.Shared()
	if err != nil || len(list) != 3 || !Removed(list[0].Name()) || list[1] != other || list[2] != theirs {
		t.Fatal(list, err)
	}
	for _, s := range []Shared{list[0], other, other} {
		if err := s.Remove(); err != nil {
			t.Error(err)
		}
	}
	if list, err = disk.Shared(); err != nil || !slices.Equal(list, []Shared{theirs}) {
		t.Error(list, err)
	}
	for _, id := range []string{"", "..", "a/b", ".gone-X", strings.Repeat("x", 65)} {
		if s, err := disk.User(access.FromRow("ann")).Shared(id); err == nil {
			t.Errorf("%q is at %v", id, s)
		}
	}
	if _, err := disk.User(access.User{}).Shared("f"); !errors.Is(err, access.ErrNoUser) {
		t.Error(err)
	}
}

// TestRemove: what a user has on disk goes, of others nothing; that there is nothing is no error.
func TestRemove(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"users/ann/agents/a", "users/ann/threads/t/user-data/outputs", "users/bob/agents/a"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := New(dir).User(access.FromRow("ann")).Remove(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "users"))
	if err != nil || len(left) != 1 || left[0].Name() != "bob" {
		t.Errorf("%v, %v", left, err)
	}
	if New(dir).User(access.User{}).Remove() == nil || New(filepath.Join(dir, "none")).User(access.FromRow("ann")).
		Remove() != nil {
		t.Error("nobody's is removed, or that of a folder that is not there is an error")
	}
}
