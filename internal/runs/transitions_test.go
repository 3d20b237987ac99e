package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/job"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// ward is a store, a model that does what its human says, and processes that serve.
//
//	"answer"  it answers at once
//	"wait"    it answers when the run is cancelled, or the ward is told to let go
//	"ask"     it calls a tool that asks a human
type ward struct {
	t     *testing.T
	store store.Store
	rows  database.Store // the same, for jobs
	begun chan string    // ids of threads whose model call waits
	free  chan struct{}
}

func newWard(t *testing.T) *ward {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{
		Dir: t.TempDir(), Features: []database.Feature{job.Feature()}, After: []store.After{runs.After},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &ward{t: t, store: st, rows: st, begun: make(chan string, 100), free: make(chan struct{})}
}

func (w *ward) model() fakeModel {
	return func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		last := req.Messages[len(req.Messages)-1]
		switch {
		case last.Role == message.Human && last.Text() == "wait":
			return func(yield func(message.Chunk, error) bool) {
				if !yield(message.Chunk{Text: "I begin"}, nil) {
					return
				}
				w.begun <- ""
				select {
				case <-ctx.Done():
					yield(message.Chunk{}, ctx.Err())
				case <-w.free:
					yield(message.Chunk{Text: " and end", FinishReason: "stop"}, nil)
				}
			}
		case last.Role == message.Human && last.Text() == "ask":
			return chunks(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "q", Name: "ask", Args: `{}`}}},
				message.Chunk{FinishReason: "tool_calls"})
		}
		return chunks(message.Chunk{Text: "done: " + last.Text(), FinishReason: "stop"})
	}
}

// process makes a process of the ward.
func (w *ward) process(owner string, change func(*runs.Config)) *runs.Manager {
	w.t.Helper()
	ask := tool.MustNew(tool.Spec{Name: "ask", Description: "Asks."},
		func(_ context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			if c.Answer == nil {
				return nil, &tool.InterruptError{Questions: []tool.Question{{Value: json.RawMessage(`"may I?"`)}}}
			}
			return tool.Text("you said " + string(c.Answer)), nil
		})
	a, err := agent.New(agent.Config{Model: w.model(), Tools: []tool.Tool{ask}})
	if err != nil {
		w.t.Fatal(err)
	}
	cfg := runs.Config{Store: w.store, Owner: owner, Build: func(context.Context, runs.Job) (runs.Built, error) {
		return runs.Built{Agent: a, Close: func() error { return nil }}, nil
	}}
	if change != nil {
		change(&cfg)
	}
	return runs.NewManager(cfg)
}

// serving is a process that serves until the test ends.
func (w *ward) serving(owner string, change func(*runs.Config)) *runs.Manager {
	w.t.Helper()
	m := w.process(owner, change)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Serve(ctx, nil)
	}()
	w.t.Cleanup(func() {
		stop()
		<-done
	})
	return m
}

func ordered(text string) runs.Request {
	return runs.Request{ThreadID: "thread", UserID: "user", Input: []message.Message{message.New(message.Human, text)}}
}

func (w *ward) submit(m *runs.Manager, req runs.Request) store.Run {
	w.t.Helper()
	run, err := m.For(user()).Submit(w.t.Context(), req)
	if err != nil {
		w.t.Fatal(err)
	}
	return run
}

// wants waits until the run has the status.
func (w *ward) wants(run store.Run, status string) store.Run {
	w.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		now, err := w.store.For(user()).Run(w.t.Context(), run.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		if now.Status == status {
			return now
		}
		if !now.Active() || time.Now().After(deadline) {
			w.t.Fatalf("run is %s (%s %s), want %s", now.Status, now.StopReason, now.Error, status)
		}
		time.Sleep(5 * time.Millisecond) // between two looks at a condition
	}
}

// texts is the conversation of the thread.
func (w *ward) texts(m *runs.Manager) (out []string) {
	w.t.Helper()
	s, err := m.For(user()).Snapshot(w.t.Context(), "thread", "")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, msg := range agent.Messages.Get(s.State) {
		out = append(out, msg.Text())
	}
	return out
}

