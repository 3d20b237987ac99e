//go:build unix

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// operations are all ways to touch a path, so that no refusal is forgotten in one of them.
func operations(f *Files, p string) (reads, writes map[string]func() error) {
	reads = map[string]func() error{
		"open":    func() error { h, err := f.Open(p); closeFile(h); return err },
		"read":    func() error { _, err := f.ReadFile(p, 1<<20); return err },
		"readdir": func() error { _, err := f.ReadDir(p); return err },
		"walk": func() error {
			return f.Walk(context.Background(), p, 100, func(string, fs.DirEntry) error { return nil })
		},
		"stat": func() error { _, err := f.Stat(p); return err },
	}
	writes = map[string]func() error{
		"write":  func() error { return f.WriteFile(p, []byte("x"), false) },
		"append": func() error { return f.WriteFile(p, []byte("x"), true) },
		"create": func() error { h, err := f.Create(p); closeFile(h); return err },
		"mkdir":  func() error { return f.MkdirAll(p) },
		"remove": func() error { return f.Remove(p) },
	}
	return reads, writes
}

func closeFile(h *File) {
	if h != nil {
		h.Close()
	}
}

func TestSymlinksStayInside(t *testing.T) {
	f, host := threadFolders(t)
	secret := t.TempDir()
	put(t, secret, "shadow", "SECRET")
	put(t, host, "outputs/other", "of another mount")
	put(t, host, "workspace/real/in.txt", "inside")
	links := map[string]string{"abs": secret + "/shadow", "dir": secret, "up": "../outputs/other",
		"proc": "/proc/self/root",
		"loop": "loop", "chain1": "chain2", "chain2": "../../../../../../etc", "ok": "real"}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(host, "workspace", name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"abs", "dir/shadow", "up", "proc/etc/passwd", "loop", "chain1/passwd", "dir/new"} {
		reads, writes := operations(f, p)
		delete(writes, "remove") // removes the link itself where the link is the last name
		delete(writes, "mkdir")  // checked below
		maps.Copy(reads, writes)
		for name, do := range reads {
			err := do()
			if err == nil {
				t.Errorf("%s %s: no error", name, p)
			} else if strings.Contains(err.Error(), host) || strings.Contains(err.Error(), secret) {
				t.Errorf("%s %s: the error names the host: %v", name, p, err)
			}
		}
	}
	for _, p := range []string{"dir/sub", "proc/tmp/pudu-x", "up/x"} {
		if err := f.MkdirAll(p); err == nil {
			t.Errorf("mkdir %s: no error", p)
		}
	}
	if entries, _ := os.ReadDir(secret); len(entries) != 1 {
		t.Fatalf("something was written outside: %v", entries)
	}
	if b, err := f.ReadFile("ok/in.txt", 100); err != nil || string(b) != "inside" {
		t.Errorf("a link inside of the mount: %q, %v", b, err)
	}
	if err := f.WriteFile("ok/new.txt", nil, false); err != nil {
		t.Errorf("write below a link inside of the mount: %v", err)
	}
	if err := f.Remove("abs"); err != nil {
		t.Errorf("remove a link: %v", err)
	}
	if _, err := os.Stat(secret + "/shadow"); err != nil {
		t.Error("the target of a removed link is gone")
	}
}

// TestCause: nothing of what package os wraps around an error is left.
func TestCause(t *testing.T) {
	for _, err := range []error{
		&fs.PathError{Path: "/host",
			Err: &os.LinkError{Old: "/host", Err: &os.SyscallError{Syscall: "open", Err: syscall.ENOSPC}}},
		&os.LinkError{Old: "/host",
			Err: &os.SyscallError{Syscall: "open", Err: &fs.PathError{Path: "/host", Err: syscall.ENOSPC}}},
		&os.SyscallError{Syscall: "open",
			Err: &fs.PathError{Path: "/host", Err: &os.LinkError{Old: "/host", Err: syscall.ENOSPC}}},
	} {
		if got := cause(err); got != syscall.ENOSPC {
			t.Errorf("%v has the cause %v", err, got)
		}
	}
}

// TestNothingIsWrittenThroughALink: not even where the link stays inside of its mount, whose file another name means.
func TestNothingIsWrittenThroughALink(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "workspace/target", "as it was")
	for name, to := range map[string]string{"link": "target", "sub/link": "../target", "dangling": "new",
		"loop": "loop"} {
		path := filepath.Join(host, "workspace", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
		_, writes := operations(f, name)
		for _, do := range []string{"write", "append"} {
			if err := writes[do](); !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s %s: %v", do, name, err)
			}
		}
		if err := writes["create"](); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create %s: %v", name, err)
		}
		if got, err := os.Readlink(path); err != nil || got != to {
			t.Errorf("%s is no link any more: %q, %v", name, got, err)
		}
	}
	if got, err := f.ReadFile("target", 100); err != nil || string(got) != "as it was" {
		t.Errorf("the target holds %q, %v", got, err)
	}
	if _, err := f.Lstat("new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link that led nowhere was followed: %v", err)
	}
}

func TestReadOnlyMount(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "sk/a.md", "skill")
	if b, err := f.ReadFile("/mnt/skills/a.md", 10); err != nil || string(b) != "skill" {
		t.Fatal(err)
	}
	for _, p := range []string{"/mnt/skills/a.md", "/mnt/skills/b/c"} {
		_, writes := operations(f, p)
		for name, do := range writes {
			if err := do(); !errors.Is(err, ErrReadOnly) {
				t.Errorf("%s %s: %v", name, p, err)
			}
		}
	}
	if err := f.WriteFile("/mnt/skills/custom/x", nil, false); err != nil {
		t.Errorf("a writable mount below a read-only one: %v", err)
	}
}

