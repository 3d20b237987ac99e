package clarification

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/feature/clarification"
	"github.com/pudu-ai/pudu/internal/feature/conversation"
	"github.com/pudu-ai/pudu/internal/tools/clarify"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// recorder is a fakeModel that keeps what it was sent.
type recorder struct {
	fakeModel

	requests [][]message.Message
}

func (r *recorder) Stream(ctx context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	r.requests = append(r.requests, slices.Clone(req.Messages))
	return r.fakeModel.Stream(ctx, req)
}

// thread is a conversation with the real tool.
type thread struct {
	t      *testing.T
	model  *recorder
	cfg    Config
	others []tool.Tool
	state  state.State
	mu     sync.Mutex
	ran    map[string]int
}

func newThread(t *testing.T, turns ...[]message.ToolCallChunk) *thread {
	t.Helper()
	th := &thread{t: t, model: &recorder{fakeModel: fakeModel{turns: turns}}, ran: map[string]int{}}
	th.others = []tool.Tool{&counter{"ls", tool.ReadOnly, th}, &counter{"send", tool.SideEffects, th}}
	return th
}

// counter is a tool that counts its runs.
type counter struct {
	name   string
	effect tool.Effect
	th     *thread
}

func (c *counter) Spec() tool.Spec { return tool.Spec{Name: c.name, Effect: c.effect} }
func (c *counter) Run(context.Context, *tool.Call) (*tool.Result, error) {
	c.th.mu.Lock()
	defer c.th.mu.Unlock()
	c.th.ran[c.name]++
	return tool.Text(c.name + " ran"), nil
}

// run makes one run with the input and returns its new messages behind it.
func (th *thread) run(rt *agent.Runtime, input ...message.Message) []message.Message {
	th.t.Helper()
	a, err := agent.New(agent.Config{Model: th.model, Tools: append(th.others, clarify.New())}, New(th.cfg))
	if err != nil {
		th.t.Fatal(err)
	}
	if len(input) > 0 {
		if rt.Input, err = agent.AddMessages(th.state, input, func() string { return "in-" + rt.RunID }); err != nil {
			th.t.Fatal(err)
		}
	}
	before := len(agent.Messages.Get(th.state))
	if th.state, err = a.Run(th.t.Context(), rt, th.state); err != nil {
		th.t.Fatal(err)
	}
	return agent.Messages.Get(th.state)[before+len(input):]
}

func (th *thread) say(runID, text string) []message.Message {
	th.t.Helper()
	return th.run(&agent.Runtime{RunID: runID}, message.New(message.Human, text))
}

func call(index int, name string) message.ToolCallChunk {
	return message.ToolCallChunk{Index: index, ID: name, Name: name, Args: "{}"}
}

// TestClarification_ParallelWithOthersWaits: in the original the loop goes on and the model answers itself. All run,
// with the real tool, wherever the question stands; then the user is asked.
func TestClarification_ParallelWithOthersWaits(t *testing.T) {
	question := func(i int) message.ToolCallChunk { return ask(i, "q", `{"question":"Which?","options":["a","b"]}`) }
	for name, calls := range map[string][]message.ToolCallChunk{
		"first":                 {question(0), call(1, "ls"), call(2, "send")},
		"between":               {call(0, "ls"), question(1), call(2, "send")},
		"last":                  {call(0, "ls"), call(1, "send"), question(2)},
		"alone":                 {question(0)},
		"beside an unknown one": {call(0, "fly"), question(1)},
	} {
		t.Run(name, func(t *testing.T) {
			th := newThread(t, calls)
			msgs := th.say("r1", "go")
			if len(th.model.requests) != 1 || len(msgs) != 1+len(calls) {
				t.Fatalf("%d model calls, %d messages", len(th.model.requests), len(msgs))
			}
			for _, c := range calls {
				if c.Name != "ask_clarification" && c.Name != "fly" && th.ran[c.Name] != 1 {
					t.Errorf("%s ran %d times", c.Name, th.ran[c.Name])
				}
			}
			if open, _ := clarification.Open(msgs); len(open) != 1 {
				t.Errorf("%d questions are open", len(open))
			}
			th.say("r2", "a")
			if last := th.model.requests[1]; len(th.model.requests) != 2 || last[len(last)-1].Text() != "a" {
				t.Errorf("%d model calls after the answer", len(th.model.requests))
			}
		})
	}
}

