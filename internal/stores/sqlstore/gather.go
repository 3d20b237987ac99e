package sqlstore

import (
	"cmp"
	"slices"
	"time"
)

// batchBytes bounds what shares one transaction, beside [tuning.batch].
const batchBytes = 16 << 20

// A busy server's transactions write the same few pages again and again, each for a few jobs. So where jobs come in a crowd, a
// transaction waits a moment for more; PostgreSQL has commit_delay and commit_siblings for that. How many it waits for is
// found by trying: one more as long as they come in time. If they do not, because all who could write are waiting already,
// it is fewer than came, and for a while no more.
const (
	crowdLeast = 6                     // the least number that is waited for
	crowdMost  = 32                    // and the greatest
	waitMost   = 10 * time.Millisecond // how long
	triesAfter = 64                    // batches after a wait in vain
)

// batch is the jobs of one transaction.
type batch struct {
	jobs []*job
	size int
}

// add takes a job whose caller still waits.
func (b *batch) add(j *job) {
	if j.taken.CompareAndSwap(false, true) {
		b.jobs = append(b.jobs, j)
		b.size += j.size
	}
}

func (b *batch) full(t tuning) bool { return len(b.jobs) >= t.batch || b.size >= batchBytes }

// gather takes the first job and those behind it, in the order of their keys.
func (k *worker) gather(first *job) []*job {
	b := &batch{}
	b.add(first)
	k.takeWaiting(b)
	if k.tuning.company {
		k.waitForMore(b)
	}
	slices.SortStableFunc(b.jobs, func(a, b *job) int { return cmp.Compare(a.key, b.key) })
	return b.jobs
}

// takeWaiting takes the jobs that are there.
func (k *worker) takeWaiting(b *batch) {
	for !b.full(k.tuning) {
		select {
		case j, ok := <-k.jobs:
			if !ok {
				return
			}
			b.add(j)
		default:
			return
		}
	}
}

// company is how many jobs a transaction waits for. The zero value waits for none until a crowd comes.
type company struct {
	want int // at least crowdLeast, or 0
	rest int // batches until it may be more
}

// of is how many to wait for where some are there.
func (c *company) of(here int) int {
	if here >= crowdLeast {
		c.want = max(c.want, min(here, crowdMost))
	}
	return c.want
}

// came notes that there were enough.
func (c *company) came() {
	switch {
	case c.rest > 0:
		c.rest--
	case c.want > 0 && c.want < crowdMost:
		c.want++
	}
}

// stayedAway notes that there were only so many when the time was over.
func (c *company) stayedAway(jobs int) {
	c.rest = triesAfter
	if c.want = jobs - 1; c.want < crowdLeast {
		c.want = 0
	}
}

// waitForMore takes the jobs that come until there are enough.
func (k *worker) waitForMore(b *batch) {
	enough := k.company.of(len(b.jobs))
	if len(b.jobs) >= enough {
		k.company.came()
		return
	}
	late := time.NewTimer(waitMost)
	defer late.Stop()
	for len(b.jobs) < enough {
		if b.full(k.tuning) { // of large jobs, which says nothing of how many come
			return
		}
		select {
		case j, ok := <-k.jobs:
			if !ok {
				return
			}
			b.add(j)
		case <-late.C:
			k.company.stayedAway(len(b.jobs))
			return
		}
	}
	k.company.came()
}
