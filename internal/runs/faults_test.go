package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// trial is something to do with a manager, tried while one use of the store after the other fails.
type trial struct {
	*ward
	m *runs.Manager
	u *unreliable
	n int // counts the tries
}

// thread is one for each try.
func (r *trial) thread() string { return fmt.Sprint("thread", r.n) }

// on is a request on the thread of the try. A text "" is no input.
func (r *trial) on(text string) runs.Request {
	req := ordered(text)
	req.ThreadID = r.thread()
	if text == "" {
		req.Input = nil
	}
	return req
}

// ran is a run on the thread of the try, at its end.
func (r *trial) ran(req runs.Request) store.Run {
	r.t.Helper()
	out, err := r.m.For(user()).Run(r.t.Context(), req, nil)
	if err != nil || out.Run.Error != "" {
		r.t.Fatal(err, out.Run.Error)
	}
	return out.Run
}

// abandoned is a run on the thread of the try whose process has died in a model call.
func (r *trial) abandoned() store.Run {
	r.t.Helper()
	r.begun, r.free = make(chan string, 100), make(chan struct{})
	defer func() { close(r.free) }() // the model answers from there on
	m := r.process("dead", nil)
	run, err := m.For(user()).Admit(r.t.Context(), r.on("wait"))
	if err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := m.Execute(context.Background(), run, nil)
		ended <- err
	}()
	<-r.begun
	for first := (store.Checkpoint{}); first.ID == ""; { // until its input is committed
		if first, err = r.store.For(user()).FirstCheckpoint(r.t.Context(), run.ID); err != nil {
			r.t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // between two looks at a condition
	}
	m.Stop()
	if err := <-ended; !errors.Is(err, runs.ErrStopped) {
		r.t.Fatal(err)
	}
	return run
}

