package sqlstore

import (
	"cmp"
	"slices"
)

// batchBytes bounds what shares one transaction, beside [tuning.batch].
const batchBytes = 16 << 20

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
