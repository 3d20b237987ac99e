package agent_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// idle is a middleware with the four hooks of a step, none of which does anything.
type idle string

func (m idle) Name() string { return string(m) }
func (m idle) BeforeModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{}, nil
}
func (m idle) AfterModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return agent.Command{}, nil
}
func (m idle) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	return next(ctx, req)
}
func (m idle) WrapToolCall(ctx context.Context, req *agent.ToolRequest, next agent.ToolHandler) (*tool.Result, error) {
	return next(ctx, req)
}

// BenchmarkStep is one step, a model node and a tools node, with 15 middlewares and 200 messages, kept nowhere.
func BenchmarkStep(b *testing.B) {
	const steps = 20 // of one run
	var history []message.Message
	for i := range 200 {
		m := message.New(message.Human, "a line of the conversation")
		m.ID = fmt.Sprint(i)
		history = append(history, m)
	}
	begin, _, err := state.State{}.Apply(agent.Messages.Append(history...))
	if err != nil {
		b.Fatal(err)
	}
	calls := fakeModel(func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		if len(req.Messages) < len(history)+2*steps {
			return stream(call("echo", `{"x": "hello"}`)...)
		}
		return stream(say("done")...)
	})
	var chain []agent.Middleware
	for i := range 15 {
		chain = append(chain, idle(fmt.Sprintf("Idle%d", i)))
	}
	a := mustAgent(b, agent.Config{Model: calls, Tools: []tool.Tool{echo("echo")}}, chain...)
	for b.Loop() {
		if _, err := a.Run(b.Context(), &agent.Runtime{RunID: "r"}, begin); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/step")
}