// waiting submits a run that is under way when it returns.
func (w *ward) waiting(m *runs.Manager) store.Run {
	w.t.Helper()
	run := w.submit(m, ordered("wait"))
	<-w.begun
	return run
}

// transitions are the rows of the table in docs/runs.md.
func transitions() map[string]func(w *ward) {
	behind := func(s store.Strategy) runs.Request {
		req := ordered("answer")
		req.Strategy = s
		return req
	}
	return map[string]func(w *ward){
		"admit-at-once": func(w *ward) {
			run := w.submit(w.serving("a", nil), ordered("answer"))
			if run.Status != event.StatusRunning || run.Attempt != 1 || run.Owner != "a" {
				w.t.Errorf("admitted as %+v", run)
			}
			w.wants(run, event.StatusSuccess)
		},
		"admit-behind": func(w *ward) {
			m := w.serving("a", nil)
			w.waiting(m)
			if run := w.submit(m, behind(store.Enqueue)); run.Status != event.StatusPending || run.Owner != "" {
				w.t.Errorf("admitted as %+v", run)
			}
		},
		"admit-later": func(w *ward) {
			m := w.serving("a", nil)
			req := ordered("answer")
			req.NotBefore = time.Now().Add(time.Hour)
			if run := w.submit(m, req); run.Status != event.StatusPending {
				w.t.Errorf("admitted as %+v", run)
			}
		},
		"admit-full": func(w *ward) {
			m := w.serving("a", func(c *runs.Config) { c.Parallel = 1 })
			first := w.waiting(m)
			req := ordered("answer")
			req.ThreadID = "other"
			second := w.submit(m, req)
			if second.Status != event.StatusPending {
				w.t.Errorf("admitted as %+v", second)
			}
			close(w.free)
			w.wants(first, event.StatusSuccess)
			w.wants(second, event.StatusSuccess)
		},
		"refuse-busy": func(w *ward) {
			m := w.serving("a", nil)
			w.waiting(m)
			if _, err := m.For(user()).Submit(w.t.Context(), ordered("answer")); !errors.Is(err, store.ErrConflict) {
				w.t.Errorf("error is %v", err)
			}
		},
		"refuse-full": func(w *ward) {
			m := w.serving("a", func(c *runs.Config) { c.MaxPending = 1 })
			w.waiting(m)
			w.submit(m, behind(store.Enqueue))
			if _, err := m.For(user()).Submit(w.t.Context(), behind(store.Enqueue)); !errors.Is(err, store.ErrFull) {
				w.t.Errorf("error is %v", err)
			}
		},
		"admit-twice": func(w *ward) {
			m := w.serving("a", nil)
			req := ordered("answer")
			req.Key = "key"
			first := w.submit(m, req)
			w.wants(first, event.StatusSuccess)
			if again := w.submit(m, req); again.ID != first.ID {
				w.t.Errorf("the second run is %s, the first %s", again.ID, first.ID)
			}
			if got := w.texts(m); len(got) != 2 {
				w.t.Errorf("the thread has %q", got)
			}
		},
		"start-next": func(w *ward) {
			m := w.serving("a", nil)
			first := w.waiting(m)
			second, third := w.submit(m, behind(store.Enqueue)), w.submit(m, behind(store.Enqueue))
			if n, err := w.store.For(user()).Position(w.t.Context(), third.ID); n != 2 || err != nil {
				w.t.Errorf("position is %d, %v", n, err)
			}
			close(w.free)
			w.wants(first, event.StatusSuccess)
			w.wants(second, event.StatusSuccess)
			w.wants(third, event.StatusSuccess)
			want := []string{"wait", "I begin and end", "answer", "done: answer", "answer", "done: answer"}
			if d := cmp.Diff(want, w.texts(m)); d != "" {
				w.t.Error(d)
			}
		},
		"start-due": func(w *ward) {
			var m *runs.Manager
			now := time.Now()
			m = w.serving("a", func(c *runs.Config) { c.Now = func() time.Time { return now } })
			req := ordered("answer")
			req.NotBefore = now.Add(-time.Second)
			w.wants(w.submit(m, req), event.StatusSuccess)
		},
		"cancel-waiting": func(w *ward) {
			m := w.serving("a", nil)
			first := w.waiting(m)
			second := w.submit(m, behind(store.Enqueue))
			w.cancel(m, second, store.StopInterrupt)
			if got := w.wants(second, event.StatusInterrupted); got.StopReason != store.Cancelled {
				w.t.Errorf("stop reason %q", got.StopReason)
			}
			w.cancel(m, first, store.StopInterrupt)
		},
		"undo-waiting": func(w *ward) {
			m := w.serving("a", nil)
			first := w.waiting(m)
			second := w.submit(m, behind(store.Enqueue))
			third := w.submit(m, behind(store.Rollback))
			if got := w.wants(second, event.StatusError); got.Error != store.RolledBack {
				w.t.Errorf("error %q", got.Error)
			}
			w.wants(first, event.StatusError)
			w.wants(third, event.StatusSuccess)
			if d := cmp.Diff([]string{"answer", "done: answer"}, w.texts(m)); d != "" {
				w.t.Error(d)
			}
		},
		"finish": func(w *ward) {
			w.wants(w.submit(w.serving("a", nil), ordered("answer")), event.StatusSuccess)
		},
		"ask": func(w *ward) {
			m := w.serving("a", nil)
			w.wants(w.submit(m, ordered("ask")), event.StatusInterrupted)
			s, err := m.For(user()).Snapshot(w.t.Context(), "thread", "")
			if err != nil || len(s.Questions) != 1 || s.Next != agent.NodeTools {
				w.t.Fatalf("%+v, %v", s.Questions, err)
			}
			answer := runs.Request{ThreadID: "thread", UserID: "user", Resume: json.RawMessage(`"yes"`)}
			w.wants(w.submit(m, answer), event.StatusSuccess)
			if d := cmp.Diff([]string{"ask", "", `you said "yes"`, `done: you said "yes"`}, w.texts(m)); d != "" {
				w.t.Error(d)
			}
		},
		"steer": func(w *ward) {
			m := w.serving("a", nil)
			run := w.waiting(m)
			if s := w.submit(m, steering("answer")); s.Steers != run.ID || s.Status != event.StatusPending {
				w.t.Errorf("%s, said to %q", s.Status, s.Steers)
			}
			close(w.free)
			w.wants(run, event.StatusSuccess)
		},
		"take": func(w *ward) {
			m := w.serving("a", nil)
			w.wants(w.submit(m, ordered("ask")), event.StatusInterrupted)
			w.submit(m, steering("answer"))
			w.wants(w.submit(m, runs.Request{ThreadID: "thread", UserID: "user", Resume: json.RawMessage(`"yes"`)}),
				event.StatusSuccess)
			if d := cmp.Diff([]string{"ask", "", `you said "yes"`, "answer", "done: answer"}, w.texts(m)); d != "" {
				w.t.Error(d)
			}
		},
		"too-late": func(w *ward) {
			m := w.serving("a", nil)
			run := w.waiting(m)
			s := w.submit(m, steering("answer"))
			close(w.free)
			w.wants(run, event.StatusSuccess)
			if next := w.ended(s.ID); next.Status != event.StatusSuccess {
				w.t.Error(next.Status)
			}
			if d := cmp.Diff([]string{"wait", "I begin and end", "answer", "done: answer"}, w.texts(m)); d != "" {
				w.t.Error(d)
			}
		},
		"fail": func(w *ward) {
			m := w.serving("a", func(c *runs.Config) {
				c.Build = func(context.Context, runs.Job) (runs.Built,
					error) {
					return runs.Built{}, errors.New("no parts")
				}
			})
			if got := w.wants(w.submit(m, ordered("answer")), event.StatusError); got.Error != "build agent: no parts" {
				w.t.Errorf("error %q", got.Error)
			}
		},
		"cancel": func(w *ward) {
			m := w.serving("a", nil)
			run := w.waiting(m)
			other := w.process("b", nil) // has no hand on the run: only the row tells
			w.cancel(other, run, store.StopInterrupt)
			if got := w.wants(run, event.StatusInterrupted); got.StopReason != store.Cancelled {
				w.t.Errorf("stop reason %q", got.StopReason)
			}
			if d := cmp.Diff([]string{"wait", "I begin"}, w.texts(m)); d != "" {
				w.t.Error(d)
			}
		},
		"undo": func(w *ward) {
			m := w.serving("a", nil)
			w.wants(w.submit(m, ordered("answer")), event.StatusSuccess)
			before := w.texts(m)
			run := w.waiting(m)
			w.cancel(m, run, store.StopRollback)
			if got := w.wants(run, event.StatusError); got.Error != store.RolledBack {
				w.t.Errorf("error %q", got.Error)
			}
			if d := cmp.Diff(before, w.texts(m)); d != "" {
				w.t.Error(d)
			}
			w.wants(w.submit(m, ordered("answer")), event.StatusSuccess)
		},
		"take-over": func(w *ward) {
			run := w.left()
			close(w.free)
			w.serving("b", nil)
			if got := w.wants(run, event.StatusSuccess); got.Attempt != 2 || got.Owner != "b" {
				w.t.Errorf("attempt %d of %s", got.Attempt, got.Owner)
			}
		},
		"give-up": func(w *ward) {
			run := w.left()
			for attempt := 1; attempt <= 4; attempt++ {
				f, err := w.store.System().ClaimRun(w.t.Context(), run.ID, string(rune('a'+attempt)), attempt,
					time.Now())
				if err != nil {
					w.t.Fatal(err)
				}
				run.Attempt = f.Attempt
			}
			w.serving("z", nil)
			w.wants(run, event.StatusError)
		},
		"cancel-left": func(w *ward) {
			run := w.left()
			w.cancel(w.process("b", nil), run, store.StopInterrupt)
			w.serving("c", nil)
			if got := w.wants(run, event.StatusInterrupted); got.StopReason != store.Cancelled {
				w.t.Errorf("stop reason %q", got.StopReason)
			}
		},
	}
}

