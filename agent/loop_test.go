package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

func diff(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("mismatch (-want +got):\n%s", d)
	}
}

func TestAnswerWithoutToolsEndsTheRun(t *testing.T) {
	b := newBed()
	got := b.mustRun(t, mustAgent(t, agent.Config{Model: turns(say("hello"))}))
	diff(t, got, []string{"human: do it", "ai: hello"})
	diff(t, b.lines(), []string{"commit __start__ -> before_model", "commit model message -> after_agent"})
}

func TestToolsRunAndTheModelSeesTheirResults(t *testing.T) {
	b := newBed()
	a := mustAgent(t, agent.Config{
		Model: turns(call("a", `{"x":"1"}`, "b", `{"x":"2"}`), say("done")),
		Tools: []tool.Tool{echo("a"), echo("b")},
	})
	diff(t, b.mustRun(t, a), []string{
		"human: do it", `ai: [a {"x":"1"}][b {"x":"2"}]`, "tool: a:1", "tool: b:2", "ai: done",
	})
}

func TestParallelCallsAreMergedInCallOrder(t *testing.T) {
	second := make(chan struct{})
	slow := newTool("slow", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		<-second // ends only after the second call
		return tool.Text("slow"), nil
	})
	fast := newTool("fast", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		defer close(second)
		return tool.Text("fast"), nil
	})
	b := newBed()
	a := mustAgent(t, agent.Config{Model: turns(call("slow", `{}`, "fast", `{}`), say("ok")),
		Tools: []tool.Tool{slow, fast}})
	diff(t, b.mustRun(t, a)[2:], []string{"tool: slow", "tool: fast", "ai: ok"})
}

func TestParallelCallsAreBounded(t *testing.T) {
	var now, most atomic.Int32
	busy := newTool("busy", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(time.Millisecond)
		now.Add(-1)
		return tool.Text("ok"), nil
	})
	var pairs []string
	for range 20 {
		pairs = append(pairs, "busy", "{}")
	}
	b := newBed()
	b.rt.Config.ParallelTools = 3
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call(pairs...), say("ok")), Tools: []tool.Tool{busy}}))
	if most.Load() > 3 {
		t.Errorf("%d calls ran at once, the bound is 3", most.Load())
	}
}

func TestArgumentsAreRepairedOnlyWhereTheMeaningIsCertain(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"number as string", `{"n":"5"}`, "tool: ran {\"n\":5}"},
		{"code fence", "```json\n{\"x\":\"y\"}\n```", "tool: ran {\"x\":\"y\"}"},
		{"object as string", `"{\"x\":\"y\"}"`, "tool: ran {\"x\":\"y\"}"},
		{"empty", ``, "tool: ran {}"},
		{"cut off", `{"x":"echo hello wor`, "error tool: "},
		{"no JSON", `run it`, "error tool: "},
		{"an array", `[1]`, "error tool: "},
		{"wrong type", `{"n":"many"}`, "error tool: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := newTool("ran", tool.SideEffects, func(_ context.Context, call *tool.Call) (*tool.Result, error) {
				return tool.Text("ran " + string(call.Args)), nil
			})
			b := newBed()
			got := b.mustRun(t,
				mustAgent(t, agent.Config{Model: turns(call("ran", c.args), say("ok")), Tools: []tool.Tool{ran}}))
			if len(got) != 4 || !strings.HasPrefix(got[2], c.want) {
				t.Errorf("got %q, want a third message that starts with %q", got, c.want)
			}
		})
	}
}

func TestAMessageWithOnlyInvalidCallsGoesOn(t *testing.T) {
	b := newBed()
	a := mustAgent(t, agent.Config{
		Model: turns(call("a", `{"x":`, "nope", `{}`), say("sorry")), Tools: []tool.Tool{echo("a")},
	})
	got := b.mustRun(t, a)
	if len(got) != 5 || !strings.HasPrefix(got[2], `error tool: There is no tool "nope". Available tools: a.`) ||
		!strings.HasPrefix(got[3], "error tool: This call was not executed") || got[4] != "ai: sorry" {
		t.Errorf("got %q", got)
	}
}

