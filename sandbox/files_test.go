//go:build unix

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// threadFolders makes the folders of a thread on the host and opens them.
func threadFolders(t testing.TB) (*Files, string) {
	t.Helper()
	host := t.TempDir()
	var mounts []Mount
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		mounts = append(mounts, Mount{Host: filepath.Join(host, name), Path: UserData + "/" + name})
	}
	mounts = append(mounts, Mount{Host: filepath.Join(host, "sk"), Path: "/mnt/skills", ReadOnly: true},
		Mount{Host: filepath.Join(host, "custom"), Path: "/mnt/skills/custom"})
	for _, m := range mounts {
		if err := os.Mkdir(m.Host, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f, err := NewFiles(mounts, FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, host
}

func put(t testing.TB, host, name, text string) {
	t.Helper()
	p := filepath.Join(host, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestResolve(t *testing.T) {
	f, _ := threadFolders(t)
	long := strings.Repeat("a", 256)
	for _, tt := range []struct {
		path, mount, rel string
		err              error
	}{
		{"/mnt/user-data/workspace/a.txt", Workspace, "a.txt", nil},
		{"a/./b//c.txt", Workspace, "a/b/c.txt", nil},
		{"/mnt/user-data/workspace", Workspace, ".", nil},
		{"/mnt/user-data/outputs/", Outputs, ".", nil},
		{"/mnt/skills/custom/x/SKILL.md", "/mnt/skills/custom", "x/SKILL.md", nil},
		{"/mnt/skills/customs/x", "/mnt/skills", "customs/x", nil},
		{"a..b/...", Workspace, "a..b/...", nil},
		{`back\slash`, Workspace, `back\slash`, nil},
		{"/mnt/user-data/../../etc/passwd", "", "", ErrOutside},
		{"/mnt/user-data/workspace/./../../../etc/shadow", "", "", ErrOutside},
		{`..\..\x`, "", "", ErrOutside},
		{"..", "", "", ErrOutside},
		{"/etc/passwd", "", "", ErrOutside},
		{"/", "", "", ErrOutside},
		{"/mnt/user-data-evil/x", "", "", ErrOutside},
		{"/mnt/skillsX", "", "", ErrOutside},
		{"/mnt/user-data/other/x", "", "", ErrOutside},
		{"/mnt/user-data", "", "", ErrIsDir},
		{`C:\x`, "", "", ErrOutside},
		{"C:/x", "", "", ErrOutside},
		{`\\server\share`, "", "", ErrOutside},
		{"", "", "", ErrInvalidPath},
		{"a\x00b", "", "", ErrInvalidPath},
		{"a\xc0\xafb", "", "", ErrInvalidPath},
		{long, "", "", ErrInvalidPath},
		{strings.Repeat("a/", 2100), "", "", ErrInvalidPath},
	} {
		m, rel, err := f.Resolve(tt.path)
		if m.Path != tt.mount || rel != tt.rel || !errors.Is(err, tt.err) {
			t.Errorf("Resolve(%.40q) = %q, %q, %v; want %q, %q, %v", tt.path, m.Path, rel, err, tt.mount, tt.rel,
				tt.err)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"a", "/mnt/user-data/workspace/../x", "/mnt/user-data-evil", `a\..\b`, "/mnt", "C:x",
		"\x00", "/mnt/skills//custom/.", "%2e%2e%2f"} {
		f.Add(s)
	}
	files, _ := threadFolders(f)
	f.Fuzz(func(t *testing.T, p string) {
		m, rel, err := files.Resolve(p)
		if err != nil {
			if _, ok := errors.AsType[*fs.PathError](err); !ok {
				t.Fatalf("%q: %v is no PathError", p, err)
			}
			return
		}
		if !filepath.IsLocal(rel) {
			t.Fatalf("Resolve(%q) gives %q, which leaves the mount", p, rel)
		}
		abs := m.Path + "/" + rel
		m2, rel2, err := files.Resolve(abs)
		if err != nil || m2 != m || rel2 != rel {
			t.Fatalf("%q resolves to %q, which resolves to %q %q, %v", p, abs, m2.Path, rel2, err)
		}
	})
}

func TestReadAndWrite(t *testing.T) {
	f, host := threadFolders(t)
	if err := f.WriteFile("deep/er/a.txt", []byte("one"), false); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile(Workspace+"/deep/er/a.txt", []byte(" two"), true); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.WriteFile("new.txt", []byte("x"), true), f.WriteFile("deep/and/x", nil, false),
		f.MkdirAll("deep/and/more")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(host, "workspace/deep/er/a.txt"))
	if err != nil || string(got) != "one two" {
		t.Fatalf("on the host: %q, %v", got, err)
	}
	if b, err := f.ReadFile("deep/er/a.txt", 7); err != nil || string(b) != "one two" {
		t.Fatalf("ReadFile: %q, %v", b, err)
	}
	if _, err := f.ReadFile("deep/er/a.txt", 6); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("limit 6: %v", err)
	}
	if n, err := f.WriteFrom("deep/er/a.txt", strings.NewReader("0123456789"), 9); !errors.Is(err, ErrTooLarge) ||
		n != 0 {
		t.Fatalf("WriteFrom above its limit: %d bytes, %v", n, err)
	}
	if _, err := f.WriteFrom("deep/er/a.txt", io.MultiReader(strings.NewReader("x"), brokenReader{}), 9); err == nil {
		t.Fatal("WriteFrom of a broken reader: no error")
	}
	entries, err := f.ReadDir("deep/er")
	if err != nil || len(entries) != 1 {
		t.Fatalf("failed writes left something behind: %v, %v", entries, err)
	}
	if b, _ := f.ReadFile("deep/er/a.txt", 100); string(b) != "one two" {
		t.Fatalf("failed writes changed the file to %q", b)
	}
	if _, err := f.Create("deep/er/a.txt"); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("Create of a file that exists: %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("cut off") }

func TestWriteKeepsMode(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "workspace/run.sh", "old")
	p := filepath.Join(host, "workspace/run.sh")
	if err := os.Chmod(p, 0o751); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile("run.sh", []byte("new"), false); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat("run.sh"); err != nil || info.Mode() != 0o751 || info.Name() != "run.sh" {
		t.Fatalf("after a write: %v, %v", info, err)
	}
	if err := os.Chmod(p, 0o555); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"write": f.WriteFile("run.sh", nil, false),
		"append": f.WriteFile("run.sh", nil, true)} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s to a write-protected file: %v", name, err)
		}
	}
}

func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("not root: files stay the server's own")
	}
	host := t.TempDir()
	f, err := NewFiles([]Mount{{Host: host, Path: Workspace}}, FilesOptions{UID: 4711, GID: 4712})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(f.WriteFile("a/b/c", nil, false), f.WriteFile("a/d", nil, true)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(os.Geteuid(), os.Getegid())
	if os.Geteuid() == 0 {
		want = "4711 4712"
	}
	for _, p := range []string{"a", "a/b", "a/b/c", "a/d"} {
		info, err := f.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if got := fmt.Sprint(st.Uid, st.Gid); got != want {
			t.Errorf("%s belongs to %s, want %s", p, got, want)
		}
	}
}

