package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// onceAt is a middleware whose hook of the node given returns a command when it first runs.
type onceAt struct {
	name, node string
	cmd        agent.Command
	err        error
	ran        *int
}

func (m onceAt) Name() string { return m.name }
func (m onceAt) hook(node string) (agent.Command, error) {
	if node != m.node {
		return agent.Command{}, nil
	}
	if *m.ran++; *m.ran > 1 {
		return agent.Command{}, nil
	}
	return m.cmd, m.err
}
func (m onceAt) BeforeAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("before_agent")
}
func (m onceAt) BeforeModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("before_model")
}
func (m onceAt) AfterModel(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("after_model")
}
func (m onceAt) AfterAgent(context.Context, *agent.Runtime, state.State) (agent.Command, error) {
	return m.hook("after_agent")
}

// TestGotoOfAHook leads where it says, and skips the hooks of its node that are left.
func TestGotoOfAHook(t *testing.T) {
	for _, c := range []struct {
		node string
		to   tool.Goto
		want []string
	}{
		{"before_agent", tool.End, nil},
		{"before_agent", tool.Model, []string{"ai: hello"}},
		{"before_agent", tool.Tools, []string{"ai: hello"}}, // no call is open there
		{"before_model", tool.End, nil},
		{"after_model", tool.Model, []string{"ai: hello", "ai: hello"}},
		{"after_model", tool.Tools, []string{"ai: hello", "ai: hello"}},
		{"after_agent", tool.Model, []string{"ai: hello", "ai: hello"}},
		{"after_agent", tool.End, []string{"ai: hello"}},
	} {
		var ran, left int
		b := newBed()
		goes := onceAt{name: "goes", node: c.node, cmd: agent.Command{Goto: c.to}, ran: &ran}
		skipped := onceAt{name: "skipped", node: c.node, ran: &left}
		chain := []agent.Middleware{goes, skipped}
		if strings.HasPrefix(c.node, "after") {
			slices.Reverse(chain)
		}
		s, err := mustAgent(t, agent.Config{Model: turns(say("hello"))}, chain...).Run(soon(t), b.rt, state.State{})
		if err != nil {
			t.Fatal(err)
		}
		if got := talk(s)[1:]; !slices.Equal(got, c.want) || left != ran-1 {
			t.Errorf("%s to %s: %q, want %q; the hooks ran %d and %d times", c.node, c.to, got, c.want, ran, left)
		}
	}
}

// TestFailingHooks: an error, an update that does not fit or a panic of a hook ends the run with the name of its node.
func TestFailingHooks(t *testing.T) {
	broken := errors.New("broken")
	for _, node := range []string{"before_agent", "before_model", "after_model", "after_agent"} {
		for want, m := range map[error]onceAt{
			broken: {err: broken}, state.ErrNoItem: {cmd: agent.Command{Update: agent.Messages.Remove("nobody")}},
		} {
			m.name, m.node, m.ran = "fails", node, new(int)
			_, err := mustAgent(t, agent.Config{Model: turns(say("hello"))}, m).Run(soon(t), newBed().rt, state.State{})
			if !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "fails."+node+": ") {
				t.Errorf("%s: %v, want %v", node, err, want)
			}
		}
		m := onceAt{name: "panics", node: node} // it has nowhere to count
		_, err := mustAgent(t, agent.Config{Model: turns(say("hello"))}, m).Run(soon(t), newBed().rt, state.State{})
		if err == nil || !strings.Contains(err.Error(), " panicked: ") {
			t.Errorf("%s: %v", node, err)
		}
	}
}

// TestGotoOfAnAnswer is followed unless a hook after it leads elsewhere.
func TestGotoOfAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer tool.Goto
		hook   agent.Command
		want   []string
	}{
		"to the model": {tool.Model, agent.Command{}, []string{"ai: hello", "ai: hello"}},
		"to the end":   {tool.End, agent.Command{}, []string{"ai: hello"}},
		"but the hook": {tool.End, agent.Command{Goto: tool.Model}, []string{"ai: hello", "ai: hello"}},
	} {
		b := newBed()
		asked := 0
		goes := answering(func(r *agent.ModelResponse) {
			if asked++; asked == 1 {
				r.Goto = c.answer
			}
		})
		s, err := mustAgent(t, agent.Config{Model: turns(say("hello"))}, goes,
			onceAt{name: "hook", node: "after_model", cmd: c.hook, ran: new(int)}).
			Run(soon(t), b.rt, state.State{})
		if err != nil {
			t.Fatal(err)
		}
		if got := talk(s)[1:]; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestGotoOfResults: the end beats the model in either order, an error goes to the model although its tool returns
// directly, and a stop asks for the last answer.
func TestGotoOfResults(t *testing.T) {
	leads := func(name string, to tool.Goto, u func(c *tool.Call) state.Update, isError bool) fakeTool {
		tl := newTool(name, tool.ReadOnly, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
			res := tool.Text(name)
			res.Goto, res.IsError = to, isError
			if u != nil {
				res.Update = u(c)
			}
			return res, nil
		})
		tl.spec.ReturnDirect = to == ""
		return tl
	}
	stops := func(c *tool.Call) state.Update { return agent.Stop(&agent.Runtime{RunID: c.RunID}, "capped") }
	tools := []tool.Tool{leads("end", tool.End, nil, false), leads("model", tool.Model, nil, false),
		leads("direct", "", nil, false),
		leads("wrong", "", nil, true), leads("stop", tool.End, stops, false)}
	for calls, want := range map[string]string{
		"end model": "tool: model", "model end": "tool: end", "end end": "tool: end", "model": "ai: more",
		"direct": "tool: direct", "wrong": "ai: more", "direct wrong": "ai: more", "wrong direct": "ai: more",
		"stop": "ai: more", "direct model": "ai: more", "direct end": "tool: end",
	} {
		var pairs []string
		for name := range strings.FieldsSeq(calls) {
			pairs = append(pairs, name, "{}")
		}
		got := newBed().mustRun(t, mustAgent(t, agent.Config{Model: turns(call(pairs...), say("more")), Tools: tools}))
		if last := got[len(got)-1]; last != want {
			t.Errorf("%s: ends with %q, want %q", calls, last, want)
		}
	}
}

