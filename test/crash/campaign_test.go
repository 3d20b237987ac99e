package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// lanes is how many runs a campaign executes side by side.
const lanes = 2

// mostAttempts bounds the workers of one run. Each but a few gets it further.
const mostAttempts = 1000

// campaign executes runs whose workers are killed, and counts what comes of them.
type campaign struct {
	order order // Dir is where the folders of runs are made
	seed  uint64
	want  ending // of the undisturbed run

	mu    sync.Mutex
	hits  []hit
	tally tally
	wrong []string // each breach of what is promised, with the folder of its run
}

// newCampaign executes the script without a kill, to compare with.
func newCampaign(ctx context.Context, o order, seed uint64) (*campaign, error) {
	c := &campaign{order: o, seed: seed}
	s := newSite(c.orderIn("undisturbed"))
	a, err := s.try(ctx, never)
	if err == nil && !a.ended {
		err = fmt.Errorf("the worker ended without a word: %s", s.logTail())
	}
	if err == nil {
		c.want, err = s.end(ctx)
	}
	if err == nil {
		if v := s.judge(c.want, c.want); len(v.wrong) > 0 || v.unknown > 0 {
			err = fmt.Errorf("it is not as it should be: %q", v.wrong)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("undisturbed run: %w", err)
	}
	return c, nil
}

// orderIn is the order for a run in a folder of its own.
func (c *campaign) orderIn(name string) order {
	o := c.order
	o.Dir = filepath.Join(c.order.Dir, name)
	if o.URL != "" {
		o.Schema = filepath.Base(c.order.Dir) + " " + name
	}
	return o
}

// abreast lets each lane do its part and waits for all.
func (c *campaign) abreast(do func(lane int) error) error {
	errs := make([]error, lanes)
	var group sync.WaitGroup
	for lane := range lanes {
		group.Go(func() { errs[lane] = do(lane) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// wage kills workers at the moments of a plan until there were enough kills, in the shares that are promised; a slow
// machine may take more for that, up to four times as many. What runs when there were enough goes on to its end
// undisturbed.
func (c *campaign) wage(ctx context.Context, kills int) error {
	return c.abreast(func(lane int) error {
		p := newPlan(c.seed + uint64(lane))
		next := func() kill {
			if c.enough(kills) {
				return never
			}
			return p.next()
		}
		for n := 0; !c.enough(kills); n++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			s := newSite(c.orderIn(fmt.Sprintf("run-%d-%d", lane, n)))
			if err := c.finish(ctx, s, next); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *campaign) enough(kills int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.hits)
	return n >= 4*kills || n >= kills && missed(c.hits) == ""
}

// finish executes one run to its end, each attempt with the next kill, judges it and counts it.
func (c *campaign) finish(ctx context.Context, s *site, next func() kill) error {
	v, err := c.lead(ctx, s, next)
	if err = errors.Join(err, s.close()); err != nil {
		v.breachf("%v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v.kills, v.runs = len(s.hits)+s.deaths, 1
	c.tally.add(v.tally)
	for _, w := range v.wrong {
		c.wrong = append(c.wrong, s.order.Dir+": "+w)
	}
	if ctx.Err() != nil || len(v.wrong) > 0 { // the folder is kept
		return ctx.Err()
	}
	return os.RemoveAll(s.order.Dir)
}

func (c *campaign) lead(ctx context.Context, s *site, next func() kill) (verdict, error) {
	for range mostAttempts {
		before := len(s.hits)
		a, err := s.try(ctx, next())
		c.mu.Lock()
		c.hits = append(c.hits, s.hits[before:]...)
		c.mu.Unlock()
		switch {
		case err != nil:
			return verdict{}, err
		case a.ended:
			got, err := s.end(ctx)
			if err != nil {
				return verdict{}, err
			}
			return s.judge(got, c.want), nil
		case !a.killed:
			return verdict{}, fmt.Errorf("the worker ended without a word: %s", s.logTail())
		}
	}
	return verdict{}, fmt.Errorf("the run has not ended after %d attempts", mostAttempts)
}
