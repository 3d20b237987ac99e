package agent_test

import (
	"context"
	"encoding/json"
	"errors"
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

// answers is a tool with a fixed result; it is called in the order of the calls.
func answers(name string, res *tool.Result, err error) laned {
	return laned{newTool(name, tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		if res == nil {
			return nil, err
		}
		copied := *res
		return &copied, err
	})}
}

// unfit is a result whose update cannot be applied.
func unfit() *tool.Result {
	res := tool.Text("unfit")
	res.Update = agent.Messages.Remove("nobody")
	return res
}

// TestResultsThatDoNotFit fail the run with the name of their tool, also beside another failure.
func TestResultsThatDoNotFit(t *testing.T) {
	boom := errors.New("boom")
	a := mustAgent(t, agent.Config{
		Model: turns(call("unfit", `{}`), say("x")), Tools: []tool.Tool{answers("unfit", unfit(), nil)},
	})
	if _, err := a.Run(soon(t), newBed().rt, state.State{}); !errors.Is(err, state.ErrNoItem) ||
		!strings.HasPrefix(err.Error(), "unfit: tools: ") {
		t.Errorf("error %v", err)
	}
	a = mustAgent(t, agent.Config{
		Model: turns(call("fails", `{}`, "unfit", `{}`), say("x")), Tools: []tool.Tool{answers("unfit", unfit(), nil),
			answers("fails", nil, boom)},
	})
	_, err := a.Run(soon(t), newBed().rt, state.State{})
	if !errors.Is(err, boom) || !errors.Is(err, state.ErrNoItem) || !strings.Contains(err.Error(), "\nunfit: tools: ") {
		t.Errorf("error %v", err)
	}
}

// TestWhatSiblingsOfAFailureHaveDone is in the log and in the state, whichever came last.
func TestWhatSiblingsOfAFailureHaveDone(t *testing.T) {
	boom := errors.New("boom")
	for _, calls := range [][]string{{"good", "fails"}, {"fails", "good"}} {
		b := newBed()
		a := mustAgent(t, agent.Config{
			Model: turns(call(calls[0], `{"x":"lane"}`, calls[1], `{"x":"lane"}`), say("x")),
			Tools: []tool.Tool{answers("good", tool.Text("done"), nil), answers("fails", nil, boom)},
		})
		s, err := a.Run(soon(t), b.rt, state.State{})
		if got := talk(s); err == nil || got[len(got)-1] != "tool: done" {
			t.Errorf("%q: %v, %q", calls, err, got)
		}
		if ends := endsOf(b); !slices.Equal(ends, []string{"good"}) {
			t.Errorf("%q: ends of %q are recorded", calls, ends)
		}
	}
}

// endsOf are the tools whose calls have a recorded end.
func endsOf(b bed) (tools []string) {
	for _, step := range b.steps {
		for _, e := range step.Events {
			if end, ok := e.Data.(event.ToolEnd); ok {
				tools = append(tools, end.Tool)
			}
		}
	}
	return tools
}

// asks is a tool that asks a human.
func asks() laned {
	return laned{newTool("asks", tool.SideEffects, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		answer, err := c.Ask("sure?")
		if err != nil {
			return nil, err
		}
		return tool.Text(string(answer)), nil
	})}
}

// TestAQuestionIsInTheLog beside what its siblings have done, whichever came last, and the run waits for it.
func TestAQuestionIsInTheLog(t *testing.T) {
	for _, calls := range [][]string{{"good", "asks"}, {"asks", "good"}, {"asks"}} {
		var pairs []string
		for _, name := range calls {
			pairs = append(pairs, name, `{"x":"lane"}`)
		}
		b := newBed()
		a := mustAgent(t, agent.Config{Model: turns(call(pairs...), say("x")),
			Tools: []tool.Tool{answers("good", tool.Text("done"), nil), asks()}})
		_, err := a.Run(soon(t), b.rt, state.State{})
		waits, ok := errors.AsType[*agent.Interrupted](err)
		if !ok || len(waits.Interrupts) != 1 {
			t.Fatalf("%q: %v", calls, err)
		}
		last := b.steps[len(b.steps)-1]
		if !slices.ContainsFunc(last.Events, func(e agent.Emitted) bool {
			asked, ok := e.Data.(event.Interrupt)
			return ok && asked.CallID == waits.Interrupts[0].CallID &&
				asked.InterruptID == waits.Interrupts[0].InterruptID
		}) || last.Lazy || last.Next != agent.NodeTools {
			t.Errorf("%q: the last step is %+v", calls, last)
		}
		if ends := endsOf(b); len(ends) != len(calls)-1 {
			t.Errorf("%q: ends of %q are recorded", calls, ends)
		}
		for _, step := range b.steps {
			for _, e := range step.Events {
				if end, ok := e.Data.(event.ToolEnd); ok && !strings.Contains(string(end.Writes), "done") {
					t.Errorf("%q: the end holds no result: %s", calls, end.Writes)
				}
			}
		}
	}
}

