// Package machinetest is for tests that not every machine can run: one that is not root, or has no bubblewrap. Such a
// test says so instead of passing in silence: make test lists it at its end, and where every test must run it fails.
package machinetest

import (
	"fmt"
	"os"
	"testing"
)

// The environment of the tests.
const (
	// allEnv, when it is not empty, says that this machine can run every test: one that cannot has failed. CI sets it.
	allEnv = "PUDU_TEST_ALL"
	// listEnv is the file in which tests that cannot run are listed, a line each. make test sets it.
	listEnv = "PUDU_TEST_NOT_RUN"
)

// Cannot ends a test that this machine cannot run, for a reason that tells what is missing.
func Cannot(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(allEnv) != "" {
		t.Fatalf("this machine cannot run this test, but has to: %s", reason)
	}
	if file := os.Getenv(listEnv); file != "" {
		if err := note(file, t.Name()+": "+reason); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip("this machine cannot run it: " + reason)
}

func note(file, line string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644) //nolint:gosec // a list for people
	if err != nil {
		return fmt.Errorf("list a test that cannot run: %w", err)
	}
	if _, err := f.WriteString(line + "\n"); err != nil {
		_ = f.Close()
		return fmt.Errorf("list a test that cannot run: %w", err)
	}
	return f.Close()
}

// NeedRoot ends a test that only root can run, because of what it does.
func NeedRoot(t testing.TB, does string) {
	t.Helper()
	if os.Geteuid() != 0 {
		Cannot(t, "only root can "+does)
	}
}
