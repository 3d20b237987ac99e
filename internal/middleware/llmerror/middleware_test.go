package llmerror

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// turn is one answer of the fake model: text, and then err if there is one. A turn that hangs waits for its context,
// one that takes its time sleeps first.
type turn struct {
	text  string
	err   error
	hang  bool
	takes time.Duration
	calls string // of a tool of this name
}

// fakeModel answers with its turns, one a call, the last one again and again, and keeps requests and their times.
type fakeModel struct {
	mu       sync.Mutex
	turns    []turn
	requests [][]message.Message
	settings []model.Settings
	times    []time.Time
}

func (*fakeModel) Name() string { return "acme/mini" }

func (f *fakeModel) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	f.mu.Lock()
	t := f.turns[min(len(f.requests), len(f.turns)-1)]
	f.requests, f.times = append(f.requests, req.Messages), append(f.times, time.Now())
	f.settings = append(f.settings, req.Settings)
	f.mu.Unlock()
	return func(yield func(message.Chunk, error) bool) {
		time.Sleep(t.takes)
		if t.text != "" && !yield(message.Chunk{Text: t.text}, nil) {
			return
		}
		if t.calls != "" &&
			!yield(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: t.calls, Args: "{}"}}}, nil) {
			return
		}
		if t.hang {
			<-ctx.Done()
			t.err = ctx.Err()
		}
		if t.err != nil {
			yield(message.Chunk{}, t.err)
			return
		}
		yield(message.Chunk{FinishReason: "stop"}, nil)
	}
}

func (f *fakeModel) calls() int { f.mu.Lock(); defer f.mu.Unlock(); return len(f.requests) }

// waits are the times between the calls.
func (f *fakeModel) waits() []time.Duration {
	var out []time.Duration
	for i := 1; i < len(f.times); i++ {
		out = append(out, f.times[i].Sub(f.times[i-1]))
	}
	return out
}

// bench is an agent with the middleware and all that it showed.
type bench struct {
	model  *fakeModel
	agent  *agent.Agent
	mu     sync.Mutex
	events []event.Data
}

func newBench(t *testing.T, cfg Config, turns ...turn) *bench {
	t.Helper()
	b := &bench{model: &fakeModel{turns: turns}}
	a, err := agent.New(agent.Config{Model: b.model, Settings: model.Settings{Effort: "high"},
		Tools: agenttest.Tools("look")}, New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	b.agent = a
	return b
}

func (b *bench) run(ctx context.Context, s state.State) (state.State, error) {
	m := message.New(message.Human, "hello")
	m.ID = time.Now().String()
	rt := &agent.Runtime{RunID: "run", Input: agent.Messages.Append(m), Emit: func(_ string, d event.Data) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events = append(b.events, d)
	}}
	return b.agent.Run(ctx, rt, s)
}

func (b *bench) retries(t *testing.T) []retryEvent {
	t.Helper()
	var out []retryEvent
	for _, e := range b.events {
		if c, ok := e.(event.Custom); ok {
			var r retryEvent
			if err := json.Unmarshal(c.Value, &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
	}
	return out
}

func last(s state.State) message.Message {
	msgs := agent.Messages.Get(s)
	return msgs[len(msgs)-1]
}

func modelError(c model.Class) *model.Error {
	return &model.Error{Class: c, Provider: "acme", Model: "mini", Status: 599, Message: "their words"}
}

func fixed(v float64) func() float64 { return func() float64 { return v } }

func TestAttemptsPerClass(t *testing.T) {
	tests := []struct {
		class  model.Class
		calls  int
		waits  []time.Duration // with the largest spread
		reason string
	}{
		{model.ClassAuth, 1, nil, "auth"},
		{model.ClassQuota, 1, nil, "quota"},
		{model.ClassContextLength, 1, nil, "context_length"},
		{model.ClassNotFound, 1, nil, "not_found"},
		{model.ClassBadRequest, 1, nil, "bad_request"},
		{model.ClassTransient, 3, []time.Duration{3 * time.Second, 8 * time.Second}, "transient"},
		{model.ClassBusy, 3, []time.Duration{3 * time.Second, 8 * time.Second}, "busy"},
		{model.ClassRateLimit, 3, []time.Duration{3 * time.Second, 8 * time.Second}, "rate_limit"},
		{model.ClassBurst, 2, []time.Duration{8 * time.Second}, "burst_rate"},
	}
	for _, tt := range tests {
		t.Run(string(tt.class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, Config{Rand: fixed(1)}, turn{err: modelError(tt.class)})
				s, err := b.run(t.Context(), state.State{})
				if err != nil {
					t.Fatal(err)
				}
				if b.model.calls() != tt.calls || !slices.Equal(b.model.waits(), tt.waits) {
					t.Errorf("%d calls with waits %v, want %d with %v", b.model.calls(), b.model.waits(), tt.calls,
						tt.waits)
				}
				m := last(s)
				if reason, ok := FallbackOf(m); !ok || reason != tt.reason {
					t.Errorf("reason %q, %v", reason, ok)
				}
				if text := m.Text(); !strings.Contains(text, "acme/mini") || !strings.Contains(text, "their words") {
					t.Errorf("the answer does not say which model failed and how: %s", text)
				}
				if string(m.Kwargs[KeyErrorDetail]) != `"their words"` || m.Kwargs[KeyErrorType] == nil {
					t.Errorf("kwargs %s", m.Kwargs)
				}
			})
		})
	}
}

