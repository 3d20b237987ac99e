// Package killtest kills a process with SIGKILL at moments all over its work, again and again, and has what is left
// looked at. The process is the program of the tests itself, which runs the same test once more: there, [Site.Run] does
// the work and ends the process. `make crash` asks for more kills with the flag -kills.
package killtest

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

var kills = flag.Int("kills", 8, "how many `times` each test kills a process at its work")

const (
	siteEnv = "PUDU_KILLTEST_SITE" // the name of the test whose work a process is to do
	toldEnv = "PUDU_KILLTEST_TOLD" // what it is told
	begins  = "killtest: begins"
	did     = "killtest: did "
)

// slowest bounds how long a process may take that is not killed.
const slowest = 2 * time.Minute

// Site is work that is killed.
type Site struct {
	// Before makes what the process finds, and returns what Work is told.
	Before func(kill int) string
	// Work is done by the process. It calls begin where kills begin to matter, and did after each part that must stay
	// from there on. It may have no end.
	Work func(ctx context.Context, told string, begin func(), did func(part string)) error
	// After looks at what is left; parts are those that the process said it has done. whole is that it came to its end.
	After func(kill int, parts []string, whole bool)
	// Span is from when Work begins to the last kill. Where it is 0 it is measured, by a process that is not killed.
	Span time.Duration
}

// Child reports whether this process is one that is killed. A TestMain that prepares something may pass it over then.
func Child() bool { return os.Getenv(siteEnv) != "" }

// Run kills the work at moments that are spread over it. In the process that is killed it does not return.
func (s Site) Run(t *testing.T) {
	t.Helper()
	if os.Getenv(siteEnv) == t.Name() {
		s.work(t)
	}
	scratch(t)
	span := s.Span
	if span == 0 {
		start := time.Now()
		parts, whole := s.try(t, 0, slowest, func() { start = time.Now() })
		if span = time.Since(start); !whole {
			t.Fatalf("undisturbed work did not come to its end; it did %d parts", len(parts))
		}
		s.After(0, parts, true)
	}
	cut := 0
	for i := 1; i <= *kills && !t.Failed(); i++ {
		parts, whole := s.try(t, i, span*time.Duration(i)/time.Duration(*kills+1), func() {})
		if !whole {
			cut++
		}
		s.After(i, parts, whole)
	}
	t.Logf("%d of %d processes were cut off in their work", cut, *kills)
}

// scratch makes a folder that goes with the test: the processes make their temporary folders in it.
func scratch(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kill-") //nolint:usetesting // a short name, for those of sockets below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil { // as /tmp: some of them are other users
		t.Fatal(err)
	}
	for _, name := range []string{"TMPDIR", "GOTMPDIR"} {
		t.Setenv(name, dir)
	}
}

// work does the work, and ends the process.
func (s Site) work(t *testing.T) {
	t.Helper()
	err := s.Work(context.WithoutCancel(t.Context()), os.Getenv(toldEnv), func() { fmt.Println(begins) },
		func(part string) { fmt.Println(did + part) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// try has a process do the work, and kills it so long after it began.
func (s Site) try(t *testing.T, kill int, after time.Duration, begun func()) (parts []string, whole bool) {
	t.Helper()
	only := "-test.run=^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), os.Args[0], only) //nolint:gosec // itself
	cmd.Env = append(os.Environ(), siteEnv+"="+t.Name(), toldEnv+"="+s.Before(kill))
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(slowest, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var due *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == begins {
			begun()
			due = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		if part, ok := strings.CutPrefix(lines.Text(), did); ok {
			parts = append(parts, part)
		}
	}
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	if due == nil || err != nil && wrong.Len() > 0 {
		t.Fatalf("kill %d: the process failed: %v\n%s", kill, err, &wrong)
	}
	due.Stop()
	return parts, err == nil
}
