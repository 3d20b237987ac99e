// Package goals measures the parts of Pudu against their goals: `pudu-bench goals`. Each figure stands beside its
// floor, which is the work that no design can avoid (a bare fsync, the bare model calls, an empty process), measured in
// the same process in turns with it. Ratios to the floor and sizes in bytes mean the same on every machine, so a missed
// one of these is a missed goal; bare times depend on the machine and are only marked. docs/performance.md explains the
// goals.
//
// One file per group; [Groups] lists them.
package goals

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
)

// Config says what is measured. All fields are needed.
type Config struct {
	Only *regexp.Regexp // matches the names of the groups to measure
	Pudu string         // the file of the program to start
	Dir  string         // for temporary data; it is made where it is missing
	Out  io.Writer
}

// Measure prints the figures and returns how many goals for ratios and sizes were missed.
func Measure(ctx context.Context, c Config) (missed int, err error) {
	if err := os.MkdirAll(c.Dir, 0o750); err != nil {
		return 0, fmt.Errorf("make folder: %w", err)
	}
	tmp, err := os.MkdirTemp(c.Dir, "bench-")
	if err != nil {
		return 0, fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	fmt.Fprintf(c.Out, "%s %s/%s, %d cores\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	r := &measure.Table{Out: c.Out, Beside: "floor"}
	for _, g := range groups() {
		if !c.Only.MatchString(g.name) {
			continue
		}
		r.Title(g.name)
		if err := g.measure(ctx, env{dir: tmp, pudu: c.Pudu}, r); err != nil {
			return 0, fmt.Errorf("measure %s: %w", g.name, err)
		}
	}
	return r.Missed, nil
}

// env is where a group works.
type env struct {
	dir  string // a temporary folder on the disk to measure
	pudu string // the program
}

// group is a set of figures that are measured together.
type group struct {
	name    string
	measure func(ctx context.Context, e env, r *measure.Table) error
}

func groups() []group {
	return []group{
		{"loop", measureLoop},
		{"chain", measureChain},
		{"task", measureTask},
		{"token", measureToken},
		{"first token", measureFirst},
		{"commit", measureCommit},
		{"thread", measureThread},
		{"size", measureSize},
		{"sandbox", measureSandbox},
		{"start", measureStart},
	}
}

// Groups are the names of what is measured.
func Groups() (names []string) {
	for _, g := range groups() {
		names = append(names, g.name)
	}
	return names
}