func (w *ward) cancel(m *runs.Manager, run store.Run, action string) {
	w.t.Helper()
	if _, err := m.For(user()).Cancel(w.t.Context(), run.ID, action); err != nil {
		w.t.Fatal(err)
	}
}

// left is a run whose process has died in a model call.
func (w *ward) left() store.Run {
	w.t.Helper()
	m := w.process("dead", nil)
	run := w.waiting(m)
	m.Stop()
	for m.Active(run.ID) {
		time.Sleep(time.Millisecond) // between two looks at a condition
	}
	return run
}

func TestTransitions(t *testing.T) {
	for name, try := range transitions() {
		t.Run(name, func(t *testing.T) { try(newWard(t)) })
	}
}

func TestTheDocumentNamesEveryTransition(t *testing.T) {
	doc, err := os.ReadFile("../../docs/runs.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z]+-?[a-z-]*) \| (?:\(new\)|\(a steer\)|pending|running) \|`).
		FindAllSubmatch(doc, -1) {
		rows = append(rows, string(m[1]))
	}
	slices.Sort(rows)
	if d := cmp.Diff(slices.Sorted(maps.Keys(transitions())), rows); d != "" {
		t.Errorf("(-tested +in docs/runs.md)\n%s", d)
	}
}

// TestARunForLaterStartsThen shows it on a clock that stands still but for what the runs wait for.
func TestARunForLaterStartsThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWard(t)
		m := w.serving("a", nil)
		req := ordered("answer")
		start := time.Now()
		req.NotBefore = start.Add(time.Hour)
		run := w.submit(m, req)
		time.Sleep(time.Hour - 2*time.Second)
		synctest.Wait()
		if now, err := w.store.For(user()).Run(t.Context(), run.ID); now.Status != event.StatusPending || err != nil {
			t.Fatalf("%s before its time: %v", now.Status, err)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if now, err := w.store.For(user()).Run(t.Context(), run.ID); now.Status != event.StatusSuccess || err != nil {
			t.Errorf("%s after its time: %v", now.Status, err)
		}
	})
}
