package summarization

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/model/tokens"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// padding adds text to every message of a user, as wrappers outside do.
type padding string

func (padding) Name() string { return "Padding" }

func (p padding) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	padded := *req
	padded.Messages = append([]message.Message(nil), req.Messages...)
	for i, m := range padded.Messages {
		if conversation.IsUser(m) {
			padded.Messages[i].Content = append([]message.Part{message.Text(string(p))}, m.Content...)
		}
	}
	return next(ctx, &padded)
}

// TestWhatWrappersAddCounts although it is not in the state.
func TestWhatWrappersAddCounts(t *testing.T) {
	p := &provider{window: 8192, answer: done}
	b := newBed(t, p, Config{Window: 8192}, padding(words("padding", 3200)))
	for range 30 {
		b.mustSay("go on")
	}
	if breaks := b.check(); p.refused > 0 || breaks == 0 || breaks > 15 {
		t.Errorf("%d refused, %d breaks in %d", p.refused, breaks, len(p.asked))
	}
}

// TestCountFarAboveOurGuess: the provider sees more tokens in the same text than we do, all of a sudden.
func TestCountFarAboveOurGuess(t *testing.T) {
	p := &provider{window: 8192, density: 1.5, answer: done}
	b := newBed(t, p, Config{Window: 8192})
	for range 40 {
		b.mustSay(words("a", 700))
	}
	if b.check() == 0 || p.refused > 0 {
		t.Errorf("%d refused", p.refused)
	}
}

func TestImagesOfANoteCount(t *testing.T) {
	n := conversation.Note("n", "x", "two images")
	n.Kwargs[picture.KeyRefs] = json.RawMessage(`[{"path":"a"},{"path":"b"}]`)
	if got := sizeOf(&n); got < 2*tokens.Image {
		t.Errorf("%d tokens", got)
	}
}

// TestImagesMakeRoomAtLast: the user's message is all images, more than the window takes.
func TestImagesMakeRoomAtLast(t *testing.T) {
	p := &provider{window: 8192, answer: done}
	b := newBed(t, p, Config{Window: 8192})
	m := message.New(message.Human, "LOOK")
	m.ID = "pics"
	for range 12 {
		m.Content = append(m.Content, message.Part{Type: message.PartImage, URL: "https://x/y.png"})
	}
	b.with([]message.Message{m}).mustSay("what is there?")
	if p.refused > 0 || userText(b.last().Messages) != "what is there?" {
		t.Errorf("refused %d: %s", p.refused, shape(b.last().Messages))
	}
}

func TestOwnInstructions(t *testing.T) {
	var got string
	own := &asking{func(req *model.Request) { got = req.System }}
	b := newBed(t, &provider{answer: done}, Config{Model: own, Prompt: "Sum up {messages}!",
		Trigger: Amount{Messages: 6}, Keep: Amount{Messages: 2}}).with(history("uauaua", 300))
	b.mustSay("go on")
	if got != "Sum up (see below)!" {
		t.Errorf("the instructions are %q", got)
	}
}

// asking is a summarizer that lets a test look at its request.
type asking struct{ look func(*model.Request) }

func (*asking) Name() string { return "fake/asking" }

func (a *asking) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		a.look(req)
		yield(message.Chunk{Text: strings.Repeat("s", 10), FinishReason: "stop"}, nil)
	}
}
