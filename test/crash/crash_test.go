package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/testkit/pgtest"
)

// TestMain makes this test binary a worker where it is told to be one, so that tests can kill it.
func TestMain(m *testing.M) {
	registerFaulty()
	if o, ok, err := orderOf(workerEnv); err != nil {
		os.Exit(failed(err))
	} else if ok {
		os.Exit(workerMain(o))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := pg.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

// pg is the server of the tests that do not kill it.
var pg pgtest.Lazy

// dirFor is a folder that is kept if the test fails.
func dirFor(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pudu-crash-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the folder is kept: %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func startCampaign(t *testing.T, o order) *campaign {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, err := newCampaign(t.Context(), o, seed)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// check reports what a campaign has found.
func (c *campaign) check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	for _, w := range c.wrong {
		t.Error(w)
	}
	var b strings.Builder
	histogram(&b, c.hits)
	table(&b, []string{t.Name()}, map[string]tally{t.Name(): c.tally})
	t.Log(b.String())
}

func TestKills(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t)})
	c.check(t, c.wage(t.Context(), 40))
	if m := missed(c.hits); m != "" {
		t.Error(m)
	}
}

func TestKillsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t), URL: pg.Database(t)})
	c.check(t, c.wage(t.Context(), 20))
}

// TestKillsInATree: the runs below go on as the run does.
func TestKillsInATree(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t), Tree: true})
	c.check(t, c.wage(t.Context(), 20))
}

func TestKillsInATreeOnPostgreSQL(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t), URL: pg.Database(t), Tree: true})
	c.check(t, c.wage(t.Context(), 10))
}

func TestKillsAtWriteBoundaries(t *testing.T) {
	t.Parallel()
	c := startCampaign(t, order{Dir: dirFor(t)})
	c.check(t, c.besiege(t.Context(), 14))
	if c.tally.kills < 10 {
		t.Errorf("only %d workers killed themselves", c.tally.kills)
	}
}

// TestARunThatGetsNowhereEnds: what ends the program at the same place three times does so no fourth time.
func TestARunThatGetsNowhereEnds(t *testing.T) {
	t.Parallel()
	s := newSite(order{Dir: dirFor(t), Stuck: true})
	kills := 0
	for ; kills < 10; kills++ {
		s.idle = 0 // nothing is spared here
		a, err := s.try(t.Context(), kill{mark: markModel, nth: 1 + max(0, 1-kills)})
		if err != nil {
			t.Fatal(err)
		}
		if a.ended {
			if a.status != event.StatusError || !strings.Contains(a.reason, "3 attempts in a row") {
				t.Errorf("the run ended as %s: %s", a.status, a.reason)
			}
			break
		}
	}
	if kills < 3 || kills > 4 {
		t.Errorf("the run ended after %d kills", kills)
	}
	got, err := s.end(t.Context())
	if err != nil || got.run.Status != event.StatusError || len(got.faults) > 0 {
		t.Errorf("run %+v, faults %q, error %v", got.run, got.faults, err)
	}
}

// TestEndings: a run that fails, is stopped, rolled back or reaches a limit ends so, also if its process dies between
// two writes of that.
func TestEndings(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(*testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return pg.Database(t) },
	} {
		for _, w := range ways {
			t.Run(name+"/"+string(w), func(t *testing.T) {
				t.Parallel()
				c := startCampaign(t, order{Dir: dirFor(t), URL: url(t), Way: w})
				c.check(t, c.besiege(t.Context(), lanes))
			})
		}
	}
}