// TestOwnerOfOneKind: a user or a group alone is given too.
func TestOwnerOfOneKind(t *testing.T) {
	for _, opts := range []FilesOptions{{UID: 4711}, {GID: 4712}, {UID: 1}, {GID: 1}} {
		f, err := NewFiles([]Mount{{Host: t.TempDir(), Path: Workspace}}, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.WriteFile("a", nil, false); err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat("a")
		if err != nil {
			t.Fatal(err)
		}
		uid, gid := os.Geteuid(), os.Getegid()
		if uid == 0 {
			uid, gid = max(uid, opts.UID), max(gid, opts.GID)
		}
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != uid || int(st.Gid) != gid {
			t.Errorf("%+v: it belongs to %d %d, want %d %d", opts, st.Uid, st.Gid, uid, gid)
		}
	}
}

// TestOwnerOfAFolderOfAGroup: where none is to be given, a file keeps the group that it gets from its folder.
func TestOwnerOfAFolderOfAGroup(t *testing.T) {
	host := t.TempDir()
	group := os.Getegid()
	if os.Geteuid() == 0 {
		group = 4713
	}
	if err := errors.Join(os.Chown(host, -1, group), os.Chmod(host, 0o755|fs.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	f, err := NewFiles([]Mount{{Host: host, Path: Workspace}}, FilesOptions{UID: 4711})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.WriteFile("a", nil, false); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat("a")
	if err != nil {
		t.Fatal(err)
	}
	if got := int(info.Sys().(*syscall.Stat_t).Gid); got != group {
		t.Errorf("the file is of the group %d, want %d", got, group)
	}
}

func TestWhatIsMadeInAPersonsFolderBelongsToIt(t *testing.T) {
	host, owner := t.TempDir(), os.Geteuid()
	if owner == 0 {
		owner = 4321
		if err := os.Chown(host, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	f, err := NewFiles([]Mount{{Host: host, Path: "/mnt/project"}}, FilesOptions{UID: 4711, GID: 4712})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.WriteFile("/mnt/project/a/b", nil, false); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat("/mnt/project/a/b")
	if err != nil {
		t.Fatal(err)
	}
	if got := int(info.Sys().(*syscall.Stat_t).Uid); got != owner {
		t.Errorf("the file belongs to %d, want %d", got, owner)
	}
}

func TestVirtualFolders(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "sk/public/SKILL.md", "")
	put(t, host, "custom/mine/SKILL.md", "")
	for _, p := range []string{Workspace, "/mnt/user-data", "/mnt"} {
		if err := f.Remove(p); !errors.Is(err, ErrReadOnly) {
			t.Errorf("remove %s: %v", p, err)
		}
	}
	for p, want := range map[string][]string{
		"/mnt":           {"skills", "user-data"},
		"/mnt/":          {"skills", "user-data"},
		"/mnt/user-data": {"outputs", "uploads", "workspace"},
		"/mnt/skills":    {"custom", "public"},
	} {
		entries, err := f.ReadDir(p)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.IsDir() || !e.IsDir() {
				t.Errorf("%s/%s: %v, %v", p, e.Name(), info, err)
			}
			names = append(names, e.Name())
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
		if info, err := f.Stat(p); err != nil || !info.IsDir() {
			t.Errorf("stat %s: %v, %v", p, info, err)
		}
	}
	if err := f.WriteFile("/mnt/user-data/x", nil, false); err == nil {
		t.Error("write beside the mounts: no error")
	}
	reads, writes := operations(f, "/mnt/user-data")
	for name, err := range map[string]error{"open": reads["open"](), "read": reads["read"](),
		"write": writes["write"](), "append": writes["append"](),
		"create": writes["create"]()} {
		if !errors.Is(err, ErrIsDir) {
			t.Errorf("%s a folder above the mounts: %v", name, err)
		}
	}
	for _, p := range []string{"/mnt", "/mnt/user-data", Workspace, "/mnt/skills", "."} {
		if err := f.MkdirAll(p); err != nil {
			t.Errorf("mkdir %s, which is there: %v", p, err)
		}
	}
	if p, err := f.HostPath("/mnt/skills/custom/mine"); err != nil || p != filepath.Join(host, "custom/mine") {
		t.Errorf("HostPath: %q, %v", p, err)
	}
}

func TestWalk(t *testing.T) {
	f, host := threadFolders(t)
	for _, p := range []string{"workspace/b/c.txt", "workspace/a.txt", "workspace/skip/x", "workspace/then",
		"outputs/o", "custom/m"} {
		put(t, host, p, "")
	}
	if err := os.Symlink("b", filepath.Join(host, "workspace/link")); err != nil {
		t.Fatal(err)
	}
	collect := func(p string, limit int) ([]string, error) {
		var got []string
		err := f.Walk(t.Context(), p, limit, func(p string, e fs.DirEntry) error {
			got = append(got, strings.TrimPrefix(p, "/mnt/"))
			if e.Name() == "skip" {
				return fs.SkipDir
			}
			return nil
		})
		return got, err
	}
	got, err := collect("/mnt", 100)
	want := []string{"skills", "skills/custom", "skills/custom/m", "user-data", "user-data/outputs",
		"user-data/outputs/o",
		"user-data/uploads", "user-data/workspace", "user-data/workspace/a.txt", "user-data/workspace/b",
		"user-data/workspace/b/c.txt", "user-data/workspace/link", "user-data/workspace/skip",
		"user-data/workspace/then"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("walk /mnt: %v\n%s", err, diff)
	}
	if got, err := collect("/mnt", 4); !errors.Is(err, ErrTooMany) || len(got) != 4 {
		t.Errorf("walk with limit 4: %v, %v", got, err)
	}
	if got, err := collect("link", 10); err != nil || !slices.Equal(got, []string{"user-data/workspace/link/c.txt"}) {
		t.Errorf("walk from a link: %v, %v", got, err)
	}
	if _, err := collect("none", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("walk of nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Walk(ctx, "/mnt", 10, func(string, fs.DirEntry) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled walk: %v", err)
	}
}

func TestWriteReadProperty(t *testing.T) {
	f, _ := threadFolders(t)
	name := rapid.StringMatching(`[a-z]{1,3}(/[a-zé .]{1,3}){0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		p := name.Draw(t, "path")
		data := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data")
		if err := f.WriteFile(p, data, false); err != nil {
			return // a folder of that name, "..", a file as folder
		}
		more := rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "more")
		if err := f.WriteFile(p, more, true); err != nil {
			t.Fatal(err)
		}
		got, err := f.ReadFile(p, 1000)
		if err != nil || !bytes.Equal(got, append(data, more...)) {
			t.Fatalf("%q: read %q, %v", p, got, err)
		}
	})
}

func TestLock(t *testing.T) {
	f, _ := threadFolders(t)
	unlock := f.Lock("a")
	f.Lock("b")() // another file is free
	entered := make(chan string, 3)
	var others sync.WaitGroup
	for _, p := range []string{"./a", Workspace + "/a"} {
		others.Go(func() {
			defer f.Lock(p)()
			entered <- p
		})
	}
	awaitUsers(t, f, "a", 3)
	entered <- "the holder"
	unlock()
	others.Wait()
	if first := <-entered; first != "the holder" {
		t.Errorf("%s had the lock that somebody held", first)
	}
	if len(f.locks.held) != 0 {
		t.Errorf("%d locks are left", len(f.locks.held))
	}
}

// awaitUsers waits until so many hold the lock or wait for it.
func awaitUsers(t *testing.T, f *Files, name string, want int) {
	t.Helper()
	users := func() int {
		f.locks.mu.Lock()
		defer f.locks.mu.Unlock()
		if m := f.locks.held[Workspace+"/"+name]; m != nil {
			return m.users
		}
		return 0
	}
	for end := time.Now().Add(20 * time.Second); users() != want; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d of %d have asked for the lock", users(), want)
		}
	}
}

// TestLockGoesOnToWhoWaited: who comes later waits for that one.
func TestLockGoesOnToWhoWaited(t *testing.T) {
	f, _ := threadFolders(t)
	unlock := f.Lock("a")
	entered, leave := make(chan bool), make(chan bool)
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			defer f.Lock("a")()
			entered <- true
			<-leave
		})
		awaitUsers(t, f, "a", 2)
		if unlock != nil {
			unlock()
			unlock = nil
			<-entered
		}
	}
	leave <- true
	<-entered
	leave <- true
	others.Wait()
}

// TestLockIsHeldByOne: many who change something under it do so one after the other.
func TestLockIsHeldByOne(t *testing.T) {
	f, _ := threadFolders(t)
	var wg sync.WaitGroup
	var inside atomic.Int32
	for range 200 {
		wg.Go(func() {
			defer f.Lock("a")()
			if inside.Add(1) != 1 {
				t.Error("two hold it")
			}
			runtime.Gosched()
			inside.Add(-1)
		})
	}
	wg.Wait()
}
