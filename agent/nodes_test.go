package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// TestAfter: where a thread goes on when a change from outside counts as a node's.
func TestAfter(t *testing.T) {
	asked := func(calls int) state.State {
		ai := message.New(message.AI, "")
		ai.ID = "asked"
		for i := range calls {
			ai.ToolCalls = append(ai.ToolCalls, message.ToolCall{ID: string(rune('a' + i)), Name: "act",
				Args: json.RawMessage(`{}`)})
		}
		s, _, err := state.State{}.Apply(agent.Messages.Append(ai))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for open, want := range map[bool]string{true: agent.NodeTools, false: agent.Done} { // of a call that cannot run
		ai, result := message.New(message.AI, ""), message.New(message.Tool, "no")
		ai.ID, ai.InvalidToolCalls = "asked", []message.InvalidToolCall{{ID: "a", Name: "act"}}
		result.ID, result.ToolCallID = "answer", "a"
		msgs := []message.Message{ai, result}
		if open {
			msgs = msgs[:1]
		}
		s, _, err := state.State{}.Apply(agent.Messages.Append(msgs...))
		if got := agent.After(agent.NodeModel, s, "before"); got != want || err != nil {
			t.Errorf("open %t: %q, %v; want %q", open, got, err, want)
		}
	}
	for _, c := range []struct {
		node  string
		calls int
		want  string
	}{
		{agent.NodeInput, 0, agent.NodeBeforeModel},
		{agent.NodeBeforeAgent, 0, agent.NodeBeforeModel},
		{agent.NodeBeforeModel, 0, agent.NodeModel},
		{agent.NodeModel, 0, agent.Done},
		{agent.NodeModel, 1, agent.NodeTools},
		{agent.NodeModel, 2, agent.NodeTools},
		{agent.NodeTools, 0, agent.NodeBeforeModel},
		{agent.NodeAfterAgent, 1, agent.Done},
		{agent.NodeEnd, 1, agent.Done},
		{"no node", 1, "before"},
	} {
		if got := agent.After(c.node, asked(c.calls), "before"); got != c.want {
			t.Errorf("after %q with %d open calls: %q, want %q", c.node, c.calls, got, c.want)
		}
	}
}

// TestTarget: the names that a client may give, and those of no node.
func TestTarget(t *testing.T) {
	for node, want := range map[string]string{
		agent.NodeInput: agent.NodeBeforeAgent, agent.NodeBeforeAgent: agent.NodeBeforeAgent,
		agent.NodeBeforeModel: agent.NodeBeforeModel, agent.NodeModel: agent.NodeBeforeModel,
		agent.NodeTools: agent.NodeTools, agent.NodeAfterAgent: agent.NodeAfterAgent, agent.NodeEnd: agent.Done,
	} {
		if got, err := agent.Target(node); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", node, got, err, want)
		}
	}
	for _, node := range []string{"", "nowhere"} {
		if got, err := agent.Target(node); err == nil {
			t.Errorf("%q: %q", node, got)
		}
	}
}

// soon bounds a run that would go round for ever if a failure of it were forgotten.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestUnknownNode: a checkpoint of a newer program may name one.
func TestUnknownNode(t *testing.T) {
	b := newBed()
	b.rt.Resume = &agent.Resume{Next: "nowhere"}
	_, err := mustAgent(t, agent.Config{Model: turns(say("x"))}).Run(soon(t), b.rt, state.State{})
	if err == nil || !strings.Contains(err.Error(), `the unknown node "nowhere"`) {
		t.Errorf("error %v", err)
	}
}

// answering is a wrapper that adds to each answer.
type answering func(*agent.ModelResponse)

func (answering) Name() string { return "answering" }
func (a answering) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	resp, err := next(ctx, req)
	if err == nil {
		a(resp)
	}
	return resp, err
}

