//go:build linux

package longrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

// patience bounds every wait for a condition.
const patience = 45 * time.Second

var program string // the built server

func TestMain(m *testing.M) { os.Exit(withProgram(m)) }

func withProgram(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pudu-longrun-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "pudu")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	args := []string{"build", "-ldflags", "-s -w", "-o", program}
	if raced {
		args = append(args, "-race")
	}
	if out, err := exec.CommandContext(ctx, "go", append(args, "github.com/pudu-ai/pudu/cmd/pudu")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the server: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// place is what the server is started on, time and again.
type place struct {
	data, config string
	addr         string // the first start chooses it
}

// newPlace makes an empty data folder and a configuration.
func newPlace(t *testing.T, config string) *place {
	t.Helper()
	base, err := os.MkdirTemp("", "pudu-l-") // short: a socket is in it
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	p := &place{data: filepath.Join(base, "data"), config: filepath.Join(base, "config.yaml"), addr: "127.0.0.1:0"}
	must(t, os.WriteFile(p.config, []byte(config), 0o600))
	return p
}

// node is a server process.
type node struct {
	t     *testing.T
	cmd   *exec.Cmd
	out   *server.Output
	ended chan struct{}
}

// start starts the server, at the address where it was before, and waits until it is ready.
func (p *place) start(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, out: server.NewOutput(), ended: make(chan struct{})}
	n.cmd = exec.Command(program, "serve", "--addr", p.addr, "--data", p.data, "--config", p.config)
	n.cmd.Env = server.Environment(os.Environ())
	n.cmd.Stdout, n.cmd.Stderr = n.out, n.out
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, n.cmd.Start())
	go func() {
		_ = n.cmd.Wait() // the state is looked at
		close(n.ended)
	}()
	t.Cleanup(n.close)
	select {
	case url := <-n.out.Address():
		addr := strings.TrimPrefix(url, "http://")
		if p.addr != addr { // the first time; later a client reads it
			p.addr = addr
		}
	case <-n.ended:
		t.Fatalf("the server ended: %s\n%s", n.cmd.ProcessState, n.out)
	case <-time.After(patience):
		t.Fatalf("the server told no address within %v\n%s", patience, n.out)
	}
	return n
}

// kill ends the process as kill -9 does.
func (n *node) kill() {
	n.t.Helper()
	must(n.t, n.cmd.Process.Kill())
	<-n.ended
}

// stop asks the server to end, which it must do with success.
func (n *node) stop() {
	n.t.Helper()
	must(n.t, n.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-n.ended:
	case <-time.After(patience):
		n.t.Fatalf("the server did not end within %v after SIGTERM\n%s", patience, n.out)
	}
	if !n.cmd.ProcessState.Success() {
		n.t.Errorf("after SIGTERM the server ended with %s", n.cmd.ProcessState)
	}
}

// close ends the process with the test, and looks for what no server may say.
func (n *node) close() {
	_ = n.cmd.Process.Kill()
	<-n.ended
	text := n.out.String()
	for _, bad := range []string{"DATA RACE", "panic:", "fatal error:", "goroutine stack exceeds"} {
		if strings.Contains(text, bad) {
			n.t.Errorf("the server said %q", bad)
		}
	}
	if n.t.Failed() {
		n.t.Logf("the server said:\n%s", text)
	}
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