// TestQuestionsAreCounted in the error of a run that waits.
func TestQuestionsAreCounted(t *testing.T) {
	for n, want := range map[int]string{0: "stopped at a breakpoint", 1: "answer to 1 question",
		2: "answer to 2 question"} {
		if got := (&agent.Interrupted{Interrupts: make([]event.Interrupt, n)}).Error(); !strings.Contains(got, want) {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// TestAQuestionThatIsNotWritten: the run has failed, and waits for nobody.
func TestAQuestionThatIsNotWritten(t *testing.T) {
	b := newBed()
	b.failAt = 4 // after the input, the answer and the intent
	_, err := mustAgent(t, agent.Config{Model: turns(call("asks", `{}`), say("x")), Tools: []tool.Tool{asks()}}).
		Run(soon(t), b.rt, state.State{})
	if _, waits := errors.AsType[*agent.Interrupted](err); waits || !agent.IsFatal(err) {
		t.Errorf("error %v", err)
	}
}

// TestAResultThatIsNotWritten ends the run without another commit, also when its siblings go on.
func TestAResultThatIsNotWritten(t *testing.T) {
	b := newBed()
	failed, after := false, 0
	b.rt.Commit = func(ctx context.Context, step agent.Step) error {
		if failed {
			after++
		}
		if len(step.Updates) == 0 && step.Events[0].Data.Kind() == event.KindToolEnd {
			failed = true
			return errCommit
		}
		return b.commit(ctx, step)
	}
	a := mustAgent(t, agent.Config{Model: turns(call("a", `{}`, "b", `{}`), say("x")),
		Tools: []tool.Tool{echo("a"), echo("b")}})
	s, err := a.Run(soon(t), b.rt, state.State{})
	if !errors.Is(err, errCommit) || after != 0 {
		t.Errorf("error %v, %d commits behind it", err, after)
	}
	if got := talk(s); len(got) != 2 {
		t.Errorf("the state is not the committed one: %q", got)
	}
}

// TestNoToolStartsBehindACancel that came while its turn had not come.
func TestNoToolStartsBehindACancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	ran := 0
	stops := laned{newTool("stops", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		ran++
		cancel(errStop)
		return tool.Text("done"), nil
	})}
	b := newBed()
	s, err := mustAgent(t, agent.Config{Model: turns(call("stops", `{"x":"l"}`, "stops", `{"x":"l"}`), say("x")),
		Tools: []tool.Tool{stops}}).
		Run(ctx, b.rt, state.State{})
	if !errors.Is(err, errStop) || ran != 1 {
		t.Errorf("error %v, %d ran", err, ran)
	}
	if got := talk(s); got[2] != "tool: done" || !strings.HasPrefix(got[3], "error tool: This call was cancelled") {
		t.Errorf("%q", got)
	}
}

// TestTheContextOfAToolEndsWithItsCall, so that what it has left running hears of it.
func TestTheContextOfAToolEndsWithItsCall(t *testing.T) {
	var left context.Context
	leaves := newTool("leaves", tool.ReadOnly, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		left = ctx //nolint:fatcontext // to see its end
		return tool.Text("done"), nil
	})
	newBed().
		mustRun(t, mustAgent(t, agent.Config{Model: turns(call("leaves", `{}`), say("x")), Tools: []tool.Tool{leaves}}))
	if left.Err() == nil {
		t.Error("it goes on")
	}
}

// TestAnEmptyResult says so.
func TestAnEmptyResult(t *testing.T) {
	empty := answers("empty", &tool.Result{MessageID: "its-own"}, nil)
	s, err := mustAgent(t, agent.Config{Model: turns(call("empty", `{}`), say("x")), Tools: []tool.Tool{empty}}).
		Run(soon(t), newBed().rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	if m := agent.Messages.Get(s)[2]; m.Text() != "(no output)" || m.ID != "its-own" {
		t.Errorf("%+v", m)
	}
}

// TestATimeOutBehindACancel is the cancel's: the tool had its time.
func TestATimeOutBehindACancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	late := newTool("late", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		cancel(errStop)
		return nil, context.DeadlineExceeded
	})
	s, err := mustAgent(t, agent.Config{Model: turns(call("late", `{}`), say("x")), Tools: []tool.Tool{late}}).
		Run(ctx, newBed().rt, state.State{})
	if got := talk(s); !errors.Is(err, errStop) || !strings.HasPrefix(got[2], "error tool: This call was cancelled") {
		t.Errorf("%v, %q", err, got)
	}
}

// falling is a wrapper that panics.
type falling struct{}

func (falling) Name() string { return "Falling" }
func (falling) WrapToolCall(context.Context, *agent.ToolRequest, agent.ToolHandler) (*tool.Result, error) {
	panic("ouch")
}

