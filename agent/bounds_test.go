package agent_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// TestAnAnswerWithoutEndIsStopped, whoever's model gives it.
func TestAnAnswerWithoutEndIsStopped(t *testing.T) {
	stopped := false
	m := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
		return func(yield func(message.Chunk, error) bool) {
			for !stopped {
				stopped = !yield(message.Chunk{Text: strings.Repeat("x", 10_000)}, nil)
			}
		}
	})
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: m}).Run(t.Context(), b.rt, state.State{})
	if e := model.AsError(err); e == nil || e.Class != model.ClassTooLarge || !errors.Is(err, model.ErrTooLarge) || !stopped {
		t.Errorf("error %v", err)
	}
	diff(t, talk(s), []string{"human: do it"})
	if !slices.ContainsFunc(b.events, func(d event.Data) bool { return d.Kind() == event.KindDiscard }) {
		t.Error("what was shown is not withdrawn")
	}
}

// TestALongAnswerIsShownWhole: its pieces are joined the more the longer it is, and nothing of it is missing, nor of what
// stays of it when it is cancelled.
func TestALongAnswerIsShownWhole(t *testing.T) {
	const words = 100_000
	ctx, cancel := context.WithCancelCause(t.Context())
	m := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
		return func(yield func(message.Chunk, error) bool) {
			for range words {
				if !yield(message.Chunk{Text: "word "}, nil) {
					return
				}
			}
			cancel(errStop)
			yield(message.Chunk{}, ctx.Err())
		}
	})
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: m}).Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	pieces, shown := 0, 0
	for _, d := range b.events {
		if c, ok := d.(event.Chunk); ok {
			pieces, shown = pieces+1, shown+len(c.Text)
		}
	}
	msgs := agent.Messages.Get(s)
	if got := len(msgs[len(msgs)-1].Text()); got != 5*words || shown != got {
		t.Errorf("the message has %d bytes, %d of %d were shown", got, shown, 5*words)
	}
	if pieces > words/2 || pieces < 10_000 {
		t.Errorf("%d words came in %d pieces", words, pieces)
	}
}
