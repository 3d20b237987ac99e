// Package fsynctest tells tests what a function makes durable. It runs the function in a process of its own, under
// strace, and compares the files and folders that were synced with those that should be. Only a power cut shows that a
// sync is missing, and no test makes one.
package fsynctest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// childEnv names the folder in which the traced process works.
const childEnv = "PUDU_FSYNCTEST_DIR"

// call is a line of strace about a sync that succeeded, "4711 fsync(7</tmp/x/file>) = 0", or that has begun when
// something happens in another thread, "4711 fsync(7</tmp/x/file> <unfinished ...>".
var call = regexp.MustCompile(`\bf(?:data)?sync\(\d+<(.*)>(?:\)\s+= 0| <unfinished \.\.\.>)$`)

// random is what makes the names of temporary files differ each time.
var random = regexp.MustCompile(`[0-9a-f]{16}|[0-9A-Z]{26}|\d{6,}`)

// Check runs do in an empty folder and compares the paths below it that were synced, in their order, with want; "." is
// the folder itself, and what is random in a name is "*". It runs the test once more in another process, where it does
// nothing but do. So a test calls it at its very beginning, and does nothing else.
func Check(t *testing.T, do func(dir string) error, want ...string) {
	t.Helper()
	if dir := os.Getenv(childEnv); dir != "" {
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	cmd := exec.CommandContext(t.Context(), "strace", //nolint:gosec // this very program
		"-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run under strace, which scripts/setup tests installs: %v\n%s", err, out)
	}
	if got := synced(t, trace, dir); !slices.Equal(got, want) {
		t.Errorf("synced were %q, want %q", got, want)
	}
}

// synced reads the trace.
func synced(t *testing.T, trace, dir string) (paths []string) {
	t.Helper()
	f, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		m := call.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if rel, err := filepath.Rel(dir, m[1]); err == nil && filepath.IsLocal(rel) {
			paths = append(paths, random.ReplaceAllString(rel, "*"))
		}
	}
	return paths
}
