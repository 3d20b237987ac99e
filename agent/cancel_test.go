package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

var errStop = errors.New("stopped by the test")

func TestCancelDuringTheModelKeepsThePartialText(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	m := fakeModel(func(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
		return func(yield func(message.Chunk, error) bool) {
			if !yield(message.Chunk{Text: "half an ans"}, nil) || !yield(call("a", `{"x":"1"}`)[0], nil) {
				return
			}
			cancel(errStop)
			<-ctx.Done()
			yield(message.Chunk{}, ctx.Err())
		}
	})
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: m, Tools: []tool.Tool{echo("a")}}).Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) {
		t.Fatalf("got error %v", err)
	}
	diff(t, talk(s), []string{"human: do it", "ai: half an ans"})
	last := agent.Messages.Get(s)[1]
	if string(last.Kwargs[message.KeyPartial]) != `"cancelled"` {
		t.Errorf("the partial answer is not marked: %v", last.Kwargs)
	}
	if l := b.lines(); l[len(l)-1] != "commit model message -> " {
		t.Errorf("the partial answer is not durable: %q", l)
	}
}

func TestCancelDuringToolsKeepsKnownResultsAndAnswersTheRest(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	b := newBed()
	quick := newTool("quick", tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		return tool.Text("quick result"), nil
	})
	kept := func() bool {
		return slices.Contains(b.lines(), "commit tool_end -> tools")
	}
	obeys := newTool("obeys", tool.SideEffects, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		for !kept() {
			time.Sleep(time.Millisecond)
		}
		cancel(errStop)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	deaf := newTool("deaf", tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		<-release
		return tool.Text("too late"), nil
	})
	a := mustAgent(t, agent.Config{
		Model: turns(call("quick", `{}`, "obeys", `{}`, "deaf", `{}`), say("never")),
		Tools: []tool.Tool{quick, obeys, deaf},
	})
	start := time.Now()
	s, err := a.Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) {
		t.Fatalf("got error %v", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("the cancel took %s", took)
	}
	const gone = "error tool: This call was cancelled before it finished. What it had done until then stays done."
	diff(t, talk(s)[2:], []string{"tool: quick result", gone, gone})
	if l := b.lines(); l[len(l)-1] != "commit tools tools tools tool_end -> before_model" {
		t.Errorf("the results are not durable: %q", l)
	}
}

func TestCancelBeforeTheFirstCallKeepsTheInput(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := hookOf{name: "Stop", beforeModel: func() { cancel(errStop) }}
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: turns(say("x"))}, stop).Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) {
		t.Fatalf("got error %v", err)
	}
	diff(t, talk(s), []string{"human: do it"})
}

// breaking is a wrapper that fails once the model has answered, or before.
type breaking struct{ asks bool }

var errWrapper = errors.New("broken")

func (breaking) Name() string { return "Breaking" }
func (w breaking) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	if w.asks {
		if _, err := next(ctx, req); err != nil {
			return nil, err
		}
	}
	return nil, errWrapper
}

// TestAnAnswerThatAWrapperLoses is withdrawn, if anything of it was shown, and stays nowhere.
func TestAnAnswerThatAWrapperLoses(t *testing.T) {
	for _, asks := range []bool{false, true} {
		b := newBed()
		s, err := mustAgent(t, agent.Config{Model: turns(say("hello"))}, breaking{asks}).
			Run(t.Context(), b.rt, state.State{})
		if !errors.Is(err, errWrapper) {
			t.Errorf("error %v", err)
		}
		diff(t, talk(s), []string{"human: do it"})
		diff(t, discards(b), map[bool][]string{true: {"m1 the model call failed"}}[asks])
	}
}

func discards(b bed) (ids []string) {
	for _, d := range b.events {
		if d, ok := d.(event.Discard); ok {
			ids = append(ids, d.MessageID+" "+d.Reason)
		}
	}
	return ids
}

// TestAFailureBeforeAnythingIsShown withdraws nothing.
func TestAFailureBeforeAnythingIsShown(t *testing.T) {
	b := newBed()
	m := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
		return func(yield func(message.Chunk, error) bool) { yield(message.Chunk{}, errWrapper) }
	})
	if _, err := mustAgent(t, agent.Config{Model: m}).Run(t.Context(), b.rt, state.State{}); !errors.Is(err,
		errWrapper) {
		t.Errorf("error %v", err)
	}
	diff(t, b.lines(), []string{"commit __start__ -> before_model"})
}