// TestAnswerThatDoesNotFit: the run fails if what a wrapper adds to the answer cannot be applied.
func TestAnswerThatDoesNotFit(t *testing.T) {
	b := newBed()
	a := mustAgent(t, agent.Config{Model: turns(say("x"))},
		answering(func(r *agent.ModelResponse) { r.Update = agent.Messages.Remove("nobody") }))
	s, err := a.Run(soon(t), b.rt, state.State{})
	if !errors.Is(err, state.ErrNoItem) || !strings.HasPrefix(err.Error(), "model: ") {
		t.Errorf("error %v", err)
	}
	diff(t, talk(s), []string{"human: do it"})
}

// TestWithoutItsIntentNoToolStarts, if it has side effects.
func TestWithoutItsIntentNoToolStarts(t *testing.T) {
	b := newBed()
	b.failAt = 3 // after the input and the answer
	ran := false
	act := newTool("act", tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		ran = true
		return tool.Text("done"), nil
	})
	_, err := mustAgent(t, agent.Config{Model: turns(call("act", `{}`), say("x")), Tools: []tool.Tool{act}}).
		Run(t.Context(), b.rt, state.State{})
	if !errors.Is(err, errCommit) || ran || len(b.steps) != 2 {
		t.Errorf("error %v, ran %t, %d steps", err, ran, len(b.steps))
	}
}

// TestCallsWithoutIDs: each gets one of its own, those that cannot run as well.
func TestCallsWithoutIDs(t *testing.T) {
	var c message.Chunk
	for i, args := range []string{`{}`, `{}`, `{"x":`, `{"y":`, `{"z":`} {
		c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, Name: "a", Args: args})
	}
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: turns([]message.Chunk{c}, say("x")), Tools: []tool.Tool{echo("a")}}).
		Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	ids := answeredCalls(s)
	slices.Sort(ids)
	if got := slices.Compact(slices.Clone(ids)); len(ids) != 5 || len(got) != 5 {
		t.Errorf("ids %q", ids)
	}
	for _, args := range []string{`{}`, `{"x":`} { // alone, too
		one := []message.Chunk{{ToolCalls: []message.ToolCallChunk{{Name: "a", Args: args}}}}
		s, err := mustAgent(t, agent.Config{Model: turns(one, say("x")), Tools: []tool.Tool{echo("a")}}).
			Run(t.Context(), newBed().rt, state.State{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, answeredCalls(s)...)
	}
	for _, id := range ids {
		if !regexp.MustCompile(`^call_[0-9a-f]{24}$`).MatchString(id) {
			t.Errorf("id %q", id)
		}
	}
	if len(ids) != 7 {
		t.Errorf("ids %q", ids)
	}
}

func answeredCalls(s state.State) (ids []string) {
	for _, m := range agent.Messages.Get(s) {
		if m.Role == message.Tool {
			ids = append(ids, m.ToolCallID)
		}
	}
	return ids
}

// TestDerivedIDs are the same in each version of the program: a run may go on in a newer one.
func TestDerivedIDs(t *testing.T) {
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: turns(call("a", `{}`), say("x")), Tools: []tool.Tool{echo("a")}}).
		Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	if got := agent.Messages.Get(s)[2].ID; got != "754661df-cd6f-86f0-8e9b-0c56f591e0a7" {
		t.Errorf("the result of call c0 of message m1 has the id %s", got)
	}
}

// TestBreakpointThatIsNotWritten: the run has failed, and waits for nobody.
func TestBreakpointThatIsNotWritten(t *testing.T) {
	b := newBed()
	b.failAt = 1
	b.rt.Config.InterruptBefore = []string{agent.NodeBeforeAgent}
	_, err := mustAgent(t, agent.Config{Model: turns(say("x"))}).Run(t.Context(), b.rt, state.State{})
	if _, waits := errors.AsType[*agent.Interrupted](err); waits || !errors.Is(err, errCommit) || !agent.IsFatal(err) {
		t.Errorf("error %v", err)
	}
}

