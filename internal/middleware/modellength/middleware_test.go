package modellength

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/agent/agenttest"
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
		{"length", "", agenttest.Ends("length", "half"), Reason},
		{"MAX_TOKENS", "", agenttest.Ends("MAX_TOKENS", "half"), Reason},
		{"max_tokens", "", agenttest.Ends("max_tokens", "half"), Reason},
		{"a whole answer", "", agenttest.Say("whole"), ""},
		{"no text", "", agenttest.Ends("length", " "), ""},
		{"another provider's word", "",
			[]message.Chunk{{Text: "half"}, {Metadata: message.Fields{"stop_reason": []byte(`"max_tokens"`)}}}, Reason},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := agenttest.New(t, agent.Config{}, chain(), c.answer)
			msgs := b.Run(t, "go")
			if got := b.Reason(); got != c.want {
				t.Errorf("stop reason %q, want %q", got, c.want)
			}
			if len(b.Model.Requests) != 1 || len(msgs) != 2 {
				t.Errorf("%d requests, %q", len(b.Model.Requests), agenttest.Talk(msgs))
			}
		})
	}
}

// TestPitfall10ALengthCappedAnswerIsOfItsRunAlone: the next run of the thread is whole again.
func TestPitfall10ALengthCappedAnswerIsOfItsRunAlone(t *testing.T) {
	b := agenttest.New(t, agent.Config{}, chain(), agenttest.Ends("length", "half"))
	b.Run(t, "go")
	b.Run(t, "and the rest?")
	if got := b.Reason(); got != "" {
		t.Errorf("the second run ends with %q", got)
	}
	b.CheckGrowth(t)
}

// TestObserved13CutArgumentsAreNotExecuted: neither those that are cut within nor those that had not begun, and the
// model goes on; a call that was answered is no cut answer.
func TestObserved13CutArgumentsAreNotExecuted(t *testing.T) {
	for name, args := range map[string]string{"within": `{"x":"hel`, "before they began": ``} {
		t.Run(name, func(t *testing.T) {
			save := &agenttest.Tool{Name: "save"}
			cut := agenttest.Calls("save", args)
			cut[0].Text, cut[1].FinishReason = "I save it.", "length"
			b := agenttest.New(t, agent.Config{Tools: []tool.Tool{save}}, chain(), cut,
				agenttest.Calls("save", `{"x":"hello"}`))
			msgs := b.Run(t, "go")
			if save.Ran() != 1 || msgs[2].Status != message.StatusError || b.Reason() != "" {
				t.Errorf("ran %d times, reason %q, %q", save.Ran(), b.Reason(), agenttest.Talk(msgs))
			}
			b.CheckGrowth(t)
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

// TestOnlyTheLastAnswerCounts: an answer after which the run goes on, such as one with an unfinished plan, is not the
// run's.
func TestOnlyTheLastAnswerCounts(t *testing.T) {
	b := agenttest.New(t, agent.Config{}, chain(again{}), agenttest.Ends("length", "half"), agenttest.Say("whole"))
	b.Run(t, "go")
	if got := b.Reason(); got != "" || len(b.Model.Requests) != 2 {
		t.Errorf("reason %q after %d requests", got, len(b.Model.Requests))
	}
}

// TestAReasonThatIsThereStays: the summing up of a run that was stopped may be cut too.
func TestAReasonThatIsThereStays(t *testing.T) {
	b := agenttest.New(t, agent.Config{Tools: agenttest.Tools("save")}, chain(stopper{}), agenttest.Calls("save", `{}`),
		agenttest.Ends("length", "half a sum"))
	b.Run(t, "go")
	if got := b.Reason(); got != "loop_capped" {
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

// TestWordsOfTheProgramAreNotCut: the text in place of an answer that was all thoughts, up to the limit, is whole.
func TestWordsOfTheProgramAreNotCut(t *testing.T) {
	for name, want := range map[string]string{"a model's answer": Reason, "in place of one": ""} {
		chunks := agenttest.Ends("length", "these are the words")
		if want == "" {
			chunks[0].Kwargs = message.Fields{message.KeyErrorFallback: json.RawMessage("true")}
		}
		b := agenttest.New(t, agent.Config{}, chain(), chunks)
		b.Run(t, "go")
		if got := b.Reason(); got != want {
			t.Errorf("%s: reason %q, want %q", name, got, want)
		}
	}
}
