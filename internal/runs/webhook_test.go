package runs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
)

// TestAWebhookIsCalledFiveTimesAtMost: with growing waits, until it answers or is given up; then neither this process nor the
// next one calls again.
func TestAWebhookIsCalledFiveTimesAtMost(t *testing.T) {
	for name, tt := range map[string]struct {
		failures int
		want     []time.Duration // between the calls
	}{
		"it answers":           {0, nil},
		"it answers at last":   {2, []time.Duration{2 * time.Second, 4 * time.Second}},
		"it answers the fifth": {4, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}},
		"it is dead":           {1000, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWard(t)
				var calls []time.Time
				notify := func(c *runs.Config) {
					c.Notify = func(context.Context, store.Run) error {
						if calls = append(calls, time.Now()); len(calls) <= tt.failures {
							return errors.New("connection refused")
						}
						return nil
					}
				}
				m, stop := w.served("a", notify)
				req := ordered("answer")
				req.Webhook = "http://hook"
				w.wants(w.submit(m, req), event.StatusSuccess)
				time.Sleep(2 * time.Minute)
				stop()
				_, stop = w.served("b", notify)
				time.Sleep(2 * time.Minute) // another process takes over what is left after one
				stop()
				var got []time.Duration
				for i := 1; i < len(calls); i++ {
					got = append(got, calls[i].Sub(calls[i-1]).Round(store.Beat))
				}
				if d := cmp.Diff(tt.want, got); d != "" || len(calls) == 0 {
					t.Errorf("%d calls: %s", len(calls), d)
				}
			})
		})
	}
}
