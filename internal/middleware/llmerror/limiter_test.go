package llmerror

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

func TestLimiterBoundsCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := modelcall.NewBound(2)
		begin := time.Now()
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				b := newBench(t, Config{Limiter: l}, turn{text: "ok", takes: time.Second})
				if _, err := b.run(t.Context(), state.State{}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begin); took != 3*time.Second {
			t.Fatalf("six calls of a second, two at once, took %v", took)
		}
	})
}

// TestCancelledWaiterLosesNoPlace: waiters are cancelled at the very moment in which places become free.
func TestCancelledWaiterLosesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, stop := modelcall.NewBound(1), errors.New("stop")
		for range 200 {
			var wg sync.WaitGroup
			ctx, cancel := context.WithCancelCause(t.Context())
			wg.Go(func() {
				b := newBench(t, Config{Limiter: l}, turn{text: "ok", takes: time.Second})
				if _, err := b.run(t.Context(), state.State{}); err != nil {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if _, err := newBench(t, Config{Limiter: l}, turn{text: "ok"}).run(ctx, state.State{}); err != nil &&
					!errors.Is(err, stop) {
					t.Error(err)
				}
			})
			time.Sleep(time.Second)
			cancel(stop)
			wg.Wait()
		}
		begin := time.Now()
		if _, err := newBench(t, Config{Limiter: l}, turn{text: "ok"}).run(t.Context(), state.State{}); err != nil ||
			time.Since(begin) != 0 {
			t.Fatalf("a place was lost: %v after %v", err, time.Since(begin))
		}
	})
}

func TestPlaceIsFreeWhileWaitingToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := modelcall.NewBound(1)
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
