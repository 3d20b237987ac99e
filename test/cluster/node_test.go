//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

// place is what servers are started on. The nodes of a cluster share it.
type place struct {
	dir      string // the data folder
	config   string
	database string
	nats     string
}

// newPlace makes an empty data folder and a configuration with the model.
func newPlace(t testing.TB, modelURL string) place {
	t.Helper()
	base, err := os.MkdirTemp("", "pudu-n-") // short: a socket is in it
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	p := place{dir: filepath.Join(base, "data"), config: filepath.Join(base, "config.yaml")}
	text := fmt.Sprintf("models:\n- {name: test, provider: openai, model: test, base_url: %q, api_key: none}\n", modelURL+"/v1")
	must(t, os.WriteFile(p.config, []byte(text), 0o600))
	return p
}

// node is a server process.
type node struct {
	t     testing.TB
	cmd   *exec.Cmd
	url   string
	out   *server.Output
	began time.Time
	ended chan struct{}
}

// options of a start beside those of the place.
type options struct {
	version string // of the program; empty is the first one
	addr    string // empty is any port
	args    []string
	env     []string
}

// launch starts a server without waiting for anything but its end.
func (p place) launch(t testing.TB, o options) *node {
	t.Helper()
	if o.version == "" {
		o.version = "one"
	}
	if o.addr == "" {
		o.addr = "127.0.0.1:0"
	}
	args := []string{"serve", "--addr", o.addr, "--data", p.dir, "--config", p.config}
	if p.database != "" {
		args = append(args, "--database", p.database)
	}
	if p.nats != "" {
		args = append(args, "--nats", p.nats)
	}
	n := &node{t: t, out: server.NewOutput(), ended: make(chan struct{})}
	n.cmd = exec.Command(program(o.version), append(args, o.args...)...)
	n.cmd.Env = append(server.Environment(os.Environ()), o.env...)
	n.cmd.Stdout, n.cmd.Stderr = n.out, n.out
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	n.began = time.Now()
	must(t, n.cmd.Start())
	go func() {
		_ = n.cmd.Wait() // the state is looked at
		close(n.ended)
	}()
	t.Cleanup(n.close)
	return n
}

// start starts a server and waits until it says where it is.
func (p place) start(t testing.TB, o options) *node {
	t.Helper()
	n := p.launch(t, o)
	select {
	case n.url = <-n.out.Address():
	case <-n.ended:
		t.Fatalf("the server ended: %s\n%s", n.cmd.ProcessState, n.out)
	case <-time.After(patience):
		t.Fatalf("the server told no address within %v\n%s", patience, n.out)
	}
	return n
}

// refused starts a server that must not come up, and returns what it says.
func (p place) refused(t testing.TB, o options) string {
	t.Helper()
	n := p.launch(t, o)
	select {
	case <-n.ended:
	case <-time.After(patience):
		t.Fatalf("the server neither ended nor came up\n%s", n.out)
	case url := <-n.out.Address():
		t.Fatalf("the server came up at %s", url)
	}
	if n.cmd.ProcessState.Success() {
		t.Errorf("a server that was refused ended with success")
	}
	return n.out.String()
}

func (n *node) signal(s os.Signal) {
	n.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.t.Fatal(err)
	}
}

// kill ends the process as kill -9 does.
func (n *node) kill() {
	n.t.Helper()
	n.signal(syscall.SIGKILL)
	<-n.ended
}

// term asks the server to end, which it must do with success, and returns how long that took.
func (n *node) term() time.Duration {
	n.t.Helper()
	start := time.Now()
	n.signal(syscall.SIGTERM)
	select {
	case <-n.ended:
	case <-time.After(patience):
		n.t.Fatalf("the server did not end within %v after SIGTERM\n%s", patience, n.out)
	}
	if !n.cmd.ProcessState.Success() {
		n.t.Errorf("after SIGTERM the server ended with %s", n.cmd.ProcessState)
	}
	return time.Since(start)
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
		n.t.Logf("the server at %s said:\n%s", n.url, text)
	}
}

// rss is the memory of the process, in bytes.
func (n *node) rss() int64 {
	n.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.cmd.Process.Pid))
	must(n.t, err)
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	must(n.t, err)
	return kb << 10
}
