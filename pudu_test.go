package pudu_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// parrot calls the tool once and then repeats its result.
type parrot struct{}

func (parrot) Name() string { return "fake/parrot" }
func (parrot) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == message.Human {
			args, _ := json.Marshal(map[string]string{"word": last.Text()})
			yield(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: "shout", Args: string(args)}},
				FinishReason: "tool_calls"}, nil)
			return
		}
		for _, w := range strings.SplitAfter(last.Text(), " ") {
			if !yield(message.Chunk{Text: w}, nil) {
				return
			}
		}
		yield(message.Chunk{FinishReason: "stop"}, nil)
	}
}

func newAgent(t *testing.T) *pudu.Agent {
	t.Helper()
	shout := tool.MustNew(tool.Spec{Name: "shout", Description: "Says it loud."},
		func(_ context.Context, _ *tool.Call, in struct {
			Word string `json:"word"`
		}) (*tool.Result, error) {
			return tool.Text(strings.ToUpper(in.Word) + " ! !"), nil
		})
	a, err := pudu.New(pudu.Config{Model: parrot{}, Tools: []tool.Tool{shout}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestARunIsRangedOverAndTheThreadGoesOn(t *testing.T) {
	thread := newAgent(t).NewThread()
	for turn, word := range []string{"hey", "you"} {
		var text string
		var kinds []event.Kind
		for ev, err := range thread.Run(t.Context(), word) {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, ev.Data.Kind())
			if c, ok := ev.Data.(event.Chunk); ok {
				text += c.Text
			}
		}
		if want := strings.ToUpper(word) + " ! !"; text != want {
			t.Errorf("turn %d streamed %q, want %q (events %v)", turn, text, want, kinds)
		}
		if got := len(thread.Messages()); got != 4*(turn+1) {
			t.Errorf("turn %d: the thread has %d messages", turn, got)
		}
	}
}

func TestLeavingEarlyCancelsTheRunAndKeepsWhatWasDone(t *testing.T) {
	thread := newAgent(t).NewThread()
	for ev, err := range thread.Run(t.Context(), "hey") {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.Data.(event.Chunk); ok && len(thread.Messages()) >= 3 {
			break
		}
	}
	msgs := thread.Messages()
	if len(msgs) < 3 || msgs[2].Text() != "HEY ! !" {
		t.Errorf("the tool's result is lost: %d messages", len(msgs))
	}
	for _, err := range thread.Run(t.Context(), "again") {
		if err != nil {
			t.Errorf("the thread cannot go on: %v", err)
		}
	}
}

func TestAThreadRunsOneThingAtATime(t *testing.T) {
	thread := newAgent(t).NewThread()
	for range thread.Run(t.Context(), "hey") {
		for _, err := range thread.Run(t.Context(), "you") {
			if !errors.Is(err, pudu.ErrBusy) {
				t.Errorf("got %v", err)
			}
		}
		break
	}
}
