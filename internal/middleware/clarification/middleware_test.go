package clarification

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel answers with its turns, one a call, and then with plain text.
type fakeModel struct {
	turns [][]message.ToolCallChunk
	calls int
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	c := message.Chunk{Text: "done", FinishReason: "stop"}
	if f.calls < len(f.turns) {
		c = message.Chunk{ToolCalls: f.turns[f.calls], FinishReason: "tool_calls"}
	}
	f.calls++
	return func(yield func(message.Chunk, error) bool) { yield(c, nil) }
}

// named is a tool; ask_clarification must never run.
type named struct {
	name string
	t    *testing.T
}

func (n named) Spec() tool.Spec {
	s := tool.Spec{Name: n.name}
	if n.name == "ask_clarification" {
		s.Parameters = json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"},"options":{"type":"array","items":{"type":"string"}}},"required":["question"]}`)
	}
	return s
}

func (n named) Run(context.Context, *tool.Call) (*tool.Result, error) {
	if n.name == "ask_clarification" {
		n.t.Error("the tool itself ran")
	}
	return tool.Text("ran"), nil
}

func ask(index int, id, args string) message.ToolCallChunk {
	return message.ToolCallChunk{Index: index, ID: id, Name: "ask_clarification", Args: args}
}

// run makes one run on s and returns its new messages after the input.
func run(t *testing.T, m *fakeModel, cfg Config, runID string, s state.State,
	tools ...string) ([]message.Message, state.State) {
	t.Helper()
	c := agent.Config{Model: m}
	for _, name := range tools {
		c.Tools = append(c.Tools, named{name, t})
	}
	a, err := agent.New(c, New(cfg))
	if err != nil {
		t.Fatal(err)
	}
	in := message.New(message.Human, "go")
	in.ID = "in-" + runID
	before := len(agent.Messages.Get(s))
	s, err = a.Run(t.Context(), &agent.Runtime{RunID: runID, Input: agent.Messages.Append(in)}, s)
	if err != nil {
		t.Fatal(err)
	}
	return agent.Messages.Get(s)[before+1:], s
}

func TestQuestionEndsTheTurn(t *testing.T) {
	m := &fakeModel{turns: [][]message.ToolCallChunk{{ask(0, "x", `{"question":"Which one?","options":["a","b"]}`)}}}
	msgs, _ := run(t, m, Config{}, "r", state.State{}, "ask_clarification")
	if m.calls != 1 || len(msgs) != 2 {
		t.Fatalf("%d model calls, %d messages", m.calls, len(msgs))
	}
	q := msgs[1]
	if q.ID != "clarification:x" || q.Name != "ask_clarification" || q.ToolCallID != "x" ||
		q.Status != message.StatusSuccess {
		t.Errorf("message %+v", q)
	}
	if text := q.Text(); !strings.Contains(text, "Which one?") || !strings.Contains(text, "2. b") {
		t.Errorf("text %q", text)
	}
	var shown struct {
		HumanInput struct {
			RequestID string `json:"request_id"`
			Question  string `json:"question"`
		} `json:"human_input"`
	}
	if err := json.Unmarshal(q.Artifact, &shown); err != nil || shown.HumanInput.RequestID != q.ID ||
		shown.HumanInput.Question != "Which one?" {
		t.Errorf("artifact %s", q.Artifact)
	}
}

// TestQuestionBesideAnotherCallEndsTheTurn: the model must wait for the user also when it called something else too.
func TestQuestionBesideAnotherCallEndsTheTurn(t *testing.T) {
	other := message.ToolCallChunk{Index: 1, ID: "y", Name: "ls", Args: "{}"}
	for name, calls := range map[string][]message.ToolCallChunk{
		"first": {ask(0, "x", `{"question":"Which?"}`), other},
		"last":  {other, ask(2, "x", `{"question":"Which?"}`)},
		"two":   {ask(0, "x", `{"question":"Which?"}`), ask(1, "y", `{"question":"And which?"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			m := &fakeModel{turns: [][]message.ToolCallChunk{calls}}
			msgs, _ := run(t, m, Config{}, "r", state.State{}, "ask_clarification", "ls")
			if m.calls != 1 || len(msgs) != 3 {
				t.Fatalf("%d model calls, %d messages", m.calls, len(msgs))
			}
		})
	}
}

func TestArgumentsThatMissTheSchemaStillAsk(t *testing.T) {
	m := &fakeModel{turns: [][]message.ToolCallChunk{{ask(0, "x", `{"question":["Which?"],"options":{"a":{"b":1}}}`)}}}
	if msgs, _ := run(t, m, Config{}, "r", state.State{}, "ask_clarification"); m.calls != 1 ||
		msgs[1].Status != message.StatusSuccess {
		t.Fatalf("%d model calls, %+v", m.calls, msgs)
	}
}

func TestBrokenArgumentsGoBackToTheModel(t *testing.T) {
	m := &fakeModel{turns: [][]message.ToolCallChunk{{ask(0, "x", `{"question": "Whi`)}}}
	if msgs, _ := run(t, m, Config{}, "r", state.State{}, "ask_clarification"); m.calls != 2 ||
		msgs[1].Status != message.StatusError {
		t.Fatalf("%d model calls, %+v", m.calls, msgs)
	}
}

func TestToolThatIsNotOfferedIsNotAnswered(t *testing.T) {
	m := &fakeModel{turns: [][]message.ToolCallChunk{{ask(0, "x", `{"question":"Which?"}`)}}}
	if msgs, _ := run(t, m, Config{}, "r", state.State{}, "ls"); m.calls != 2 || msgs[1].Status != message.StatusError {
		t.Fatalf("%d model calls, %+v", m.calls, msgs)
	}
}

func TestDisabledLetsTheModelDecide(t *testing.T) {
	m := &fakeModel{turns: [][]message.ToolCallChunk{{ask(0, "x", `{"question":"Which?"}`)}}}
	msgs, _ := run(t, m, Config{Disabled: true}, "r", state.State{}, "ask_clarification")
	if m.calls != 2 || msgs[1].Text() != decideAlone || msgs[1].Artifact != nil {
		t.Fatalf("%d model calls, %+v", m.calls, msgs)
	}
}

// TestCallIDThatRepeatsKeepsTheOldQuestion: some models number their calls anew in each turn.
func TestCallIDThatRepeatsKeepsTheOldQuestion(t *testing.T) {
	m := &fakeModel{turns: [][]message.ToolCallChunk{
		{ask(0, "call_0", `{"question":"First?"}`)}, {ask(0, "call_0", `{"question":"Second?"}`)},
	}}
	first, s := run(t, m, Config{}, "r1", state.State{}, "ask_clarification")
	second, s := run(t, m, Config{}, "r2", s, "ask_clarification")
	if len(agent.Messages.Get(s)) != 6 || first[1].ID == second[1].ID {
		t.Fatalf("ids %s and %s", first[1].ID, second[1].ID)
	}
}

// TestCallThatRunsAgainHasTheSameID: after a crash the call is made again from the same state.
func TestCallThatRunsAgainHasTheSameID(t *testing.T) {
	req := &agent.ToolRequest{Spec: tool.Spec{Name: "ask_clarification"},
		Call: tool.Call{ID: "x", RunID: "r", Args: json.RawMessage(`{"question":"Which?"}`)}}
	mw := New(Config{})
	a, errA := mw.WrapToolCall(t.Context(), req, nil)
	b, errB := mw.WrapToolCall(t.Context(), req, nil)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if diff := cmp.Diff(a.MessageID+string(a.Artifact), b.MessageID+string(b.Artifact)); diff != "" {
		t.Fatal(diff)
	}
}
