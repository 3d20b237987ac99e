// Command mutate looks for what the tests do not hold: `make mutate`. It makes one small change after the other in a
// package, the kind that slips in by carelessness, and runs the package's own tests on each. A change that no test
// notices survives; either a test is missing, or it changes nothing that anybody could see. Each change is compiled
// once; the tests that reach its line are tried first, the quickest before the others, then the rest, before it counts
// as survived.
//
//	find.go       the changes that a package could suffer
//	reach.go      which tests reach which lines
//	try.go        one of them, tried: the source is not touched, the go command gets the changed file as an overlay
//	survivors.txt the survivors that were looked at and change nothing, each with the reason
//
// It exits with 1 if fewer are noticed than is asked for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
	}
	os.Exit(code)
}

// options are what the command line asks for.
type options struct {
	seed     uint64
	sample   int
	parallel int
	least    float64
	table    string
	verbose  bool
	match    string // changes whose name does not hold it are left out
	dir      string // for the changed files
}

// run returns the exit code: 1 if too many changes survived, 2 if that could not be found out.
func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	var o options
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.Uint64Var(&o.seed, "seed", 1, "the `number` from which the sample is drawn")
	flags.IntVar(&o.sample, "sample", 100, "how many `changes` are tried in each package")
	flags.IntVar(&o.parallel, "parallel", 2, "how many are tried side by side")
	flags.Float64Var(&o.least, "least", 90, "the `percentage` that must be noticed in each package")
	flags.StringVar(&o.table, "table", "test/mutate/survivors.txt", "the `file` with survivors that change nothing")
	flags.BoolVar(&o.verbose, "v", false, "say which test noticed each change")
	flags.StringVar(&o.match, "match", "", "try only changes with this `text` in their name, such as a survivor again")
	if err := flags.Parse(args); err != nil {
		return 2, nil
	}
	if flags.NArg() == 0 {
		return 2, errors.New("name the packages, such as ./state or, by the tests of two, ./p@./p,./another")
	}
	known, err := readTable(o.table)
	if err != nil {
		return 2, err
	}
	if o.dir, err = os.MkdirTemp("", "pudu-mutate-"); err != nil {
		return 2, fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(o.dir)
	code := 0
	for _, pkg := range flags.Args() {
		r, err := o.examine(ctx, pkg, known, out)
		if err != nil {
			return 2, fmt.Errorf("%s: %w", pkg, err)
		}
		fmt.Fprintln(out, r)
		if r.percentage() < o.least {
			code = 1
		}
	}
	return code, nil
}

// result is what became of the changes of a package.
type result struct {
	pkg                               string
	possible                          int
	noticed, survived, without, stale int
	took                              time.Duration
}

// percentage of the changes that could be noticed.
func (r result) percentage() float64 {
	if r.noticed+r.survived == 0 {
		return 100
	}
	return 100 * float64(r.noticed) / float64(r.noticed+r.survived)
}

func (r result) String() string {
	return fmt.Sprintf("%s: %.0f %% noticed: %d of %d; %d survived, %d more change nothing, %d did not compile; %d "+
		"are possible; took %v",
		r.pkg, r.percentage(), r.noticed, r.noticed+r.survived, r.survived, r.without, r.stale, r.possible,
		r.took.Round(time.Second))
}
