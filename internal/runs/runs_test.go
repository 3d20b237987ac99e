package runs_test

import (
	"context"
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
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/databases"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel answers with a function of the request.
type fakeModel func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error]

func (f fakeModel) Name() string { return "fake/model" }
func (f fakeModel) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return f(ctx, req)
}

func chunks(list ...message.Chunk) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// counts is a model that calls the tool "count" once in each turn and then answers.
func counts(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	usage := &message.Usage{InputTokens: 10, OutputTokens: 1, TotalTokens: 11}
	if req.Messages[len(req.Messages)-1].Role == message.Human {
		call := message.ToolCallChunk{ID: fmt.Sprintf("c%d", len(req.Messages)), Name: "count", Args: `{}`}
		return chunks(message.Chunk{Text: "let me "}, message.Chunk{Text: "count"},
			message.Chunk{ToolCalls: []message.ToolCallChunk{call}},
			message.Chunk{Usage: usage, FinishReason: "tool_calls"})
	}
	return chunks(message.Chunk{Text: fmt.Sprintf("%d messages", len(req.Messages))},
		message.Chunk{Usage: usage, FinishReason: "stop"})
}

// user is whose the runs of these tests are.
func user() access.User { return access.FromRow("user") }

// system is embedded by stores that get in the way of what a manager asks the system for.
type system = store.System

// bed is a manager on a real store.
type bed struct {
	t       *testing.T
	store   store.Store
	manager *runs.Manager
	closed  int

	mu     sync.Mutex
	events []event.Event
}

func newBed(t *testing.T, m model.ChatModel, mws ...agent.Middleware) *bed {
	t.Helper()
	st, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: databases.Dir(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bed{t: t, store: st}
	count := tool.MustNew(tool.Spec{Name: "count", Description: "Counts."},
		func(_ context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			c.Progress("counting")
			c.Emit(map[string]string{"type": "counted"})
			return tool.Text("counted"), nil
		})
	a, err := agent.New(agent.Config{Model: m, Tools: []tool.Tool{count}}, mws...)
	if err != nil {
		t.Fatal(err)
	}
	b.manager = runs.NewManager(runs.Config{Store: st, Owner: "test",
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { b.closed++; return nil }}, nil
		}})
	return b
}

func (b *bed) show(ev event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, ev)
}

