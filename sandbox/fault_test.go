//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// faulty is something to do with the files of a thread while an operation of the kernel's fails.
type faulty struct {
	do func(f *Files, host *os.Root) error
	// done reports whether all is so as it must be when nothing was told of a failure; nil asks for nothing.
	done func(f *Files, host *os.Root, failed string) bool
	// forgiven are the operations whose failure need not be told. Go itself tries "stat" where it can do without.
	forgiven string
	// refused is the error when nothing fails.
	refused error
	ofHost  bool // its errors may name paths of the host
	silent  bool // it passes over whatever fails
}

// TestFaults makes each operation fail in turn. It is told of, with the virtual path, or all is done all the same; in
// both cases nothing stays open, and no file that was being written stays.
func TestFaults(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what nobody closes stays open
	for name, c := range faults() {
		t.Run(name, func(t *testing.T) {
			for n := 1; fault(t, c, n); n++ {
			}
		})
	}
}

// fault reports whether there was an nth operation.
func fault(t *testing.T, c faulty, n int) bool {
	t.Helper()
	host := t.TempDir()
	f, root := failingFolders(t, host)
	before := len(openBelow(t, host))
	failed := ""
	var err error
	runFailing(t, host, failNth(n, &failed), func() { err = c.do(f, root) })
	switch {
	case err == nil && failed != "" && !strings.Contains(c.forgiven, failed):
		t.Errorf("operation %d, %s: nothing is told", n, failed)
	case err == nil && (c.refused != nil || c.done != nil && !c.done(f, root, failed)):
		t.Errorf("operation %d, %q: it is not done, and nothing is told", n, failed)
	case err != nil && (c.silent || failed == "" && !errors.Is(err, c.refused) ||
		failed != "" && !errors.Is(err, unix.EIO) ||
		!c.ofHost && strings.Contains(err.Error(), host)):
		t.Errorf("operation %d, %q: %v", n, failed, err)
	}
	if open := openBelow(t, host); len(open) != before {
		t.Errorf("operation %d, %q: open are %q", n, failed, open)
	}
	if left, _ := filepath.Glob(filepath.Join(host, "workspace", TempPrefix+"*")); len(left) != 0 &&
		failed != "remove" {
		t.Errorf("operation %d, %q: left is %q", n, failed, left)
	}
	if err := f.Close(); err != nil || len(openBelow(t, host)) != 1 {
		t.Errorf("after closing are open %q, %v", openBelow(t, host), err)
	}
	root.Close()
	return failed != ""
}

func failingFolders(t *testing.T, host string) (*Files, *os.Root) {
	t.Helper()
	put(t, host, "workspace/old", "as it was")
	put(t, host, "workspace/dir/a/b", "deep")
	put(t, host, "workspace/dir/"+someTemp, "half")
	if err := errors.Join(os.Chmod(filepath.Join(host, "workspace/old"), 0o751),
		syscall.Mkfifo(filepath.Join(host, "workspace/fifo"), 0o600)); err != nil {
		t.Fatal(err)
	}
	f, err := NewFiles([]Mount{{Host: filepath.Join(host, "workspace"), Path: Workspace}},
		FilesOptions{UID: 4711, GID: 4712})
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(host)
	if err != nil {
		t.Fatal(err)
	}
	return f, root
}