// TestClarification_ParallelSurvivesACrash: the question is answered and its sibling is not when the process dies; the
// resumed run ends, too.
func TestClarification_ParallelSurvivesACrash(t *testing.T) {
	th := newThread(t, []message.ToolCallChunk{ask(0, "q", `{"question":"Which?"}`), call(1, "ls")})
	resume := agent.Resume{Next: agent.NodeTools, Started: map[string]event.ToolStart{},
		Ended: map[string]event.ToolEnd{}}
	var before state.State
	th.run(&agent.Runtime{RunID: "r1", Commit: func(_ context.Context, s agent.Step) error {
		if s.Next == agent.NodeTools && len(s.Updates) > 0 {
			before = s.State
		}
		for _, e := range s.Events {
			if end, ok := e.Data.(event.ToolEnd); ok && end.Tool == "ask_clarification" && end.Writes != nil {
				resume.Ended[end.CallID] = end
			}
		}
		return nil
	}}, message.New(message.Human, "go"))
	if len(resume.Ended) == 0 { // it came last: its result is in the step that we lose
		resume.Ended = nil
	}
	th.state = before
	msgs := th.run(&agent.Runtime{RunID: "r1", Resume: &resume})
	if open, _ := clarification.Open(msgs); len(th.model.requests) != 1 || len(open) != 1 {
		t.Fatalf("%d model calls, %d questions", len(th.model.requests), len(open))
	}
}

// TestClarification_DisabledGoesOn: with the real tool, alone and beside another.
func TestClarification_DisabledGoesOn(t *testing.T) {
	for _, calls := range [][]message.ToolCallChunk{{ask(0, "q", `{"question":"Which?"}`)},
		{call(0, "ls"), ask(1, "q", `{"question":"Which?"}`)}} {
		th := newThread(t, calls)
		th.cfg.Disabled = true
		if msgs := th.say("r1", "go"); len(th.model.requests) != 2 || msgs[len(msgs)-1].Text() != "done" {
			t.Errorf("%d model calls", len(th.model.requests))
		}
	}
}

// reply is a message as clients send it.
func reply(kwargs string, content ...message.Part) message.Message {
	return message.Message{Role: message.Human, Content: content, Kwargs: message.Fields{
		message.KeyHidden: json.RawMessage("true"), conversation.KeyReply: json.RawMessage(kwargs),
	}}
}

// TestClarification_ReplyDaysLater: after other turns, and in a run of its own.
func TestClarification_ReplyDaysLater(t *testing.T) {
	const kwargs = `{"version":1,"kind":"human_input_response","source":"ask_clarification","request_id":"clarification:q","response_kind":"option","option_id":"option-1","value":"r"}`
	th := newThread(t,
		[]message.ToolCallChunk{ask(0, "q",
			`{"question":"Which colour?","options":[{"label":"Red","value":"r"},"Blue"]}`)})
	th.say("r1", "paint it")
	th.say("r2", "what time is it?")
	th.run(&agent.Runtime{RunID: "r3"}, reply(kwargs))
	want := `Answer to your question "Which colour?": Red (r)`
	first, stored := th.model.requests[2], agent.Messages.Get(th.state)
	if got := first[len(first)-1].Text(); got != want {
		t.Errorf("the model reads %q", got)
	}
	m := stored[len(stored)-2]
	if m.Text() != want || !conversation.IsReply(m) || !conversation.Hidden(m) {
		t.Errorf("stored: %+v", m)
	}
	th.say("r4", "thanks")
	second := th.model.requests[3]
	if diff := cmp.Diff(first, second[:len(first)]); diff != "" {
		t.Errorf("the request does not begin with the one before: %s", diff)
	}
}

// TestClarification_FormReply: the fields come back as they were asked.
func TestClarification_FormReply(t *testing.T) {
	th := newThread(t,
		[]message.ToolCallChunk{ask(0,
			"q",
			`{"question":"Your trip?","fields":[{"name":"city","label":"City"},{"name":"n","label":"Days","type":"number"}]}`)})
	th.say("r1", "plan")
	th.run(&agent.Runtime{RunID: "r2"},
		reply(`{"kind":"human_input_response","request_id":"clarification:q","value":{"n":3,"city":"Lisbon"}}`,
			message.Text("  ")))
	last := th.model.requests[1]
	if got, want := last[len(last)-1].Text(),
		"  Answer to your question \"Your trip?\":\nCity: Lisbon\nDays: 3"; got != want {
		t.Errorf("%q", got)
	}
}