func TestBlankAndRepeatedCallIDsBecomeUnique(t *testing.T) {
	chunk := message.Chunk{ToolCalls: []message.ToolCallChunk{
		{Index: 0, ID: "same", Name: "a", Args: `{"x":"1"}`}, {Index: 1, ID: "same", Name: "a", Args: `{"x":"2"}`},
		{Index: 2, Name: "a", Args: `{"x":"3"}`},
	}}
	b := newBed()
	a := mustAgent(t, agent.Config{Model: turns([]message.Chunk{chunk}, say("ok")), Tools: []tool.Tool{echo("a")}})
	s, err := a.Run(t.Context(), b.rt, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	msgs := agent.Messages.Get(s)
	seen := map[string]bool{}
	for i, c := range msgs[1].ToolCalls {
		if c.ID == "" || seen[c.ID] || msgs[2+i].ToolCallID != c.ID {
			t.Errorf("call %d has id %q, its result answers %q", i, c.ID, msgs[2+i].ToolCallID)
		}
		seen[c.ID] = true
	}
	diff(t, talk(s)[2:5], []string{"tool: a:1", "tool: a:2", "tool: a:3"})
}

func TestEndOfTheTurnByATool(t *testing.T) {
	ask := newTool("ask", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		res := tool.Text("which?")
		res.Goto = tool.End
		return res, nil
	})
	direct := echo("direct")
	direct.spec.ReturnDirect = true
	for _, c := range []struct {
		name  string
		calls []message.Chunk
		last  string
	}{
		{"a result that goes to the end, beside another call", call("a", `{}`, "ask", `{}`), "tool: which?"},
		{"only tools that return directly", call("direct", `{}`, "direct", `{}`), "tool: direct:"},
		{"one of two returns directly", call("direct", `{}`, "a", `{}`), "ai: more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed()
			got := b.mustRun(t,
				mustAgent(t, agent.Config{Model: turns(c.calls, say("more")),
					Tools: []tool.Tool{ask, direct, echo("a")}}))
			if got[len(got)-1] != c.last {
				t.Errorf("got %q, want the last to be %q", got, c.last)
			}
		})
	}
}

func TestLimitEndsWithALastAnswer(t *testing.T) {
	m := fakeModel(func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		if req.Settings.NoTools {
			return stream(say("that is what I have")...)
		}
		return stream(call("a", `{"x":"again"}`)...)
	})
	for _, limit := range []int{1, 2, 3, 4} {
		b := newBed()
		b.rt.Config.MaxSteps = limit
		s, err := mustAgent(t, agent.Config{Model: m, Tools: []tool.Tool{echo("a")}}).
			Run(t.Context(), b.rt, state.State{})
		if err != nil {
			t.Fatal(err)
		}
		got := talk(s)
		if got[len(got)-1] != "ai: that is what I have" {
			t.Errorf("limit %d: ends with %q", limit, got)
		}
		if r := agent.StopState(s, "r").Reason; r != agent.ReasonTurns {
			t.Errorf("limit %d: stop reason %q", limit, r)
		}
		models, ran := 0, 0
		for i, line := range got {
			if line == "tool: a:again" {
				ran++
			}
			if strings.HasPrefix(line, "ai: [") {
				models++
				if !strings.Contains(got[i+1], "tool: ") {
					t.Errorf("limit %d: call is not answered in %q", limit, got)
				}
			}
		}
		if want := (limit + 1) / 2; models != want {
			t.Errorf("limit %d: %d model calls before the last one, want %d", limit, models, want)
		}
		if want := limit / 2; ran != want {
			t.Errorf("limit %d: %d calls ran, want %d", limit, ran, want)
		}
	}
}

