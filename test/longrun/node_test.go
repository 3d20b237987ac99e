//go:build linux

package longrun

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
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
	out   *output
	ended chan struct{}
}

// start starts the server, at the address where it was before, and waits until it is ready.
func (p *place) start(t *testing.T) *node {
	t.Helper()
	n := &node{t: t, out: &output{address: make(chan string, 1)}, ended: make(chan struct{})}
	n.cmd = exec.Command(program, "serve", "--addr", p.addr, "--data", p.data, "--config", p.config)
	n.cmd.Env = environment()
	n.cmd.Stdout, n.cmd.Stderr = n.out, n.out
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, n.cmd.Start())
	go func() {
		_ = n.cmd.Wait() // the state is looked at
		close(n.ended)
	}()
	t.Cleanup(n.close)
	select {
	case addr := <-n.out.address:
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

// environment leaves out what would make the server another one on another machine.
func environment() (vars []string) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "PUDU_") && !strings.HasPrefix(name, "DEER") && !strings.HasSuffix(name, "_API_KEY") {
			vars = append(vars, v)
		}
	}
	return vars
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

// output keeps what a server prints and finds its address in it.
type output struct {
	address chan string // gets one

	mu    sync.Mutex
	kept  bytes.Buffer
	found bool
}

const keptOutput = 256 << 10

var addressIn = regexp.MustCompile(`ready at.* http://([0-9.]+:\d+)`)

// Write never fails.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept.Write(p)
	if whole, end := o.kept.Bytes(), bytes.LastIndexByte(o.kept.Bytes(), '\n'); !o.found && end >= 0 {
		if at := addressIn.FindSubmatch(whole[:end]); at != nil {
			o.found = true
			o.address <- string(at[1])
		}
	}
	if more := o.kept.Len() - keptOutput; more > 0 {
		o.kept.Next(more)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.String()
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
