package runs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/buffertest"
)

// TestAWebhookIsCalledFiveTimesAtMost: with growing waits, until it answers or is given up; then neither this process
// nor the next one calls again.
func TestAWebhookIsCalledFiveTimesAtMost(t *testing.T) {
	for name, tt := range map[string]struct {
		failures int
		want     []time.Duration // between the calls
	}{
		"it answers":         {0, nil},
		"it answers at last": {2, []time.Duration{2 * time.Second, 4 * time.Second}},
		"it answers the fifth": {4, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second,
			16 * time.Second}},
		"it is dead": {1000, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second,
			16 * time.Second}},
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

// TestWebhooksAreCalledSideBySide, eight at a time, and none of them for longer than it may take; when the process
// stops it waits for none, and the next one calls those that were not heard.
func TestWebhooksAreCalledSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		var under, most, calls, cut atomic.Int64
		m, stop := w.served("a", func(c *runs.Config) {
			c.Notify = func(ctx context.Context, _ store.Run) error {
				calls.Add(1)
				most.Store(max(most.Load(), under.Add(1)))
				defer under.Add(-1)
				<-ctx.Done()
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					cut.Add(1)
				}
				return ctx.Err()
			}
		})
		for i := range 20 {
			req := ordered("answer")
			req.ThreadID, req.Webhook = fmt.Sprint("thread", i), "http://hook"
			w.wants(w.submit(m, req), event.StatusSuccess)
		}
		time.Sleep(14 * time.Second)
		if calls.Load() != 8 {
			t.Errorf("%d webhooks are called side by side", calls.Load())
		}
		time.Sleep(4 * time.Second)
		if cut.Load() != 8 || most.Load() != 8 {
			t.Errorf("%d of %d calls were cut off", cut.Load(), most.Load())
		}
		begun := time.Now()
		stop()
		if took := time.Since(begun); took > 0 {
			t.Errorf("the process waited %v for webhooks", took)
		}
		if left := w.jobs("webhook"); left != 20 {
			t.Errorf("%d webhooks are left to call", left)
		}
	})
}

// TestWhatFollowsAnEnd is told if it fails, and not done again for ever.
func TestWhatFollowsAnEnd(t *testing.T) {
	broken := errors.New("no route")
	for name, c := range map[string]struct {
		request runs.Request
		notify  error
		delete  error
		wait    time.Duration
		want    []string // each in one line of the log
		deleted int
	}{
		"a webhook": {request: runs.Request{Webhook: "http://hook"}, wait: 2 * time.Second},
		"a webhook that fails": {request: runs.Request{Webhook: "http://hook"}, notify: broken, wait: time.Minute,
			want: []string{"tried again", "tried again", "tried again", "tried again", "given up"}},
		"a webhook of a backup": {request: runs.Request{OnCompletion: runs.DeleteThread, WebhookDropped: true},
			wait: 8 * time.Second, want: []string{"backups leave webhooks out"}, deleted: 1},
		"a removal": {request: runs.Request{OnCompletion: runs.DeleteThread}, wait: 8 * time.Second,
			deleted: 1},
		"a removal that fails": {
			request: runs.Request{OnCompletion: runs.DeleteThread}, delete: broken, wait: time.Minute,
			want: slices.Repeat([]string{"was not deleted"}, 5), deleted: 5,
		},
		"one that was made": {request: runs.Request{OnCompletion: runs.DeleteThread}, delete: store.ErrNotFound,
			wait: time.Minute, deleted: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWard(t)
				var log buffertest.Buffer
				deleted := 0
				m, stop := w.served("a", func(cfg *runs.Config) {
					cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
					cfg.Notify = func(context.Context, store.Run) error { return c.notify }
					cfg.Delete = func(_ context.Context, u access.User, id string) error {
						if deleted++; id != "thread" || u != user() {
							t.Errorf("thread %s is deleted", id)
						}
						return c.delete
					}
				})
				defer stop()
				req := ordered("answer")
				req.Webhook, req.OnCompletion, req.WebhookDropped = c.request.Webhook, c.request.OnCompletion,
					c.request.WebhookDropped
				w.wants(w.submit(m, req), event.StatusSuccess)
				time.Sleep(c.wait)
				synctest.Wait()
				lines := slices.Collect(strings.Lines(log.String()))
				if len(lines) != len(c.want) {
					t.Fatalf("the log has: %s", log.String())
				}
				for i, want := range c.want {
					if !strings.Contains(lines[i], want) {
						t.Errorf("line %d of the log: %s", i, lines[i])
					}
				}
				if left := w.jobs("webhook") + w.jobs("thread-removal"); left > 0 || deleted != c.deleted {
					t.Errorf("there is something to do: %d, %d times deleted", left, deleted)
				}
			})
		})
	}
}

// TestWithoutWebhooksAndRemovals nothing follows an end, which is noted.
func TestWithoutWebhooksAndRemovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		m, stop := w.served("a", nil)
		defer stop()
		req := ordered("answer")
		req.Webhook, req.OnCompletion = "http://hook", runs.DeleteThread
		w.wants(w.submit(m, req), event.StatusSuccess)
		time.Sleep(10 * time.Second)
		if left := w.jobs("webhook") + w.jobs("thread-removal"); left > 0 {
			t.Errorf("there is something to do: %d", left)
		}
	})
}

