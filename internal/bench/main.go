// Command bench measures Pudu against its goals: `make bench`. Each figure stands beside its floor, which is the work
// that no design can avoid (a bare fsync, the bare model calls, an empty process), measured in the same process in
// turns with it. Ratios to the floor and sizes in bytes mean the same on every machine, so a missed one of these fails
// the program; bare times depend on the machine and are only marked. docs/performance.md explains the goals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx)
	stop()
	os.Exit(code)
}

// run measures what the flags ask for and returns the exit code: 1 for a missed goal, 2 for a measurement that failed.
func run(ctx context.Context) int {
	only := flag.String("only", ".", "measure only the groups whose name matches the regular `expression`: "+names())
	pudu := flag.String("pudu", "bin/pudu", "the program to start, a `file`")
	dir := flag.String("dir", "bin", "the `folder` for temporary data; its file system decides what an fsync costs")
	profile := flag.String("cpuprofile", "", "write a CPU profile to the `file`")
	flag.Parse()
	selected, err := regexp.Compile(*only)
	if err != nil {
		return failed("read flag -only", err)
	}
	if err := os.MkdirAll(*dir, 0o750); err != nil {
		return failed("make folder", err)
	}
	tmp, err := os.MkdirTemp(*dir, "bench-")
	if err != nil {
		return failed("make folder", err)
	}
	defer os.RemoveAll(tmp)
	if *profile != "" {
		stop, err := startProfile(*profile)
		if err != nil {
			return failed("write profile", err)
		}
		defer stop()
	}
	fmt.Printf("%s %s/%s, %d cores\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	r := &report{out: os.Stdout}
	for _, g := range groups() {
		if !selected.MatchString(g.name) {
			continue
		}
		r.title(g.name)
		if err := g.measure(ctx, env{dir: tmp, pudu: *pudu}, r); err != nil {
			return failed("measure "+g.name, err)
		}
	}
	if r.missed > 0 {
		fmt.Printf("\n%d goal(s) for ratios or sizes missed\n", r.missed)
		return 1
	}
	return 0
}

// startProfile profiles until stop is called.
func startProfile(file string) (stop func(), err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			failed("write profile", err)
		}
	}, nil
}

func failed(what string, err error) int {
	fmt.Fprintf(os.Stderr, "bench: %s: %v\n", what, err)
	return 2
}

// env is where a group works.
type env struct {
	dir  string // a temporary folder on the disk to measure
	pudu string // the program
}

// group is a set of figures that are measured together.
type group struct {
	name    string
	measure func(ctx context.Context, e env, r *report) error
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

func names() string {
	var all []string
	for _, g := range groups() {
		all = append(all, g.name)
	}
	return strings.Join(all, ", ")
}
