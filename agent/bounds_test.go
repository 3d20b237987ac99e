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
	if e := model.AsError(err); e == nil || e.Provider != "fake" || e.Model != "model" ||
		e.Class != model.ClassTooLarge || !errors.Is(err, model.ErrTooLarge) || !stopped {
		t.Errorf("error %v", err)
	}
	diff(t, talk(s), []string{"human: do it"})
	if !slices.ContainsFunc(b.events, func(d event.Data) bool { return d.Kind() == event.KindDiscard }) {
		t.Error("what was shown is not withdrawn")
	}
}

// TestALongAnswerIsShownWhole: its pieces are joined the more the longer it is, and nothing of it is missing, nor of
// what stays of it when it is cancelled. It ends with pieces of different sizes.
func TestALongAnswerIsShownWhole(t *testing.T) {
	for _, words := range []int{30_000, 30_001, 30_002} {
		for _, cancelled := range []bool{false, true} {
			ctx, cancel := context.WithCancelCause(t.Context())
			m := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
				return func(yield func(message.Chunk, error) bool) {
					for range words {
						if !yield(message.Chunk{Text: "word "}, nil) {
							return
						}
					}
					if cancelled {
						cancel(errStop)
						yield(message.Chunk{}, ctx.Err())
					}
				}
			})
			b := newBed()
			s, err := mustAgent(t, agent.Config{Model: m}).Run(ctx, b.rt, state.State{})
			if cancelled != errors.Is(err, errStop) || !cancelled && err != nil {
				t.Fatal(err)
			}
			pieces, shown := shownPieces(b)
			msgs := agent.Messages.Get(s)
			if got := len(msgs[len(msgs)-1].Text()); got != 5*words || shown != got {
				t.Errorf("the message has %d bytes, %d of %d were shown", got, shown, 5*words)
			}
			if pieces > words*2/3 || pieces < 10_000 {
				t.Errorf("%d words came in %d pieces", words, pieces)
			}
		}
	}
}

// shownPieces counts the pieces that were shown, and their bytes.
func shownPieces(b bed) (pieces, bytes int) {
	for _, d := range b.events {
		if c, ok := d.(event.Chunk); ok {
			pieces, bytes = pieces+1, bytes+len(c.Text)
		}
	}
	return pieces, bytes
}

// TestPiecesOfAnotherKind are not joined, and what was held is shown before them.
func TestPiecesOfAnotherKind(t *testing.T) {
	b := newBed()
	b.mustRun(t,
		mustAgent(t, agent.Config{Model: turns(slices.Repeat([]message.Chunk{{Text: "x"}, {Reasoning: "y"}}, 4000))}))
	texts, thoughts := 0, 0
	for _, d := range b.events {
		if c, ok := d.(event.Chunk); ok {
			texts, thoughts = texts+len(c.Text), thoughts+len(c.Reasoning)
		}
	}
	if texts != 4000 || thoughts != 4000 {
		t.Errorf("%d bytes of text and %d of thoughts were shown, want 4000 of each", texts, thoughts)
	}
}

// TestPiecesOfALongAnswer are shown as they come until there are 2048, then in pairs.
func TestPiecesOfALongAnswer(t *testing.T) {
	for bytes, want := range map[int]int{2048: 2048, 2048 + 2*512: 2048 + 512} {
		b := newBed()
		b.mustRun(t, mustAgent(t, agent.Config{Model: turns(slices.Repeat([]message.Chunk{{Text: "x"}}, bytes))}))
		if pieces, shown := shownPieces(b); pieces != want || shown != bytes {
			t.Errorf("%d bytes came in %d pieces, want %d", shown, pieces, want)
		}
	}
}