func faults() map[string]faulty {
	write := func(path, text string, add bool) func(*Files, *os.Root) error {
		return func(f *Files, _ *os.Root) error { return f.WriteFile(path, []byte(text), add) }
	}
	holds := func(path, text string, mode fs.FileMode) func(*Files, *os.Root, string) bool {
		return func(_ *Files, host *os.Root, _ string) bool {
			got, err := host.ReadFile("workspace/" + path)
			info, errStat := host.Stat("workspace/" + path)
			return errors.Join(err, errStat) == nil && string(got) == text && info.Mode() == mode &&
				ownedBy(info, 4711, 4712)
		}
	}
	gone := func(path string) func(*Files, *os.Root, string) bool {
		return func(_ *Files, host *os.Root, _ string) bool {
			_, err := host.Lstat("workspace/" + path)
			return errors.Is(err, fs.ErrNotExist)
		}
	}
	swept := 0
	return map[string]faulty{
		"write": {do: write("x/y/new", "new", false), done: holds("x/y/new", "new", 0o644),
			forgiven: "stat lock remove"},
		"replace": {do: write("old", "new", false), done: holds("old", "new", 0o751),
			forgiven: "stat lock remove"},
		"add":               {do: write("dir/a/b", "er", true), forgiven: "stat"},
		"add to a new file": {do: write("new", "new", true), done: holds("new", "new", 0o644), forgiven: "stat"},
		"create": {do: func(f *Files, _ *os.Root) error { h, err := f.Create("new"); closeFile(h); return err },
			done: holds("new", "", 0o644), forgiven: "stat"},
		"make folders": {do: func(f *Files, _ *os.Root) error { return f.MkdirAll("x/y") }, forgiven: "stat",
			done: func(_ *Files, host *os.Root, _ string) bool {
				info, err := host.Stat("workspace/x/y")
				return err == nil && info.IsDir() && ownedBy(info, 4711, 4712)
			}},
		"remove": {do: func(f *Files, _ *os.Root) error { return f.Remove("old") }, done: gone("old")},
		"sweep": {do: func(f *Files, _ *os.Root) (err error) { swept, err = f.Sweep(context.Background()); return err },
			silent: true, forgiven: "open list stat lock remove",
			// without locks nobody knows whether it is being written
			done: func(_ *Files, host *os.Root, failed string) bool {
				_, err := host.Lstat("workspace/dir/" + someTemp)
				return (err == nil) == (swept == 0) && (failed != "" || swept == 1) && (failed != "lock" || swept == 0)
			}},
		"open a FIFO": {do: func(f *Files, _ *os.Root) error { return second(f.Open("fifo")) }, refused: ErrNotRegular},
		"read":        {do: func(f *Files, _ *os.Root) error { return second(f.ReadFile("old", 100)) }},
		"list":        {do: func(f *Files, _ *os.Root) error { return second(f.ReadDir("dir")) }},
		"describe":    {do: func(f *Files, _ *os.Root) error { return second(f.Stat("dir/a/b")) }},
		"describe what is listed": {do: func(f *Files, _ *os.Root) error {
			entries, err := f.ReadDir("dir/a")
			for _, e := range entries {
				err = errors.Join(err, second(e.Info()))
			}
			return err
		}},
		"walk": {do: func(f *Files, _ *os.Root) error {
			return f.Walk(context.Background(), "dir/a", 10, func(string, fs.DirEntry) error { return nil })
		}},
		"new": {do: func(_ *Files, host *os.Root) error { return WriteNew(host, "workspace/new", []byte("new")) },
			ofHost: true, forgiven: "stat lock link remove",
			done: func(_ *Files, host *os.Root, _ string) bool {
				got, err := host.ReadFile("workspace/new")
				return err == nil && string(got) == "new"
			}},
		"remove all": {do: func(_ *Files, host *os.Root) error { return RemoveAll(host, "workspace/dir") },
			ofHost: true, forgiven: "open list stat remove",
			done: gone("dir")},
	}
}

// ownedBy reports whether a file has its owner, which only root can give it.
func ownedBy(info fs.FileInfo, uid, gid uint32) bool {
	st := info.Sys().(*syscall.Stat_t)
	return os.Geteuid() != 0 && st.Uid == uint32(os.Geteuid()) || st.Uid == uid && st.Gid == gid
}

// TestWhatNobodyOwnsIsNotLeft: a file or folder that cannot be given to its owner, who could not write to it, does not
// stay.
func TestWhatNobodyOwnsIsNotLeft(t *testing.T) {
	for what, do := range map[string]func(*Files) error{
		"create": func(f *Files) error { return second(f.Create("new")) },
		"add":    func(f *Files) error { return f.WriteFile("new", nil, true) },
		"mkdir":  func(f *Files) error { return f.MkdirAll("new") },
	} {
		host := t.TempDir()
		f, root := failingFolders(t, host)
		var err error
		runFailing(t, host, func(call string) unix.Errno {
			if call == "chown" {
				return unix.EPERM
			}
			return 0
		}, func() { err = do(f) })
		_, errStat := f.Lstat("new")
		if os.Geteuid() == 0 && (!errors.Is(err, fs.ErrPermission) || !errors.Is(errStat, fs.ErrNotExist)) {
			t.Errorf("%s: %v; then %v", what, err, errStat)
		}
		f.Close()
		root.Close()
	}
}

// TestAppendWhileFilesComeAndGo: the file that was looked at is gone when it is opened, or one has come.
func TestAppendWhileFilesComeAndGo(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails unix.Errno
		times int
		want  error
	}{
		{"old", unix.ENOENT, 1, nil}, {"old", unix.ENOENT, 100, ErrNotRegular}, {"old", unix.EIO, 1, unix.EIO},
		{"new", unix.EEXIST, 1, nil}, {"new", unix.EEXIST, 100, ErrNotRegular}, {"new", unix.EIO, 1, unix.EIO},
	} {
		host := t.TempDir()
		f, root := failingFolders(t, host)
		looked, left := false, c.times
		var err error
		runFailing(t, host, func(call string) unix.Errno {
			switch {
			case call == "stat" && !looked: // Go's, when the folder is opened
				looked = true
			case call == "open" && looked && left > 0:
				left--
				return c.fails
			}
			return 0
		}, func() { err = f.WriteFile(c.name, []byte("!"), true) })
		if !errors.Is(err, c.want) {
			t.Errorf("%s, %v %d times: %v, want %v", c.name, c.fails, c.times, err, c.want)
		}
		f.Close()
		root.Close()
	}
}

