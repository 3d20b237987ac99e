package runs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// cutOff is a store whose connection breaks behind an admission or a claim, so that its outcome is unknown, or before a
// commit, as often as the counts say.
type cutOff struct {
	store.Store
	system

	admits, claims, commits atomic.Int64
	// meanwhile, if not nil, happens once before a change of a state from outside.
	meanwhile func()
}

func (c *cutOff) System() store.System { return c }

func (c *cutOff) For(u access.User) store.UserData { return cutOffUser{c.Store.For(u), c} }

// cutOffUser is what a user has in it.
type cutOffUser struct {
	store.UserData
	c *cutOff
}

func (u cutOffUser) Admit(ctx context.Context, a store.Admission) (store.Run, error) {
	run, err := u.UserData.Admit(ctx, a)
	if err == nil && u.c.admits.Add(-1) >= 0 {
		return store.Run{}, fmt.Errorf("admit: %w", store.ErrUnknown)
	}
	return run, err
}

func (c *cutOff) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	f, err := c.system.ClaimRun(ctx, id, owner, attempt, now)
	if err == nil && c.claims.Add(-1) >= 0 {
		return store.Fence{}, fmt.Errorf("claim: %w", store.ErrUnknown)
	}
	return f, err
}

func (c *cutOff) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	if c.commits.Add(-1) >= 0 {
		return nil, errors.New("the connection broke")
	}
	return c.system.CommitAll(ctx, f, steps)
}

func (u cutOffUser) Write(ctx context.Context, threadID string, step store.Step) (string, error) {
	if f := u.c.meanwhile; f != nil {
		u.c.meanwhile = nil
		f()
	}
	return u.UserData.Write(ctx, threadID, step)
}

func newCutOff(w *ward) *cutOff {
	c := &cutOff{Store: w.store, system: w.store.System()}
	w.store = c
	return c
}

// TestNoRunIsLeftByItsOwner: a run that a process owns without knowing is found and executed by it.
func TestNoRunIsLeftByItsOwner(t *testing.T) {
	t.Run("an admission of unknown outcome", func(t *testing.T) {
		w := newWard(t)
		cut := newCutOff(w)
		m := w.serving("a", nil)
		cut.admits.Store(1)
		if _, err := m.For(user()).Submit(t.Context(), ordered("answer")); !errors.Is(err, store.ErrUnknown) {
			t.Fatalf("error %v", err)
		}
		list, err := w.store.For(user()).ListRuns(t.Context(), store.RunFilter{ThreadID: "thread"})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d runs, error %v", len(list), err)
		}
		w.wants(list[0], event.StatusSuccess)
	})
	t.Run("a claim of unknown outcome", func(t *testing.T) {
		w := newWard(t)
		cut := newCutOff(w)
		m := w.serving("a", nil)
		first := w.waiting(m)
		req := ordered("answer")
		req.Strategy = store.Enqueue
		second := w.submit(m, req)
		cut.claims.Store(1)
		close(w.free)
		w.wants(first, event.StatusSuccess)
		w.wants(second, event.StatusSuccess)
	})
	t.Run("an end that could not be written", func(t *testing.T) {
		w := newWard(t)
		cut := newCutOff(w)
		run := w.left()
		for attempt := 1; attempt <= 4; attempt++ {
			if _, err := w.store.System().ClaimRun(t.Context(), run.ID, string(rune('a'+attempt)), attempt,
				time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		cut.commits.Store(1)
		w.serving("z", nil)
		w.wants(run, event.StatusError)
	})
}

// TestCancelOfARunWhoseProcessDoesNotServe: one such is pudu run on a shared database.
func TestCancelOfARunWhoseProcessDoesNotServe(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	release, err := m.KeepLease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	run, err := m.For(user()).Admit(t.Context(), ordered("wait"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := m.Execute(context.Background(), run, nil)
		ended <- err
	}()
	<-w.begun
	w.cancel(w.process("b", nil), run, store.StopInterrupt)
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		close(w.free)
		t.Fatal("the run goes on", <-ended)
	}
	w.wants(run, event.StatusInterrupted)
}

// TestARollbackOfABranch: the thread gets back what it was, not what the branch began on.
func TestARollbackOfABranch(t *testing.T) {
	w := newWard(t)
	m := w.serving("a", nil)
	w.wants(w.submit(m, ordered("one")), event.StatusSuccess)
	one, err := m.For(user()).Snapshot(t.Context(), "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	w.wants(w.submit(m, ordered("two")), event.StatusSuccess)
	before := w.texts(m)
	req := ordered("wait")
	req.Checkpoint = one.ID
	run := w.submit(m, req)
	<-w.begun
	w.cancel(m, run, store.StopRollback)
	w.wants(run, event.StatusError)
	if d := cmp.Diff(before, w.texts(m)); d != "" {
		t.Error(d)
	}
}

// TestAStateUpdateStandsOnTheHead: a run that comes and ends while a state is changed is not lost from the thread.
func TestAStateUpdateStandsOnTheHead(t *testing.T) {
	w := newWard(t)
	m := w.serving("a", nil)
	w.wants(w.submit(m, ordered("one")), event.StatusSuccess)
	cut := newCutOff(w)
	cut.meanwhile = func() { w.wants(w.submit(m, ordered("two")), event.StatusSuccess) }
	note := runs.StateUpdate{Messages: []message.Message{message.New(message.Human, "note")}}
	if _, err := w.process("b", nil).For(user()).UpdateState(t.Context(), "thread", note); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"one", "done: one", "two", "done: two", "note"}, w.texts(m)); d != "" {
		t.Error(d)
	}
}

