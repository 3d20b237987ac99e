// Package server starts the server for the tests of the whole: a program of its own, on a free port and an empty data
// folder, which ends with the test.
package server

import (
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const buildTime = 5 * time.Minute

// Options says what the server is started with.
type Options struct {
	// Config is the path of its configuration. Paths in it are relative to its folder.
	Config string
	// Model is the name of a model in it.
	Model string
	// Env is added to the environment, each as KEY=value. Keys of providers and settings of the person who runs the
	// tests are left out of it.
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
	config, err := filepath.Abs(o.Config)
	Must(t, err)
	data := t.TempDir()
	n := func() *Node {
		built.Lock()
		defer built.Unlock() // also where the test ends here
		return launch(t, filepath.Dir(config), program(t),
			[]string{"--addr", "127.0.0.1:0", "--data", data, "--config", config, "--model", o.Model}, o.Env)
	}()
	t.Cleanup(func() { n.Term() })
	return Server{URL: n.Ready().URL, Data: data}
}

// built is the program of [Start] while the test runs that has built it, from which others, such as those below it,
// start it too: to link it takes seconds.
var built struct {
	sync.Mutex
	path string
}

// program is its path; the caller holds the lock.
func program(t testing.TB) string {
	t.Helper()
	if built.path == "" {
		path := filepath.Join(t.TempDir(), "pudu")
		Must(t, build(path, "github.com/pudu-ai/pudu/test/pudu", "-ldflags", "-s -w"))
		built.path = path
		t.Cleanup(func() { // before the folder goes
			built.Lock()
			defer built.Unlock()
			built.path = ""
		})
	}
	return built.path
}