// specials makes what is no regular file.
func specials(t *testing.T, host string) []string {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(host, "workspace/fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(host, "workspace")) // the path of a socket is short
	l, err := net.Listen("unix", "sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return []string{"fifo", "sock"}
}

func TestSpecialFilesAreRefused(t *testing.T) {
	f, host := threadFolders(t)
	for _, p := range specials(t, host) {
		for _, suffix := range []string{"", "/below"} {
			reads, writes := operations(f, p+suffix)
			delete(reads, "stat")
			delete(writes, "remove")
			maps.Copy(reads, writes)
			for name, do := range reads {
				done := make(chan error, 1)
				go func() { done <- do() }()
				select {
				case err := <-done:
					if err == nil {
						t.Errorf("%s %s%s: no error", name, p, suffix)
					}
				case <-time.After(5 * time.Second):
					t.Fatalf("%s %s%s hangs", name, p, suffix)
				}
			}
		}
		if _, err := f.Open(p); !errors.Is(err, ErrNotRegular) {
			t.Errorf("open %s: %v", p, err)
		}
	}
	if _, err := f.Open(Workspace); !errors.Is(err, ErrIsDir) || !errors.Is(err, ErrNotRegular) {
		t.Errorf("open a folder: %v", err)
	}
	if err := f.WriteFile(Workspace, nil, false); !errors.Is(err, ErrIsDir) {
		t.Errorf("write a folder: %v", err)
	}
}

func TestForeignHardLinks(t *testing.T) {
	host, secret := t.TempDir(), t.TempDir()
	put(t, secret, "s", "SECRET")
	if err := os.Link(secret+"/s", host+"/s"); err != nil {
		t.Fatal(err)
	}
	put(t, host, "single", "of one name")
	for _, tt := range []struct {
		name string
		uid  int
		ro   bool
		want error
	}{
		{"of another owner", os.Geteuid() + 4711, false, ErrLinked},
		{"of another owner, the first one", os.Geteuid() + 1, false, ErrLinked},
		{"of the server's own", 0, false, nil},
		{"of the server's own, by another number", -1, false, nil},
		{"on a read-only mount", os.Geteuid() + 4711, true, nil},
	} {
		f, err := NewFiles([]Mount{{Host: host, Path: Workspace, ReadOnly: tt.ro}}, FilesOptions{UID: tt.uid})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadFile("s", 100); !errors.Is(err, tt.want) {
			t.Errorf("%s: read: %v", tt.name, err)
		}
		if _, err := f.ReadFile("single", 100); err != nil {
			t.Errorf("%s: read a file with one name: %v", tt.name, err)
		}
		if tt.want != nil {
			for name, err := range map[string]error{"write": f.WriteFile("s", nil, false),
				"append": f.WriteFile("s", []byte("x"), true)} {
				if !errors.Is(err, tt.want) {
					t.Errorf("%s: %s: %v", tt.name, name, err)
				}
			}
		}
		f.Close()
	}
}

func TestErrorsNameTheVirtualPath(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "workspace/file", "")
	for _, p := range []string{"none", "file/x", "../x", "a\x00", "/etc/x", strings.Repeat("é", 3000)} {
		reads, writes := operations(f, p)
		maps.Copy(reads, writes)
		for name, do := range reads {
			if err := do(); err != nil && (strings.Contains(err.Error(), host) || len(err.Error()) > 600) {
				t.Errorf("%s %.20q: %v", name, p, err)
			}
		}
	}
	if _, err := f.Open("gone"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), Workspace+"/gone") {
		t.Errorf("open a missing file: %v", err)
	}
	if _, err := NewFiles([]Mount{{Host: host + "/none", Path: "/mnt/x"}}, FilesOptions{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("mount without a folder: %v", err)
	}
	if _, err := NewFiles([]Mount{{Host: host, Path: "/etc"}}, FilesOptions{}); err == nil {
		t.Error("mount outside of /mnt: no error")
	}
	f.Close()
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := f.Open("file"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestSwapRace swaps a folder and a file against links to a secret while the server reads and writes through them.
func TestSwapRace(t *testing.T) {
	f, host := threadFolders(t)
	secret := t.TempDir()
	put(t, secret, "f", "SECRET")
	ws := filepath.Join(host, "workspace")
	put(t, ws, "good/f", "good")
	put(t, ws, "f", "good")
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for _, s := range []struct{ to, good, name string }{{secret, "good", "d"}, {secret + "/f", "f", "l"}} {
				to := s.to
				if i%2 == 0 {
					to = s.good
				}
				tmp := filepath.Join(ws, ".swap")
				_ = os.Symlink(to, tmp)
				_ = os.Rename(tmp, filepath.Join(ws, s.name))
			}
		}
	})
	tries := 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); tries++ {
		for _, p := range []string{"d/f", "l"} {
			if b, err := f.ReadFile(p, 100); err == nil && bytes.Contains(b, []byte("SECRET")) {
				t.Fatalf("try %d: read %s through the link", tries, p)
			}
			_ = f.WriteFile(p, []byte("good"), false)
			_ = f.WriteFile(p, []byte("good"), true)
		}
		_ = f.MkdirAll("d/sub")
		_ = f.Remove("d/f")
		_ = f.WriteFile("good/f", []byte("good"), false)
	}
	close(stop)
	swapper.Wait()
	entries, _ := os.ReadDir(secret)
	if b, err := os.ReadFile(secret + "/f"); err != nil || string(b) != "SECRET" || len(entries) != 1 {
		t.Fatalf("after %d tries the secret is %q (%v), beside %v", tries, b, err, entries)
	}
	t.Logf("%d tries", tries)
}
