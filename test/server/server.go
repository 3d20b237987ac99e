// Package server starts the server for the tests of the whole: a program of its own, on a free port and an empty data
// folder, which ends with the test.
package server

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

const (
	program   = "github.com/pudu-ai/pudu/test/pudu"
	buildTime = 5 * time.Minute
	startTime = 30 * time.Second
	stopTime  = 20 * time.Second
)

// Options says what the server is started with.
type Options struct {
	// Config is the path of its configuration. Paths in it are relative to its folder.
	Config string
	// Model is the name of a model in it.
	Model string
	// Env is added to the environment, each as KEY=value. Keys of providers and settings of the person who runs the tests
	// are left out of it.
	Env []string
}

// Server is a server that has started.
type Server struct {
	// URL is its address, such as "http://127.0.0.1:4711"; Data is its data folder.
	URL, Data string
}

// Start builds and starts the server. It stops it when the test ends, and shows what it printed if the test failed.
func Start(t testing.TB, o Options) Server {
	t.Helper()
	bin := build(t)
	config, err := filepath.Abs(o.Config)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	out := NewOutput()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), bin, // stopped by a signal, not killed with the test's context
		"serve", "--addr", "127.0.0.1:0", "--data", data, "--config", config, "--model", o.Model)
	cmd.Dir = filepath.Dir(config)
	cmd.Env = append(Environment(os.Environ()), o.Env...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the process, which stop ends
	t.Cleanup(func() {
		stop(t, cmd, ended)
		if t.Failed() {
			t.Logf("the server said:\n%s", out)
		}
	})
	return Server{URL: ready(t, out, ended), Data: data}
}

// build makes the program. The second time is quick, since Go's build cache has everything.
func build(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	bin := filepath.Join(t.TempDir(), "pudu")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, program).CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	return bin
}

// ready waits until the server has told its address and answers there.
func ready(t testing.TB, out *Output, ended chan error) string {
	t.Helper()
	deadline := time.After(startTime)
	select {
	case address := <-out.Address():
		for !answers(address) {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-deadline:
				t.Fatalf("the server at %s does not answer within %v", address, startTime)
			}
		}
		return address
	case err := <-ended:
		ended <- err
		t.Fatalf("the server ended: %v", err)
	case <-deadline:
		t.Fatalf("the server printed no address within %v", startTime)
	}
	return ""
}

func answers(address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/ok", http.NoBody)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// stop asks the server to end, and ends it if it does not.
func stop(t testing.TB, cmd *exec.Cmd, ended chan error) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return // it has ended already
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Logf("the server ended with: %v", err)
		}
	case <-time.After(stopTime):
		t.Errorf("the server did not end within %v after SIGTERM", stopTime)
		if err := cmd.Process.Kill(); err == nil {
			t.Log(<-ended)
		}
	}
}
