//go:build linux

package bwrap

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
	"github.com/pudu-ai/pudu/sandbox"
)

// A server run by root shows a person's folders to sandboxes of many users: each can use them, and on the disk
// everything stays its owner's.
func TestFoldersOfAPersonKeepTheirOwner(t *testing.T) {
	machinetest.NeedRoot(t, "show a person's folders to other users")
	base := t.TempDir()
	work, mine := filepath.Join(base, "work"), filepath.Join(base, "mine")
	for _, dir := range []string{work, mine} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(mine, "secret"), []byte("for the owner\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{mine, filepath.Join(mine, "secret")} {
		if err := os.Chown(path, 4321, 4321); err != nil {
			t.Fatal(err)
		}
	}
	p := New(Config{RuntimeDir: "/tmp"})
	for _, id := range []string{"one", "two"} {
		box, err := p.Open(t.Context(), sandbox.Spec{ID: id, Mounts: []sandbox.Mount{
			{Host: work, Path: "/mnt/work"}, {Host: mine, Path: "/mnt/mine"},
			{Host: mine, Path: "/mnt/look", ReadOnly: true},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		script := "cat /mnt/look/secret; echo x > /mnt/work/" + id + "; echo y > /mnt/mine/" + id +
			"; touch /mnt/look/no"
		_, err = box.Run(t.Context(), sandbox.Command{Script: script, Dir: "/tmp", Stdout: &out, Stderr: &errs})
		if err != nil {
			t.Fatal(err)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		if out.String() != "for the owner\n" || !strings.Contains(errs.String(), "Read-only file system") {
			t.Errorf("%s: out %q, err %q", id, out.String(), errs.String())
		}
		for path, want := range map[string]uint32{filepath.Join(work, id): 0, filepath.Join(mine, id): 4321, mine: 4321,
			work: 0} {
			fi, err := os.Stat(path)
			if err != nil {
				t.Error(err)
			} else if got := fi.Sys().(*syscall.Stat_t).Uid; got != want {
				t.Errorf("%s: %s belongs to %d, want %d", id, path, got, want)
			}
		}
	}
}
