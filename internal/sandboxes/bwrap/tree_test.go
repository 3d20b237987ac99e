//go:build linux

package bwrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// nest makes folders in each other, deeper than any path can name, with a few files and folders beside each. It returns
// how many names there are.
func nest(t *testing.T, dir string, depth int) (names int) {
	t.Helper()
	at, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range depth {
		for _, name := range []string{"a", "d", "z"} {
			if err := unix.Mkdirat(at, name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for j := range i % 7 {
			if err := unix.Mknodat(at, fmt.Sprintf("file-%d", j), unix.S_IFREG|0o644, 0); err != nil {
				t.Fatal(err)
			}
		}
		names += 3 + i%7
		below, err := unix.Openat(at, "d", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(at)
		at = below
	}
	unix.Close(at)
	return names
}

func walkAll(t *testing.T, dir string, visit visitor) error {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	return walk(fd, visit)
}

func TestWalkOfADeepTreeHoldsFewDescriptors(t *testing.T) {
	dir := t.TempDir()
	const depth = 10 * walkFolders
	want := nest(t, dir, depth)
	descriptors(t) // the first reading opens some for good
	most, base := 0, descriptors(t)
	seen := map[inode]int{}
	err := walkAll(t, dir, func(_ int, _ string, st *unix.Stat_t) error {
		if len(seen)%100 == 0 {
			most = max(most, descriptors(t)-base)
		}
		seen[inode{st.Dev, st.Ino}]++
		return nil
	})
	if err != nil || len(seen) != want {
		t.Errorf("found %d of %d, %v", len(seen), want, err)
	}
	for id, n := range seen {
		if n != 1 {
			t.Fatalf("%+v was visited %d times", id, n)
		}
	}
	if most > walkFolders+2 {
		t.Errorf("%d descriptors were open", most)
	}
	if left := descriptors(t); left > base {
		t.Errorf("%d descriptors are left open, %d were before", left, base)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// TestWalkOfALargeFolder: names that do not fit into one reading, in a folder that is closed and opened again.
func TestWalkOfALargeFolder(t *testing.T) {
	dir := t.TempDir()
	want := 0
	for i := range 500 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("folder-%d/x", i)), 0o755); err != nil {
			t.Fatal(err)
		}
		want += 2
	}
	want += nest(t, filepath.Join(dir, "folder-250", "x"), 2*walkFolders)
	got := 0
	if err := walkAll(t, dir, func(int, string, *unix.Stat_t) error { got++; return nil }); err != nil || got != want {
		t.Errorf("found %d of %d, %v", got, want, err)
	}
}

// TestWalkNeverLeavesTheTop moves a folder up while the walk is deep below it.
func TestWalkNeverLeavesTheTop(t *testing.T) {
	dir := t.TempDir()
	top := filepath.Join(dir, "top")
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatal(err)
	}
	nest(t, top, 3*walkFolders)
	if err := os.WriteFile(filepath.Join(dir, "secret"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folders := 0
	err := walkAll(t, top, func(_ int, name string, _ *unix.Stat_t) error {
		if name == "secret" {
			t.Error("the walk left its top")
		}
		if name == "d" {
			folders++
		}
		if folders == 3*walkFolders && name == "d" {
			return os.Rename(filepath.Join(top, "d", "d", "d"), filepath.Join(top, "moved"))
		}
		return nil
	})
	if !errors.Is(err, errMoved) {
		t.Errorf("got %v", err)
	}
}

// TestWalkOfLockedFolders: a folder without the rights to list or to enter it is counted as any other.
func TestWalkOfLockedFolders(t *testing.T) {
	dir := t.TempDir()
	modes := []os.FileMode{0, 0o100, 0o200, 0o300, 0o400, 0o600}
	for _, mode := range modes {
		locked := filepath.Join(dir, fmt.Sprintf("%o", mode))
		if err := errors.Join(os.Mkdir(locked, 0o755), os.WriteFile(filepath.Join(locked, "file"), nil, 0o644),
			os.Chmod(locked, mode)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, mode := range modes {
			if err := os.Chmod(filepath.Join(dir, fmt.Sprintf("%o", mode)), 0o755); err != nil {
				t.Error(err)
			}
		}
	})
	files := 0
	if err := walkAll(t, dir, func(_ int, name string, _ *unix.Stat_t) error {
		if name == "file" {
			files++
		}
		return nil
	}); err != nil || files != len(modes) {
		t.Errorf("found %d of %d, %v", files, len(modes), err)
	}
}
