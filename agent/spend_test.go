package agent_test

import (
	"context"
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
	rt.Spend(message.Usage{InputTokens: 100})
	return agent.Command{}, nil
}

func (spender) WrapToolCall(ctx context.Context, req *agent.ToolRequest, next agent.ToolHandler) (*tool.Result, error) {
	req.Runtime.Spend(message.Usage{InputTokens: 10})
	return next(ctx, req)
}

func TestUsageOfOtherCallsIsTheRuns(t *testing.T) {
	b := newBed()
	answer := []message.Chunk{{Text: "ok", FinishReason: "stop", Usage: &message.Usage{InputTokens: 1}}}
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("a", `{}`, "a", `{}`), answer), Tools: []tool.Tool{echo("a")}}, spender{}))
	if got := b.steps[len(b.steps)-1].Usage.InputTokens; got != 221 {
		t.Errorf("the run took %d tokens, want two calls of 100, two of 10 and one of 1", got)
	}
}
