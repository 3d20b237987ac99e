package redact_test

import (
	"context"
	"iter"
	"testing"

	"example.com/redact"
	"github.com/pudu-ai/pudu"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/tool"
)

// curious is a model that looks a person up and repeats what it was told.
type curious struct{}

func (curious) Name() string { return "fake/curious" }
func (curious) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == message.Human {
			yield(message.Chunk{ToolCalls: []message.ToolCallChunk{{ID: "c", Name: "look_up", Args: "{}"}},
				FinishReason: "tool_calls"}, nil)
			return
		}
		yield(message.Chunk{Text: last.Text(), FinishReason: "stop"}, nil)
	}
}

func TestTheModelDoesNotSeeAddresses(t *testing.T) {
	for found, want := range map[string]string{
		"Ada <ada.l+1@math.example.org>, room 7": "Ada <[e-mail address]>, room 7",
		"a@b.cc,d@e.ff":                          "[e-mail address],[e-mail address]",
		"nobody @ home":                          "nobody @ home",
	} {
		lookUp := tool.MustNew(tool.Spec{Name: "look_up", Description: "Looks somebody up."},
			func(context.Context, *tool.Call, struct{}) (*tool.Result, error) { return tool.Text(found), nil })
		a, err := pudu.New(pudu.Config{Model: curious{}, Tools: []tool.Tool{lookUp},
			Middlewares: []agent.Middleware{redact.Middleware{}}})
		if err != nil {
			t.Fatal(err)
		}
		thread := a.NewThread()
		for _, err := range thread.Run(t.Context(), "Who is Ada?") {
			if err != nil {
				t.Fatal(err)
			}
		}
		said := thread.Messages()
		if got := said[len(said)-1].Text(); got != want {
			t.Errorf("of %q the model saw %q, want %q", found, got, want)
		}
	}
}
