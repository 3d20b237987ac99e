package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
)

// failing is a model whose first calls fail.
type failing struct {
	times int
	err   error
}

func (*failing) Name() string { return "test/failing" }

func (f *failing) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	return func(yield func(message.Chunk, error) bool) {
		if f.times--; f.times >= 0 {
			yield(message.Chunk{}, f.err)
			return
		}
		yield(message.Chunk{Text: "well", FinishReason: "stop"}, nil)
	}
}

// again asks until there is an answer.
type again struct{}

func (again) Name() string { return "AgainMiddleware" }

func (again) WrapModelCall(
	ctx context.Context, req *agent.ModelRequest, next agent.ModelHandler,
) (resp *agent.ModelResponse, err error) {
	for range 200 {
		if resp, err = next(ctx, req); model.AsError(err) == nil {
			break
		}
	}
	return resp, err
}

// callsOf runs an agent and returns what it committed of its calls, and how often it was asked what to keep.
func callsOf(t *testing.T, m model.ChatModel, keep bool) (found []event.Call, asked int, err error) {
	t.Helper()
	a, err := agent.New(agent.Config{Model: m}, again{})
	if err != nil {
		t.Fatal(err)
	}
	rt := &agent.Runtime{RunID: "r", Input: agent.Messages.Append(message.Message{ID: "1", Role: message.Human})}
	rt.Commit = func(_ context.Context, s agent.Step) error {
		for _, e := range s.Events {
			switch d := e.Data.(type) {
			case event.Message:
				if d.Call != nil {
					found = append(found, *d.Call)
				}
			case event.Call:
				found = append(found, d)
			}
		}
		return nil
	}
	if keep {
		rt.Sent = func(_ context.Context, s *agent.Sent) json.RawMessage {
			asked++
			return json.RawMessage(fmt.Sprintf(`{"messages":%d,"model":%q}`, len(s.Request.Messages), s.Model))
		}
	}
	_, err = a.Run(t.Context(), rt, state.State{})
	return found, asked, err
}

func TestACallIsToldWithItsAnswer(t *testing.T) {
	busy := &model.Error{Class: model.ClassBusy, Message: "not now"}
	found, asked, err := callsOf(t, &failing{2, busy}, true)
	if err != nil || len(found) != 1 || asked != 1 {
		t.Fatalf("%+v, asked %d times, %v", found, asked, err)
	}
	c := found[0]
	if len(c.Before) != 2 || c.Before[1].Class != "busy" || c.Before[1].Error == "" || c.Error != "" {
		t.Errorf("%+v", c)
	}
	if c.Began == 0 || c.First == 0 || string(c.Sent) != `{"messages":1,"model":"test/failing"}` {
		t.Errorf("%+v", c)
	}
	if found, _, err := callsOf(t, &failing{}, false); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestACallWithoutAnAnswerIsToldAtTheEnd(t *testing.T) {
	odd := errors.New("a wire broke")
	found, asked, err := callsOf(t, &failing{1, odd}, true)
	if !errors.Is(err, odd) || len(found) != 1 || asked != 1 {
		t.Fatalf("%+v, asked %d times, %v", found, asked, err)
	}
	if found[0].Error != "a wire broke" || found[0].MessageID != "" {
		t.Errorf("%+v, asked %d times, %v", found, asked, err)
	}
}

func TestTriesAreBounded(t *testing.T) {
	long := &model.Error{Class: model.ClassBusy, Message: string(make([]byte, 5000))}
	found, _, err := callsOf(t, &failing{150, long}, true)
	if err != nil || len(found) != 1 || len(found[0].Before) != 63 {
		t.Fatalf("%d, %v", len(found), err)
	}
	for _, try := range found[0].Before {
		if len(try.Error) > 400 {
			t.Errorf("%d bytes", len(try.Error))
		}
	}
}
