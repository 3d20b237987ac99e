package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// TestACancelledRunIsCommittedAllTheSame: no commit hears of the cancel, and each has a bound of its own.
func TestACancelledRunIsCommittedAllTheSame(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	b := newBed()
	late, stopped := 0, false
	var commits []context.Context
	b.rt.Commit = func(ctx context.Context, step agent.Step) error {
		commits = append(commits, ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a commit has no deadline")
		}
		if stopped {
			late++
		}
		return b.commit(ctx, step)
	}
	s, err := mustAgent(t, agent.Config{Model: turns(say("x"))},
		afterModel{func() { stopped = true; cancel(errStop) }}).Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) || agent.IsFatal(err) {
		t.Errorf("the run ended with %v", err)
	}
	for _, ctx := range commits {
		if ctx.Err() == nil {
			t.Error("what belongs to a commit goes on behind it")
		}
	}
	if late == 0 {
		t.Error("nothing was committed behind the cancel")
	}
	diff(t, talk(s), []string{"human: do it", "ai: x"})
}

// afterModel cancels the run when the model has answered.
type afterModel struct{ then func() }

func (afterModel) Name() string { return "After" }
func (a afterModel) AfterModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	a.then()
	return agent.Command{}, nil
}

// TestACancelBetweenModelAndToolsAnswersTheCalls, so that the thread can go on.
func TestACancelBetweenModelAndToolsAnswersTheCalls(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	b := newBed()
	a := mustAgent(t, agent.Config{Model: turns(call("a", `{}`, "a", `{}`), say("never")),
		Tools: []tool.Tool{echo("a")}},
		afterModel{func() { cancel(errStop) }})
	s, err := a.Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) {
		t.Fatalf("the run ended with %v", err)
	}
	const gone = "error tool: This call was cancelled before it finished. What it had done until then stays done."
	diff(t, talk(s)[2:], []string{gone, gone})
	last := b.steps[len(b.steps)-1]
	if last.Next != agent.Done || len(agent.Messages.Get(last.State)) != 4 {
		t.Errorf("the last step leads to %q, with %d messages", last.Next, len(agent.Messages.Get(last.State)))
	}
}

// TestACallIDInTwoMessages: vendors number the calls of each answer anew. What is known of a call is that of its
// message.
func TestACallIDInTwoMessages(t *testing.T) {
	human, ai := message.New(message.Human, "do it"), message.New(message.AI, "")
	human.ID, ai.ID = "h1", "asked"
	ai.ToolCalls = []message.ToolCall{{ID: "c0", Name: "act", Args: json.RawMessage(`{}`)}}
	s, _, err := state.State{}.Apply(agent.Messages.Append(human, ai))
	if err != nil {
		t.Fatal(err)
	}
	result := message.New(message.Tool, "the first result")
	result.ID, result.ToolCallID = "r1", "c0"
	writes, err := agent.Messages.Append(result).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		past agent.Resume
		want []string // beginnings
	}{
		"a result": {agent.Resume{Ended: map[string]event.ToolEnd{"c0": {CallID: "c0", MessageID: "asked", Tool: "act",
			Writes: writes}}},
			[]string{"tool: the first result", "ai: ", "tool: fresh", "ai: ok"}},
		"an intent": {agent.Resume{Started: map[string]event.ToolStart{"c0": {CallID: "c0", MessageID: "asked",
			Tool: "act"}}},
			[]string{"error tool: The outcome of this call is unknown", "ai: ", "tool: fresh", "ai: ok"}},
		"a result of an earlier message": {agent.Resume{Ended: map[string]event.ToolEnd{"c0": {CallID: "c0",
			MessageID: "before", Tool: "act", Writes: writes}}},
			[]string{"tool: fresh", "ai: ", "tool: fresh", "ai: ok"}},
		"an intent of an earlier message": {agent.Resume{Started: map[string]event.ToolStart{"c0": {CallID: "c0",
			MessageID: "before", Tool: "act"}}},
			[]string{"tool: fresh", "ai: ", "tool: fresh", "ai: ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed()
			act := newTool("act", tool.SideEffects,
				func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text("fresh"), nil })
			c.past.Next = agent.NodeTools
			b.rt.Input, b.rt.Resume = nil, &c.past
			end, err := mustAgent(t, agent.Config{Model: turns(say("never"), call("act", `{}`), say("ok")),
				Tools: []tool.Tool{act}}).Run(t.Context(), b.rt, s)
			if err != nil {
				t.Fatal(err)
			}
			got := talk(end)[2:]
			for i := range got {
				if i < len(c.want) {
					got[i] = got[i][:min(len(got[i]), len(c.want[i]))]
				}
			}
			diff(t, got, c.want)
		})
	}
}

// TestPiecesAreReadBackAsTheyWereShown, whatever the message holds.
func TestPiecesAreReadBackAsTheyWereShown(t *testing.T) {
	first, rest := call("a", `{"x":`)[0], call("a", `"1"}`)[0]
	rest.ToolCalls[0].ID, rest.ToolCalls[0].Name = "", ""
	b := newBed()
	answer := []message.Chunk{{Reasoning: "h"}, {Reasoning: "m"}, {Text: "I "}, {Text: "look"}, first, rest,
		{FinishReason: "tool_calls"}}
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(answer, say("ok")), Tools: []tool.Tool{echo("a")}}))
	shown := map[string][]event.Chunk{}
	for _, d := range b.events {
		if c, ok := d.(event.Chunk); ok {
			shown[c.MessageID] = append(shown[c.MessageID], c)
		}
	}
	messages := 0
	for _, step := range b.steps {
		for _, e := range step.Events {
			m, ok := e.Data.(event.Message)
			if !ok {
				continue
			}
			messages++
			writes, err := step.Updates[0].Update.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			chunks, ok := agent.Chunks(m, writes)
			if !ok {
				t.Errorf("the pieces of %s are gone", m.MessageID)
			}
			diff(t, chunks, shown[m.MessageID])
		}
	}
	if messages != 2 {
		t.Errorf("%d messages", messages)
	}
}
