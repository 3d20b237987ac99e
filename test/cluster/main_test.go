//go:build linux

package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/pgtest"
)

// patience bounds every wait for a condition.
const patience = 45 * time.Second

// sideBySide is how many tests run at once, on however few processors: they wait for leases and time limits most of their time.
const sideBySide = 6

var (
	programs string // the folder of the built servers
	pg       pgtest.Lazy
)

func TestMain(m *testing.M) {
	if os.Getenv(diskEnv) != "" { // the process that a test has started
		programs = os.Getenv(programsEnv)
		os.Exit(m.Run())
	}
	flag.Parse()
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err != nil || n < sideBySide {
		_ = flag.Set("test.parallel", strconv.Itoa(sideBySide)) // it is there, and a number
	}
	os.Exit(withPrograms(m))
}

func withPrograms(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "pudu-cluster-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	defer pg.Stop()
	built := make(chan error)
	for _, version := range []string{"one", "two"} {
		go func() { built <- build(version) }()
	}
	if err := errors.Join(<-built, <-built); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// program is the path of the server of a version.
func program(version string) string { return filepath.Join(programs, version) }

// build makes the server of a version.
func build(version string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args := []string{"build", "-ldflags", "-s -w -X main.version=" + version, "-o", program(version)}
	if raced {
		args = append(args, "-race")
	}
	out, err := exec.CommandContext(ctx, "go", append(args, "github.com/pudu-ai/pudu/cmd/pudu")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
