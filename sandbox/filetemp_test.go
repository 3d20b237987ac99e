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
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const someTemp = TempPrefix + "0123456789abcdef.tmp"

func TestIsTemp(t *testing.T) {
	for name, want := range map[string]bool{
		tempName(): true, someTemp: true, "": false, ".pudu-.tmp": false, "x.tmp": false,
		".pudu-0123456789abcdeX.tmp": false, ".pudu-0123456789abcdef0.tmp": false, ".pudu-0123456789abcdef": false,
		"a" + someTemp: false, "0123456789abcdef.tmp": false, ".pudu-0123456789abcdef.tmx": false,
	} {
		if got := IsTemp(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if first, second := tempName(), tempName(); first == second {
		t.Error("two files that are being written have one name")
	}
}

func FuzzIsTemp(f *testing.F) {
	f.Add(someTemp)
	f.Add(".pudu-x.tmp")
	f.Fuzz(func(t *testing.T, name string) {
		if IsTemp(name) && (len(name) != len(someTemp) || strings.ContainsAny(name, "/\x00")) {
			t.Errorf("%q", name)
		}
	})
}

func TestTempFilesAreHiddenAndNotForCallers(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "workspace/"+someTemp, "half")
	put(t, host, "workspace/whole", "")
	entries, err := f.ReadDir(Workspace)
	if err != nil || len(entries) != 1 || entries[0].Name() != "whole" {
		t.Errorf("listed %v, %v", entries, err)
	}
	seen := 0
	if err := f.Walk(t.Context(), Workspace, 10, func(string, fs.DirEntry) error { seen++; return nil }); err != nil ||
		seen != 1 {
		t.Errorf("walked over %d, %v", seen, err)
	}
	_, writes := operations(f, "sub/"+someTemp)
	for _, name := range []string{"write", "append", "create"} {
		if err := writes[name](); !errors.Is(err, ErrInvalidPath) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSweep(t *testing.T) {
	f, host := threadFolders(t)
	for _, name := range []string{"workspace/", "workspace/a/b/", "outputs/", "sk/"} {
		put(t, host, name+someTemp, "half")
	}
	put(t, host, "workspace/young"+someTemp, "not ours")
	empty := TempPrefix + "00000000000000ee.tmp"
	put(t, host, "workspace/"+empty, "")
	if n, err := f.Sweep(t.Context()); n != 3 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	for _, name := range []string{"sk/" + someTemp, "workspace/young" + someTemp, "workspace/" + empty} {
		if _, err := os.Lstat(filepath.Join(host, name)); err != nil {
			t.Error(err)
		}
	}
	old := time.Now().Add(-2 * sweepGrace)
	if err := os.Chtimes(filepath.Join(host, "workspace", empty), old, old); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("later it removed %d, %v", n, err)
	}
	first, err := NewFiles([]Mount{{Host: filepath.Join(host, "sk"), Path: "/mnt/longer-than-the-one-of-the-workspace",
		ReadOnly: true},
		{Host: filepath.Join(host, "custom"), Path: Workspace}}, FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	put(t, host, "custom/"+someTemp, "half")
	if n, err := first.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("beside a read-only mount it removed %d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Sweep(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSweepIsBounded: what it looks at counts, and what it removed until then is gone.
func TestSweepIsBounded(t *testing.T) {
	f, host := threadFolders(t)
	for _, name := range []string{"a/x", "a/" + someTemp, "b/x", "b/y", "z"} {
		put(t, host, "workspace/"+name, "x")
	}
	at, err := f.locate("sweep", Workspace)
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{7, 6, 5, 4} { // the leftover is gone after the first time
		s := sweep{ctx: t.Context(), left: left}
		err := s.folder(at)
		if (s.removed == 1) != (left == 7) || left >= 6 && err != nil || left < 6 && !errors.Is(err, ErrTooMany) {
			t.Errorf("at most %d: removed %d, %v", left, s.removed, err)
		}
	}
}

// TestSweepGoesWhereAPathLeads, and no deeper.
func TestSweepGoesWhereAPathLeads(t *testing.T) {
	f, host := threadFolders(t)
	const deepest = MaxPath - len(Workspace+"/"+someTemp) // bytes of a folder's path, with the slash before it
	for _, bytes := range []int{deepest, deepest + 1} {
		root, err := os.OpenRoot(filepath.Join(host, "workspace"))
		if err != nil {
			t.Fatal(err)
		}
		rest := bytes
		for ; rest > 0; rest -= 200 {
			name := strings.Repeat(fmt.Sprint(bytes%10), min(rest, 200)-1)
			if rest == 201 {
				t.Fatal("a name would be empty")
			}
			if err := root.Mkdir(name, 0o755); err != nil {
				t.Fatal(err)
			}
			next, err := root.OpenRoot(name)
			if err != nil {
				t.Fatal(err)
			}
			root.Close()
			root = next
		}
		if err := root.WriteFile(someTemp, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := f.Sweep(t.Context())
		if want := map[bool]int{true: 1}[bytes == deepest]; n != want || err != nil {
			t.Errorf("in a folder of %d bytes: removed %d, %v; want %d", bytes, n, err, want)
		}
		root.Close()
	}
}

// TestSweepLeavesAWriterAlone sweeps while a write is under way.
func TestSweepLeavesAWriterAlone(t *testing.T) {
	f, host := threadFolders(t)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := f.WriteFrom("big", r, 100)
		done <- err
	}()
	if _, err := w.Write([]byte("first ")); err != nil {
		t.Fatal(err)
	}
	for filled(host) == 0 { // ended by the test's time-out
		time.Sleep(time.Millisecond)
	}
	if n, err := f.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	_, _ = w.Write([]byte("second"))
	w.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got, err := f.ReadFile("big", 100); err != nil || string(got) != "first second" {
		t.Errorf("%q, %v", got, err)
	}
}

// filled counts the temporary files in the workspace that hold something.
func filled(host string) (n int) {
	names, _ := filepath.Glob(filepath.Join(host, "workspace", TempPrefix+"*"))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			n++
		}
	}
	return n
}

func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	put(t, dir, "taken", "old")
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"new": nil, "taken": fs.ErrExist, "link": fs.ErrExist,
		"none/x": fs.ErrNotExist} {
		if err := WriteNew(root, name, []byte("new")); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"new": "new", "taken": "old"} {
		if got, err := root.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("left behind: %v", entries)
	}
}

// limitedEnv makes this test binary a process whose files may have 4 KiB.
const limitedEnv = "PUDU_TEST_LIMITED"

// TestFailedWrite: a write that fails half-way says so and leaves what was there. The limit of a process stands for a
// full disk.
func TestFailedWrite(t *testing.T) {
	dir := os.Getenv(limitedEnv)
	if dir == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFailedWrite$")
		cmd.Env = append(os.Environ(), limitedEnv+"="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	put(t, dir, "old", "as it was")
	f, err := NewFiles([]Mount{{Host: dir, Path: Workspace}}, FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	// A report of coverage is written at the end of the process.
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) // it was so before
	large := make([]byte, 1<<16)
	for name, err := range map[string]error{
		"new": WriteNew(root, "new", large), "replace": f.WriteFile("old", large, false),
		"add": f.WriteFile("grown", large, true),
	} {
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := f.ReadFile("old", 100); err != nil || string(got) != "as it was" {
		t.Errorf("%q, %v", got, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 { // an addition may be cut off
		t.Errorf("left behind: %v", entries)
	}
}

// writerEnv makes this test binary a process that writes until it is killed.
const writerEnv = "PUDU_TEST_WRITER"

func content(round int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%07d\n", round), 1<<16) }

func writeForEver(t *testing.T, dir string) {
	f, err := NewFiles([]Mount{{Host: dir, Path: Workspace}}, FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; ; i++ {
		if err := f.WriteFile("target", content(i), false); err != nil {
			t.Fatal(err)
		}
		if err := WriteNew(root, fmt.Sprintf("new-%d", i), content(i)); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
	}
}

// TestKilledWriter kills a process while it writes, again and again: a file is whole or not there, and what is left
// behind is found by a sweep.
func TestKilledWriter(t *testing.T) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeForEver(t, dir)
	}
	dir := t.TempDir()
	swept := 0
	kills := 0
	for ; kills < 8 || swept == 0 && kills < 80; kills++ {
		killWriter(t, dir, time.Duration(kills%8)*time.Millisecond)
		f, err := NewFiles([]Mount{{Host: dir, Path: Workspace}}, FilesOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n, err := f.Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		swept += n
		checkWhole(t, dir)
		f.Close()
	}
	if swept == 0 {
		t.Error("no kill hit a write; nothing was tested")
	}
	t.Logf("%d half-written files in %d kills", swept, kills)
}

func killWriter(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledWriter$")
	cmd.Env = append(os.Environ(), writerEnv+"="+dir)
	before := newest(dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); newest(dir).Equal(before); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the writer does not write")
		}
	}
	time.Sleep(after) // spreads the kills over the steps of a write
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// newest is when something in the folder was last put in its place.
func newest(dir string) (at time.Time) {
	if info, err := os.Stat(filepath.Join(dir, "target")); err == nil {
		at = info.ModTime()
	}
	return at
}

func checkWhole(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		round := 0
		_, _ = fmt.Sscanf(string(raw[:min(len(raw), 8)]), "%d", &round)
		young := IsTemp(e.Name()) && len(raw) == 0
		if !young && (round == 0 || !bytes.Equal(raw, content(round))) {
			t.Errorf("%s is not whole: %d bytes", e.Name(), len(raw))
		}
	}
}
