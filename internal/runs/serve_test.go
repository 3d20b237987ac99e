package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/bus"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/buffertest"
)

// TestServeOutlivesAStoreThatFails: it says what it cannot do, once a beat, and does it when the store is back.
func TestServeOutlivesAStoreThatFails(t *testing.T) {
	for what, says := range map[string]string{
		"Stopping":  "cannot look for runs",
		"Abandoned": "cannot look for runs",
		"ListRuns":  "cannot look for runs",
		"Waiting":   "cannot look for runs",
		"ClaimRun":  "cannot look for runs",
		"CommitAll": "run is left unfinished",
		"Run":       "", // it asks for lost runs alone
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWard(t)
				u := newUnreliable(w)
				var log buffertest.Buffer
				m, stop := w.served("a", func(c *runs.Config) {
					c.Log = slog.New(slog.NewTextHandler(&log, nil))
					c.Notify = func(context.Context, store.Run) error { return nil }
				})
				defer stop()
				time.Sleep(2500 * time.Millisecond)
				req := ordered("answer")
				req.NotBefore, req.Webhook = time.Now().Add(time.Second), "http://hook"
				run := w.submit(m, req)
				if log.String() != "" {
					t.Errorf("before anything failed: %s", log.String())
				}
				u.down.Store(what)
				time.Sleep(3 * time.Second)
				said := log.String()
				if says != "" && (!strings.Contains(said, says) || !strings.Contains(said, what+": the line broke")) {
					t.Errorf("the log has: %s", said)
				}
				u.down.Store("")
				time.Sleep(10 * time.Second)
				if now, err := w.store.For(user()).Run(t.Context(), run.ID); err != nil ||
					now.Status != event.StatusSuccess {
					t.Errorf("the run is %s, %v", now.Status, err)
				}
				said = log.String()
				time.Sleep(5 * time.Second)
				if more := strings.TrimPrefix(log.String(), said); more != "" {
					t.Errorf("after that: %s", more)
				}
			})
		})
	}
}

// TestALostRunIsLookedForAgain: the look fails, or the run was deleted meanwhile, or is another's.
func TestALostRunIsLookedForAgain(t *testing.T) {
	for name, then := range map[string]func(w *ward, run store.Run){
		"it ends elsewhere": func(w *ward, run store.Run) {
			run, err := w.store.For(user()).Run(w.t.Context(), run.ID)
			if err != nil {
				w.t.Fatal(err)
			}
			if err := w.process("b", nil).Fail(w.t.Context(), run, errors.New("enough")); err != nil {
				w.t.Fatal(err)
			}
		},
		"it is deleted": func(w *ward, run store.Run) {
			run, err := w.store.For(user()).Run(w.t.Context(), run.ID)
			if err != nil {
				w.t.Fatal(err)
			}
			if err := w.process("b", nil).Fail(w.t.Context(), run, errors.New("enough")); err != nil {
				w.t.Fatal(err)
			}
			if err := w.store.For(user()).DeleteRun(w.t.Context(), run.ID); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWard(t)
				u := newUnreliable(w)
				u.down.Store("CommitAll")
				var log buffertest.Buffer
				m := w.process("a", func(c *runs.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
				run := w.submit(m, ordered("answer"))
				synctest.Wait()
				u.down.Store("")
				then(w, run)
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				u.down.Store("Run")
				time.AfterFunc(3*time.Second, func() { u.down.Store("") })
				m.Serve(ctx, nil)
				if n := strings.Count(log.String(), "Run: the line broke"); n < 2 || n > 3 {
					t.Errorf("it was looked for %d times in vain", n)
				}
				if strings.Contains(log.String(), "going on") {
					t.Errorf("it was gone on with: %s", log.String())
				}
			})
		})
	}
}