// TestOneThatIsToWaitHoldsUpNoOther: the thread of the first goes later, the webhook of the second is called at once.
func TestOneThatIsToWaitHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		var called []time.Time
		m, stop := w.served("a", func(c *runs.Config) {
			c.Notify = func(context.Context, store.Run) error { called = append(called, time.Now()); return nil }
		})
		defer stop()
		first, second := ordered("answer"), ordered("answer")
		first.OnCompletion = runs.DeleteThread
		second.ThreadID, second.Webhook = "other", "http://hook"
		w.wants(w.submit(m, first), event.StatusSuccess)
		w.wants(w.submit(m, second), event.StatusSuccess)
		ended := time.Now()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(called) != 1 || called[0].Sub(ended) > store.Beat {
			t.Errorf("called %v after %v", called, ended)
		}
	})
}

// jobs counts those of a kind that are still to be done.
func (w *ward) jobs(kind string) (n int) {
	w.t.Helper()
	list, err := job.NewQueue(w.rows).List(w.t.Context(), job.Filter{Kind: kind})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, j := range list {
		if j.Dead.IsZero() {
			n++
		}
	}
	return n
}

// TestEveryEndHasItsWebhook, once: success, failure, a question, a cancellation while it waited, while it ran and while
// it waited for a person, a rollback, a build that fails, and a run that recovery gives up.
func TestEveryEndHasItsWebhook(t *testing.T) {
	hook := func(text string) runs.Request {
		req := ordered(text)
		req.Webhook = "http://hook"
		return req
	}
	for name, end := range map[string]func(w *ward, m *runs.Manager) store.Run{
		"success": func(w *ward, m *runs.Manager) store.Run {
			return w.wants(w.submit(m, hook("answer")), event.StatusSuccess)
		},
		"a question": func(w *ward, m *runs.Manager) store.Run {
			return w.wants(w.submit(m, hook("ask")), event.StatusInterrupted)
		},
		"cancelled while it waited for a person": func(w *ward, m *runs.Manager) store.Run {
			run := w.wants(w.submit(m, hook("ask")), event.StatusInterrupted)
			w.cancel(m, run, store.StopInterrupt)
			return run
		},
		"cancelled while it waited": func(w *ward, m *runs.Manager) store.Run {
			req := hook("answer")
			req.NotBefore = time.Now().Add(time.Hour)
			run := w.submit(m, req)
			w.cancel(m, run, store.StopInterrupt)
			return w.wants(run, event.StatusInterrupted)
		},
		"replaced while it waited": func(w *ward, m *runs.Manager) store.Run {
			req := hook("answer")
			req.NotBefore = time.Now().Add(time.Hour)
			run := w.submit(m, req)
			next := ordered("answer")
			next.Strategy = store.Rollback
			w.submit(m, next)
			return w.wants(run, event.StatusError)
		},
		"cancelled": func(w *ward, m *runs.Manager) store.Run {
			run := w.submit(m, hook("wait"))
			<-w.begun
			w.cancel(m, run, store.StopInterrupt)
			return w.wants(run, event.StatusInterrupted)
		},
		"rolled back": func(w *ward, m *runs.Manager) store.Run {
			run := w.submit(m, hook("wait"))
			<-w.begun
			w.cancel(m, run, store.StopRollback)
			return w.wants(run, event.StatusError)
		},
		"a build that fails": func(w *ward, m *runs.Manager) store.Run {
			return w.wants(w.submit(m, hook("limit")), event.StatusError)
		},
		"given up": func(w *ward, m *runs.Manager) store.Run {
			synctest.Wait() // the first look of m is over: it would go on with what is left here
			dead := w.process("dead", nil)
			run := w.submit(dead, hook("wait"))
			<-w.begun
			dead.Stop()
			for dead.Active(run.ID) {
				time.Sleep(time.Millisecond) // between two looks at a condition
			}
			run.Stalled = 3
			if _, err := m.Resume(w.t.Context(), run, nil); err != nil {
				w.t.Fatal(err)
			}
			return w.wants(run, event.StatusError)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWard(t)
				var called []string
				m, stop := w.served("a", func(c *runs.Config) {
					c.Notify = func(_ context.Context, run store.Run) error {
						called = append(called, run.ID)
						return nil
					}
					build := c.Build
					c.Build = func(ctx context.Context, j runs.Job) (runs.Built, error) {
						b, err := build(ctx, j)
						if len(j.Request.Input) > 0 && j.Request.Input[0].Text() == "limit" {
							return b, errors.New("the limit of steps")
						}
						return b, err
					}
				})
				run := end(w, m)
				time.Sleep(time.Minute)
				stop()
				if !slices.Equal(called, []string{run.ID}) {
					t.Errorf("webhooks called: %q, want one of %s", called, run.ID)
				}
			})
		})
	}
}
