package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Patience bounds every wait for a condition.
const Patience = 45 * time.Second

// Eventually waits until a condition holds. If it does not within [Patience] the test fails with what was waited for.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for pause := 5 * time.Millisecond; !holds(); pause = min(pause*5/4, 100*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", Patience, what)
		}
		time.Sleep(pause)
	}
}

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Build makes the program as users have it, under a path and with a version to show; with the race detector if the
// tests have it. It is for a TestMain: its tests start the program with [Launch].
func Build(path, version string) error {
	return BuildOther(path, "github.com/pudu-ai/pudu/cmd/pudu", "-ldflags", "-s -w -X main.version="+version)
}

// raceEnv has how scripts/test compiles the tests, an argument a line: what is compiled serves both.
const raceEnv = "PUDU_TEST_RACE"

// BuildOther is Build for another package, with further arguments of go build.
func BuildOther(path, program string, args ...string) error {
	if Raced {
		args = append(args, strings.Split(cmp.Or(os.Getenv(raceEnv), "-race"), "\n")...)
	}
	return build(path, program, args...)
}

func build(path, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	args = append(append([]string{"build", "-o", path}, args...), program)
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the words are ours
	if !slices.Contains(args, "-race") {           // which needs cgo; users have none
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	return nil
}

// Node is a server process that a test ends in its own way. It ends with the test at the latest.
type Node struct {
	t     testing.TB
	cmd   *exec.Cmd
	ended chan struct{}
	// URL is its address, such as "http://127.0.0.1:4711", once [Node.Ready] has returned.
	URL string
	// Began is when the process was started.
	Began time.Time
	// Out is what it prints.
	Out *Output
}

// Launch starts "pudu serve" with these arguments and variables, and waits for nothing.
func Launch(t testing.TB, program string, args, env []string) *Node {
	t.Helper()
	return launch(t, "", program, args, env)
}

// launch starts it in a folder; "" is the one of the tests.
func launch(t testing.TB, dir, program string, args, env []string) *Node {
	t.Helper()
	n := &Node{t: t, Out: NewOutput(), ended: make(chan struct{})}
	// It is ended by the tests, not with their context.
	n.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program, append([]string{"serve"}, args...)...)
	n.cmd.Dir, n.cmd.Env = dir, append(Environment(os.Environ()), env...)
	n.cmd.Stdout, n.cmd.Stderr = n.Out, n.Out
	n.cmd.SysProcAttr = endsWithTheTests()
	n.Began = time.Now()
	Must(t, n.cmd.Start())
	go func() {
		_ = n.cmd.Wait() // the state is looked at
		close(n.ended)
	}()
	t.Cleanup(n.close)
	return n
}

// Ready waits until the server says where it is.
func (n *Node) Ready() *Node {
	n.t.Helper()
	select {
	case n.URL = <-n.Out.Address():
	case <-n.ended:
		n.t.Fatalf("the server ended: %s\n%s", n.cmd.ProcessState, n.Out)
	case <-time.After(Patience):
		n.t.Fatalf("the server told no address within %v\n%s", Patience, n.Out)
	}
	return n
}

// Refused waits until a server has ended that must not come up, and returns what it said.
func (n *Node) Refused() string {
	n.t.Helper()
	select {
	case <-n.ended:
	case <-time.After(Patience):
		n.t.Fatalf("the server neither ended nor came up\n%s", n.Out)
	case url := <-n.Out.Address():
		n.t.Fatalf("the server came up at %s", url)
	}
	if n.cmd.ProcessState.Success() {
		n.t.Errorf("a server that was refused ended with success")
	}
	return n.Out.String()
}

// Address is the host and port, where the server can be started again.
func (n *Node) Address() string { return strings.TrimPrefix(n.URL, "http://") }

// PID is the number of the process.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Signal sends a signal; that the process has ended is no error.
func (n *Node) Signal(s os.Signal) {
	n.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.t.Fatal(err)
	}
}

// Kill ends the process as kill -9 does.
func (n *Node) Kill() {
	n.t.Helper()
	n.Signal(syscall.SIGKILL)
	<-n.ended
}

// Ended is closed when the process has ended.
func (n *Node) Ended() <-chan struct{} { return n.ended }

// Term asks the server to end, which it must do with success, and returns how long that took.
func (n *Node) Term() time.Duration {
	n.t.Helper()
	start := time.Now()
	n.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
	case <-time.After(Patience):
		n.t.Fatalf("the server did not end within %v after SIGTERM\n%s", Patience, n.Out)
	}
	if !n.cmd.ProcessState.Success() {
		n.t.Errorf("after SIGTERM the server ended with %s", n.cmd.ProcessState)
	}
	return time.Since(start)
}

// close ends the process with the test, and looks for what no server may say.
func (n *Node) close() {
	_ = n.cmd.Process.Kill()
	<-n.ended
	text := n.Out.String()
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:", "goroutine stack exceeds"} {
		if strings.Contains(text, bad) {
			n.t.Errorf("the server said %q", bad)
		}
	}
	if n.t.Failed() {
		n.t.Logf("the server at %s said:\n%s", n.URL, text)
	}
}

// RSS is the memory of the process, in bytes.
func (n *Node) RSS() int64 {
	n.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
	Must(n.t, err)
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	Must(n.t, err)
	return kb << 10
}
