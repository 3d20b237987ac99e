package runs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/subagents"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/tool"
)

// awaiting is a process whose runs have a tool "await": it waits for a child that works until the test lets go.
func awaiting(f *family, owner string, waits chan<- string, more ...tool.Tool) *runs.Manager {
	w := *f.ward
	return w.serving(owner, func(c *runs.Config) {
		c.Parallel = 2
		c.Build = func(_ context.Context, job runs.Job) (runs.Built, error) {
			spec := tool.Spec{Name: "split", Description: "Awaits a run.", Effect: tool.Idempotent}
			await := tool.MustNew(spec, func(ctx context.Context, _ *tool.Call, in struct {
				Prompt string `json:"prompt"`
			}) (*tool.Result, error) {
				child, err := job.Children.Start(ctx, "one",
					runs.Request{Input: []message.Message{message.New(message.Human, in.Prompt)}})
				if err != nil {
					return nil, err
				}
				done := make(chan struct{})
				job.Children.Go(func(ctx context.Context) {
					defer close(done)
					_, _ = child.Watch(ctx, nil)
				})
				waits <- child.Run.ID
				err = job.Children.Await(ctx, done)
				switch {
				case errors.Is(err, subagents.ErrSpoken):
					return tool.Text("spoken to"), nil
				case err != nil:
					return nil, err
				}
				return tool.Text("done"), nil
			})
			a, err := agent.New(agent.Config{Model: f.model(), Tools: append(more, await)})
			return runs.Built{Agent: a, Close: func() error { return nil }}, err
		}
	})
}

// TestARunThatWaitsHearsWhatIsSaidToIt: at once, from wherever it is said, and its child works on until the run's end.
func TestARunThatWaitsHearsWhatIsSaidToIt(t *testing.T) {
	for _, from := range []string{"the same process", "another process"} {
		t.Run(from, func(t *testing.T) {
			f, waits := newFamily(t), make(chan string, 1)
			m := awaiting(f, "a", waits)
			said := m
			if from == "another process" {
				said = f.ward.process("b", func(*runs.Config) {})
			}
			run := f.submit(m, ordered("split wait"))
			child := <-waits
			<-f.begun
			if _, err := said.For(user()).Submit(t.Context(), steering("a word")); err != nil {
				t.Fatal(err)
			}
			f.wants(run, event.StatusSuccess)
			talk := talkOf(t, f.store)
			if d := cmp.Diff([]string{"human: split wait", "ai: ", "tool: spoken to", "human: a word"},
				talk[:min(4, len(talk))]); d != "" {
				t.Error(d)
			}
			if r := f.ended(child); r.Status != event.StatusInterrupted || r.StopReason != store.Cancelled {
				t.Errorf("the child is %s %q", r.Status, r.StopReason)
			}
		})
	}
}

// TestAChildIsSpokenToByItsThread: by its user, while it works.
func TestAChildIsSpokenToByItsThread(t *testing.T) {
	f, waits := newFamily(t), make(chan string, 1)
	m := awaiting(f, "a", waits)
	run := f.submit(m, ordered("split wait"))
	child := <-waits
	<-f.begun
	below, err := f.store.For(user()).Run(t.Context(), child)
	if err != nil {
		t.Fatal(err)
	}
	word := steering("to the child")
	word.ThreadID = below.ThreadID
	s, err := m.For(user()).Submit(t.Context(), word)
	if err != nil || s.Steers != child {
		t.Fatalf("%+v %v", s, err)
	}
	plain := ordered("a run of its own")
	plain.ThreadID = below.ThreadID
	if _, err := m.For(user()).Submit(t.Context(), plain); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an ordinary run on a hidden thread: %v", err)
	}
	close(f.free)
	f.wants(run, event.StatusSuccess)
	// it was in its last call of the model
	if s = f.ended(s.ID); s.Error != store.Unread && s.StopReason != store.Taken {
		t.Errorf("%+v", s)
	}
}

// TestNothingGoesOnBesideARunAtItsEnd.
func TestNothingGoesOnBesideARunAtItsEnd(t *testing.T) {
	f, waits := newFamily(t), make(chan string, 1)
	var below *runs.Children
	w := *f.ward
	m := w.serving("a", func(c *runs.Config) {
		c.Build = func(_ context.Context, job runs.Job) (runs.Built, error) {
			below = job.Children
			a, err := agent.New(agent.Config{Model: f.model()})
			return runs.Built{Agent: a, Close: func() error { return nil }}, err
		}
	})
	f.wants(f.submit(m, ordered("x")), event.StatusSuccess)
	if below.Go(func(context.Context) { waits <- "it was done" }) {
		t.Error("something was begun")
	}
	if _, err := below.Find(t.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) ||
		!strings.Contains(err.Error(), "nobody") {
		t.Error(err)
	}
}