// TestCallsThatAHookAnswers: the model goes on with the answers, whether its calls could run or not.
func TestCallsThatAHookAnswers(t *testing.T) {
	for _, calls := range [][]string{{"a", `{}`}, {"a", `{"x":`}, {"a", `{}`, "a", `{"x":`}} {
		answers := hookOf{name: "answers", afterModel: func(_ *agent.Runtime, s state.State) (c agent.Command) {
			msgs := agent.Messages.Get(s)
			last := msgs[len(msgs)-1]
			var results []message.Message
			add := func(id string) {
				m := message.New(message.Tool, "no")
				m.ID, m.ToolCallID = "answer-"+id, id
				results = append(results, m)
			}
			for _, call := range last.ToolCalls {
				add(call.ID)
			}
			for _, call := range last.InvalidToolCalls {
				add(call.ID)
			}
			if len(results) > 0 {
				c.Update = agent.Messages.Append(results...)
			}
			return c
		}}
		b := newBed()
		got := b.mustRun(t,
			mustAgent(t, agent.Config{Model: turns(call(calls...), say("fine")), Tools: []tool.Tool{echo("a")}},
				answers))
		if last := got[len(got)-1]; last != "ai: fine" || len(got) != 3+len(calls)/2 {
			t.Errorf("%q: %q", calls, got)
		}
	}
}

// TestRunWithoutNodes: input that comes where a run has ended is committed, and a commit that fails is told.
func TestRunWithoutNodes(t *testing.T) {
	b := newBed()
	b.rt.Resume = &agent.Resume{Next: agent.Done}
	a := mustAgent(t, agent.Config{Model: turns(say("never"))})
	diff(t, b.mustRun(t, a), []string{"human: do it"})
	diff(t, b.lines(), []string{"commit __start__ -> "})
	b = newBed()
	b.failAt, b.rt.Resume = 1, &agent.Resume{Next: agent.Done}
	if _, err := a.Run(t.Context(), b.rt, state.State{}); !errors.Is(err, errCommit) {
		t.Errorf("error %v", err)
	}
}

// TestEventsWithoutCommit: who keeps nothing sees the same events.
func TestEventsWithoutCommit(t *testing.T) {
	b := newBed()
	b.rt.Commit = nil
	act := newTool("act", tool.SideEffects,
		func(context.Context, *tool.Call) (*tool.Result, error) { return tool.Text("done"), nil })
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("act", `{}`), say("ok")), Tools: []tool.Tool{act}}))
	diff(t, b.lines(), []string{"emit message", "emit tool_start", "emit tool_end", "emit message"})
}

// TestSettingsForbidTools in every call, not only in the last one.
func TestSettingsForbidTools(t *testing.T) {
	var requests []*model.Request
	a := mustAgent(t, agent.Config{Model: noting(&requests, say("x")), Settings: model.Settings{NoTools: true}})
	newBed().mustRun(t, a)
	if len(requests) != 1 || !requests[0].Settings.NoTools {
		t.Errorf("%d requests, the first %+v", len(requests), requests[0].Settings)
	}
	requests = nil
	newBed().mustRun(t, mustAgent(t, agent.Config{Model: noting(&requests, say("x"))}))
	if len(requests) != 1 || requests[0].Settings.NoTools {
		t.Errorf("%d requests, the first %+v", len(requests), requests[0].Settings)
	}
}

// TestLastAnswerOfNothing: a run at its limit has an answer also if its model gives none, or only asks for tools.
func TestLastAnswerOfNothing(t *testing.T) {
	for _, answer := range [][]message.Chunk{{{Text: " \n"}, {FinishReason: "stop"}}, call("a", `{}`)} {
		b := newBed()
		b.rt.Config.MaxSteps = 1
		var requests []*model.Request
		got := b.mustRun(t, mustAgent(t, agent.Config{Model: noting(&requests, call("a", `{}`), answer),
			Tools: []tool.Tool{echo("a")}}))
		if last := got[len(got)-1]; !strings.HasSuffix(last, "The run reached a limit before it had an answer.") ||
			strings.Contains(last, "[a") {
			t.Errorf("ends with %q", last)
		}
		if asked := requests[1].Messages; asked[len(asked)-1].Text() == "" {
			t.Error("nothing asks for the last answer")
		}
	}
}
