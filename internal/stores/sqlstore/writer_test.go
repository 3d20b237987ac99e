package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
)

// TestWriterQueue: while the writer is busy, a caller can leave the queue, or not get in, without being written.
func TestWriterQueue(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	gate, busy := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { s.write(t.Context(), 0, func(*tx) error { close(busy); <-gate; return nil }) })
	<-busy
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{}, 2*queueLen)
	errs := make(chan error, 2*queueLen)
	for range queueLen + 10 { // ten find the queue full
		wg.Go(func() { errs <- s.write(ctx, 0, func(*tx) error { ran <- struct{}{}; return nil }) })
	}
	for len(s.writer.jobs) < queueLen {
		runtime.Gosched()
	}
	cancel()
	for range queueLen + 10 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Fatalf("error = %v", err)
		}
	}
	close(gate)
	wg.Wait()
	if err := s.For(ann()).CreateThread(t.Context(), store.Thread{ID: "after"}); err != nil {
		t.Error(err)
	}
	if len(ran) != 0 {
		t.Errorf("%d jobs ran after their callers had gone", len(ran))
	}
}

// TestWriterFinishesWhatItBegan: a caller whose context ends while his job runs gets the job's own outcome, and not before it
// is known.
func TestWriterFinishesWhatItBegan(t *testing.T) {
	s := open(t, t.TempDir())
	defer s.Close()
	broken := errors.New("broken")
	for _, want := range []error{nil, broken} {
		ctx, cancel := context.WithCancel(t.Context())
		begun, gate, out := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			out <- s.write(ctx, 0, func(x *tx) error {
				close(begun)
				<-gate
				return errors.Join(want, x.exec("INSERT INTO settings (key, value) VALUES ($1, 'x')", fmt.Sprint(want)))
			})
		}()
		<-begun
		cancel()
		select {
		case err := <-out:
			t.Errorf("the caller left with %v while his job ran", err)
			out <- err
		case <-time.After(20 * time.Millisecond): // an answer that comes too early comes at once
		}
		close(gate)
		if err := <-out; !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("error = %v, want %v", err, want)
		}
		there, err := exists(t.Context(), s, "SELECT 1 FROM settings WHERE key = $1", fmt.Sprint(want))
		if err != nil || there != (want == nil) {
			t.Errorf("written %t, %v after %v", there, err, want)
		}
	}
}

// TestWriterBatch: what waits shares transactions of bounded length.
func TestWriterBatch(t *testing.T) {
	w := &worker{writer: &writer{jobs: make(chan *job, queueLen), tuning: tuning{batch: 128}}}
	fill := func(n, size int) {
		for range n {
			w.jobs <- &job{size: size}
		}
	}
	gone := &job{}
	gone.taken.Store(true)
	fill(3, 1)
	w.jobs <- gone
	if got := len(w.gather(&job{})); got != 4 {
		t.Errorf("batch of %d, want the 4 that wait", got)
	}
	fill(w.tuning.batch+5, 1)
	if got := len(w.gather(&job{})); got != w.tuning.batch {
		t.Errorf("batch of %d, want %d", got, w.tuning.batch)
	}
	if got := len(w.gather(<-w.jobs)); got != 6 {
		t.Errorf("batch of %d, want the 6 left", got)
	}
	fill(10, batchBytes/4)
	if got := len(w.gather(&job{})); got != 5 {
		t.Errorf("batch of %d large jobs, want 5", got)
	}
}

// TestBatchesWaitForCompany plays the jobs that come while a batch is gathered.
func TestBatchesWaitForCompany(t *testing.T) {
	for _, test := range []struct {
		name  string
		want  int           // what came before
		there int           // jobs that are there, with the first
		every time.Duration // how often one comes then; 0 is never
		got   int
		took  time.Duration
	}{
		{"few", 0, 5, time.Millisecond, 5, 0},
		{"the first crowd", 0, 6, time.Millisecond, 6, 0},
		{"a crowd that is known", 12, 6, time.Millisecond, 12, 6 * time.Millisecond},
		{"a crowd that grows", 12, 15, time.Millisecond, 15, 0},
		{"a crowd that has gone", 12, 1, 3 * time.Millisecond, 4, 10 * time.Millisecond},
		{"all of a crowd", 12, 12, 0, 12, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &worker{writer: &writer{jobs: make(chan *job, queueLen), tuning: sqlite{}.tuning()}, company: company{want: test.want}}
				for range test.there - 1 {
					k.jobs <- &job{}
				}
				if test.every > 0 {
					go func() {
						for range 50 {
							time.Sleep(test.every)
							k.jobs <- &job{}
						}
					}()
				}
				start := time.Now()
				if got := len(k.gather(&job{})); got != test.got || time.Since(start) != test.took {
					t.Errorf("batch of %d after %v, want %d after %v", got, time.Since(start), test.got, test.took)
				}
				time.Sleep(time.Second) // all have come
			})
		})
	}
}

// TestCompanyIsFoundByTrying has a number of writers of whom each waits for his job: it shall be nearly all of them who share a
// batch, and hardly ever one that waits for more than there are.
func TestCompanyIsFoundByTrying(t *testing.T) {
	for _, test := range []struct{ writers, least, most int }{
		{crowdLeast - 1, 0, 0},
		{crowdLeast, 0, crowdLeast},
		{20, 17, 20},
		{100, crowdMost, crowdMost},
	} {
		const batches = 1000
		var c company
		vain := 0
		for range batches {
			here := min(test.writers, crowdLeast) // the others have not written yet
			enough := c.of(here)
			jobs := max(here, min(enough, test.writers))
			if jobs < enough {
				vain++
				c.stayedAway(jobs)
			} else {
				c.came()
			}
		}
		if c.want < test.least || c.want > test.most || vain > batches/triesAfter+1 {
			t.Errorf("%d writers: waits for %d, %d times of %d in vain", test.writers, c.want, vain, batches)
		}
	}
	c := company{want: 20}
	if c.stayedAway(3); c.of(1) != 0 {
		t.Errorf("waits for %d after a batch of 3", c.of(1))
	}
	if c.of(crowdMost+5) != crowdMost {
		t.Errorf("waits for %d", c.want)
	}
}

// TestLargeJobsAreNoEmptyPlace: a batch that is full with fewer jobs than were waited for does not mean that they stay away.
func TestLargeJobsAreNoEmptyPlace(t *testing.T) {
	k := &worker{writer: &writer{jobs: make(chan *job, queueLen), tuning: sqlite{}.tuning()}, company: company{want: 12}}
	k.jobs <- &job{size: batchBytes}
	if got := len(k.gather(&job{})); got != 2 || k.company != (company{want: 12}) {
		t.Errorf("batch of %d, then %+v", got, k.company)
	}
}

// TestTheWaitEndsWithTheWriter: close does not have to wait, and what is there is written.
func TestTheWaitEndsWithTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &worker{writer: &writer{jobs: make(chan *job, queueLen), tuning: sqlite{}.tuning()}, company: company{want: crowdLeast}}
		time.AfterFunc(time.Millisecond, func() { close(k.jobs) })
		start := time.Now()
		if got := len(k.gather(&job{})); got != 1 || time.Since(start) != time.Millisecond {
			t.Errorf("batch of %d after %v", got, time.Since(start))
		}
	})
}