func TestAStopFromAMiddlewareEndsWithALastAnswer(t *testing.T) {
	m := fakeModel(func(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
		if req.Settings.NoTools {
			return stream(say("in short")...)
		}
		return stream(call("a", `{}`)...)
	})
	guard := hookOf{name: "Guard", afterModel: func(rt *agent.Runtime, s state.State) agent.Command {
		if agent.StopState(s, rt.RunID).Reason != "" {
			return agent.Command{}
		}
		return agent.Command{Update: agent.Stop(rt, "loop_capped")}
	}}
	b := newBed()
	got := b.mustRun(t, mustAgent(t, agent.Config{Model: m, Tools: []tool.Tool{echo("a")}, StopPrompt: "Sum up."},
		guard))
	diff(t, got, []string{
		"human: do it", "ai: [a {}]", "error tool: This call was not executed: the run reached a limit.",
		"human: Sum up.", "ai: in short",
	})
}

// TestACallWithSeveralQuestions: each has its own interrupt and is answered by itself; of those that it hands on it
// gets the answers by their ids, of its own as its answer. One that asks nothing fails the run.
func TestACallWithSeveralQuestions(t *testing.T) {
	var got []string
	ask := newTool("ask", tool.Idempotent, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		got = append(got, fmt.Sprintf("%s %s", c.Answer, c.Answers))
		err := &tool.InterruptError{}
		for _, id := range []string{"below 1", "below 2"} {
			if c.Answers[id] == nil {
				err.Questions = append(err.Questions, tool.Question{ID: id, Value: json.RawMessage(`1`)})
			}
		}
		if c.Answer == nil {
			err.Questions = append(err.Questions, tool.Question{Value: json.RawMessage(`2`)})
		}
		return nil, err
	})
	a := mustAgent(t, agent.Config{Model: turns(call("ask", `{}`, "ask", `{}`), say("fine")), Tools: []tool.Tool{ask}})
	b := newBed()
	b.rt.Config.ParallelTools = 1
	s, err := a.Run(t.Context(), b.rt, state.State{})
	var waiting *agent.Interrupted
	if !errors.As(err, &waiting) || len(waiting.Interrupts) != 6 || waiting.Interrupts[0].InterruptID != "below 1" ||
		waiting.Interrupts[2].InterruptID == waiting.Interrupts[5].InterruptID ||
		waiting.Interrupts[2].CallID != waiting.Interrupts[0].CallID {
		t.Fatalf("got %+v", err)
	}
	first, own := waiting.Interrupts[0].CallID, waiting.Interrupts[2].InterruptID
	resume := func(answers map[string]json.RawMessage) error {
		got = nil
		b.rt.Resume = &agent.Resume{Next: agent.NodeTools,
			Answers: map[string]map[string]json.RawMessage{first: answers}}
		s, err = a.Run(t.Context(), b.rt, s)
		return err
	}
	if err := resume(map[string]json.RawMessage{"below 2": json.RawMessage(`"b"`),
		own: json.RawMessage(`"o"`)}); !errors.As(err, &waiting) ||
		len(waiting.Interrupts) != 4 || waiting.Interrupts[0].InterruptID != "below 1" {
		t.Fatalf("got %+v", err)
	}
	slices.Sort(got)
	diff(t, got, []string{` map[]`, `"o" map[below 2:"b"]`})
	all := map[string]json.RawMessage{"below 1": json.RawMessage(`1`), "below 2": json.RawMessage(`1`),
		own: json.RawMessage(`1`)}
	if err := resume(all); err == nil || errors.As(err, &waiting) {
		t.Errorf("a call that asks nothing: %v", err)
	}
}

