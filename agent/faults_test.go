package agent_test

import (
	"context"
	"encoding/json"
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
	"github.com/pudu-ai/pudu/tool"
)

// TestInputThatDoesNotFit: a run whose input cannot be applied fails before its model is asked.
func TestInputThatDoesNotFit(t *testing.T) {
	b := newBed()
	nobody := message.New(message.Human, "instead")
	nobody.ID = "nobody"
	b.rt.Input = agent.Messages.Replace(nobody)
	asked := false
	a := mustAgent(t,
		agent.Config{Model: fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
			asked = true
			return stream(say("hello")...)
		})})
	if _, err := a.Run(t.Context(), b.rt, state.State{}); !errors.Is(err, state.ErrNoItem) || asked {
		t.Errorf("error %v, asked %t", err, asked)
	}
}

// TestSummaryOfAResult: it is the first line, and of a long one at most 120 characters.
func TestSummaryOfAResult(t *testing.T) {
	for text, want := range map[string]string{
		"\n one \ntwo": "one ", strings.Repeat("x", 120): strings.Repeat("x", 120),
		strings.Repeat("y", 121): strings.Repeat("y", 119) + "…",
	} {
		b := newBed()
		long := newTool("long", tool.ReadOnly,
			func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text(text), nil })
		brief := newTool("brief", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
			return &tool.Result{Content: tool.Text(text).Content, Summary: "in brief\nand more"}, nil
		})
		b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("long", `{}`), call("brief", `{}`), say("done")),
			Tools: []tool.Tool{long, brief}}))
		var got []string
		for _, s := range b.steps {
			for _, e := range s.Events {
				if end, ok := e.Data.(event.ToolEnd); ok {
					got = append(got, end.Summary)
				}
			}
		}
		if !slices.Equal(got, []string{want, "in brief"}) {
			t.Errorf("%.20q...: summaries %q, want %q and one of its own", text, got, want)
		}
	}
}

// TestResumeNote: what the log of a step says of its calls, and of a breakpoint.
func TestResumeNote(t *testing.T) {
	r := agent.Resume{Started: map[string]event.ToolStart{}, Ended: map[string]event.ToolEnd{}}
	for _, d := range []event.Data{event.ToolStart{CallID: "asks"}, event.ToolStart{CallID: "acts"},
		event.Interrupt{CallID: "asks"},
		event.ToolEnd{CallID: "done"}, event.Custom{}} {
		if !r.Note(event.Event{Data: d}) {
			t.Errorf("%T ends the log", d)
		}
	}
	_, acts := r.Started["acts"]
	_, done := r.Ended["done"]
	if len(r.Started) != 1 || len(r.Ended) != 1 || !acts || !done || r.Paused {
		t.Errorf("%+v", r)
	}
	r.Note(event.Event{Data: event.Interrupt{}})
	if r.Note(event.Event{Data: event.Interrupt{CallID: "more"}}); !r.Paused {
		t.Error("the breakpoint was forgotten")
	}
}

// TestAnswerThatBreaksOff: what was shown of it is taken back, with the reason.
func TestAnswerThatBreaksOff(t *testing.T) {
	b := newBed()
	a := mustAgent(t,
		agent.Config{Model: fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
			return func(yield func(message.Chunk, error) bool) {
				_ = yield(message.Chunk{Text: "I be"}, nil) && yield(message.Chunk{}, errors.New("line is dead"))
			}
		})})
	if _, err := a.Run(t.Context(), b.rt, state.State{}); err == nil {
		t.Fatal("the run succeeded")
	}
	shown := ""
	for _, d := range b.events {
		switch d := d.(type) {
		case event.Chunk:
			shown = d.MessageID
		case event.Discard:
			if d.MessageID == shown && strings.Contains(d.Reason, "line is dead") {
				return
			}
		}
	}
	t.Errorf("message %q was not taken back: %v", shown, b.log)
}

// TestPausedBefore: a run that stopped at a breakpoint, whose end was lost, stops there again and does nothing.
func TestPausedBefore(t *testing.T) {
	for _, passed := range []bool{false, true} {
		b := newBed()
		b.rt.Input, b.rt.Resume = nil, &agent.Resume{Next: agent.NodeModel, Paused: true, Passed: passed}
		_, err := mustAgent(t, agent.Config{Model: turns(say("hello"))}).Run(t.Context(), b.rt, state.State{})
		var waits *agent.Interrupted
		if errors.As(err, &waits) == passed || passed != (len(b.log) > 0) {
			t.Errorf("passed %t: %v, %q", passed, err, b.log)
		}
	}
}

// TestCauseOfACancel: whatever fails behind a cancel, the run ends with the cancel's cause.
func TestCauseOfACancel(t *testing.T) {
	b := newBed()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("somebody pressed stop")
	stops := hookOf{name: "stops", afterModel: func(*agent.Runtime, state.State) agent.Command {
		cancel(cause)
		return agent.Command{}
	}}
	// its hook comes later, in the order of after hooks
	fails := hookOf{name: "fails", failAfterModel: errors.New("broken")}
	_, err := mustAgent(t, agent.Config{Model: turns(say("hello"))}, fails, stops).Run(ctx, b.rt, state.State{})
	if !errors.Is(err, cause) || strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v, want %v", err, cause)
	}
}

