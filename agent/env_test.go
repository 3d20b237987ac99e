package agent_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// envSeer notes the Env that a hook gets.
type envSeer struct{ seen *tool.Env }

func (envSeer) Name() string { return "EnvSeer" }

func (s envSeer) BeforeAgent(_ context.Context, rt *agent.Runtime, _ state.State) (agent.Command, error) {
	*s.seen = rt.Env
	return agent.Command{}, nil
}

// TestToolsAndHooksGetTheSameEnv, with the run's ids, and what a tool asks of a model counts as the run's.
func TestToolsAndHooksGetTheSameEnv(t *testing.T) {
	t.Parallel()
	var inHook, inTool tool.Env
	asks := tool.MustNew(tool.Spec{Name: "asks", Description: "Asks."},
		func(ctx context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			inTool = c.Env
			m, err := c.Env.Model(tool.CheapModel)
			if err != nil {
				return nil, err
			}
			answer, err := model.Collect(m.Stream(ctx,
				&model.Request{Messages: []message.Message{message.New(message.Human, "?")}}))
			return tool.Text(answer.Text()), err
		})
	side := turns([]message.Chunk{{Text: "aside"}, {Usage: &message.Usage{InputTokens: 7, TotalTokens: 7},
		FinishReason: "stop"}})
	b := newBed()
	b.rt.Env = tool.Env{Ref: tool.Ref{Agent: "deer"}, Services: tool.Services{
		Model: func(role string) (model.ChatModel, error) {
			if role != tool.CheapModel {
				t.Errorf("asked for %q", role)
			}
			return side, nil
		},
	}}
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("asks", `{}`), say("done")), Tools: []tool.Tool{asks}},
		envSeer{&inHook}))
	want := tool.Ref{User: b.rt.UserID, Thread: b.rt.ThreadID, Run: b.rt.RunID, Agent: "deer"}
	if !cmp.Equal(inHook.Ref, want) || !cmp.Equal(inTool.Ref, want) || want.Run == "" {
		t.Errorf("hook %+v, tool %+v, want %+v", inHook.Ref, inTool.Ref, want)
	}
	if got := b.steps[len(b.steps)-1].Spent.Usage; got.InputTokens != 7 {
		t.Errorf("the run has taken %+v", got)
	}
}