func TestInterruptKeepsSiblingsAndResumes(t *testing.T) {
	sibling := 0
	other := newTool("other", tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		sibling++
		return tool.Text("other done"), nil
	})
	ask := newTool("ask", tool.SideEffects, func(_ context.Context, c *tool.Call) (*tool.Result, error) {
		answer, err := c.Ask(map[string]string{"question": "sure?"})
		if err != nil {
			return nil, err
		}
		return tool.Text("you said " + string(answer)), nil
	})
	a := mustAgent(t, agent.Config{Model: turns(call("other", `{}`, "ask", `{}`), say("fine")),
		Tools: []tool.Tool{other, ask}})
	b := newBed()
	s, err := a.Run(t.Context(), b.rt, state.State{})
	var waiting *agent.Interrupted
	if !errors.As(err, &waiting) || len(waiting.Interrupts) != 1 ||
		string(waiting.Interrupts[0].Value) != `{"question":"sure?"}` {
		t.Fatalf("got error %v", err)
	}
	resume := &agent.Resume{Next: b.steps[len(b.steps)-1].Next, Ended: map[string]event.ToolEnd{},
		Answers: map[string]map[string]json.RawMessage{waiting.Interrupts[0].CallID: {waiting.Interrupts[0].InterruptID: json.RawMessage(`"yes"`)}}}
	for _, st := range b.steps {
		for _, e := range st.Events {
			if end, ok := e.Data.(event.ToolEnd); ok {
				resume.Ended[end.CallID] = end
			}
		}
	}
	b.rt.Resume = resume
	b.steps = nil
	s, err = a.Run(t.Context(), b.rt, s)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, talk(s)[2:], []string{"tool: other done", `tool: you said "yes"`, "ai: fine"})
	for _, st := range b.steps {
		for _, e := range st.Events {
			if end, ok := e.Data.(event.ToolEnd); ok && end.Tool == "other" {
				t.Error("the sibling's result is recorded a second time")
			}
		}
	}
	if sibling != 1 {
		t.Errorf("the sibling ran %d times", sibling)
	}
}

func TestResumeAfterACrash(t *testing.T) {
	ran := map[string]int{}
	mk := func(name string, e tool.Effect) fakeTool {
		return newTool(name, e, func(context.Context, *tool.Call) (*tool.Result, error) {
			ran[name]++
			return tool.Text(name + " ran"), nil
		})
	}
	a := mustAgent(t, agent.Config{
		Model: turns(call("unsafe", `{}`, "safe", `{}`, "done", `{}`, "fresh", `{}`), say("ok")),
		Tools: []tool.Tool{mk("unsafe", tool.SideEffects), mk("safe", tool.Idempotent), mk("done", tool.SideEffects),
			mk("fresh", tool.SideEffects)},
	})
	b := newBed()
	b.rt.Config.ParallelTools = 1
	human, ai := message.New(message.Human, "do it"), message.New(message.AI, "")
	human.ID, ai.ID = "h1", "asked"
	for i, n := range []string{"unsafe", "safe", "done", "fresh"} {
		ai.ToolCalls = append(ai.ToolCalls, message.ToolCall{ID: "c" + string(rune('0'+i)), Name: n,
			Args: json.RawMessage(`{}`)})
	}
	s, _, err := state.State{}.Apply(agent.Messages.Append(human, ai))
	if err != nil {
		t.Fatal(err)
	}
	result := message.New(message.Tool, "recorded")
	result.ID, result.ToolCallID = "x", "c2"
	writes, err := agent.Messages.Append(result).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	b.rt.Resume = &agent.Resume{
		Next: agent.NodeTools,
		Started: map[string]event.ToolStart{"c0": {CallID: "c0", MessageID: "asked"},
			"c1": {CallID: "c1", MessageID: "asked"}, "c2": {CallID: "c2", MessageID: "asked"}},
		Ended: map[string]event.ToolEnd{"c2": {CallID: "c2", MessageID: "asked", Writes: writes}},
	}
	s, err = a.Run(t.Context(), b.rt, s)
	if err != nil {
		t.Fatal(err)
	}
	got := talk(s)[2:]
	if !strings.HasPrefix(got[0], "error tool: The outcome of this call is unknown") {
		t.Errorf("the unsafe call got %q", got[0])
	}
	diff(t, got[1:], []string{"tool: safe ran", "tool: recorded", "tool: fresh ran", "ai: ok"})
	diff(t, ran, map[string]int{"safe": 1, "fresh": 1})
}

// looking is a tool that can tell what is left of a call.
type looking struct{ fakeTool }

