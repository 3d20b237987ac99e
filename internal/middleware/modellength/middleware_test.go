package modellength

import (
	"context"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

func chain(more ...agent.Middleware) []agent.Middleware {
	return append([]agent.Middleware{New()}, more...)
}

// TestRow33ModelLength: text, a length limit and no tool intent give the run its stop_reason.
func TestRow33ModelLength(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		answer       []message.Chunk
		want         string
	}{
		{"length", "", ends("length", "half"), Reason},
		{"MAX_TOKENS", "", ends("MAX_TOKENS", "half"), Reason},
		{"max_tokens", "", ends("max_tokens", "half"), Reason},
		{"a whole answer", "", ends("stop", "whole"), ""},
		{"no text", "", ends("length", " "), ""},
		{"another provider's word", "", []message.Chunk{{Text: "half"}, {Metadata: message.Fields{"stop_reason": []byte(`"max_tokens"`)}}}, Reason},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, nil, chain(), c.answer)
			msgs := b.run(t, "go")
			if got := b.reason(); got != c.want {
				t.Errorf("stop reason %q, want %q", got, c.want)
			}
			if len(b.model.requests) != 1 || len(msgs) != 2 {
				t.Errorf("%d requests, %q", len(b.model.requests), talk(msgs))
			}
		})
	}
}

// TestPitfall10ALengthCappedAnswerIsOfItsRunAlone: the next run of the thread is whole again.
func TestPitfall10ALengthCappedAnswerIsOfItsRunAlone(t *testing.T) {
	b := newBed(t, nil, chain(), ends("length", "half"))
	b.run(t, "go")
	b.run(t, "and the rest?")
	if got := b.reason(); got != "" {
		t.Errorf("the second run ends with %q", got)
	}
	b.checkGrowth(t)
}

// TestObserved13CutArgumentsAreNotExecuted: neither those that are cut within nor those that had not begun, and the model
// goes on; a call that was answered is no cut answer.
func TestObserved13CutArgumentsAreNotExecuted(t *testing.T) {
	for name, args := range map[string]string{"within": `{"x":"hel`, "before they began": ``} {
		t.Run(name, func(t *testing.T) {
			save := &fakeTool{name: "save"}
			cut := calls("save", args)
			cut[0].Text, cut[1].FinishReason = "I save it.", "length"
			b := newBed(t, []tool.Tool{save}, chain(), cut, calls("save", `{"x":"hello"}`))
			msgs := b.run(t, "go")
			if save.ran != 1 || msgs[2].Status != message.StatusError || b.reason() != "" {
				t.Errorf("ran %d times, reason %q, %q", save.ran, b.reason(), talk(msgs))
			}
			b.checkGrowth(t)
		})
	}
}

// again asks for another answer once.
type again struct{}

var askedAgain = state.LastValue[bool]("asked_again").AsPrivate()

func (again) Name() string                 { return "Again" }
func (again) Channels() []state.AnyChannel { return []state.AnyChannel{askedAgain} }
func (again) AfterModel(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	if askedAgain.Get(s) {
		return agent.Command{}, nil
	}
	return agent.Command{Update: askedAgain.Put(true), Goto: tool.Model}, nil
}

// TestOnlyTheLastAnswerCounts: an answer after which the run goes on, such as one with an unfinished plan, is not the run's.
func TestOnlyTheLastAnswerCounts(t *testing.T) {
	b := newBed(t, nil, chain(again{}), ends("length", "half"), ends("stop", "whole"))
	b.run(t, "go")
	if got := b.reason(); got != "" || len(b.model.requests) != 2 {
		t.Errorf("reason %q after %d requests", got, len(b.model.requests))
	}
}

// TestAReasonThatIsThereStays: the summing up of a run that was stopped may be cut too.
func TestAReasonThatIsThereStays(t *testing.T) {
	b := newBed(t, []tool.Tool{&fakeTool{name: "save"}}, chain(stopper{}), calls("save", `{}`), ends("length", "half a sum"))
	b.run(t, "go")
	if got := b.reason(); got != "loop_capped" {
		t.Errorf("reason %q", got)
	}
}

type stopper struct{}

func (stopper) Name() string { return "Stopper" }
func (stopper) AfterModel(_ context.Context, rt *agent.Runtime, s state.State) (agent.Command, error) {
	if agent.StopState(s, rt.RunID).Reason != "" {
		return agent.Command{}, nil
	}
	return agent.Command{Update: agent.Stop(rt, "loop_capped")}, nil
}
