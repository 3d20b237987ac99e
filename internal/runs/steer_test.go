package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

func steering(text string) runs.Request {
	req := ordered(text)
	req.Strategy = store.Steer
	return req
}

// talkOf is the conversation of the tests' thread.
func talkOf(t *testing.T, st store.Store) (out []string) {
	t.Helper()
	schema, err := state.NewSchema(agent.Channels()...)
	if err != nil {
		t.Fatal(err)
	}
	cp, err := st.For(user()).Checkpoint(t.Context(), schema, "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range agent.Messages.Get(cp.State) {
		out = append(out, string(m.Role)+": "+m.Text())
	}
	return out
}

// ended waits for the end of a run.
func (w *ward) ended(run string) store.Run {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if r, err := w.store.For(user()).Run(w.t.Context(), run); err == nil && !r.Active() {
			return r
		}
	}
	w.t.Fatal("run", run, "does not end")
	return store.Run{}
}

// TestASteerFromAnotherProcessIsRead: what comes in at one process is read by the run of another before its next call
// of the model, behind the results of its tools.
func TestASteerFromAnotherProcessIsRead(t *testing.T) {
	w := newWard(t)
	working, goOn := make(chan struct{}, 1), make(chan struct{})
	work := tool.MustNew(tool.Spec{Name: "work"},
		func(ctx context.Context, _ *tool.Call, _ struct{}) (*tool.Result, error) {
			working <- struct{}{}
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			return tool.Text("worked"), nil
		})
	var mu sync.Mutex
	var given [][]message.Message
	a, err := agent.New(agent.Config{Tools: []tool.Tool{work},
		Model: fakeModel(func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
			mu.Lock()
			defer mu.Unlock()
			given = append(given, req.Messages)
			if len(given) == 1 {
				return chunks(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: "work", Args: `{}`}}},
					message.Chunk{FinishReason: "tool_calls"})
			}
			return chunks(message.Chunk{Text: "done", FinishReason: "stop"})
		})})
	if err != nil {
		t.Fatal(err)
	}
	built := func(c *runs.Config) {
		c.Build = func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		}
	}
	one, other := w.serving("a", built), w.process("b", built)
	run, err := one.For(user()).Submit(t.Context(), ordered("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-working
	var ids []string
	for _, text := range []string{"first", "second"} {
		s, err := other.For(user()).Submit(t.Context(), steering(text))
		if err != nil || s.Steers != run.ID {
			t.Fatalf("said to %q, %v", s.Steers, err)
		}
		if to, err := other.For(user()).Steered(t.Context(), s); err != nil || to.ID != run.ID {
			t.Errorf("answered with %s, %v", to.ID, err)
		}
		ids = append(ids, s.ID)
	}
	close(goOn)
	w.ended(run.ID)
	want := []string{"human: go", "ai: ", "tool: worked", "human: first", "human: second", "ai: done"}
	if d := cmp.Diff(want, talkOf(t, w.store)); d != "" {
		t.Error(d)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(given) != 2 || len(given[1]) != 5 {
		t.Errorf("the model was called %d times", len(given))
	}
	for _, id := range ids {
		if s, err := w.store.For(user()).Run(t.Context(), id); err != nil || s.StopReason != store.Taken ||
			s.Steers != run.ID {
			t.Errorf("it is %+v, %v", s, err)
		}
	}
}

// TestASteerThatComesTooLateIsTheNextRun, once, as soon as the run has ended, also if that was cancelled.
func TestASteerThatComesTooLateIsTheNextRun(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		w := newWard(t)
		m := w.serving("a", nil)
		run, err := m.For(user()).Submit(t.Context(), ordered("wait"))
		if err != nil {
			t.Fatal(err)
		}
		<-w.begun
		s, err := m.For(user()).Submit(t.Context(), steering("more"))
		if err != nil {
			t.Fatal(err)
		}
		if cancelled {
			if _, err := m.For(user()).Cancel(t.Context(), run.ID, store.StopInterrupt); err != nil {
				t.Fatal(err)
			}
		} else {
			w.free <- struct{}{}
		}
		if got := w.ended(s.ID); got.Status != event.StatusSuccess || got.Attempt != 1 {
			t.Errorf("it is %s", got.Status)
		}
		talk := talkOf(t, w.store)
		if d := cmp.Diff([]string{"human: more", "ai: done: more"}, talk[len(talk)-2:]); d != "" || len(talk) != 4 {
			t.Error(talk)
		}
		w.ended(run.ID)
	}
}

// TestASteerWaitsForTheAnswer: a run that asks keeps it for the run that answers.
func TestASteerWaitsForTheAnswer(t *testing.T) {
	w := newWard(t)
	m := w.serving("a", nil)
	run, err := m.For(user()).Submit(t.Context(), ordered("ask"))
	if err != nil {
		t.Fatal(err)
	}
	w.ended(run.ID)
	s, err := m.For(user()).Submit(t.Context(), steering("gently"))
	if err != nil || s.Steers != run.ID {
		t.Fatalf("said to %q, %v", s.Steers, err)
	}
	m.Wake()
	if _, err := m.For(user()).
		Submit(t.Context(), runs.Request{ThreadID: "thread", Resume: []byte(`"yes"`)}); err != nil {
		t.Fatal(err)
	}
	for len(steersOf(t, w.store)) > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	w.ended(s.ID)
	list, err := w.store.For(user()).ListRuns(t.Context(),
		store.RunFilter{ThreadID: "thread", Statuses: []string{event.StatusPending, event.StatusRunning}})
	for _, r := range list {
		w.ended(r.ID)
	}
	want := []string{"human: ask", "ai: ", `tool: you said "yes"`, "human: gently", "ai: done: gently"}
	if d := cmp.Diff(want, talkOf(t, w.store)); d != "" || err != nil {
		t.Error(d, err)
	}
}

func steersOf(t *testing.T, st store.Store) []store.Run {
	t.Helper()
	list, err := st.For(user()).Steers(t.Context(), "thread")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSay: to the run at work; where there is none any more it waits to be the next one.
func TestSay(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	run, err := m.For(user()).Admit(t.Context(), ordered("wait"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := m.For(user()).Say(t.Context(), ordered("more")); err != nil || s.Steers != run.ID || !s.IsSteer() {
		t.Errorf("%+v, %v", s, err)
	}
	req := ordered("more")
	req.ThreadID = "idle"
	if s, err := m.For(user()).Say(t.Context(), req); err != nil || s.Status != event.StatusPending || s.IsSteer() {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestWhatIsNoSteer: only people's messages are said to a run at work.
func TestWhatIsNoSteer(t *testing.T) {
	w := newWard(t)
	m := w.process("a", nil)
	for name, change := range map[string]func(*runs.Request){
		"nothing":   func(r *runs.Request) { r.Input = nil },
		"a model's": func(r *runs.Request) { r.Input = append(r.Input, message.New(message.AI, "x")) },
		"an answer": func(r *runs.Request) { r.Resume = []byte(`1`) },
		"a node":    func(r *runs.Request) { r.Goto = agent.NodeModel },
		"values":    func(r *runs.Request) { r.Values = map[string]json.RawMessage{"title": []byte(`"x"`)} },
		"later":     func(r *runs.Request) { r.NotBefore = time.Now().Add(time.Hour) },
	} {
		req := steering("x")
		change(&req)
		if _, err := m.For(user()).Admit(t.Context(), req); !errors.Is(err, runs.ErrNoSteer) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTakenBackAtTheMomentOfReading: of what is said and taken back at once while a run reads, each message is either
// taken back or in the conversation, once, and never both, whatever comes first.
func TestTakenBackAtTheMomentOfReading(t *testing.T) {
	const rounds, each = 12, 6
	w := newWard(t)
	var mu sync.Mutex
	var waiting []string // ids of what may be taken back
	read, back := map[string]bool{}, map[string]bool{}
	var m *runs.Manager
	look := tool.MustNew(tool.Spec{Name: "look"},
		func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			var ids []string
			for i := range each {
				s, err := m.For(user()).Submit(ctx, steering(fmt.Sprint("word ", c.ID, " ", i)))
				if err != nil {
					return nil, err
				}
				ids = append(ids, s.ID)
			}
			mu.Lock()
			defer mu.Unlock()
			waiting = append(waiting, ids...) // now the run reads, and they are taken back
			return tool.Text("ok"), nil
		})
	calls := 0
	a, err := agent.New(agent.Config{Tools: []tool.Tool{look},
		Model: fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
			if calls++; calls > rounds {
				return chunks(message.Chunk{Text: "done", FinishReason: "stop"})
			}
			return chunks(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: fmt.Sprint("c", calls), Name: "look",
				Args: `{}`}}}, message.Chunk{FinishReason: "tool_calls"})
		})})
	if err != nil {
		t.Fatal(err)
	}
	m = w.serving("a", func(c *runs.Config) {
		c.Build = func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		}
	})
	run, err := m.For(user()).Submit(t.Context(), ordered("go"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var taking sync.WaitGroup
	for k := range 2 {
		taking.Go(func() {
			for n := k; ; n++ {
				mu.Lock()
				id := ""
				if len(waiting) > 0 {
					id, waiting = waiting[0], waiting[1:]
				}
				mu.Unlock()
				if id == "" {
					select {
					case <-ended:
						return
					case <-time.After(time.Millisecond):
						continue
					}
				}
				time.Sleep(time.Duration(n%5) * time.Millisecond) // now sooner, now later
				err := w.store.For(user()).TakeBack(t.Context(), "thread", id)
				mu.Lock()
				switch {
				case err == nil:
					back[id] = true
				case errors.Is(err, store.ErrConflict):
					read[id] = true
				default:
					t.Errorf("take back: %v", err)
				}
				mu.Unlock()
			}
		})
	}
	if r := w.ended(run.ID); r.Status != event.StatusSuccess {
		t.Errorf("the run ended as %s: %s", r.Status, r.Error)
	}
	close(ended)
	taking.Wait()
	if list := steersOf(t, w.store); len(list) > 0 {
		t.Errorf("%d wait", len(list))
	}
	seen := map[string]int{}
	for _, line := range talkOf(t, w.store) {
		if strings.HasPrefix(line, "human: word ") {
			seen[line]++
		}
	}
	for line, n := range seen {
		if n != 1 {
			t.Errorf("%q stands there %d times", line, n)
		}
	}
	if len(read)+len(back) != rounds*each || len(seen) != len(read) {
		t.Errorf("%d were read, %d taken back, of %d; %d are in the conversation", len(read), len(back), rounds*each,
			len(seen))
	}
	t.Logf("%d were read, %d taken back", len(read), len(back))
}