func TestLeastWaitIsTheBase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Rand: fixed(0)}, turn{err: modelError(model.ClassTransient)})
		if _, err := b.run(t.Context(), state.State{}); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{time.Second, time.Second}; !slices.Equal(b.model.waits(), want) {
			t.Errorf("waits %v, want %v", b.model.waits(), want)
		}
	})
}

func TestRetryIsAnnouncedAndItsTextWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Rand: fixed(0.5)}, turn{text: "half an ans", err: modelError(model.ClassTransient)},
			turn{text: "whole"})
		s, err := b.run(t.Context(), state.State{})
		if m := last(s); err != nil || m.Text() != "whole" {
			t.Fatalf("answer %q, error %v", m.Text(), err)
		}
		want := []retryEvent{{"llm_retry", 1, 3, 2000, "transient",
			"LLM request retry 1/3: provider request failed temporarily. Retrying in 2s.",
			"acme/mini does not answer. The answer was HTTP 599: their words"}}
		if diff := cmp.Diff(want, b.retries(t)); diff != "" {
			t.Error(diff)
		}
		first, withdrawn := b.events[0].(event.Chunk), b.events[1].(event.Discard)
		if withdrawn.MessageID != first.MessageID || last(s).ID == first.MessageID {
			t.Error("the cut text must be withdrawn and the next try have an id of its own")
		}
	})
}

func TestRetryAfterIsKeptToTheLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := modelError(model.ClassRateLimit)
		e.RetryAfter = 42 * time.Second
		b := newBench(t, Config{}, turn{err: e})
		if _, err := b.run(t.Context(), state.State{}); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{e.RetryAfter, e.RetryAfter}; !slices.Equal(b.model.waits(), want) {
			t.Errorf("waits %v, want %v", b.model.waits(), want)
		}
	})
}

func TestLongRetryAfterGivesUpAndSaysHowLong(t *testing.T) {
	e := modelError(model.ClassRateLimit)
	e.RetryAfter = 5 * time.Minute
	b := newBench(t, Config{}, turn{err: e})
	s, err := b.run(t.Context(), state.State{})
	if m := last(s); err != nil || b.model.calls() != 1 || !strings.Contains(m.Text(), "5m0s") {
		t.Fatalf("%d calls, error %v, answer %q", b.model.calls(), err, m.Text())
	}
}

// TestRefusedKeyTellsToCheckTheKey: the class decides, however the provider words its answer.
func TestRefusedKeyTellsToCheckTheKey(t *testing.T) {
	e := &model.Error{Class: model.ClassAuth, Provider: "acme", Model: "mini", Status: 401, Message: "no"}
	b := newBench(t, Config{}, turn{err: e})
	s, err := b.run(t.Context(), state.State{})
	if err != nil {
		t.Fatal(err)
	}
	if m := last(s); !strings.Contains(m.Text(), "API key of acme") ||
		string(m.Kwargs[KeyErrorType]) != `"AuthenticationError"` {
		t.Errorf("answer %q, kwargs %s", m.Text(), m.Kwargs)
	}
}

func TestFallbackOfAnEarlierRunIsNotReplayedToTheModel(t *testing.T) {
	b := newBench(t, Config{}, turn{err: modelError(model.ClassAuth)}, turn{text: "fine"})
	s, err := b.run(t.Context(), state.State{})
	if err != nil {
		t.Fatal(err)
	}
	s, err = b.run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	sent := b.model.requests[1]
	if len(sent) != 2 || slices.ContainsFunc(sent, func(m message.Message) bool { return m.Role == message.AI }) {
		t.Errorf("the model was sent %d messages, the fallback among them", len(sent))
	}
	if n := len(agent.Messages.Get(s)); n != 4 {
		t.Errorf("the conversation has %d messages, want all 4", n)
	}
	if _, failed := FallbackOf(last(s)); failed {
		t.Error("the second run must not count as failed")
	}
}

func TestCancelPassesThrough(t *testing.T) {
	stop := errors.New("the user pressed stop")
	tests := map[string]turn{
		"while the model streams": {text: "par", hang: true},
		"while waiting to retry":  {err: modelError(model.ClassTransient)},
	}
	for name, first := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				b := newBench(t, Config{}, first)
				time.AfterFunc(500*time.Millisecond, func() { cancel(stop) })
				begin := time.Now()
				s, err := b.run(ctx, state.State{})
				if !errors.Is(err, stop) || time.Since(begin) != 500*time.Millisecond || b.model.calls() != 1 {
					t.Fatalf("error %v after %v and %d calls", err, time.Since(begin), b.model.calls())
				}
				if _, ok := FallbackOf(last(s)); ok {
					t.Error("a cancel is no failure")
				}
			})
		})
	}
}

func TestErrorThatIsNotTheModelsPassesThrough(t *testing.T) {
	odd := errors.New("a hook broke")
	b := newBench(t, Config{}, turn{err: odd})
	if _, err := b.run(t.Context(), state.State{}); !errors.Is(err, odd) || b.model.calls() != 1 {
		t.Fatalf("error %v after %d calls", err, b.model.calls())
	}
}