func (looking) Inspect(_ context.Context, c *tool.Call) string {
	return "It was started with " + string(c.Args) + " in run " + c.RunID + "."
}

func TestAToolTellsWhatIsLeftOfACall(t *testing.T) {
	a := mustAgent(t, agent.Config{Model: turns(call("act", `{"n":1}`), say("ok")),
		Tools: []tool.Tool{looking{newTool("act", tool.SideEffects, nil)}}})
	b := newBed()
	human, ai := message.New(message.Human, "do it"), message.New(message.AI, "")
	human.ID, ai.ID = "h1", "asked"
	ai.ToolCalls = []message.ToolCall{{ID: "c0", Name: "act", Args: json.RawMessage(`{}`)}}
	s, _, err := state.State{}.Apply(agent.Messages.Append(human, ai))
	if err != nil {
		t.Fatal(err)
	}
	started := event.ToolStart{CallID: "c0", MessageID: "asked", Args: json.RawMessage(`{"n":1}`)}
	b.rt.Resume = &agent.Resume{Next: agent.NodeTools, Started: map[string]event.ToolStart{"c0": started}}
	if s, err = a.Run(t.Context(), b.rt, s); err != nil {
		t.Fatal(err)
	}
	got := talk(s)[2]
	if !strings.HasPrefix(got, "error tool: The outcome of this call is unknown") ||
		!strings.HasSuffix(got, `It was started with {"n":1} in run `+b.rt.RunID+".") {
		t.Errorf("got %q", got)
	}
}

func TestIntentIsDurableBeforeASideEffect(t *testing.T) {
	b := newBed()
	act := newTool("act", tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		b.note("act")
		return tool.Text("done"), nil
	})
	look := newTool("look", tool.ReadOnly, func(context.Context, *tool.Call) (*tool.Result, error) {
		b.note("look")
		return tool.Text("seen"), nil
	})
	b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("act", `{}`), call("look", `{}`), say("ok")),
		Tools: []tool.Tool{act, look}}))
	diff(t, b.lines(), []string{
		"commit __start__ -> before_model",
		"commit model message -> tools",
		"commit tool_start -> tools",
		"act",
		"commit tools tool_end -> before_model",
		"commit model message -> tools",
		"emit tool_start",
		"look",
		"commit tools tool_end -> before_model",
		"commit model message -> after_agent",
	})
}