// current is a run as it is now.
func (r *trial) current(run store.Run) store.Run {
	r.t.Helper()
	run, err := r.store.For(user()).Run(r.t.Context(), run.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// texts is the conversation on the thread of the try.
func (r *trial) texts() (out []string) {
	r.t.Helper()
	s, err := r.m.For(user()).Snapshot(r.t.Context(), r.thread(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, msg := range agent.Messages.Get(s.State) {
		out = append(out, msg.Text())
	}
	return out
}

// says returns an error unless the thread of the try has these texts.
func (r *trial) says(err error, want ...string) error {
	r.t.Helper()
	if err != nil {
		return err
	}
	r.u.left.Store(0)
	if got := r.texts(); !slices.Equal(want, got) {
		return fmt.Errorf("the thread has %q, want %q", got, want)
	}
	return nil
}

// failure is the error of an outcome: why its end could not be recorded, or why it failed. A run that is unfinished can
// be gone on with, to an end.
func (r *trial) failure(run store.Run, out runs.Outcome, err error) error {
	r.t.Helper()
	if err == nil && strings.Contains(out.Run.Error, errBroken.Error()) {
		return fmt.Errorf("the run failed: %w", errBroken)
	}
	if err == nil && out.Run.Error != "" && out.Run.Error != store.RolledBack {
		return errors.New(out.Run.Error)
	}
	if err != nil {
		r.u.left.Store(0)
		if run = r.current(run); run.Active() {
			if out, err := r.process("next", nil).Resume(r.t.Context(), run, nil); err != nil || out.Run.Active() {
				r.t.Errorf("the run cannot be gone on with: %+v, %v", out.Run, err)
			}
		}
	}
	return err
}

// executed admits a run and executes it on a store that may break from there on.
func (r *trial) executed(req runs.Request, breakNow func()) error {
	r.t.Helper()
	run, err := r.m.For(user()).Admit(r.t.Context(), req)
	if err != nil {
		r.t.Fatal(err)
	}
	breakNow()
	out, err := r.m.Execute(r.t.Context(), run, nil)
	return r.failure(run, out, err)
}

// trials are what is done with a manager. Each does it once, on a store that may break when breakNow was called, and
// returns the error that it is told.
func trials() map[string]func(r *trial, breakNow func()) error {
	type do = func(r *trial, breakNow func()) error
	answer := func(req runs.Request, value string) runs.Request {
		req.Resume = json.RawMessage(value)
		return req
	}
	note := func(r *trial) error {
		_, err := r.m.For(user()).UpdateState(r.t.Context(), r.thread(),
			runs.StateUpdate{Messages: []message.Message{message.New(message.Human, "note")}})
		return err
	}
	return map[string]do{
		"free": func(r *trial, breakNow func()) error {
			breakNow()
			return r.m.For(user()).Free(r.t.Context(), r.thread())
		},
		"a question is looked at": func(r *trial, breakNow func()) error {
			r.ran(r.on("ask"))
			if err := note(r); err != nil {
				r.t.Fatal(err)
			}
			breakNow()
			s, err := r.m.For(user()).Snapshot(r.t.Context(), r.thread(), "")
			if err == nil && len(s.Questions) != 1 {
				err = fmt.Errorf("%d questions", len(s.Questions))
			}
			return err
		},
		"a state is changed": func(r *trial, breakNow func()) error {
			r.ran(r.on("one"))
			breakNow()
			err := note(r)
			return r.says(err, "one", "done: one", "note")
		},
		"a result": func(r *trial, breakNow func()) error {
			run := r.ran(r.on("one"))
			r.ran(r.on("two"))
			breakNow()
			s, err := r.m.For(user()).Result(r.t.Context(), run)
			if msgs := agent.Messages.Get(s.State); err == nil && len(msgs) != 2 {
				err = fmt.Errorf("%d messages", len(msgs))
			}
			return err
		},
		"a base": func(r *trial, breakNow func()) error {
			r.ran(r.on("one"))
			run := r.ran(r.on("two"))
			breakNow()
			base, err := r.m.For(user()).Base(r.t.Context(), run, runs.Request{})
			if msgs := agent.Messages.Get(base.State); err == nil && len(msgs) != 2 {
				err = fmt.Errorf("%d messages", len(msgs))
			}
			return err
		},
		"an admission": func(r *trial, breakNow func()) error {
			breakNow()
			_, err := r.m.For(user()).Admit(r.t.Context(), r.on("one"))
			return err
		},
		"an answer is admitted": func(r *trial, breakNow func()) error {
			r.ran(r.on("one"))
			breakNow()
			_, err := r.m.For(user()).Admit(r.t.Context(), answer(r.on(""), `"yes"`))
			return err
		},
		"a submission": func(r *trial, breakNow func()) error {
			req := r.on("one")
			req.NotBefore = time.Now().Add(time.Hour)
			breakNow()
			_, err := r.m.For(user()).Submit(r.t.Context(), req)
			return err
		},
		"a cancel": func(r *trial, breakNow func()) error {
			req := r.on("one")
			req.NotBefore = time.Now().Add(time.Hour)
			run := r.submit(r.m, req)
			breakNow()
			run, err := r.m.For(user()).Cancel(r.t.Context(), run.ID, store.StopInterrupt)
			if err == nil && run.Status != event.StatusInterrupted {
				err = fmt.Errorf("the run is %s", run.Status)
			}
			return err
		},
		"the end of a run is read": func(r *trial, breakNow func()) error {
			run := r.ran(r.on("one"))
			breakNow()
			_, err := runs.Ended(r.t.Context(), r.store.For(user()), run)
			return err
		},
		"a run is looked at as it works": func(r *trial, breakNow func()) error {
			run := r.ran(r.on("ask"))
			breakNow()
			_, err := runs.Working(r.t.Context(), r.store.For(user()), run)
			return err
		},
		"a run": func(r *trial, breakNow func()) error {
			r.ran(r.on("one"))
			err := r.executed(r.on("two"), breakNow)
			return r.says(err, "one", "done: one", "two", "done: two")
		},
		"an answer": func(r *trial, breakNow func()) error {
			r.ran(r.on("ask"))
			err := r.executed(answer(r.on(""), `"yes"`), breakNow)
			return r.says(err, "ask", "", `you said "yes"`, `done: you said "yes"`)
		},
		"an answer at a checkpoint": func(r *trial, breakNow func()) error {
			r.ran(r.on("ask"))
			at, err := r.m.For(user()).Snapshot(r.t.Context(), r.thread(), "")
			if err != nil {
				r.t.Fatal(err)
			}
			r.ran(r.on("other"))
			req := answer(r.on(""), `"yes"`)
			req.Checkpoint = at.ID
			err = r.executed(req, breakNow)
			return r.says(err, "ask", "", `you said "yes"`, `done: you said "yes"`)
		},
		"a question that is not answered": func(r *trial, breakNow func()) error {
			r.ran(r.on("ask"))
			err := r.executed(r.on("one"), breakNow)
			return r.says(err, "ask", "", "one", "done: one")
		},
		"once more": func(r *trial, breakNow func()) error {
			r.ran(r.on("one"))
			req := r.on("")
			req.Continue, req.Checkpoint = true, store.Origin
			err := r.executed(req, breakNow)
			return r.says(err, "one", "done: one")
		},
		"a run that was left": func(r *trial, breakNow func()) error {
			run := r.current(r.abandoned())
			breakNow()
			out, err := r.m.Resume(r.t.Context(), run, nil)
			err = r.failure(run, out, err)
			return r.says(err, "wait", "I begin and end")
		},
		"a run that was left is rolled back": func(r *trial, breakNow func()) error {
			r.ran(r.on("one"))
			run := r.abandoned()
			r.cancel(r.m, run, store.StopRollback)
			run = r.current(run)
			breakNow()
			out, err := r.m.Resume(r.t.Context(), run, nil)
			err = r.failure(run, out, err)
			return r.says(err, "one", "done: one")
		},
		"a run that gets nowhere": func(r *trial, breakNow func()) error {
			run := r.current(r.abandoned())
			run.Stalled = 3
			breakNow()
			out, err := r.m.Resume(r.t.Context(), run, nil)
			if err == nil && strings.Contains(out.Run.Error, "3 attempts in a row") {
				return nil
			}
			return r.failure(run, out, err)
		},
	}
}

// TestNoFailureOfTheStoreIsSilent: whatever fails in the store, who asked is told; the run that it befell goes on from
// where it was, or has failed for that reason; and the next time all is well.
func TestNoFailureOfTheStoreIsSilent(t *testing.T) {
	for name, do := range trials() {
		t.Run(name, func(t *testing.T) {
			w := newWard(t)
			u := newUnreliable(w)
			r := &trial{ward: w, u: u, m: w.process("one", nil)}
			for {
				r.n++
				err := do(r, func() { u.breakAt(r.n) })
				hit := u.heal()
				switch {
				case hit != "" && !errors.Is(err, errBroken):
					t.Errorf("use %d, of %s, failed, and what came of it is: %v", r.n, hit, err)
				case hit == "" && (err != nil || r.n == 1):
					t.Errorf("after %d failures: %v", r.n-1, err)
				}
				if hit == "" || r.n > 100 {
					return
				}
			}
		})
	}
}
