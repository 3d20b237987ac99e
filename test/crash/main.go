// Command crash kills Pudu with SIGKILL while it works, starts it again, and looks whether anything was lost or happened
// twice: `make crash`. A worker process executes a run of thirty turns, whose tools count what they do in files outside
// of the database; the parent kills it at moments drawn from a seed until the run has ended, and compares what is there
// with an undisturbed run.
//
//	script.go tools.go                     what the model asks for, and the tools
//	worker.go watched.go reader.go mark.go the process that is killed: the real manager, store and sandbox. It prints a mark
//	                                       for whatever it does
//	plan.go site.go campaign.go            when to kill it, and doing so
//	death.go boundary.go                   kills by its own hand, at every write to the store
//	way.go                                 how runs end that do not end with an answer; these are killed at every write too
//	oracle.go report.go                    what must be true at the end
//	backlog.go                             how soon a server goes on with the first of many unfinished runs
//
// It exits with 1 if anything is not as promised; then it names the seed and keeps the folders of the runs concerned. The
// tests of this package are the same in short, and let the disk and the database server fail.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

func main() {
	if o, ok, err := orderOf(workerEnv); err != nil {
		os.Exit(failed(err))
	} else if ok {
		os.Exit(workerMain(o))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx)
	stop()
	os.Exit(code)
}

// flags are what the command line asks for.
type flags struct {
	store string
	kills int
	seed  uint64
	dir   string
}

// run returns the exit code: 1 if something is not as promised, 2 if that could not be found out.
func run(ctx context.Context) int {
	var f flags
	flag.StringVar(&f.store, "store", "sqlite", "the `kind` of store, sqlite or postgres")
	flag.IntVar(&f.kills, "kills", 1000, "how many `times` to kill, beside once at every write")
	flag.Uint64Var(&f.seed, "seed", rand.Uint64(), "the `number` from which the moments are drawn") //nolint:gosec // not for secrets
	flag.StringVar(&f.dir, "dir", "bin", "the `folder` for temporary data")
	flag.Parse()
	fmt.Printf("%s: %d kills, seed %d\n", f.store, f.kills, f.seed)
	breaches, err := crash(ctx, f)
	if err != nil {
		return failed(err)
	}
	for _, b := range breaches {
		fmt.Println(b)
	}
	if len(breaches) > 0 {
		fmt.Printf("\nNOT as promised, with seed %d\n", f.seed)
		return 1
	}
	return 0
}

// crash does everything and returns what is not as promised. The data is kept then.
func crash(ctx context.Context, f flags) (breaches []string, err error) {
	if err := os.MkdirAll(f.dir, 0o750); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(f.dir, "crash-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	o := order{Dir: dir}
	switch f.store {
	case "sqlite":
	case "postgres":
		server, err := pgtest.Start(ctx, pgtest.Config{})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		o.URL = server.URL("postgres")
	default:
		return nil, fmt.Errorf("there is no store %q: it is sqlite or postgres", f.store)
	}
	c, err := newCampaign(ctx, o, f.seed)
	if err != nil {
		return nil, fmt.Errorf("%w; see %s", err, dir)
	}
	if err := c.all(ctx, f); err != nil {
		return c.wrong, fmt.Errorf("%w; see %s", err, dir)
	}
	if len(c.wrong) > 0 {
		return c.wrong, nil
	}
	return nil, os.RemoveAll(dir)
}

// all kills at the drawn moments, then at every write, then measures the backlog.
func (c *campaign) all(ctx context.Context, f flags) error {
	start := time.Now()
	if err := c.wage(ctx, f.kills); err != nil {
		return err
	}
	histogram(os.Stdout, c.hits)
	if m := missed(c.hits); m != "" {
		return errors.New(m)
	}
	drawn := c.tally
	c.tally = tally{}
	if err := c.besiege(ctx, lanes); err != nil {
		return err
	}
	rows, of := []string{f.store, "at writes"}, map[string]tally{f.store: drawn, "at writes": c.tally}
	for _, w := range ways {
		one, err := c.ended(ctx, w, lanes)
		if err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
		rows, of[string(w)] = append(rows, string(w)), one.tally
		c.wrong = append(c.wrong, one.wrong...)
	}
	table(os.Stdout, rows, of)
	b, err := measureBacklog(ctx, c.orderIn("backlog"))
	if err != nil {
		return fmt.Errorf("measure backlog: %w", err)
	}
	fmt.Printf("\n%d unfinished runs: the first goes on after %s, all have ended after %s\n",
		backlogRuns, b.first.Round(time.Millisecond), b.all.Round(time.Millisecond))
	fmt.Printf("done in %s\n", time.Since(start).Round(time.Second))
	return nil
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "crash:", err)
	return 2
}