func TestAResultIsDurableWhileSiblingsRun(t *testing.T) {
	b := newBed()
	first := newTool("first", tool.SideEffects, func(context.Context, *tool.Call) (*tool.Result, error) {
		return tool.Text("1"), nil
	})
	second := newTool("second", tool.SideEffects, func(ctx context.Context, _ *tool.Call) (*tool.Result, error) {
		for {
			if slices.Contains(b.lines(), "commit tool_end -> tools") {
				return tool.Text("2"), nil
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			time.Sleep(time.Millisecond)
		}
	})
	first.spec.Timeout, second.spec.Timeout = 5*time.Second, 5*time.Second
	got := b.mustRun(t, mustAgent(t, agent.Config{Model: turns(call("first", `{}`, "second", `{}`), say("ok")),
		Tools: []tool.Tool{first, second}}))
	diff(t, got[2:], []string{"tool: 1", "tool: 2", "ai: ok"})
}

func TestFailures(t *testing.T) {
	boom := errors.New("boom")
	failing := newTool("failing", tool.ReadOnly,
		func(context.Context, *tool.Call) (*tool.Result, error) { return nil, boom })
	panicking := newTool("panicking", tool.ReadOnly,
		func(context.Context, *tool.Call) (*tool.Result, error) { panic("ouch") })
	nothing := newTool("nothing", tool.ReadOnly,
		func(context.Context, *tool.Call) (*tool.Result, error) { return nil, nil })
	slow := newTool("slow", tool.ReadOnly, func(ctx context.Context, _ *tool.Call) (*tool.Result,
		error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	slow.spec.Timeout = 5 * time.Millisecond
	release := make(chan struct{})
	defer close(release)
	deaf := newTool("deaf", tool.ReadOnly,
		func(context.Context, *tool.Call) (*tool.Result, error) { <-release; return tool.Text("late"), nil })
	deaf.spec.Timeout = 5 * time.Millisecond
	for _, c := range []struct{ name, tool, want string }{
		{"a tool's error ends the run and is named", "failing", "tools: failing: boom"},
		{"a panic is an error", "panicking", "tools: panicking: tool panicked: ouch"},
		{"neither result nor error", "nothing", "tools: nothing: the tool returned neither"},
		{"a time-out is a result", "slow", ""},
		{"also of a tool that does not listen", "deaf", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed()
			a := mustAgent(t, agent.Config{Model: turns(call(c.tool, `{}`), say("ok")),
				Tools: []tool.Tool{failing, panicking, nothing, slow, deaf}})
			_, err := a.Run(t.Context(), b.rt, state.State{})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("the results of siblings are kept", func(t *testing.T) {
		b := newBed()
		a := mustAgent(t, agent.Config{Model: turns(call("a", `{"x":"1"}`, "failing", `{}`), say("ok")),
			Tools: []tool.Tool{echo("a"), failing}})
		s, err := a.Run(t.Context(), b.rt, state.State{})
		if !errors.Is(err, boom) || err.Error() != "tools: failing: boom" {
			t.Errorf("got %v", err)
		}
		if got := talk(s); got[len(got)-1] != "tool: a:1" {
			t.Errorf("the sibling's result is lost: %q", got)
		}
	})
	t.Run("a hook's error names its node", func(t *testing.T) {
		b := newBed()
		bad := hookOf{name: "Bad", failAfterModel: boom}
		_, err := mustAgent(t, agent.Config{Model: turns(say("x"))}, bad).Run(t.Context(), b.rt, state.State{})
		if !errors.Is(err, boom) || !strings.HasPrefix(err.Error(), "Bad.after_model: ") {
			t.Errorf("got %v", err)
		}
		if l := b.lines(); l[len(l)-1] != "commit model message -> " {
			t.Errorf("the answer is lost: %q", l)
		}
	})
	t.Run("a failed commit ends the run without another", func(t *testing.T) {
		b := newBed()
		b.failAt = 2
		_, err := mustAgent(t, agent.Config{Model: turns(say("x"))}).Run(t.Context(), b.rt, state.State{})
		if !errors.Is(err, errCommit) || len(b.steps) != 1 {
			t.Errorf("got %v after %d commits", err, len(b.steps))
		}
	})
}

func TestARetriedCallWithdrawsWhatItShowed(t *testing.T) {
	tries := 0
	m := fakeModel(func(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
		tries++
		if tries > 1 {
			return stream(say("second")...)
		}
		return func(yield func(message.Chunk, error) bool) {
			_ = yield(message.Chunk{Text: "fir"}, nil) && yield(message.Chunk{}, errors.New("cut"))
		}
	})
	b := newBed()
	diff(t, b.mustRun(t, mustAgent(t, agent.Config{Model: m}, retry{})), []string{"human: do it", "ai: second"})
	var ids []string
	for _, e := range b.events {
		switch d := e.(type) {
		case event.Chunk:
			ids = append(ids, "chunk "+d.MessageID)
		case event.Discard:
			ids = append(ids, "discard "+d.MessageID)
		}
	}
	diff(t, ids, []string{"chunk m1", "discard m1", "chunk m2"})
	done, ok := b.steps[1].Events[0].Data.(event.Message)
	if !ok || done.MessageID != "m2" || len(done.Chunks) != 1 || done.Chunks[0].Text != len("second") {
		t.Errorf("chunk boundaries: %+v", b.steps[1].Events)
	}
}

type retry struct{}

func (retry) Name() string { return "Retry" }
func (retry) WrapModelCall(ctx context.Context, req *agent.ModelRequest,
	next agent.ModelHandler) (*agent.ModelResponse, error) {
	resp, err := next(ctx, req)
	if err != nil {
		return next(ctx, req)
	}
	return resp, nil
}