// TestWhatStaysOfACancelledAnswer: its text or its thoughts with what is known of it, but no calls, and nothing if that
// is all.
func TestWhatStaysOfACancelledAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		chunk   message.Chunk
		text    string
		discard []string
	}{
		"text": {message.Chunk{Text: "half", Kwargs: message.Fields{"vendor": json.RawMessage(`"x"`)}}, "half",
			nil},
		"thoughts": {message.Chunk{Reasoning: "hm", Kwargs: message.Fields{"vendor": json.RawMessage(`"x"`)}}, "", nil},
		"a call":   {call("a", `{}`)[0], "", []string{"m1 cancelled"}},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		m := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
			return func(yield func(message.Chunk, error) bool) {
				if yield(c.chunk, nil) {
					cancel(errStop)
					yield(message.Chunk{}, ctx.Err())
				}
			}
		})
		b := newBed()
		s, err := mustAgent(t, agent.Config{Model: m, Tools: []tool.Tool{echo("a")}}).Run(ctx, b.rt, state.State{})
		if !errors.Is(err, errStop) {
			t.Errorf("%s: error %v", name, err)
		}
		diff(t, discards(b), c.discard)
		msgs := agent.Messages.Get(s)[1:]
		if c.discard != nil {
			if len(msgs) != 0 {
				t.Errorf("%s: %+v stays", name, msgs)
			}
			continue
		}
		if len(msgs) != 1 || msgs[0].Text() != c.text || string(msgs[0].Kwargs["vendor"]) != `"x"` ||
			string(msgs[0].Kwargs[message.KeyPartial]) != `"cancelled"` {
			t.Errorf("%s: %+v stays", name, msgs)
		}
		last := b.steps[len(b.steps)-1]
		if done, ok := last.Events[0].Data.(event.Message); !ok || done.MessageID != msgs[0].ID ||
			len(done.Chunks) != 1 {
			t.Errorf("%s: the events %+v", name, last.Events)
		}
	}
}

// TestPiecesAreShownAsTheyCome: each that holds something, and no other.
func TestPiecesAreShownAsTheyCome(t *testing.T) {
	b := newBed()
	answer := []message.Chunk{{}, {Reasoning: "hm"}, {Text: "a"}, call("a", `{"x":"1"}`)[0],
		{FinishReason: "tool_calls"}}
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(answer, say("b")), Tools: []tool.Tool{echo("a")}}))
	var shown []string
	for _, d := range b.events {
		if c, ok := d.(event.Chunk); ok {
			line := c.MessageID + ":" + c.Reasoning + c.Text
			for _, tc := range c.ToolCalls {
				line += tc.ID + tc.Name + tc.Args
			}
			shown = append(shown, line)
		}
	}
	diff(t, shown, []string{"m1:hm", "m1:a", `m1:c0a{"x":"1"}`, "m2:b"})
}

// TestACancelBehindTheLastStep: a run that waits for a person, or could not write, writes nothing more when it is
// cancelled at that moment.
func TestACancelBehindTheLastStep(t *testing.T) {
	for name, c := range map[string]struct {
		last  int // the commit during which the run is cancelled
		fails error
	}{
		"it waits for a person":    {last: 4},
		"the step was not written": {last: 2, fails: errCommit},
	} {
		b := newBed()
		ctx, cancel := context.WithCancelCause(t.Context())
		commits := 0
		b.rt.Commit = func(context.Context, agent.Step) error {
			if commits++; commits == c.last {
				cancel(errStop)
				return c.fails
			}
			return nil
		}
		_, err := mustAgent(t, agent.Config{Model: turns(call("asks", `{}`)), Tools: []tool.Tool{asks()}}).
			Run(ctx, b.rt, state.State{})
		if _, waits := errors.AsType[*agent.Interrupted](err); waits != (c.fails == nil) || !errors.Is(err, c.fails) &&
			!waits {
			t.Errorf("%s: error %v", name, err)
		}
		if commits != c.last {
			t.Errorf("%s: %d steps were written, want %d", name, commits, c.last)
		}
	}
}

// cancelling cancels the run before a tool starts, and notes what its call came to.
type cancelling struct {
	cancel context.CancelCauseFunc
	result *tool.Result
	err    error
}

func (*cancelling) Name() string { return "cancelling" }
func (c *cancelling) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	c.cancel(errStop)
	c.result, c.err = next(ctx, req)
	return c.result, c.err
}

// TestAToolDoesNotStartAfterACancel: those around it hear why.
func TestAToolDoesNotStartAfterACancel(t *testing.T) {
	b := newBed()
	ctx, cancel := context.WithCancelCause(t.Context())
	around := &cancelling{cancel: cancel}
	started := newTool("a", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		t.Error("the tool was started")
		return tool.Text("x"), nil
	})
	_, err := mustAgent(t, agent.Config{Model: turns(call("a", `{}`)), Tools: []tool.Tool{started}}, around).
		Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) || !errors.Is(around.err, errStop) || around.result != nil {
		t.Errorf("the run ends with %v, the call with %v, %v", err, around.result, around.err)
	}
}