// TestAnswerOfNoText: pieces that are no UTF-8 are shown as the text that the log can hold.
func TestAnswerOfNoText(t *testing.T) {
	b := newBed()
	bad := []message.Chunk{{Reasoning: "w\xffhy"}, {Text: "s\xffo"}, {ToolCalls: []message.ToolCallChunk{
		{Index: 0, ID: "g", Name: "h", Args: `{"x":"0"}`}, {Index: 1, ID: "\xffa", Name: "b", Args: `{"x":"1"}`},
		{Index: 2, ID: "c", Name: "d\xff", Args: `{"x":"2"}`}, {Index: 3, ID: "e", Name: "f", Args: "{\"x\":\"\xff\"}"},
	}}, {FinishReason: "stop"}}
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(bad, say("sorry"))}))
	shown, pieces := "", 0
	for _, d := range b.events {
		if c, ok := d.(event.Chunk); ok && pieces < 3 {
			pieces++
			shown += c.Reasoning + c.Text
			for _, tc := range c.ToolCalls {
				shown += tc.ID + tc.Name + tc.Args
			}
		}
	}
	if want := "w\uFFFDhys\uFFFDogh{\"x\":\"0\"}\uFFFDab{\"x\":\"1\"}cd\uFFFD{\"x\":\"2\"}ef{\"x\":\"\uFFFD\"}"; shown != want {
		t.Errorf("shown %q, want %q", shown, want)
	}
	if bad[2].ToolCalls[1].ID != "\xffa" {
		t.Error("what the model keeps has changed")
	}
}

// TestChunksThatAreGone: without boundaries, or without the message, there are no pieces.
func TestChunksThatAreGone(t *testing.T) {
	m := event.Message{MessageID: "m", Chunks: []event.Cut{{Text: 2}, {Text: 3}}}
	writes := json.RawMessage(`[{"c":"title","op":"put","v":"x"},{"c":"messages","op":"append","v":[{"type":"ai","id":"m","content":"hello"}]}]`)
	if got, ok := agent.Chunks(m, writes); !ok || len(got) != 2 || got[0].Text != "he" || got[1].Text != "llo" {
		t.Errorf("%+v, %t", got, ok)
	}
	for _, bad := range []string{"", "{", `[]`,
		`[{"c":"messages","op":"append","v":[{"type":"ai","id":"other","content":"hello"}]}]`} {
		if got, ok := agent.Chunks(m, json.RawMessage(bad)); ok {
			t.Errorf("%q has %+v", bad, got)
		}
	}
	if got, ok := agent.Chunks(event.Message{MessageID: "m"}, writes); ok {
		t.Errorf("without boundaries: %+v", got)
	}
}

// The middlewares of TestHooks have one hook each.
type (
	plain     struct{}
	atStart   struct{ plain }
	atModel   struct{ plain }
	behind    struct{ plain }
	atEnd     struct{ plain }
	aroundAll struct{ plain }
	aroundOne struct{ plain }
)

func (plain) Name() string { return "plain" }
func (atStart) BeforeAgent(context.Context, *agent.Runtime, state.State) (c agent.Command, err error) {
	return c, err
}
func (atModel) BeforeModel(context.Context, *agent.Runtime, state.State) (c agent.Command, err error) {
	return c, err
}
func (behind) AfterModel(context.Context, *agent.Runtime, state.State) (c agent.Command, err error) {
	return c, err
}
func (atEnd) AfterAgent(context.Context, *agent.Runtime, state.State) (c agent.Command, err error) {
	return c, err
}
func (aroundAll) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	return next(ctx, req)
}
func (aroundOne) WrapToolCall(ctx context.Context, req *agent.ToolRequest,
	next agent.ToolHandler) (*tool.Result, error) {
	return next(ctx, req)
}

func TestHooks(t *testing.T) {
	for want, m := range map[agent.Hook]agent.Middleware{
		agent.HookBeforeAgent: atStart{}, agent.HookBeforeModel: atModel{}, agent.HookAfterModel: behind{},
		agent.HookAfterAgent: atEnd{}, agent.HookWrapModelCall: aroundAll{}, agent.HookWrapToolCall: aroundOne{},
	} {
		if got := agent.Hooks(m); !slices.Equal(got, []agent.Hook{want}) {
			t.Errorf("%T has %v, want %s", m, got, want)
		}
	}
	if got := agent.Hooks(plain{}); len(got) != 0 {
		t.Errorf("a middleware without hooks has %v", got)
	}
}

// TestToolsThatCannotBeOffered: a name or a schema that no model takes is told when the agent is made.
func TestToolsThatCannotBeOffered(t *testing.T) {
	for _, spec := range []tool.Spec{{Name: "a name"}, {Name: "odd", Parameters: json.RawMessage(`{"type":7}`)}} {
		_, err := agent.New(agent.Config{Model: turns(say("x")), Tools: []tool.Tool{fakeTool{spec: spec}}})
		if err == nil || !strings.Contains(err.Error(), spec.Name) {
			t.Errorf("%s: error %v", spec.Name, err)
		}
	}
}
