package danglingtoolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pudu-ai/pudu/message"
	"pgregory.net/rapid"
)

func human(text string) message.Message { return message.New(message.Human, text) }

// ai makes an AI message whose calls are written "id:name".
func ai(id string, calls ...string) message.Message {
	m := message.Message{ID: id, Role: message.AI}
	for _, c := range calls {
		callID, name, _ := strings.Cut(c, ":")
		m.ToolCalls = append(m.ToolCalls, message.ToolCall{ID: callID, Name: name, Args: json.RawMessage(`{"a": 1}`)})
	}
	return m
}

func result(callID, name, text string) message.Message {
	m := message.New(message.Tool, text)
	m.ToolCallID, m.Name = callID, name
	return m
}

// lines renders a history one message a line, so that a test shows all that matters at one look.
func lines(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role)
		for _, c := range m.ToolCalls {
			s += fmt.Sprintf(" [%s:%s %s]", c.ID, c.Name, c.Args)
		}
		if m.Role == message.Tool {
			s += fmt.Sprintf(" %s:%s", m.ToolCallID, m.Name)
		}
		text := m.Text()
		if m.Status == message.StatusError {
			text, _, _ = strings.Cut(text, ":")
			text = "!" + text
		}
		out = append(out, strings.TrimSpace(s+" "+text))
	}
	return out
}