func (b *bed) admit(text string) store.Run {
	b.t.Helper()
	run, err := b.manager.For(user()).Admit(b.t.Context(),
		runs.Request{ThreadID: "thread", UserID: "user", Input: []message.Message{message.New(message.Human, text)}})
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

func (b *bed) run(ctx context.Context, text string) runs.Outcome {
	b.t.Helper()
	out, err := b.manager.Execute(ctx, b.admit(text), b.show)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bed) kinds() []string {
	var out []string
	for _, ev := range b.events {
		k := string(ev.Data.Kind())
		if ev.Node != "" {
			k = ev.Node + " " + k
		}
		out = append(out, k)
	}
	return out
}

func TestARunIsShownAndKept(t *testing.T) {
	b := newBed(t, fakeModel(counts))
	out := b.run(t.Context(), "how many messages are there?")
	if out.Run.Status != event.StatusSuccess || out.Usage.TotalTokens != 22 || b.closed != 1 {
		t.Errorf("status %q, usage %+v, closed %d times", out.Run.Status, out.Usage, b.closed)
	}
	want := []string{
		"run", "__start__ state",
		"model chunk", "model chunk", "model chunk", "model state", "model message",
		"tools tool_start", "tools progress", "tools custom", "tools state", "tools tool_end",
		"model chunk", "model state", "model message", "run",
	}
	if d := cmp.Diff(want, b.kinds()); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	last := event.ID{}
	for _, ev := range b.events {
		if ev.ID.Compare(last) <= 0 {
			t.Errorf("event %s comes after %s", ev.ID, last)
		}
		last = ev.ID
	}
}

func TestTheLogReadBackIsWhatWasShown(t *testing.T) {
	b := newBed(t, fakeModel(counts))
	out := b.run(t.Context(), "go")
	stored, err := b.store.For(user()).Events(t.Context(), out.Run.ID, event.ID{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var shown []event.Event
	for _, ev := range b.events {
		if !ev.Data.Kind().Live() {
			shown = append(shown, ev)
		}
	}
	if len(stored) != len(shown) {
		t.Fatalf("%d events are stored, %d durable ones were shown", len(stored), len(shown))
	}
	for i := range shown {
		got, want := text(t, stored[i]), text(t, shown[i])
		if got != want {
			t.Errorf("event %d: stored\n%s\nshown\n%s", i, got, want)
		}
	}
}

func text(t *testing.T, ev event.Event) string {
	t.Helper()
	ev.Time = ev.Time.UTC().Truncate(time.Microsecond)
	raw, err := ev.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Readers in this process are given each update as it was made.
func TestAnUpdateIsShownAsItWasMade(t *testing.T) {
	b := newBed(t, fakeModel(counts))
	b.run(t.Context(), "how many messages are there?")
	for _, ev := range b.events {
		d, ok := ev.Data.(event.State)
		if !ok {
			continue
		}
		made, ok := d.Update.(state.Update)
		if !ok {
			t.Fatalf("the update of %s is a %T", ev.Node, d.Update)
		}
		if raw, err := made.AppendJSON(nil); err != nil || string(raw) != string(d.Writes) {
			t.Errorf("the update of %s is %s, %v, but its bytes are %s", ev.Node, raw, err, d.Writes)
		}
	}
}

func TestTheBoundariesOfAMessageFitItsChunks(t *testing.T) {
	b := newBed(t, fakeModel(counts))
	b.run(t.Context(), "go")
	first := map[string]int64{}
	for _, ev := range b.events {
		switch d := ev.Data.(type) {
		case event.Chunk:
			if first[d.MessageID] == 0 {
				first[d.MessageID] = ev.ID.N
			}
		case event.Message:
			if d.First == 0 || d.First != first[d.MessageID] {
				t.Errorf("message %s begins at %d, its first chunk was %d", d.MessageID, d.First, first[d.MessageID])
			}
		}
	}
}

func TestAThreadGoesOn(t *testing.T) {
	b := newBed(t, fakeModel(counts))
	b.run(t.Context(), "one")
	out := b.run(t.Context(), "two")
	msgs := agent.Messages.Get(out.State)
	if len(msgs) != 8 || msgs[7].Text() != "7 messages" {
		t.Errorf("%d messages, the last is %q", len(msgs), msgs[len(msgs)-1].Text())
	}
}

func TestOneActiveRunPerThread(t *testing.T) {
	b := newBed(t, fakeModel(counts))
	b.admit("one")
	_, err := b.manager.For(user()).Admit(t.Context(), runs.Request{ThreadID: "thread", UserID: "user"})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	slow := fakeModel(func(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
		return func(yield func(message.Chunk, error) bool) {
			if yield(message.Chunk{Text: "I was about to"}, nil) {
				cancel(errors.New("enough"))
				<-ctx.Done()
				yield(message.Chunk{}, ctx.Err())
			}
		}
	})
	b := newBed(t, slow)
	out := b.run(ctx, "go")
	if out.Run.Status != event.StatusInterrupted || out.Run.StopReason != store.Cancelled {
		t.Errorf("status %q, stop reason %q", out.Run.Status, out.Run.StopReason)
	}
	cp, err := b.store.For(user()).Checkpoint(t.Context(), nil, "thread", "")
	if err != nil {
		t.Fatal(err)
	}
	if msgs := agent.Messages.Get(cp.State); len(msgs) != 2 || msgs[1].Text() != "I was about to" {
		t.Errorf("the partial answer is lost: %+v", msgs)
	}
}

type fallsBack struct{}

func (fallsBack) Name() string { return "FallsBack" }
func (fallsBack) WrapModelCall(context.Context, *agent.ModelRequest, agent.ModelHandler) (*agent.ModelResponse, error) {
	m := message.New(message.AI, "the key is wrong")
	m.Kwargs = message.Fields{message.KeyErrorFallback: []byte("true")}
	return &agent.ModelResponse{Message: m}, nil
}

type breaks struct{}

func (breaks) Name() string { return "Breaks" }
func (breaks) BeforeModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{}, errors.New("boom")
}

func TestFailedRuns(t *testing.T) {
	for _, c := range []struct {
		name string
		mw   agent.Middleware
		want string
	}{
		{"a fallback answer", fallsBack{}, "the key is wrong"},
		{"a failing hook", breaks{}, "Breaks.before_model: boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, fakeModel(counts), c.mw)
			out := b.run(t.Context(), "go")
			if out.Run.Status != event.StatusError || !strings.Contains(out.Run.Error, c.want) {
				t.Errorf("status %q, error %q", out.Run.Status, out.Run.Error)
			}
			b.run(t.Context(), "the thread goes on")
		})
	}
}

func TestAnotherOwnerStopsTheRun(t *testing.T) {
	var b *bed
	var run store.Run
	steal := fakeModel(func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		if _, err := b.store.System().ClaimRun(ctx, run.ID, "thief", 1, time.Now()); err != nil {
			t.Error(err)
		}
		return counts(ctx, req)
	})
	b = newBed(t, steal)
	run = b.admit("go")
	_, err := b.manager.Execute(t.Context(), run, b.show)
	if !errors.Is(err, store.ErrFenced) {
		t.Errorf("got %v", err)
	}
	for _, ev := range b.events {
		if ev.Node == agent.NodeModel && !ev.Data.Kind().Live() {
			t.Errorf("an event was shown that is not in the log: %s", text(t, ev))
		}
	}
}