// TestAppendToWhatWasLookedAt: between the look and the opening somebody puts a link in the file's place, or gives the
// file of another owner a second name.
func TestAppendToWhatWasLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(old, other string) error
		want   error
	}{
		"a link": {func(old, other string) error {
			return errors.Join(os.Remove(old), os.Symlink("dir/a/b", old))
		}, ErrNotRegular},
		"another one": {func(old, other string) error { return os.Rename(other, old) }, nil},
		"linked":      {func(old, other string) error { return os.Link(old, old+"2") }, ErrLinked},
	} {
		host := t.TempDir()
		f, root := failingFolders(t, host)
		put(t, host, "workspace/other", "of the same name now")
		stats, before := 0, len(openBelow(t, host))
		var err, errChange error
		runFailing(t, host, func(call string) unix.Errno {
			if call == "stat" {
				stats++
			}
			if call == "open" && stats == 2 { // Go has looked at the folder, we at the file
				stats++
				errChange = c.change(filepath.Join(host, "workspace/old"), filepath.Join(host, "workspace/other"))
			}
			return 0
		}, func() { err = f.WriteFile("old", []byte("!"), true) })
		if !errors.Is(err, c.want) || errChange != nil || stats < 3 {
			t.Errorf("%s: %v, want %v; %v", name, err, c.want, errChange)
		}
		if open := openBelow(t, host); len(open) != before {
			t.Errorf("%s: open are %q", name, open)
		}
		if got, _ := root.ReadFile("workspace/dir/a/b"); string(got) != "deep" {
			t.Errorf("%s: the other file holds %q", name, got)
		}
		f.Close()
		root.Close()
	}
}

// TestNewWithoutHardLinks: on a file system without them a new file gets its name by a rename, and takes no name of
// another.
func TestNewWithoutHardLinks(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		stat unix.Errno
		want error
	}{
		"new": {"new", 0, nil}, "taken": {"old", 0, fs.ErrExist}, "a name that cannot be looked up": {"new", unix.EIO,
			unix.EIO},
	} {
		host := t.TempDir()
		f, root := failingFolders(t, host)
		linked := false
		var err error
		runFailing(t, host, func(call string) unix.Errno {
			switch {
			case call == "link":
				linked = true
				return unix.EPERM
			case call == "stat" && linked:
				return c.stat
			}
			return 0
		}, func() { err = WriteNew(root, "workspace/"+c.file, []byte("new")) })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if got, _ := root.ReadFile("workspace/old"); string(got) != "as it was" {
			t.Errorf("%s: the other file holds %q", name, got)
		}
		if left, _ := filepath.Glob(filepath.Join(host, "workspace", TempPrefix+"*")); len(left) != 0 {
			t.Errorf("%s: left is %q", name, left)
		}
		f.Close()
		root.Close()
	}
}

// TestRemoveAllOfWhatStays ends, and its error is the first one.
func TestRemoveAllOfWhatStays(t *testing.T) {
	host := t.TempDir()
	f, root := failingFolders(t, host)
	defer f.Close()
	defer root.Close()
	for _, path := range []string{"workspace/dir/a/b", "workspace/dir"} {
		var err error
		tries := 0
		runFailing(t, host, func(call string) unix.Errno {
			if call != "remove" {
				return 0
			}
			if tries++; tries <= 2 { // as a file and as a folder
				return unix.EPERM
			}
			return unix.EBUSY
		}, func() { err = RemoveAll(root, path) })
		if !errors.Is(err, unix.EPERM) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestOwnerThatNobodyKnows: what is made in a person's folder is the server's if the folder does not say whose it is.
func TestOwnerThatNobodyKnows(t *testing.T) {
	host := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chown(host, 4321, 4321); err != nil {
			t.Fatal(err)
		}
	}
	var f *Files
	var err error
	runFailing(t, host, func(call string) unix.Errno {
		if call == "stat" {
			return unix.EIO
		}
		return 0
	}, func() { f, err = NewFiles([]Mount{{Host: host, Path: "/mnt/project"}}, FilesOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.WriteFile("/mnt/project/a", nil, false); err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat("/mnt/project/a"); err != nil || !ownedBy(info, uint32(os.Geteuid()), uint32(os.Getegid())) {
		t.Errorf("%+v, %v", info.Sys(), err)
	}
}