// lastBreath is a store whose process stops right behind the commit that tells of a breakpoint.
type lastBreath struct {
	store.Store
	system

	stop func()
}

func (l *lastBreath) System() store.System { return l }

func (l *lastBreath) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	ids, err := l.system.CommitAll(ctx, f, steps)
	for _, s := range steps {
		for _, ev := range s.Events {
			if ev.Data.Kind() == event.KindInterrupt {
				l.stop()
			}
		}
	}
	return ids, err
}

// TestABreakpointOutlivesACrash: who goes on with a run that had stopped at a breakpoint does not go past it.
func TestABreakpointOutlivesACrash(t *testing.T) {
	for name, set := range map[string]func(*runs.Request){
		"after the model":  func(r *runs.Request) { r.InterruptAfter = []string{agent.NodeModel} },
		"before the tools": func(r *runs.Request) { r.InterruptBefore = []string{agent.NodeTools} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, []string{"work"})
			s.does("work")
			kept := s.store
			last := &lastBreath{Store: kept, system: kept.System()}
			s.store = last
			first := s.process("first")
			last.stop, s.store = first.Stop, kept
			req := request()
			set(&req)
			if _, err := first.For(user()).Run(t.Context(), req, noShow); !errors.Is(err, runs.ErrStopped) {
				t.Fatalf("the first process ended with %v", err)
			}
			out, err := s.process("second").Resume(t.Context(), s.unfinished("second"), noShow)
			if err != nil || out.Run.Status != event.StatusInterrupted || s.calls["work"] != 0 {
				t.Fatalf("status %s, %d calls, error %v", out.Run.Status, s.calls["work"], err)
			}
			on := request()
			on.Input, on.Continue = nil, true
			out, err = s.process("second").For(user()).Run(t.Context(), on, noShow)
			if err != nil || out.Run.Status != event.StatusSuccess || s.calls["work"] != 1 {
				t.Errorf("it goes on with status %s, %d calls, error %v", out.Run.Status, s.calls["work"], err)
			}
		})
	}
}

// served is a process that serves until it is stopped, and does jobs.
func (w *ward) served(owner string, with func(*runs.Config)) (*runs.Manager, func()) {
	var log *slog.Logger
	m := w.process(owner, func(c *runs.Config) {
		if with != nil {
			with(c)
		}
		log = c.Log
	})
	jobs := job.New(job.Config{
		Store: w.rows, Owner: owner, Kinds: m.Kinds(), Log: log,
		Spread: func(d time.Duration) time.Duration { return d },
	})
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { m.Serve(ctx, nil) })
	working.Go(func() { jobs.Work(ctx) })
	return m, func() { stop(); working.Wait() }
}

// TestAThreadGoesWithItsRun shows what follows the end of a run whose thread is to be deleted, on a clock of its own.
func TestAThreadGoesWithItsRun(t *testing.T) {
	type process struct{ called, deleted int }
	serve := func(w *ward, owner string, p *process) (*runs.Manager, func()) {
		return w.served(owner, func(c *runs.Config) {
			c.Notify = func(context.Context, store.Run) error { p.called++; return nil }
			c.Delete = func(ctx context.Context, u access.User, id string) error {
				p.deleted++
				return w.store.For(u).DeleteThread(ctx, id)
			}
		})
	}
	gone := func(w *ward, run store.Run) bool {
		_, err := w.store.For(user()).Run(w.t.Context(), run.ID)
		return errors.Is(err, store.ErrNotFound)
	}
	req := ordered("answer")
	req.OnCompletion, req.Webhook = runs.DeleteThread, "http://hook"
	t.Run("after its readers and its webhook", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, p := newWard(t), &process{}
			m, stop := serve(w, "a", p)
			run := w.submit(m, req)
			w.wants(run, event.StatusSuccess)
			time.Sleep(2 * time.Second)
			if gone(w, run) {
				t.Error("it is gone before anybody can have read it")
			}
			time.Sleep(8 * time.Second)
			if stop(); !gone(w, run) || p.called != 1 || p.deleted != 1 {
				t.Errorf("gone %t, webhook called %d times, deleted %d times", gone(w, run), p.called, p.deleted)
			}
		})
	})
	t.Run("after its process has died", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, next := newWard(t), &process{}
			m := w.process("a", nil) // whose jobs nobody did
			run := w.submit(m, req)
			w.wants(run, event.StatusSuccess)
			_, stop := serve(w, "b", next)
			time.Sleep(2 * time.Minute)
			if stop(); !gone(w, run) || next.called != 1 {
				t.Errorf("gone %t, webhook called %d times", gone(w, run), next.called)
			}
		})
	})
	t.Run("that never began", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, p := newWard(t), &process{}
			m, stop := serve(w, "a", p)
			later := req
			later.NotBefore = time.Now().Add(time.Hour)
			run := w.submit(m, later)
			w.cancel(m, run, store.StopInterrupt)
			time.Sleep(2 * time.Minute)
			if stop(); !gone(w, run) {
				t.Error("it is still there")
			}
		})
	})
}