// TestGoingOnIsTold to who reads the log: which attempt, whose run, and that it failed again; not that another was
// faster.
func TestGoingOnIsTold(t *testing.T) {
	w := newWard(t)
	u := newUnreliable(w)
	run := w.left()
	close(w.free)
	var log buffertest.Buffer
	u.down.Store("CommitAll")
	m := w.serving("b", func(c *runs.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	for !strings.Contains(log.String(), "run is left unfinished") {
		time.Sleep(time.Millisecond) // between two looks at a condition
	}
	if !strings.Contains(log.String(), `"going on with an unfinished run" run=`+run.ID+
		` thread=thread attempt=2 "left by"=dead`) {
		t.Errorf("the log has: %s", log.String())
	}
	u.down.Store("")
	w.wants(run, event.StatusSuccess)
	if s := m.Stats(); s.TakenOver != 1 {
		t.Errorf("%d attempts at runs of others", s.TakenOver)
	}
}

// TestStopIsTold if it stops anything.
func TestStopIsTold(t *testing.T) {
	w := newWard(t)
	var log buffertest.Buffer
	m := w.process("a", func(c *runs.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	w.waiting(m)
	m.Stop()
	if !strings.Contains(log.String(), "runs=1") {
		t.Errorf("the log has: %s", log.String())
	}
	for m.Stats().Active > 0 {
		time.Sleep(time.Millisecond) // between two looks at a condition
	}
	before := log.String()
	m.Stop()
	if log.String() != before {
		t.Errorf("the log has: %s", log.String())
	}
	if run := w.submit(m, runs.Request{ThreadID: "other", UserID: "user"}); run.Status != event.StatusPending {
		t.Errorf("a run was admitted as %s", run.Status)
	}
}

// TestAPlaceIsGivenBack when what it was taken for does not begin, and when a run has ended.
func TestAPlaceIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		m := w.process("a", func(c *runs.Config) { c.Parallel = 1 })
		if _, err := w.process("b", nil).For(user()).Admit(t.Context(), ordered("wait")); err != nil {
			t.Fatal(err)
		}
		known, later, behind := ordered("answer"), ordered("answer"), ordered("answer")
		known.ThreadID, known.Key = "done", "key"
		w.wants(w.submit(m, known), event.StatusSuccess)
		later.ThreadID, later.NotBefore = "later", time.Now().Add(time.Hour)
		behind.Strategy = store.Enqueue
		for name, req := range map[string]runs.Request{"refused": ordered("answer"), "known": known, "later": later,
			"behind": behind} {
			synctest.Wait()
			if run, err := m.For(user()).Submit(t.Context(), req); (err != nil) != (name == "refused") || run.Begun {
				t.Errorf("%s: %s, %v", name, run.Status, err)
			}
			free := ordered("answer")
			free.ThreadID = "free for " + name
			run := w.submit(m, free)
			if run.Status != event.StatusRunning {
				t.Fatalf("after one that was %s there is no place: the run is %s", name, run.Status)
			}
			w.wants(run, event.StatusSuccess)
		}
		synctest.Wait()
	})
}

// TestWhoComesInStopsTheOthersAtOnce: neither that the running one is to stop nor that the next may start is found out
// by the clock.
func TestWhoComesInStopsTheOthersAtOnce(t *testing.T) {
	for strategy, status := range map[store.Strategy]string{store.Interrupt: event.StatusInterrupted,
		store.Rollback: event.StatusError} {
		synctest.Test(t, func(t *testing.T) {
			w := newWard(t)
			m, stop := w.served("a", nil)
			defer stop()
			first := w.waiting(m)
			time.Sleep(100 * time.Millisecond) // not at a beat
			asked := time.Now()
			req := ordered("answer")
			req.Strategy = strategy
			second := w.submit(m, req)
			w.wants(first, status)
			if run := w.wants(second, event.StatusSuccess); time.Since(asked) > 200*time.Millisecond {
				t.Errorf("%s took %v", run.Status, time.Since(asked))
			}
		})
	}
}

// TestACancelMakesRoomAtOnce: the run behind one that is cancelled while it waits is the next.
func TestACancelMakesRoomAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		m, stop := w.served("a", nil)
		defer stop()
		first := ordered("answer")
		first.NotBefore = time.Now().Add(time.Hour)
		waits := w.submit(m, first)
		second := ordered("answer")
		second.Strategy = store.Enqueue
		next := w.submit(m, second)
		time.Sleep(1100 * time.Millisecond) // not at a beat
		asked := time.Now()
		w.cancel(m, waits, store.StopInterrupt)
		w.wants(next, event.StatusSuccess)
		if took := time.Since(asked); took > 200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

func TestACancelNamesWhatItIs(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	run := w.ran(m, ordered("answer"))
	if _, err := m.For(user()).Cancel(t.Context(), run.ID, "explode"); err == nil ||
		!strings.Contains(err.Error(), "explode") {
		t.Errorf("error %v", err)
	}
	if now, err := m.For(user()).Cancel(t.Context(), run.ID, store.StopRollback); err != nil ||
		now.Status != event.StatusSuccess {
		t.Errorf("a run at its end is %s, %v", now.Status, err)
	}
}

// deaf is a bus that cannot be listened to.
type deaf struct{ bus.Bus }

func (deaf) Subscribe(string, func([]byte)) (bus.Subscription, error) {
	return nil, errors.New("no route")
}
func (deaf) Publish(string, []byte) {}

// TestServeWithoutABus that works does its work all the same, and says so.
func TestServeWithoutABus(t *testing.T) {
	w := newWard(t)
	var log buffertest.Buffer
	m := w.serving("a", func(c *runs.Config) {
		c.Bus, c.Log = deaf{}, slog.New(slog.NewTextHandler(&log, nil))
	})
	w.wants(w.submit(m, ordered("answer")), event.StatusSuccess)
	for strings.Count(log.String(), "cannot listen on the bus") < 2 {
		time.Sleep(time.Millisecond) // between two looks at a condition
	}
}

// counted is a bus that counts who listens.
type counted struct {
	bus.Bus

	mu   sync.Mutex
	open []string
}

type subscription func()

func (s subscription) Close() { s() }

func (c *counted) Subscribe(subject string, _ func([]byte)) (bus.Subscription, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, subject)
	return subscription(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open = slices.DeleteFunc(c.open, func(s string) bool { return s == subject })
	}), nil
}

