// Package server starts the server for the tests of the whole: a program of its own, on a free port and an empty data
// folder, which ends with the test.
package server

import (
	"path/filepath"
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
	bin := filepath.Join(t.TempDir(), "pudu")
	// the second time is quick: Go keeps what it compiled
	Must(t, build(bin, "github.com/pudu-ai/pudu/test/pudu", "-ldflags", "-s -w"))
	config, err := filepath.Abs(o.Config)
	Must(t, err)
	data := t.TempDir()
	n := launch(t, filepath.Dir(config), bin,
		[]string{"--addr", "127.0.0.1:0", "--data", data, "--config", config, "--model", o.Model}, o.Env)
	t.Cleanup(func() { n.Term() })
	return Server{URL: n.Ready().URL, Data: data}
}
