package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// spender makes a model call of its own before each of the loop's.
type spender struct{}

func (spender) Name() string { return "Spender" }

func (spender) BeforeModel(_ context.Context, rt *agent.Runtime, _ state.State) (agent.Command, error) {
	rt.Spend(message.Usage{InputTokens: 100, TotalTokens: 100})
	return agent.Command{}, nil
}

func (spender) WrapToolCall(ctx context.Context, req *agent.ToolRequest, next agent.ToolHandler) (*tool.Result, error) {
	req.Runtime.Spend(message.Usage{InputTokens: 10, TotalTokens: 10})
	return next(ctx, req)
}

func TestUsageOfOtherCallsIsTheRuns(t *testing.T) {
	b := newBed()
	answer := []message.Chunk{{Text: "ok", FinishReason: "stop", Usage: &message.Usage{InputTokens: 1, TotalTokens: 1}}}
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("a", `{}`, "a", `{}`), answer),
		Tools: []tool.Tool{echo("a")}}, spender{}))
	one := message.Usage{InputTokens: 221, TotalTokens: 221} // two calls of 100, two of 10 and one of 1
	want := agent.Spent{Usage: one, Calls: 5, Beside: 220, Said: 5}
	if got := b.steps[len(b.steps)-1].Spent; got != want {
		t.Errorf("the run has used %+v, want %+v", got, want)
	}
}

// TestWhatARunHasSaid: hidden messages and what takes another's place is not counted.
func TestWhatARunHasSaid(t *testing.T) {
	b := newBed()
	hidden := message.New(message.Human, "Today is Monday.")
	hidden.ID, hidden.Kwargs = "date", message.Fields{message.KeyHidden: json.RawMessage("true")}
	b.rt.Input = b.rt.Input.With(agent.Messages.Append(hidden))
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(say("ok"))}))
	if got := b.steps[len(b.steps)-1].Spent; got != (agent.Spent{Said: 2}) {
		t.Errorf("the run has used %+v, want a question and its answer", got)
	}
}