// TestServeListensUntilItEnds.
func TestServeListensUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := newWard(t), &counted{}
		_, stop := w.served("a", func(cfg *runs.Config) { cfg.Bus = c })
		synctest.Wait()
		if d := cmp.Diff([]string{"queue", "stop", "words"}, c.open); d != "" {
			t.Error(d)
		}
		stop()
		if len(c.open) > 0 {
			t.Errorf("%q are still heard", c.open)
		}
	})
}

// lapses is a store that says that a lease had run out, once it is told to.
type lapses struct {
	store.Store
	system
	lapsed chan struct{}
}

func (l *lapses) System() store.System { return l }

func (l *lapses) Renew(ctx context.Context, owner string) (bool, error) {
	_, err := l.system.Renew(ctx, owner)
	select {
	case <-l.lapsed:
		return true, err
	default:
		return false, err
	}
}

// TestALeaseThatHadLapsed: the runs that others have claimed meanwhile are stopped, the others go on.
func TestALeaseThatHadLapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		l := &lapses{Store: w.store, system: w.store.System(), lapsed: make(chan struct{}, 1)}
		w.store = l
		var log buffertest.Buffer
		m := w.process("a", func(c *runs.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		release, err := m.KeepLease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		ended := make(map[string]error)
		var mu sync.Mutex
		var list []store.Run
		for _, thread := range []string{"kept", "claimed"} {
			req := ordered("wait")
			req.ThreadID = thread
			run, err := m.For(user()).Admit(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, run)
			go func() {
				_, err := m.Execute(context.Background(), run, nil)
				mu.Lock()
				defer mu.Unlock()
				ended[thread] = err
			}()
			<-w.begun
		}
		time.Sleep(2 * store.Beat)
		if log.String() != "" {
			t.Errorf("the log has: %s", log.String())
		}
		if _, err := w.store.System().ClaimRun(t.Context(), list[1].ID, "b", 1, time.Now()); err != nil {
			t.Fatal(err)
		}
		l.lapsed <- struct{}{}
		time.Sleep(2 * store.Beat)
		synctest.Wait()
		mu.Lock()
		if len(ended) != 1 || !errors.Is(ended["claimed"], store.ErrFenced) ||
			!strings.Contains(log.String(), "the lease had lapsed") {
			t.Errorf("ended are %v; the log has: %s", ended, log.String())
		}
		mu.Unlock()
		close(w.free)
		synctest.Wait()
		if len(ended) != 2 || ended["kept"] != nil {
			t.Errorf("ended are %v", ended)
		}
	})
}

