package danglingtoolcall

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel answers with its turns, one a call, and keeps the requests.
type fakeModel struct {
	turns    []message.Chunk
	requests []*model.Request
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	c := f.turns[len(f.requests)]
	f.requests = append(f.requests, req)
	c.FinishReason = "stop"
	return func(yield func(message.Chunk, error) bool) { yield(c, nil) }
}

type funcTool struct {
	name string
	run  func(ctx context.Context) (*tool.Result, error)
}

func (f funcTool) Spec() tool.Spec { return tool.Spec{Name: f.name, Effect: tool.ReadOnly} }
func (f funcTool) Run(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
	return f.run(ctx)
}

func newAgent(t *testing.T, m model.ChatModel, tools ...tool.Tool) *agent.Agent {
	t.Helper()
	a, err := agent.New(agent.Config{Model: m, Tools: tools}, New())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func inState(t *testing.T, msgs ...message.Message) state.State {
	t.Helper()
	s, _, err := state.State{}.Apply(agent.Messages.Append(msgs...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func withID(id string, m message.Message) message.Message { m.ID = id; return m }

func TestOnlyTheRequestIsRepaired(t *testing.T) {
	m := &fakeModel{turns: []message.Chunk{{Text: "done"}}}
	s := inState(t, withID("1", human("q")), ai("2", "x:ls"), withID("3", human("r")))
	s, err := newAgent(t, m).Run(t.Context(), &agent.Runtime{RunID: "run"}, s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"human q", `ai [x:ls {"a": 1}]`, "tool x:ls !There is no result", "human r"}
	if diff := cmp.Diff(want, lines(m.requests[0].Messages)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"human q", `ai [x:ls {"a": 1}]`, "human r", "ai done"},
		lines(agent.Messages.Get(s))); diff != "" {
		t.Error(diff)
	}
}

func TestValidHistoryIsPassedOnAsItCame(t *testing.T) {
	req := &agent.ModelRequest{Messages: []message.Message{human("q"), ai("2", "x:ls"), result("x", "ls", "ok")}}
	_, err := New().WrapModelCall(t.Context(), req,
		func(_ context.Context, got *agent.ModelRequest) (*agent.ModelResponse, error) {
			if got != req {
				t.Error("the request was copied")
			}
			return nil, nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFinishedCallKeepsItsResultAfterACancel: of two calls side by side one was done when the run was cancelled. The
// next request must say so, and not that both were interrupted.
func TestFinishedCallKeepsItsResultAfterACancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	started, stop := make(chan struct{}), errors.New("stop")
	quick := funcTool{"quick", func(context.Context) (*tool.Result, error) { return tool.Text("the result"), nil }}
	slow := funcTool{"slow", func(ctx context.Context) (*tool.Result, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	two := message.Chunk{ToolCalls: []message.ToolCallChunk{
		{Index: 0, ID: "x", Name: "slow", Args: "{}"}, {Index: 1, ID: "y", Name: "quick", Args: "{}"},
	}}
	m := &fakeModel{turns: []message.Chunk{two, {Text: "done"}}}
	a := newAgent(t, m, quick, slow)
	ended := 0
	rt := &agent.Runtime{RunID: "one", Input: agent.Messages.Append(withID("1", human("q")))}
	rt.Commit = func(_ context.Context, step agent.Step) error {
		for _, e := range step.Events {
			if e.Data.Kind() == "tool_end" {
				if ended++; ended == 1 { // the quick one is kept
					<-started
					cancel(stop)
				}
			}
		}
		return nil
	}
	s, err := a.Run(ctx, rt, state.State{})
	if !errors.Is(err, stop) {
		t.Fatalf("the run ended with %v", err)
	}
	if _, err := a.Run(t.Context(), &agent.Runtime{RunID: "two", Input: agent.Messages.Append(withID("9", human("r")))},
		s); err != nil {
		t.Fatal(err)
	}
	msgs := m.requests[1].Messages
	results := make(map[string]message.Message)
	for _, msg := range msgs {
		if msg.Role == message.Tool {
			results[msg.Name] = msg
		}
	}
	quickly, slowly := results["quick"], results["slow"]
	if quickly.Text() != "the result" || slowly.Status != message.StatusError || len(msgs) != 5 {
		t.Fatalf("unexpected request: %q", lines(msgs))
	}
}

func TestInvalidCallOfTheModelIsAnsweredOnce(t *testing.T) {
	cut := message.Chunk{ToolCalls: []message.ToolCallChunk{{Index: 0, ID: "x", Name: "write_file",
		Args: `{"path": "a`}}}
	m := &fakeModel{turns: []message.Chunk{cut, {Text: "done"}}}
	s, err := newAgent(t, m, funcTool{"write_file", nil}).Run(t.Context(),
		&agent.Runtime{RunID: "one", Input: agent.Messages.Append(withID("1", human("q")))}, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	sent := m.requests[1].Messages
	if len(sent) != 3 || len(sent[1].ToolCalls) != 1 || string(sent[1].ToolCalls[0].Args) != "{}" ||
		sent[2].Status != message.StatusError {
		t.Fatalf("unexpected request: %q", lines(sent))
	}
	if kept := agent.Messages.Get(s)[1].InvalidToolCalls; len(kept) != 1 || kept[0].Args != `{"path": "a` {
		t.Fatalf("the stored call changed: %v", kept)
	}
}