// TestAnswerOfAWrapper: one without a role and an id gets both.
func TestAnswerOfAWrapper(t *testing.T) {
	b := newBed()
	a := mustAgent(t, agent.Config{Model: turns(say("x"))},
		answering(func(r *agent.ModelResponse) { r.Message.Role, r.Message.ID = "", "" }))
	s, err := a.Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, talk(s), []string{"human: do it", "ai: x"})
	if !slices.ContainsFunc(b.events, func(d event.Data) bool {
		return d == event.Discard{MessageID: "m1", Reason: "another answer takes its place"}
	}) {
		t.Error("what was shown under the first id is not withdrawn")
	}
	if id := agent.Messages.Get(s)[1].ID; id != "m2" {
		t.Errorf("its id is %q, the second that the run has made is m2", id)
	}
	if m := agent.Messages.Get(s)[1]; m.ToolCalls != nil || m.InvalidToolCalls != nil {
		t.Errorf("it has lists of no calls: %+v", m)
	}
}

// TestNoCallIsOpen: a checkpoint at the tools whose calls are answered by now goes on to the model.
func TestNoCallIsOpen(t *testing.T) {
	b := newBed()
	b.rt.Resume = &agent.Resume{Next: agent.NodeTools}
	s, err := mustAgent(t, agent.Config{Model: turns(say("x"))}).Run(soon(t), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, talk(s), []string{"human: do it", "ai: x"})
}

// TestWhatAToolShows while it runs.
func TestWhatAToolShows(t *testing.T) {
	b := newBed()
	shows := newTool("shows", tool.ReadOnly, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		c.Emit(map[string]int{"a": 1})
		c.Emit(func() {}) // no JSON: nothing is shown
		c.Progress("half")
		return tool.Text("done"), nil
	})
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("shows", `{}`), say("x")), Tools: []tool.Tool{shows}}))
	var got []string
	for _, d := range b.events {
		switch d := d.(type) {
		case event.Custom:
			got = append(got, string(d.Value))
		case event.Progress:
			got = append(got, d.CallID+" "+d.Text)
		}
	}
	diff(t, got, []string{`{"a":1}`, "c0 half"})
}

// TestBreakpointBehindACheckpoint: the run stops at the one that there is.
func TestBreakpointBehindACheckpoint(t *testing.T) {
	b := newBed()
	b.rt.Config.InterruptBefore = []string{agent.NodeTools}
	_, err := mustAgent(t, agent.Config{Model: turns(call("a", `{}`)), Tools: []tool.Tool{echo("a")}}).
		Run(t.Context(), b.rt, state.State{})
	if _, waits := errors.AsType[*agent.Interrupted](err); !waits {
		t.Fatal(err)
	}
	diff(t, b.lines(), []string{"commit __start__ -> before_model", "commit model message -> tools",
		"commit interrupt -> tools"})
}

// TestEndThatIsNotWritten: the run tells of both failures.
func TestEndThatIsNotWritten(t *testing.T) {
	b := newBed()
	b.failAt = 2
	broken := errors.New("broken")
	_, err := mustAgent(t, agent.Config{Model: turns(say("x"))}, hookOf{name: "fails", failAfterModel: broken}).
		Run(t.Context(), b.rt, state.State{})
	if !errors.Is(err, broken) || !errors.Is(err, errCommit) || !agent.IsFatal(err) {
		t.Errorf("error %v", err)
	}
}

// remembering is a middleware with a channel of its own.
type remembering struct{ answering }

var remembered = state.LastValue[int]("remembered")

func (remembering) Channels() []state.AnyChannel { return []state.AnyChannel{remembered} }

// TestSchema has the channels of the agent, its configuration and its middlewares.
func TestSchema(t *testing.T) {
	own := state.LastValue[int]("own")
	a := mustAgent(t, agent.Config{Model: turns(say("x")), Channels: []state.AnyChannel{own}}, remembering{})
	for _, ch := range []state.AnyChannel{agent.Messages, own, remembered} {
		if a.Schema()[ch.Name()] != ch {
			t.Errorf("%s is not declared", ch.Name())
		}
	}
}
