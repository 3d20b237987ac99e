//go:build linux

package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/addrtest"
	"github.com/pudu-ai/pudu/test/server"
)

// place is what servers are started on. The nodes of a cluster share it.
type place struct {
	dir      string // the data folder
	config   string
	database string
	nats     string
	env      []string // of every server
}

// newPlace makes an empty data folder and a configuration with the model.
func newPlace(t testing.TB, modelURL string) place {
	t.Helper()
	base, err := os.MkdirTemp("", "pudu-n-") // short: a socket is in it
	server.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	p := place{dir: filepath.Join(base, "data"), config: filepath.Join(base, "config.yaml")}
	text := fmt.Sprintf("models:\n- {name: test, provider: openai, model: test, base_url: %q, api_key: none}\n",
		modelURL+"/v1")
	server.Must(t, os.WriteFile(p.config, []byte(text), 0o600))
	return p
}

// set adds a section to the configuration of servers that start from now on.
func (p place) set(t testing.TB, section string) {
	t.Helper()
	text, err := os.ReadFile(p.config)
	server.Must(t, err)
	server.Must(t, os.WriteFile(p.config, append(text, section+"\n"...), 0o600))
}

// node is a server process.
type node struct {
	*server.Node
	t testing.TB
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
		o.addr = addrtest.Host() + ":0"
	}
	args := []string{"--addr", o.addr, "--data", p.dir, "--config", p.config}
	if p.database != "" {
		args = append(args, "--database", p.database)
	}
	if p.nats != "" {
		args = append(args, "--nats", p.nats)
	}
	return &node{server.Launch(t, programOf(o.version), append(args, o.args...), append(o.env, p.env...)), t}
}

// start starts a server and waits until it says where it is.
func (p place) start(t testing.TB, o options) *node {
	t.Helper()
	n := p.launch(t, o)
	n.Ready()
	return n
}
