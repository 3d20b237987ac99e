package systemmessages

import (
	"context"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// fakeModel answers "done" and keeps the last request.
type fakeModel struct{ seen *model.Request }

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	f.seen = req
	return func(yield func(message.Chunk, error) bool) {
		yield(message.Chunk{Text: "done", FinishReason: "stop"}, nil)
	}
}

// adder adds messages to the request.
type adder []message.Message

func (adder) Name() string { return "Adder" }

func (a adder) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	changed := *req
	changed.Messages = append(append([]message.Message{}, req.Messages...), a...)
	return next(ctx, &changed)
}

func run(t *testing.T, added ...message.Message) *model.Request {
	t.Helper()
	f := &fakeModel{}
	a, err := agent.New(agent.Config{Model: f, System: "the prompt"}, adder(added), New())
	if err != nil {
		t.Fatal(err)
	}
	in := message.New(message.Human, "hello")
	in.ID = "in"
	if _, err := a.Run(t.Context(), &agent.Runtime{RunID: "r", Input: agent.Messages.Append(in)},
		state.State{}); err != nil {
		t.Fatal(err)
	}
	return f.seen
}

// TestSystemPromptStaysTheSame: a later system message is not merged into it but goes out in its place.
func TestSystemPromptStaysTheSame(t *testing.T) {
	first, second := message.New(message.System, "one"), message.New(message.System, "two")
	req := run(t, first, message.New(message.AI, "x"), second)
	if req.System != "the prompt" {
		t.Errorf("the prompt became %q", req.System)
	}
	var got []string
	for _, m := range req.Messages {
		got = append(got, string(m.Role)+" "+m.Text())
		if m.Role == message.Human && m.Text() != "hello" && conversation.IsUser(m) {
			t.Errorf("%q passes for what the user said", m.Text())
		}
	}
	if diff := cmp.Diff([]string{"human hello", "human one", "ai x", "human two"}, got); diff != "" {
		t.Error(diff)
	}
	if first.Role != message.System || first.Kwargs != nil {
		t.Error("the message of the other middleware was changed")
	}
}

func TestRequestWithoutSystemMessagesCostsNothing(t *testing.T) {
	req := &agent.ModelRequest{Messages: make([]message.Message, 200)}
	answer := &agent.ModelResponse{}
	next := func(ctx context.Context, got *agent.ModelRequest) (*agent.ModelResponse, error) {
		if got != req {
			t.Error("the request was copied")
		}
		return answer, ctx.Err()
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = New().WrapModelCall(t.Context(), req, next) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