func TestRepair(t *testing.T) {
	const none = "!There is no result"
	tests := []struct {
		name string
		in   []message.Message
		want []string
	}{
		{"unanswered call gets an error", []message.Message{human("q"), ai("m", "x:ls"), human("r")},
			[]string{"human q", `ai [x:ls {"a": 1}]`, "tool x:ls " + none, "human r"}},
		{"one of two answered", []message.Message{ai("m", "x:ls", "y:ls"), result("y", "ls", "ok")},
			[]string{`ai [x:ls {"a": 1}] [y:ls {"a": 1}]`, "tool y:ls ok", "tool x:ls " + none}},
		{"orphan is dropped", []message.Message{result("x", "ls", "ok"), human("q")}, []string{"human q"}},
		{"second result of a call is dropped", []message.Message{ai("m", "x:ls"), result("x", "ls", "1"),
			result("x", "ls", "2")},
			[]string{`ai [x:ls {"a": 1}]`, "tool x:ls 1"}},
		{"result moves behind its call", []message.Message{ai("m", "x:ls"), human("note"), result("x", "ls", "ok")},
			[]string{`ai [x:ls {"a": 1}]`, "tool x:ls ok", "human note"}},
		{"id repeats in a later turn", []message.Message{ai("m", "x:ls"), human("cut off"), ai("n", "x:ls"),
			result("x", "ls", "new")},
			[]string{`ai [x:ls {"a": 1}]`, "tool x:ls " + none, "human cut off", `ai [x:ls {"a": 1}]`,
				"tool x:ls new"}},
		{"result without a name takes its call's", []message.Message{ai("m", "x:ls"), result("x", "", "ok")},
			[]string{`ai [x:ls {"a": 1}]`, "tool x:ls ok"}},
		{"blank name", []message.Message{ai("m", "x: ")},
			[]string{`ai [x:unknown_tool {"a": 1}]`, "tool x:unknown_tool !This call was not run"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if valid(tt.in) {
				t.Fatal("taken for valid")
			}
			if diff := cmp.Diff(tt.want, lines(repair(tt.in))); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestRepairGivesBlankIDs(t *testing.T) {
	tests := []struct {
		name    string
		calls   []string
		results []message.Message
		want    []string // texts in call order; "-" for none
	}{
		{"single", []string{":ls"}, []message.Message{result("", "ls", "1")}, []string{"1"}},
		{"unique names in another order", []string{":ls", ":cat"},
			[]message.Message{result("", "cat", "c"), result("", "ls", "l")}, []string{"l", "c"}},
		{"equal names, all answered", []string{":ls", ":ls"},
			[]message.Message{result("", "ls", "1"), result("", "ls", "2")}, []string{"1", "2"}},
		{"equal names, one missing, is a guess", []string{":ls", ":ls"}, []message.Message{result("", "ls", "1")},
			[]string{"-", "-"}},
		{"names that contradict", []string{":ls", ":ls"},
			[]message.Message{result("", "ls", "1"), result("", "cat", "2")}, []string{"-", "-"}},
		{"no names, all answered", []string{":ls", ":cat"},
			[]message.Message{result("", "", "1"), result("", "", "2")}, []string{"1", "2"}},
		{"repeated id", []string{"x:ls", "x:ls"},
			[]message.Message{result("x", "ls", "1"), result("x", "ls", "2")}, []string{"1", "2"}},
		{"beside a call with an id", []string{"x:ls", ":ls"},
			[]message.Message{result("", "ls", "2"), result("x", "ls", "1")}, []string{"1", "2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := repair(append([]message.Message{ai("m", tt.calls...)}, tt.results...))
			byID := make(map[string]string)
			for _, m := range out[1:] {
				byID[m.ToolCallID] = m.Text()
				if m.Status == message.StatusError {
					byID[m.ToolCallID] = "-"
				}
			}
			var got []string
			for _, c := range out[0].ToolCalls {
				if len(c.ID) > 40 { // the longest that OpenAI takes
					t.Errorf("id %q is too long", c.ID)
				}
				got = append(got, byID[c.ID])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestInvalidCallGoesOutWithEmptyArguments(t *testing.T) {
	m := ai("m")
	m.InvalidToolCalls = []message.InvalidToolCall{
		{ID: "x", Name: "write_file", Args: `{"path": "a`, Error: "unexpected end of JSON input"},
		{ID: "y", Name: "ls", Args: "[]", Error: strings.Repeat("é", 900)},
	}
	in := []message.Message{m, result("y", "ls", "stored answer")}
	out := repair(in)
	want := []string{"ai [x:write_file {}] [y:ls {}]", "tool y:ls stored answer",
		"tool x:write_file !This call was not run"}
	if diff := cmp.Diff(want, lines(out)); diff != "" {
		t.Fatal(diff)
	}
	if text := out[2].Text(); !strings.Contains(text, "unexpected end of JSON input") ||
		!strings.Contains(text, "append") {
		t.Errorf("write_file gets no advice: %s", text)
	}
	if len(out[0].InvalidToolCalls) != 0 || len(in[0].InvalidToolCalls) != 2 {
		t.Error("invalid calls must leave the request and stay in the history")
	}
	if text := repair([]message.Message{m})[2].Text(); len(text) > 700 {
		t.Errorf("the text about bad arguments is %d bytes long", len(text))
	}
}

func TestRawCallsCountOnlyWithoutProperOnes(t *testing.T) {
	raw := json.RawMessage(`[
		{"id":"x","type":"function","function":{"name":"ls","arguments":"{\"p\":1}"}},
		{"id":null,"function":{"name":"cat","arguments":"{\"p\":"}}, 7]`)
	m := ai("m")
	m.Kwargs = message.Fields{"tool_calls": raw, "other": json.RawMessage("1")}
	out := repair([]message.Message{m, result("x", "ls", "ok")})
	if diff := cmp.Diff(`{"p":1}{}`, string(out[0].ToolCalls[0].Args)+string(out[0].ToolCalls[1].Args)); diff != "" {
		t.Fatal(diff)
	}
	if len(out) != 3 || out[0].Kwargs["tool_calls"] != nil || out[0].Kwargs["other"] == nil ||
		m.Kwargs["tool_calls"] == nil {
		t.Errorf("want the raw copy gone from the request alone: %v", out)
	}
	m.ToolCalls = ai("m", "x:ls").ToolCalls
	if !valid([]message.Message{m, result("x", "ls", "ok")}) {
		t.Error("a raw copy beside proper calls is no fault")
	}
}

func TestValidHistoryAllocatesNothing(t *testing.T) {
	in := []message.Message{human("q"), ai("m", "x:ls", "y:ls"), result("y", "ls", "2"), result("x", "ls", "1"),
		ai("n"), human("r")}
	if !valid(in) {
		t.Fatal("taken for broken")
	}
	if n := testing.AllocsPerRun(10, func() { valid(in) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// TestRepairedStartStaysTheSame: what is repaired must not change when the history grows, or the provider's cache
// misses on every request.
func TestRepairedStartStaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := append(rapid.SliceOfN(anyMessage(), 0, 12).Draw(t, "start"), human("next"))
		more := []message.Message{ai("z", "fresh1:ls"), result("fresh1", "ls", "ok"), human("and"),
			ai("zz", "fresh2:ls")}
		before := repair(start)
		after := repair(append(slices.Clip(start), more...))
		if diff := cmp.Diff(before, after[:len(before)]); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEveryHistoryBecomesValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(anyMessage(), 0, 16).Draw(t, "history")
		copied := clone(in)
		out := repair(in)
		checkPaired(t, out)
		if !valid(out) {
			t.Fatal("the repaired history is not valid")
		}
		if diff := cmp.Diff(copied, in); diff != "" {
			t.Fatalf("the stored history changed: %s", diff)
		}
		if diff := cmp.Diff(others(in), others(out)); diff != "" {
			t.Fatalf("other messages changed: %s", diff)
		}
		if valid(in) {
			if diff := cmp.Diff(in, out); diff != "" {
				t.Fatalf("a valid history changed: %s", diff)
			}
		}
	})
}

// checkPaired is what strict providers ask for, written down anew.
func checkPaired(t *rapid.T, msgs []message.Message) {
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		if m.Role == message.Tool {
			t.Fatalf("message %d is an orphan", i)
		}
		want := make(map[string]bool)
		for _, c := range m.ToolCalls {
			if strings.TrimSpace(c.ID) == "" || strings.TrimSpace(c.Name) == "" || want[c.ID] {
				t.Fatalf("message %d: bad call %+v", i, c)
			}
			var obj map[string]any
			if json.Unmarshal(c.Args, &obj) != nil || obj == nil {
				t.Fatalf("message %d: arguments %q", i, c.Args)
			}
			want[c.ID] = true
		}
		for range m.ToolCalls {
			i++
			if i == len(msgs) || msgs[i].Role != message.Tool || !want[msgs[i].ToolCallID] || msgs[i].Name == "" {
				t.Fatalf("message %d is not the result of a call before it", i)
			}
			delete(want, msgs[i].ToolCallID)
		}
	}
}

// others are the messages that are neither results nor have calls.
func others(msgs []message.Message) []string {
	var out []string
	for _, m := range msgs {
		if m.Role != message.Tool {
			out = append(out, string(m.Role)+m.ID+m.Text())
		}
	}
	return out
}

func clone(msgs []message.Message) []message.Message {
	out := make([]message.Message, len(msgs))
	for i, m := range msgs {
		m.ToolCalls = append([]message.ToolCall(nil), m.ToolCalls...)
		m.InvalidToolCalls = append([]message.InvalidToolCall(nil), m.InvalidToolCalls...)
		out[i] = m
	}
	return out
}

func anyMessage() *rapid.Generator[message.Message] {
	ids := rapid.SampledFrom([]string{"", " ", "a", "b", "c"})
	names := rapid.SampledFrom([]string{"", "ls", "cat"})
	args := rapid.SampledFrom([]string{"", "null", "[1]", "{}", `{"x": "y"}`})
	rawText := rapid.SampledFrom([]string{"", "null", "[]", `[{"id":"a","function":{"name":"ls","arguments":"{}"}}]`,
		`[{}, 3]`, "{"})
	return rapid.Custom(func(t *rapid.T) message.Message {
		switch rapid.IntRange(0, 4).Draw(t, "role") {
		case 0:
			return human(ids.Draw(t, "text"))
		case 1, 2:
			return result(ids.Draw(t, "id"), names.Draw(t, "name"), "r")
		}
		m := message.Message{Role: message.AI, ID: ids.Draw(t, "mid")}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			c := message.ToolCall{ID: ids.Draw(t, "id"), Name: names.Draw(t, "name"),
				Args: json.RawMessage(args.Draw(t, "args"))}
			m.ToolCalls = append(m.ToolCalls, c)
		}
		for range rapid.IntRange(0, 1).Draw(t, "invalid") {
			m.InvalidToolCalls = append(m.InvalidToolCalls,
				message.InvalidToolCall{ID: ids.Draw(t, "id"), Name: names.Draw(t, "name")})
		}
		if raw := rawText.Draw(t, "raw"); raw != "" {
			m.Kwargs = message.Fields{"tool_calls": json.RawMessage(raw)}
		}
		return m
	})
}

func FuzzRawCalls(f *testing.F) {
	for _, s := range []string{`[]`, `[{"id":"a","function":{"name":"ls","arguments":"{}"}}]`,
		`[{"function":{"arguments":{}}}]`, `[null,1,"x"]`, `{`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		m := message.Message{Role: message.AI, Kwargs: message.Fields{"tool_calls": json.RawMessage(raw)}}
		for _, c := range rawCalls(&m) {
			var obj map[string]any
			if json.Unmarshal(c.Args, &obj) != nil || obj == nil {
				t.Fatalf("arguments %q of %q", c.Args, raw)
			}
		}
	})
}