// TestAPanicOfAWrapper is an error of the call that it wrapped.
func TestAPanicOfAWrapper(t *testing.T) {
	_, err := mustAgent(t, agent.Config{Model: turns(call("a", `{}`), say("x")), Tools: []tool.Tool{echo("a")}},
		falling{}).Run(soon(t), newBed().rt, state.State{})
	if err == nil || !strings.HasPrefix(err.Error(), "tools: a panicked: ouch") {
		t.Errorf("error %v", err)
	}
}

// mute finds nothing of a call that was cut off.
type mute struct {
	fakeTool

	looked *context.Context
}

func (m mute) Inspect(ctx context.Context, _ *tool.Call) string {
	*m.looked = ctx //nolint:fatcontext // to see its end
	if _, bounded := ctx.Deadline(); !bounded {
		return "it may take for ever"
	}
	return ""
}

// TestCallsOfUnknownOutcome: they are marked as such, and nothing is said that their tools do not know. So is a call of
// a tool that is gone.
func TestCallsOfUnknownOutcome(t *testing.T) {
	for _, name := range []string{"mute", "gone"} {
		ai := message.New(message.AI, "")
		ai.ID, ai.ToolCalls = "asked", []message.ToolCall{{ID: "c0", Name: name, Args: json.RawMessage(`{}`)}}
		s, _, err := state.State{}.Apply(agent.Messages.Append(ai))
		if err != nil {
			t.Fatal(err)
		}
		b := newBed()
		b.rt.Input = nil
		b.rt.Resume = &agent.Resume{Next: agent.NodeTools,
			Started: map[string]event.ToolStart{"c0": {CallID: "c0", MessageID: "asked"}}}
		looked := t.Context()
		a := mustAgent(t, agent.Config{Model: turns(say("never"), say("ok")),
			Tools: []tool.Tool{mute{newTool("mute", tool.SideEffects, nil), &looked}}})
		if s, err = a.Run(soon(t), b.rt, s); err != nil {
			t.Fatal(err)
		}
		got := agent.Messages.Get(s)[1]
		if !strings.HasSuffix(got.Text(), "before you decide whether to call it again.") ||
			string(got.Kwargs[message.KeyOutcomeUnknown]) != "true" {
			t.Errorf("%s: %q, %s", name, got.Text(), got.Kwargs)
		}
		if name == "mute" && looked.Err() == nil {
			t.Error("what belongs to the look goes on behind it")
		}
	}
}

// TestWhatTheModelIsToldOfToolsThatAreNot there: the names of all others, in order.
func TestWhatTheModelIsToldOfToolsThatAreNot(t *testing.T) {
	second := echo("b")
	second.spec.Description = "the second of this name"
	var requests []*model.Request
	a := mustAgent(t, agent.Config{Model: noting(&requests, call("nope", `{}`, "", `{}`), say("x")),
		Tools: []tool.Tool{echo("b"), second, echo("a")}})
	got := newBed().mustRun(t, a)
	diff(t, got[2:4], []string{`error tool: There is no tool "nope". Available tools: a, b.`,
		"error tool: The call names no tool. Available tools: a, b."})
	var offered []string
	for _, t := range requests[0].Tools {
		offered = append(offered, t.Name+t.Description)
	}
	diff(t, offered, []string{"b", "a"})
}

// TestCutArgumentsAreShownInPart to the model that sent them.
func TestCutArgumentsAreShownInPart(t *testing.T) {
	for extra, want := range map[int]string{0: "xx\n", 1: "xx…\n"} {
		args := `{"x":"` + strings.Repeat("x", 494+extra)
		got := newBed().mustRun(t,
			mustAgent(t, agent.Config{Model: turns(call("a", args), say("x")), Tools: []tool.Tool{echo("a")}}))
		if !strings.Contains(got[2], want) {
			t.Errorf("%d bytes: %q", len(args), got[2])
		}
	}
}

// TestOneOfTwoCallsIsRepaired, whichever it is.
func TestOneOfTwoCallsIsRepaired(t *testing.T) {
	const cut, fenced = `{"x":"`, "```json\n{\"x\":\"y\"}\n```"
	for _, calls := range [][]string{{cut, fenced}, {fenced, cut}} {
		b := newBed()
		got := b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("a", calls[0], "a", calls[1]), say("x")),
			Tools: []tool.Tool{echo("a")}}))
		if !slices.Contains(got, "tool: a:y") || len(got) != 5 {
			t.Errorf("%q: %q", calls, got)
		}
	}
}

// TestResultsOfNoToolAreNotWaitedFor, nor anything else of a run that changes nothing outside.
func TestResultsOfNoToolAreNotWaitedFor(t *testing.T) {
	b := newBed()
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("nope", `{}`), say("x"))}))
	for i, step := range b.steps {
		if !step.Lazy {
			t.Errorf("step %d, which leads to %q, is waited for", i, step.Next)
		}
	}
}