// TestALeaseThatCannotBeHad, kept or given up: the first is an error, the others are told.
func TestALeaseThatCannotBeHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		u := newUnreliable(w)
		var log buffertest.Buffer
		m := w.process("a", func(c *runs.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		u.down.Store("Renew")
		if _, err := m.KeepLease(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("error %v", err)
		}
		u.down.Store("")
		release, err := m.KeepLease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said := func(want string) {
			t.Helper()
			if (want == "") != (log.String() == "") || !strings.Contains(log.String(), want) {
				t.Errorf("the log has: %s, want %s", log.String(), want)
			}
		}
		time.Sleep(2500 * time.Millisecond)
		said("")
		u.down.Store("Stopping")
		time.Sleep(time.Second)
		said("cannot look for runs to stop")
		u.down.Store("Renew")
		time.Sleep(6 * time.Second)
		said("the lease could not be renewed")
		u.down.Store("Release")
		release()
		said("the lease was not given up")
	})
}

// TestTheLeaseIsGivenUp when it is released.
func TestTheLeaseIsGivenUp(t *testing.T) {
	w := newWard(t)
	u := newUnreliable(w)
	var log buffertest.Buffer
	release, err := w.process("a", func(c *runs.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }).
		KeepLease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u.breakAt(1)
	release()
	if hit := u.heal(); hit != "Release" || !strings.Contains(log.String(), "not given up") {
		t.Errorf("the store was used for %q: %s", hit, log.String())
	}
}

// TestWhatOneIsAdmittedWith: the ids of new messages, what follows the end, and what its thread is told.
func TestWhatOneIsAdmittedWith(t *testing.T) {
	w := newWard(t)
	m := w.process("a", func(c *runs.Config) {
		c.ThreadMetadata = func(req runs.Request) json.RawMessage {
			return json.RawMessage(`{"of":"` + req.AssistantID + `"}`)
		}
	})
	for i, c := range []struct {
		webhook, completion string
		notify              bool
	}{{"", "", false}, {"http://hook", "", true}, {"", runs.DeleteThread, true}, {"", "keep", false}} {
		req := ordered("one")
		req.ThreadID, req.AssistantID = fmt.Sprint("thread", i), "deer"
		req.Webhook, req.OnCompletion = c.webhook, c.completion
		known := req.Input[0]
		known.ID = "known"
		removal := known
		removal.Role, removal.ID = "remove", ""
		req.Input = append(req.Input, known, removal)
		run, err := m.For(user()).Admit(t.Context(), req)
		if err != nil || len(runs.After(run)) > 0 != c.notify || !run.Begun {
			t.Errorf("%+v: followed by %v, begun %v, %v", c, runs.After(run), run.Begun, err)
		}
		var kept runs.Request
		if err := json.Unmarshal(run.Request, &kept); err != nil || kept.Input[0].ID == "" ||
			kept.Input[1].ID != "known" || kept.Input[2].ID != "" {
			t.Errorf("the input is %+v, %v", kept.Input, err)
		}
		if th, err := w.store.For(user()).Thread(t.Context(), req.ThreadID); err != nil ||
			string(th.Metadata) != `{"of":"deer"}` {
			t.Errorf("the thread's metadata is %s, %v", th.Metadata, err)
		}
	}
	if _, err := m.For(user()).Admit(t.Context(), runs.Request{ThreadID: "bad", UserID: "user",
		Context: json.RawMessage(`{`)}); err == nil || !strings.Contains(err.Error(), "encode request") {
		t.Errorf("a request that cannot be kept: %v", err)
	}
	full := errors.New("the disk is full")
	m = w.process("b", func(c *runs.Config) { c.Room = func() error { return full } })
	if run, err := m.For(user()).Submit(t.Context(), runs.Request{ThreadID: "full", UserID: "user"}); !errors.Is(err,
		full) || run.ID != "" {
		t.Errorf("run %q, %v", run.ID, err)
	}
	if _, err := w.store.For(user()).Thread(t.Context(), "full"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the thread is there: %v", err)
	}
}

// TestServeWaitsForWhatItBegan: it ends when the resources of its runs are closed.
func TestServeWaitsForWhatItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		m, stop := w.served("a", func(c *runs.Config) {
			build := c.Build
			c.Build = func(ctx context.Context, job runs.Job) (runs.Built, error) {
				b, err := build(ctx, job)
				b.Close = func() error { time.Sleep(time.Second); return nil }
				return b, err
			}
		})
		run := w.waiting(m)
		begun := time.Now()
		stop()
		if took := time.Since(begun); took < time.Second || m.Active(run.ID) {
			t.Errorf("it ended after %v, the run is executed: %v", took, m.Active(run.ID))
		}
	})
}