// TestClarification_ReplyWithWordsIsLeftAlone: most clients write the text themselves.
func TestClarification_ReplyWithWordsIsLeftAlone(t *testing.T) {
	th := newThread(t, []message.ToolCallChunk{ask(0, "q", `{"question":"Which?"}`)})
	th.say("r1", "go")
	for i, m := range []message.Message{
		reply(`{"kind":"human_input_response","request_id":"clarification:q","value":"x"}`, message.Text("I say: x")),
		reply(`"nonsense"`), message.New(message.Human, ""),
	} {
		th.run(&agent.Runtime{RunID: fmt.Sprint("again", i)}, m)
		last := th.model.requests[len(th.model.requests)-1]
		if got := last[len(last)-1].Text(); got != m.Text() {
			t.Errorf("%q became %q", m.Text(), got)
		}
	}
}

// TestClarification_ReplyWithUploads: what the program has put in front of the user's words stays apart from them.
func TestClarification_ReplyWithUploads(t *testing.T) {
	m := reply(`{"kind":"human_input_response","request_id":"gone","value":"blue"}`, message.Text("<current_uploads>"))
	m.ID, m.Kwargs[conversation.KeyUserContent] = "u", json.RawMessage(`""`)
	s, _, err := state.State{}.Apply(agent.Messages.Append(m))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a hook that runs again after a crash changes nothing more
		cmd, err := New(Config{}).BeforeAgent(t.Context(), nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if s, _, err = s.Apply(cmd.Update); err != nil {
			t.Fatal(err)
		}
	}
	got := agent.Messages.Get(s)[0]
	if conversation.OwnText(got) != "blue" || got.Text() != "<current_uploads>blue" {
		t.Errorf("%+v", got)
	}
}

// TestClarification_TypesHaveIcons: all five, and the context comes first.
func TestClarification_TypesHaveIcons(t *testing.T) {
	for kind, icon := range map[string]string{
		"missing_info": "❓", "ambiguous_requirement": "🤔", "approach_choice": "🔀", "risk_confirmation": "⚠️",
		"suggestion": "💡", "other": "❓",
	} {
		th := newThread(t, []message.ToolCallChunk{ask(0, "q", `{"question":"Q?","context":"C.","clarification_type":"`+
			kind+`"}`)})
		msgs := th.say("r1", "go")
		if want := icon + " C.\n\nQ?"; msgs[1].Text() != want || msgs[1].Name != "ask_clarification" ||
			!strings.Contains(string(msgs[1].Artifact), `"input_mode":"free_text"`) {
			t.Errorf("%s: %q", kind, msgs[1].Text())
		}
	}
}

// TestClarification_OptionObjectsShowTheirLabel: in the original the user reads Python.
func TestClarification_OptionObjectsShowTheirLabel(t *testing.T) {
	th := newThread(t,
		[]message.ToolCallChunk{ask(0, "q",
			`{"question":"Q?","options":[{"label":"Red","value":"r"},{"label":"Blue","value":"b"}]}`)})
	msgs := th.say("r1", "go")
	if want := "❓ Q?\n\n  1. Red\n  2. Blue"; msgs[1].Text() != want ||
		!strings.Contains(string(msgs[1].Artifact),
			`[{"id":"option-1","label":"Red","value":"r"},{"id":"option-2","label":"Blue","value":"b"}]`) {
		t.Errorf("%q, %s", msgs[1].Text(), msgs[1].Artifact)
	}
}

// TestClarification_FormThatCannotBeShownStaysAQuestion: names that a browser trips over drop the form as a whole.
func TestClarification_FormThatCannotBeShownStaysAQuestion(t *testing.T) {
	th := newThread(t,
		[]message.ToolCallChunk{ask(0, "q", `{"question":"Q?","fields":[{"name":"city"},{"name":"__proto__"}]}`)})
	msgs := th.say("r1", "go")
	if msgs[1].Text() != "❓ Q?" || strings.Contains(string(msgs[1].Artifact), "fields") ||
		!strings.Contains(string(msgs[1].Artifact), `"version":1`) {
		t.Errorf("%q, %s", msgs[1].Text(), msgs[1].Artifact)
	}
}
