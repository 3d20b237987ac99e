package crash

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// What `make crash` asks for.
var (
	killsFlag = flag.Int("kills", 0, "how many `times` to kill, beside once at every write; 0 leaves TestCampaign out")
	storeFlag = flag.String("store", "sqlite", "the `kind` of store that TestCampaign works with, sqlite or postgres")
	seedFlag  = flag.Uint64("seed", rand.Uint64(), "the `number` from which the moments of TestCampaign are drawn")
	treeFlag  = flag.Bool("tree", false,
		"whether the run of TestCampaign delegates to runs below it; it is then killed at drawn moments alone")
	dirFlag = flag.String("dir", "../../bin", "the `folder` for temporary data of TestCampaign")
)

// flags are what the command line asks for.
type flags struct {
	store string
	kills int
	tree  bool
	seed  uint64
	dir   string
}

// TestCampaign kills a worker many times at drawn moments, then once at every write.
func TestCampaign(t *testing.T) {
	f := flags{store: *storeFlag, kills: *killsFlag, tree: *treeFlag, seed: *seedFlag, dir: *dirFlag}
	if f.kills == 0 { // make crash asks for it; the other tests are the same in short
		return
	}
	fmt.Printf("%s: %d kills, seed %d\n", f.store, f.kills, f.seed)
	breaches, err := crash(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range breaches {
		t.Error(b)
	}
	if len(breaches) > 0 {
		t.Errorf("NOT as promised, with seed %d", f.seed)
	}
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
	o := order{Dir: dir, Tree: f.tree}
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
	if f.tree {
		table(os.Stdout, []string{f.store}, map[string]tally{f.store: drawn})
		return nil
	}
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
