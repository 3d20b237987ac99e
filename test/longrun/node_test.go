//go:build linux

package longrun

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/addrtest"
	"github.com/pudu-ai/pudu/test/server"
)

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
	if err := server.Build(program, "test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
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
	server.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	p := &place{data: filepath.Join(base, "data"), config: filepath.Join(base, "config.yaml"), addr: addrtest.Host() + ":0"}
	server.Must(t, os.WriteFile(p.config, []byte(config), 0o600))
	return p
}

// start starts the server, at the address where it was before, and waits until it is ready.
func (p *place) start(t *testing.T) *server.Node {
	t.Helper()
	n := server.Launch(t, program, []string{"--addr", p.addr, "--data", p.data, "--config", p.config}, nil).Ready()
	if p.addr != n.Address() { // the first time; later a client reads it
		p.addr = n.Address()
	}
	return n
}
