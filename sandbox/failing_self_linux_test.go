//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRunFailing makes each operation of a function fail in turn, and nothing outside of its folder.
func TestRunFailing(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var calls []string
	for n := 1; ; n++ {
		failed := ""
		var err, beside error
		runFailing(t, dir, failNth(n, &failed), func() {
			beside = os.WriteFile(filepath.Join(other, "x"), nil, 0o600)
			err = errors.Join(root.Mkdir("a", 0o700), root.Chown("a", -1, -1))
		})
		if (failed != "") != errors.Is(err, unix.EIO) || beside != nil {
			t.Errorf("%d: %s failed, error %v; beside it %v", n, failed, err, beside)
		}
		if failed == "" {
			break
		}
		calls = append(calls, failed)
		_ = root.Remove("a")
	}
	if !slices.Equal(calls, []string{"mkdir", "chown"}) {
		t.Errorf("calls %q", calls)
	}
}

func TestOpenBelow(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	if got := openBelow(t, dir); !slices.Equal(got, []string{f.Name()}) {
		t.Errorf("%q", got)
	}
	f.Close()
	if got := openBelow(t, dir); len(got) != 0 {
		t.Errorf("closed: %q", got)
	}
}
