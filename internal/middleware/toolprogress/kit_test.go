package toolprogress

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/conversation"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// answers are what a tool brings, call by call; one that begins with "!" is a failure. The model makes one call for each.
type answers []string

func (answers) Name() string { return "test/script" }

func (a answers) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	n := 0
	for _, m := range req.Messages {
		if m.Role == message.AI {
			n++
		}
	}
	return func(yield func(message.Chunk, error) bool) {
		if n >= len(a) {
			yield(message.Chunk{Text: "done", FinishReason: "stop"}, nil)
			return
		}
		yield(message.Chunk{FinishReason: "tool_calls", ToolCalls: []message.ToolCallChunk{{ID: fmt.Sprintf("c%d", n), Name: "probe", Args: "{}"}}}, nil)
	}
}

// probe answers by the number in the call's id.
type probe struct{ answers }

func (probe) Spec() tool.Spec { return tool.Spec{Name: "probe", Effect: tool.ReadOnly} }

func (p probe) Run(_ context.Context, c *tool.Call) (*tool.Result, error) {
	var n int
	if _, err := fmt.Sscanf(c.ID, "c%d", &n); err != nil {
		return nil, err
	}
	if text, failed := strings.CutPrefix(p.answers[n], "!"); failed {
		return tool.Error(text), nil
	}
	return tool.Text(p.answers[n]), nil
}

type played struct {
	state state.State
	steps []agent.Step
	agent *agent.Agent
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// play runs the calls with the middleware, from the start or from a step that an earlier run committed.
func play(t fataler, cfg Config, a answers, from *agent.Step) played {
	t.Helper()
	ag, err := agent.New(agent.Config{Model: a, Tools: []tool.Tool{probe{a}}}, New(cfg), toolerror.New())
	if err != nil {
		t.Fatal(err)
	}
	out, n, first := played{agent: ag}, 0, "m"
	rt := &agent.Runtime{
		RunID: "run",
		Commit: func(_ context.Context, step agent.Step) error {
			if len(step.Updates) > 0 {
				out.steps = append(out.steps, step)
			}
			return nil
		},
		NewID: func() string { n++; return fmt.Sprintf("%s%d", first, n) },
	}
	var start state.State
	if from == nil {
		human := message.New(message.Human, "go")
		human.ID = "h"
		rt.Input = agent.Messages.Append(human)
	} else {
		first = "again"
		raw, err := from.State.AppendSnapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		if start, err = ag.Schema().LoadSnapshot(raw); err != nil {
			t.Fatal(err)
		}
		rt.Resume = &agent.Resume{Next: from.Next}
	}
	if out.state, err = ag.Run(context.Background(), rt, start); err != nil {
		t.Fatal(err)
	}
	return out
}

// results are the texts that the model got, in order; hints with the number of results before them.
func (p played) results() (results, hints []string) {
	for _, m := range agent.Messages.Get(p.state) {
		switch {
		case m.Role == message.Tool:
			results = append(results, m.Text())
		case conversation.IsNote(m, NoteName):
			hints = append(hints, fmt.Sprintf("%d: %s", len(results), m.Text()))
		}
	}
	return results, hints
}

func times(n int, s string) answers {
	var a answers
	for range n {
		a = append(a, s)
	}
	return a
}

func wantHints(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("hints %q", got)
	}
	for i, w := range want {
		if !strings.HasPrefix(got[i], w) {
			t.Errorf("hint %q, want %q", got[i], w)
		}
	}
}
