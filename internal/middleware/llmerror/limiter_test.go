package llmerror

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

func TestLimiterBoundsCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(2)
		var mu sync.Mutex
		var wg sync.WaitGroup
		under, most := 0, 0
		count := func(d int) { mu.Lock(); under += d; most = max(most, under); mu.Unlock() }
		for range 6 {
			wg.Go(func() {
				if err := l.acquire(t.Context()); err != nil {
					t.Error(err)
				}
				count(1)
				time.Sleep(time.Second)
				count(-1)
				l.release()
			})
		}
		begin := time.Now()
		wg.Wait()
		if took := time.Since(begin); most != 2 || took != 3*time.Second {
			t.Fatalf("%d at once, %v in all", most, took)
		}
	})
}

// TestCancelledWaiterLosesNoPlace: waiters are cancelled at the very moment in which places become free.
func TestCancelledWaiterLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, stop := NewLimiter(1), errors.New("stop")
		for range 200 {
			if err := l.acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error)
			go func() {
				err := l.acquire(ctx)
				if err == nil {
					l.release()
				}
				done <- err
			}()
			synctest.Wait()
			go l.release()
			cancel(stop)
			if err := <-done; err != nil && !errors.Is(err, stop) {
				t.Fatal(err)
			}
			synctest.Wait()
			if len(l.slots) != 0 {
				t.Fatal("a place was lost")
			}
		}
	})
}

func TestPlaceIsFreeWhileWaitingToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(1)
		slow := modelError(model.ClassRateLimit)
		slow.RetryAfter = 30 * time.Second
		waiting := newBench(t, Config{Limiter: l}, turn{err: slow}, turn{text: "late"})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := waiting.run(t.Context(), state.State{}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		begin := time.Now()
		if _, err := newBench(t, Config{Limiter: l}, turn{text: "now"}).run(t.Context(), state.State{}); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the other run waited %v", took)
		}
		wg.Wait()
	})
}

func TestNilLimiterAndNoBound(t *testing.T) {
	l := NewLimiter(0)
	if err := l.acquire(t.Context()); err != nil || l != nil {
		t.Fatal("want no bound")
	}
	l.release()
}
