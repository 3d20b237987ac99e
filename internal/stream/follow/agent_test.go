package follow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stream/follow"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// scripted is a model that gives one answer after the other; it fails or is cancelled where an answer says so.
type scripted struct {
	answers []answer
	cancel  context.CancelCauseFunc
}

type answer struct {
	chunks []message.Chunk
	end    string // "", "fail", "cancel" or "twice": a wrapper asks again
}

func (*scripted) Name() string { return "fake/model" }

func (s *scripted) Stream(ctx context.Context, _ *model.Request) iter.Seq2[message.Chunk, error] {
	a := answer{chunks: []message.Chunk{{Text: "the end"}}}
	if len(s.answers) > 0 {
		a, s.answers = s.answers[0], s.answers[1:]
	}
	return func(yield func(message.Chunk, error) bool) {
		for _, c := range a.chunks {
			if !yield(c, nil) {
				return
			}
		}
		switch a.end {
		case "cancel":
			s.cancel(runs.ErrCancelled)
			yield(message.Chunk{}, ctx.Err())
		case "fail":
			yield(message.Chunk{}, errors.New("the line is dead"))
		default:
			yield(message.Chunk{FinishReason: "stop", Usage: &message.Usage{OutputTokens: 1}}, nil)
		}
	}
}

// meddler is a middleware that does with answers what some do.
type meddler struct{ do string }

func (meddler) Name() string { return "Meddler" }

func (m meddler) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	resp, err := next(ctx, req)
	if err != nil && ctx.Err() == nil || m.do == "twice" && err == nil {
		resp, err = next(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	req.Runtime.Emit("Meddler", event.Custom{Value: json.RawMessage(`{"between":"chunks and message"}`)})
	switch m.do {
	case "edit":
		resp.Message.Content = append([]message.Part{message.Text("Note: ")}, resp.Message.Content...)
	case "replace":
		resp.Message = message.New(message.AI, "another answer")
		resp.Message.ID = req.Runtime.NewID()
	}
	return resp, nil
}

func (m meddler) AfterModel(_ context.Context, _ *agent.Runtime, s state.State) (agent.Command, error) {
	if m.do != "hook" {
		return agent.Command{}, nil
	}
	msgs := agent.Messages.Get(s)
	last := msgs[len(msgs)-1]
	last.Content = []message.Part{message.Text("changed by a hook")}
	return agent.Command{Update: agent.Messages.Replace(last)}, nil
}

// TestTheLogGivesBackWhatTheAgentShowed drives the real agent and recorder: a model that streams anything, middlewares
// that change the answer, retries, cancels; and compares what was shown with what is read later.
func TestTheLogGivesBackWhatTheAgentShowed(t *testing.T) {
	st := openStore(t)
	text := rapid.SampledFrom([]string{"", "", "a", "word ", "é", "🦌", "\n", `"`, "\xff", "\xf0\x9f"})
	call := rapid.Custom(func(t *rapid.T) message.ToolCallChunk {
		return message.ToolCallChunk{
			Index: rapid.IntRange(0, 2).Draw(t, "index"), ID: rapid.SampledFrom([]string{"", "", "c1", "c2"}).
				Draw(t, "id"),
			Name: rapid.SampledFrom([]string{"", "", "look"}).Draw(t, "name"),
			Args: rapid.SampledFrom([]string{"", "{}", "{", "}", ` {"x":1} `, `"x"`, "\xff"}).Draw(t, "args"),
		}
	})
	chunk := rapid.Custom(func(t *rapid.T) message.Chunk {
		return message.Chunk{
			Text: text.Draw(t, "text"), Reasoning: text.Draw(t, "reasoning"),
			Signature: rapid.SampledFrom([]string{"", "", "", "sig"}).Draw(t, "signature"),
			ToolCalls: rapid.SliceOfN(call, 0, 2).Draw(t, "calls"),
		}
	})
	answers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) answer {
		return answer{rapid.SliceOfN(chunk, 0, 8).Draw(t, "chunks"),
			rapid.SampledFrom([]string{"", "", "", "fail", "cancel"}).Draw(t, "end")}
	}), 1, 4)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		h := follow.New(follow.Config{Store: st})
		defer h.Close()
		evs, runID := perform(t, st, h, fmt.Sprint("agent", n), answers.Draw(t, "answers"),
			meddler{rapid.SampledFrom([]string{"", "edit", "replace", "hook", "twice"}).Draw(t, "meddle")})
		want := settled(evs)
		open := make(map[string]bool)
		for _, ev := range evs {
			switch d := ev.Data.(type) {
			case event.Chunk:
				open[d.MessageID] = true
			case event.Message:
				delete(open, d.MessageID)
			case event.Discard:
				delete(open, d.MessageID)
			}
		}
		if len(open) > 0 {
			t.Fatalf("messages are neither finished nor withdrawn: %v", open)
		}
		same(t, "late", want, read(t, h, runID, event.ID{}))
		at := rapid.SampledFrom(evs).Draw(t, "cut off at").ID
		same(t, "after "+at.String(), behind(want, at), read(t, h, runID, at))
		for _, ev := range want {
			if follow.Gap(ev) {
				t.Fatalf("%s is a gap", ev.ID)
			}
		}
	})
}

// perform executes a run and returns what it showed, which a live reader must see, too.
func perform(t *rapid.T, st *counted, h *follow.Hub, thread string, list []answer,
	m agent.Middleware) ([]event.Event, string) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	look := tool.MustNew(tool.Spec{Name: "look", Description: "Looks."},
		func(_ context.Context, c *tool.Call, _ struct{}) (*tool.Result, error) {
			c.Progress("looking")
			return tool.Text("seen"), nil
		})
	a, err := agent.New(agent.Config{Model: &scripted{list, cancel}, Tools: []tool.Tool{look}}, m)
	must(t, err)
	manager := runs.NewManager(runs.Config{
		Store: st, Owner: "p1", Feed: func(run store.Run) runs.Feed { return h.Own(run) },
		Build: func(context.Context, runs.Job) (runs.Built, error) {
			return runs.Built{Agent: a, Close: func() error { return nil }}, nil
		},
	})
	run, err := manager.For(user()).
		Admit(ctx, runs.Request{ThreadID: thread, Input: []message.Message{message.New(message.Human, "go")}})
	must(t, err)
	live := start(h, run.ID, event.ID{}, nil)
	attached(t, h, run.ID, 1)
	var shown []event.Event
	_, err = manager.Execute(ctx, run, func(ev event.Event) { shown = append(shown, ev) })
	must(t, err)
	same(t, "live", shown, live.end(t))
	return shown, run.ID
}
