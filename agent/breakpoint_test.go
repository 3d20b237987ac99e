package agent_test

import (
	"errors"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// stops runs until the end and returns the node before which the run stopped each time.
func stops(t *testing.T, b bed, a *agent.Agent) (nodes, conversation []string) {
	t.Helper()
	s := state.State{}
	for range 10 {
		var err error
		s, err = a.Run(t.Context(), b.rt, s)
		var at *agent.Interrupted
		if err == nil {
			return nodes, talk(s)
		}
		last := b.steps[len(b.steps)-1]
		if !errors.As(err, &at) || len(at.Interrupts) != 0 {
			t.Fatal(err)
		}
		if _, ok := last.Events[len(last.Events)-1].Data.(event.Interrupt); !ok {
			t.Fatalf("the last step is %+v", last)
		}
		checkpoint := ""
		for _, step := range b.steps {
			if len(step.Updates) > 0 {
				checkpoint = step.Next
			}
		}
		if checkpoint != last.Next {
			t.Errorf("the run stopped before %q, the last checkpoint leads to %q", last.Next, checkpoint)
		}
		if last.Lazy {
			t.Errorf("who waits before %q need not find the breakpoint", last.Next)
		}
		nodes = append(nodes, last.Next)
		b.rt.Input, b.rt.Resume = nil, &agent.Resume{Next: last.Next, Passed: true}
	}
	t.Fatal("the run does not come to its end")
	return nil, nil
}

func TestBreakpoints(t *testing.T) {
	for name, c := range map[string]struct {
		before, after, want []string
	}{
		"before the tools":  {before: []string{agent.NodeTools}, want: []string{agent.NodeTools}},
		"before the model":  {before: []string{agent.NodeModel}, want: []string{agent.NodeModel, agent.NodeModel}},
		"after the tools":   {after: []string{agent.NodeTools}, want: []string{agent.NodeBeforeModel}},
		"after the model":   {after: []string{agent.NodeModel}, want: []string{agent.NodeTools, agent.NodeAfterAgent}},
		"a name of no node": {before: []string{"nowhere"}},
		"after every node": {after: []string{agent.AllNodes}, want: []string{
			agent.NodeBeforeModel, agent.NodeModel, agent.NodeTools, agent.NodeBeforeModel, agent.NodeModel,
			agent.NodeAfterAgent,
		}},
		"before every node": {before: []string{agent.AllNodes}, want: []string{
			agent.NodeBeforeAgent, agent.NodeBeforeModel, agent.NodeModel, agent.NodeTools, agent.NodeBeforeModel,
			agent.NodeModel, agent.NodeAfterAgent,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := mustAgent(t, agent.Config{Model: turns(call("echo", `{"x":"1"}`), say("fine")),
				Tools: []tool.Tool{echo("echo")}})
			b := newBed()
			b.rt.Config.InterruptBefore, b.rt.Config.InterruptAfter = c.before, c.after
			nodes, conversation := stops(t, b, a)
			diff(t, nodes, c.want)
			diff(t, conversation[len(conversation)-2:], []string{"tool: echo:1", "ai: fine"})
		})
	}
}

// TestBreakpointBeforeAnything: the run's input and the stop are one step.
func TestBreakpointBeforeAnything(t *testing.T) {
	b := newBed()
	b.rt.Config.InterruptBefore = []string{agent.NodeBeforeAgent}
	if _, err := mustAgent(t, agent.Config{Model: turns(say("x"))}).Run(t.Context(), b.rt, state.State{}); err == nil {
		t.Error("the breakpoint was passed")
	}
	diff(t, b.lines(), []string{"commit __start__ interrupt -> before_agent"})
}

func TestARunCutOffAtABreakpointStopsThereAgain(t *testing.T) {
	a := mustAgent(t, agent.Config{Model: turns(call("echo", `{"x":"1"}`), say("fine")),
		Tools: []tool.Tool{echo("echo")}})
	b := newBed()
	b.rt.Config.InterruptBefore = []string{agent.NodeTools}
	s, err := a.Run(t.Context(), b.rt, state.State{})
	var at *agent.Interrupted
	if !errors.As(err, &at) {
		t.Fatal(err)
	}
	b.rt.Input, b.rt.Resume = nil, &agent.Resume{Next: agent.NodeTools} // the same run, in another process
	if _, err = a.Run(t.Context(), b.rt, s); !errors.As(err, &at) {
		t.Errorf("the breakpoint was passed: %v", err)
	}
	if last := b.steps[len(b.steps)-1]; len(last.Updates) != 0 {
		t.Errorf("there is a checkpoint already, and another one: %+v", last.Updates)
	}
}
