//go:build linux

package cluster

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
	"github.com/pudu-ai/pudu/test/server"
)

var (
	programs string // the folder of the built servers
	pg       pgtest.Lazy
)

// firstProgram has another program do the work of version "one":
//
//	go test ./test/cluster -run TestRolling -first /path/of/pudu
var firstProgram = flag.String("first", "", "program of an earlier version, which is replaced by this one")

func TestMain(m *testing.M) {
	if os.Getenv(diskEnv) != "" { // the process that a test has started
		programs = os.Getenv(programsEnv)
		os.Exit(m.Run())
	}
	flag.Parse()
	server.SideBySide()
	os.Exit(withPrograms(m))
}

func withPrograms(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "pudu-cluster-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(programs)
	defer pg.Stop()
	built := make(chan error)
	for _, version := range []string{"one", "two"} {
		go func() { built <- server.Build(program(version), version) }()
	}
	go func() { built <- buildNewer(program("newer")) }()
	if err := errors.Join(<-built, <-built, <-built); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// program is the path of the server of a version.
func program(version string) string { return filepath.Join(programs, version) }

// programOf is what is started as that version.
func programOf(version string) string {
	if version == "one" && *firstProgram != "" {
		return *firstProgram
	}
	return program(version)
}
