package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
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

// TestWriterFinishesWhatItBegan: a caller whose context ends while his job runs gets the job's own outcome, and not
// before it is known.
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
