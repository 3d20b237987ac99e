package agent_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
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
		Model: turns(call("quick", `{}`, "obeys", `{}`, "deaf", `{}`), say("never")), Tools: []tool.Tool{quick, obeys, deaf},
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
