//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// deepEnv makes TestRemoveAllDeep a process that has few descriptors.
const deepEnv = "PUDU_SANDBOX_DEEP"

// TestRemoveAllDeep: a tree is removed that is deeper than any path is long, and than a process has descriptors.
func TestRemoveAllDeep(t *testing.T) {
	if dir := os.Getenv(deepEnv); dir != "" {
		removeDeep(t, dir)
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 48; exec "$0" -test.run='^TestRemoveAllDeep$'`,
		os.Args[0])
	cmd.Env = append(os.Environ(), deepEnv+"="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func removeDeep(t *testing.T, dir string) {
	const depth = 2_100 // more than the 4096 bytes of a path
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := errors.Join(root.Mkdir("kept", 0o700), root.Mkdir("thread", 0o700)); err != nil {
		t.Fatal(err)
	}
	at, err := root.OpenRoot("thread")
	for i := 0; i < depth && err == nil; i++ {
		if err = at.Mkdir("d", 0o755); err == nil {
			err = at.Symlink("../../kept", "link")
		}
		if err == nil {
			next, errOpen := at.OpenRoot("d")
			err = errors.Join(errOpen, at.Close())
			at = next
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	at.Close()
	if err := RemoveAll(root, "thread"); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if err := RemoveAll(root, "thread"); err != nil {
		t.Errorf("what is not there: %v", err)
	}
}

// TestRemoveAll: many files, closed folders, and names that are no folders.
func TestRemoveAll(t *testing.T) {
	dir := t.TempDir()
	for i := range 2*removeBatch + 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600); err != nil && i == 0 {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "kept")
	if err := errors.Join(
		os.WriteFile(outside, []byte("kept"), 0o600), os.MkdirAll(filepath.Join(dir, "a/b/c"), 0o700),
		os.Symlink(filepath.Dir(outside), filepath.Join(dir, "a/link")), os.Chmod(filepath.Join(dir, "a/b/c"), 0),
		os.Chmod(filepath.Join(dir, "a/b"), 0), os.Chmod(filepath.Join(dir, "a"), 0o300),
	); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := RemoveAll(root, filepath.Base(dir)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	if raw, err := os.ReadFile(outside); string(raw) != "kept" {
		t.Errorf("behind a link: %q, %v", raw, err)
	}
}
