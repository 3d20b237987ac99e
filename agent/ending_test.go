package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// cutCall is an answer whose calls, pairs of name and arguments, end with the reason given.
func cutCall(reason string, pairs ...string) []message.Chunk {
	chunks := call(pairs...)
	chunks[1].FinishReason = reason
	return chunks
}

// TestCutArgumentsAreNeverExecuted: what an answer that reached the length limit asks for runs only where it is certain
// that it is whole.
func TestCutArgumentsAreNeverExecuted(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		calls        []string
		ran          string
	}{
		{"cut within", "length", []string{"ran", `{"x":"rm -rf /tm`}, ""},
		{"cut before the arguments", "length", []string{"ran", ``}, ""},
		{"cut before the arguments, by another word", "max_tokens", []string{"ran", ``}, ""},
		{"the first is whole", "length", []string{"ran", `{"x":"a"}`, "ran", `{"x":"b`}, `{"x":"a"}`},
		{"the second has not begun", "MAX_TOKENS", []string{"ran", `{"x":"a"}`, "ran", ``}, `{"x":"a"}`},
		{"the first has none, the second is cut within", "length", []string{"ran", `{}`, "ran", `{"x":"b`}, `{}`},
		{"whole", "length", []string{"ran", `{"x":"a"}`}, `{"x":"a"}`},
		{"no arguments and no limit", "tool_calls", []string{"ran", ``}, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ran []string
			tl := newTool("ran", tool.SideEffects, func(_ context.Context, call *tool.Call) (*tool.Result, error) {
				ran = append(ran, string(call.Args))
				return tool.Text("ok"), nil
			})
			b := newBed()
			got := b.mustRun(t, mustAgent(t, agent.Config{Model: turns(cutCall(c.reason, c.calls...), say("ok")),
				Tools: []tool.Tool{tl}}))
			if strings.Join(ran, " ") != c.ran {
				t.Errorf("ran %q, want %q", ran, c.ran)
			}
			if last := got[len(got)-1]; last != "ai: ok" {
				t.Errorf("ends with %q", last)
			}
		})
	}
}

// TestCutAnswerWithoutCalls: it is the last one.
func TestCutAnswerWithoutCalls(t *testing.T) {
	b := newBed()
	cut := []message.Chunk{{Text: "half an ans"}, {FinishReason: "length"}}
	diff(t, b.mustRun(t, mustAgent(t, agent.Config{Model: turns(cut)})), []string{"human: do it", "ai: half an ans"})
}

// endedBy ends the run with its first answer, although a hook after it wants another one.
type endedBy struct{ reason string }

func (endedBy) Name() string { return "Ending" }
func (e endedBy) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	return agent.Command{Update: agent.Ended(rt, s, e.reason)}, nil
}

type wantsMore struct{}

func (wantsMore) Name() string { return "More" }
func (wantsMore) AfterModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{Goto: tool.Model}, nil
}

func TestEndedEndsTheRunWithItsAnswer(t *testing.T) {
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: turns(say("half an ans"))}, wantsMore{}, endedBy{"capped"}).
		Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, talk(s), []string{"human: do it", "ai: half an ans"})
	if st := agent.StopState(s, "r"); st.Reason != "capped" || !st.Answered {
		t.Errorf("stopping %+v", st)
	}
}

func TestEndedKeepsTheReasonThatIsThere(t *testing.T) {
	b := newBed()
	b.rt.Config.MaxSteps = 1
	a := mustAgent(t, agent.Config{Model: turns(call("a", `{}`), say("sum")), Tools: []tool.Tool{echo("a")}}, lastly{})
	s, err := a.Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	if st := agent.StopState(s, "r"); st.Reason != agent.ReasonTurns {
		t.Errorf("stopping %+v", st)
	}
}

// lastly records a reason at the run's end.
type lastly struct{}

func (lastly) Name() string { return "Lastly" }
func (lastly) AfterAgent(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	return agent.Command{Update: agent.Ended(rt, s, "capped")}, nil
}

func TestTheLastAnswerHasNoRawCallsEither(t *testing.T) {
	b := newBed()
	b.rt.Config.MaxSteps = 1
	raw := []message.Chunk{{Text: "sum", Kwargs: message.Fields{"tool_calls": json.RawMessage(`[{"id":"x"}]`)}},
		{FinishReason: "stop"}}
	s, err := mustAgent(t, agent.Config{Model: turns(call("a", `{}`), raw), Tools: []tool.Tool{echo("a")}}).
		Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	msgs := agent.Messages.Get(s)
	if last := msgs[len(msgs)-1]; last.AsksForTools() || last.Text() != "sum" {
		t.Errorf("last answer %+v", last)
	}
}

// TestTheNextTurnBeginsAsTheLastRequestDid: what asks for the last answer is part of the conversation, once, also when
// the model is asked again after a crash.
func TestTheNextTurnBeginsAsTheLastRequestDid(t *testing.T) {
	var requests [][]message.Message
	m := fakeModel(func(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		requests = append(requests, slices.Clone(req.Messages))
		if req.Settings.NoTools && len(requests) == 2 {
			return func(func(message.Chunk, error) bool) { panic("crash") }
		}
		return turns(call("a", `{}`), say("sum"), say("bye"))(ctx, req)
	})
	b := newBed()
	b.rt.Config.MaxSteps = 1
	a := mustAgent(t, agent.Config{Model: m, Tools: []tool.Tool{echo("a")}})
	s, err := a.Run(t.Context(), b.rt, state.State{})
	if err == nil {
		t.Fatal("the model did not crash")
	}
	again := *b.rt
	again.Input, again.Resume = nil, &agent.Resume{Next: agent.NodeModel}
	if s, err = a.Run(t.Context(), &again, s); err != nil {
		t.Fatal(err)
	}
	more := message.New(message.Human, "go on")
	more.ID = "h2"
	if _, err := a.Run(t.Context(), &agent.Runtime{RunID: "r2", Input: agent.Messages.Append(more)}, s); err != nil {
		t.Fatal(err)
	}
	last, next := requests[len(requests)-2], requests[len(requests)-1]
	if note := last[len(last)-1]; note.Name != agent.StopNoteName || string(note.Kwargs[message.KeyHidden]) != "true" {
		t.Errorf("the last request ends with %+v", note)
	}
	if d := cmp.Diff(last, next[:len(last)]); d != "" {
		t.Error(d)
	}
	notes := 0
	for _, msg := range next {
		if msg.Name == agent.StopNoteName {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("%d notes", notes)
	}
}
