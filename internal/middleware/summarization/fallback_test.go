package summarization

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/llmerror"
	"github.com/pudu-ai/pudu/internal/model/modelcall"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// gone is a model whose key is refused, put in the place of the run's.
type gone struct{}

func (gone) Name() string { return "fake/gone" }

func (gone) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		yield(message.Chunk{}, &model.Error{Class: model.ClassAuth, Message: "no"})
	}
}

func (g gone) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	asked := *req
	asked.Model = g
	return next(ctx, &asked)
}

// TestAFallbackWithASmallerWindow is sent no more than it can take, sums up itself, and its tokens are its own.
func TestAFallbackWithASmallerWindow(t *testing.T) {
	small := &provider{window: 8192, answer: done}
	routes := llmerror.Config{
		First:     llmerror.Candidate{Entry: modelcall.Entry{Name: "large"}},
		Fallbacks: []llmerror.Candidate{{Model: small, Entry: modelcall.Entry{Name: "small", Window: 8192}}},
	}
	b := newBed(t, &provider{answer: done}, Config{RunModel: gone{}, RunModelName: "large", Window: 1_000_000}, gone{},
		llmerror.New(routes)).
		with(history(strings.Repeat("ua", 24), 2000))
	b.mustSay("THE QUESTION")
	if small.refused != 0 || len(small.asked) != 1 || len(small.summaries) == 0 {
		t.Fatalf("refused %d, asked %d, summaries %d", small.refused, len(small.asked), len(small.summaries))
	}
	if got := userText(small.asked[0].Messages); got != "THE QUESTION" ||
		!strings.HasPrefix(shape(small.asked[0].Messages), "b") {
		t.Errorf("%s, the question is %q", shape(small.asked[0].Messages), got)
	}
	side := threadstate.SideUsage(b.state, "r1")
	if side["small"].TotalTokens == 0 || len(side) != 1 {
		t.Errorf("side usage %v", side)
	}
	b.mustSay("next") // goes on from what was sent
	if small.refused != 0 || len(small.asked) != 2 || !continues(small.asked[0].Messages, small.asked[1].Messages) {
		t.Errorf("refused %d, asked %d: %s", small.refused, len(small.asked), shape(small.asked[1].Messages))
	}
}

// TestAFallbackWhoseWindowTakesNothing is left, and says why.
func TestAFallbackWhoseWindowTakesNothing(t *testing.T) {
	tiny := &provider{window: 100, answer: done}
	routes := llmerror.Config{Fallbacks: []llmerror.Candidate{{Model: tiny,
		Entry: modelcall.Entry{Name: "tiny", Window: 20}}}}
	b := newBed(t, &provider{answer: done}, Config{RunModel: gone{}}, gone{}, llmerror.New(routes))
	b.mustSay("hello")
	msgs := agent.Messages.Get(b.state)
	reason, failed := llmerror.FallbackOf(msgs[len(msgs)-1])
	if text := msgs[len(msgs)-1].Text(); !failed || reason != "auth" || len(tiny.asked) != 0 ||
		!strings.Contains(text, "tiny cannot take a conversation of this length") {
		t.Errorf("reason %q, asked %d: %s", reason, len(tiny.asked), text)
	}
}
