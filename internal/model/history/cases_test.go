package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
)

func human(text string) message.Message { return message.New(message.Human, text) }

// ai is an answer with calls, each given as "id:tool".
func ai(text string, calls ...string) message.Message {
	m := message.Message{Role: message.AI}
	if text != "" {
		m = message.New(message.AI, text)
	}
	for _, c := range calls {
		id, name, _ := strings.Cut(c, ":")
		m.ToolCalls = append(m.ToolCalls, message.ToolCall{ID: id, Name: name, Args: json.RawMessage("{}")})
	}
	return m
}

func result(id, name, text string) message.Message {
	m := message.New(message.Tool, text)
	m.ToolCallID, m.Name = id, name
	return m
}

func pictured(m message.Message, url string) message.Message {
	m.Content = append(m.Content, message.Part{Type: message.PartImage, URL: url})
	return m
}

// lines writes a list so that it can be read: "role: parts [calls]".
func lines(msgs []message.Message) []string {
	out := []string{}
	for _, m := range msgs {
		s := string(m.Role)
		if m.Role == message.Tool {
			s += " " + m.ToolCallID + ":" + m.Name
			if m.Status == message.StatusError {
				s += "!"
			}
		}
		for _, p := range m.Content {
			s += " | " + p.Text
			if p.Type != message.PartText {
				s += "<" + string(p.Type) + ">"
			}
		}
		for _, c := range m.ToolCalls {
			s += fmt.Sprintf(" [%s:%s %s]", c.ID, c.Name, c.Args)
		}
		out = append(out, s)
	}
	return out
}

const gif = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

func TestApply(t *testing.T) {
	invalid := message.Message{Role: message.AI,
		InvalidToolCalls: []message.InvalidToolCall{{ID: "a", Name: "sh", Args: `{"x":"`, Error: "cut off"}}}
	thought := message.Message{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Text: "hm"}}}
	document := message.Message{Role: message.Human,
		Content: []message.Part{{Type: message.PartRaw, Raw: json.RawMessage(`{"type":"document","text":"inside"}`)}}}
	named := human("hi")
	named.Name = "a b"
	ids := Shape{Max: 8, Chars: Chars("a-z0-9_-")}
	const unknown = "! | " + outcomeUnknown
	for _, c := range []struct {
		name  string
		rules Rules
		in    []message.Message
		want  []string
	}{
		{"calls without results", Rules{}, []message.Message{ai("", "a:sh", "b:ls"), result("b", "ls", "x"),
			human("q")},
			[]string{"ai [a:sh {}] [b:ls {}]", "tool a:sh" + unknown, "tool b:ls | x", "human | q"}},
		{"results out of order and behind another message", Rules{},
			[]message.Message{ai("", "a:sh", "b:ls"), result("b", "ls", "x"), human("q"), result("a", "sh", "y")},
			[]string{"ai [a:sh {}] [b:ls {}]", "tool a:sh | y", "tool b:ls | x", "human | q"}},
		{"an orphan", Rules{}, []message.Message{human("q"), result("z", "ls", "x"), result("z", "", "")},
			[]string{"human | q", "human | [Result of \"ls\", whose call is no longer in this conversation:]\n | x"}},
		{"a result twice", Rules{}, []message.Message{ai("", "a:sh"), result("a", "sh", "x"), result("a", "", "y")},
			[]string{"ai [a:sh {}]", "tool a:sh | x",
				"human | [Result of a tool, whose call is no longer in this conversation:]\n | y"}},
		{"an id in two answers belongs to the newer one", Rules{},
			[]message.Message{ai("", "a:sh"), human("q"), ai("", "a:sh"), result("a", "sh", "x")},
			[]string{"ai [a:sh {}]", "tool a:sh" + unknown, "human | q", "ai [a:sh {}]", "tool a:sh | x"}},
		{"removals and strangers", Rules{}, []message.Message{human("q"), {Role: message.Remove, ID: "1"},
			{Role: "developer", Content: human("x").Content}},
			[]string{"human | q", "human | x"}},
		{"an invalid call", Rules{}, []message.Message{invalid},
			[]string{`ai [a:sh {"invalid_arguments":"{\"x\":\""}]`,
				"tool a:sh! | This call was not run: its arguments are not a JSON object. (cut off)"}},
		{"arguments that are no object", Rules{},
			[]message.Message{{Role: message.AI,
				ToolCalls: []message.ToolCall{{ID: "a", Name: "sh", Args: json.RawMessage(`[1]`)}}},
				result("a", "sh", "x")},
			[]string{`ai [a:sh {"invalid_arguments":"[1]"}]`, "tool a:sh | x"}},
		{"a result that names another tool", Rules{}, []message.Message{ai("", "a:sh"), result("a", "ls", "x")},
			[]string{"ai [a:sh {}]", "tool a:sh | x"}},
		{"a call without a name", Rules{}, []message.Message{ai("", "a:"), result("a", "", "x")},
			[]string{"ai [a:unknown_tool {}]", "tool a:unknown_tool | x"}},

		{"a system message later", Rules{System: SystemFirst}, []message.Message{message.New(message.System, "s"),
			human("q"), message.New(message.System, "t")},
			[]string{"system | s", "human | q", "human | t"}},
		{"no system message", Rules{System: SystemNever}, []message.Message{message.New(message.System, "s"),
			human("q")}, []string{"human | s", "human | q"}},
		{"an answer first", Rules{UserFirst: true}, []message.Message{message.New(message.System, "s"), ai("x")},
			[]string{"system | s", "human | " + sayBeginning, "ai | x"}},
		{"an answer last", Rules{NoPrefill: true}, []message.Message{human("q"), ai("x")},
			[]string{"human | q", "ai | x", "human | " + sayContinue}},
		{"an empty answer last", Rules{NoPrefill: true}, []message.Message{human("q"), thought, ai("")},
			[]string{"human | q"}},
		{"nothing", Rules{NoPrefill: true}, nil, []string{"human | " + sayContinue}},
		{"results last", Rules{NoPrefill: true, UserFirst: true},
			[]message.Message{human("q"), ai("", "a:sh"), result("a", "sh", "x")},
			[]string{"human | q", "ai [a:sh {}]", "tool a:sh | x"}},
		{"neighbours", Rules{Alternate: true}, []message.Message{human("q"), human("r"),
			message.New(message.System, "s"), ai("x"), ai("", "a:sh"), result("a", "sh", "y"), human("z")},
			[]string{"human | q\n\nr\n\ns", "ai | x", "human | " + sayContinue, "ai [a:sh {}]", "tool a:sh | y",
				"human | z"}},
		{"neighbours with pictures", Rules{Alternate: true}, []message.Message{human("q"), pictured(human("r"), gif),
			human("s")},
			[]string{"human | q\n\nr | <image> | s"}},
		{"a user behind results", Rules{AnswerResults: true}, []message.Message{ai("", "a:sh"), result("a", "sh", "y"),
			human("z")},
			[]string{"ai [a:sh {}]", "tool a:sh | y", "ai | " + sayRead, "human | z"}},

		{"blank is dropped", Rules{Blank: BlankDropped}, []message.Message{human(" "), thought, ai(" ", "a:sh"),
			result("a", "sh", "\n"), message.New(message.System, "")},
			[]string{"ai |   [a:sh {}]", "tool a:sh"}},
		{"blank is filled", Rules{Blank: BlankFilled}, []message.Message{human(" "), thought, ai(" ", "a:sh"),
			result("a", "sh", "\n"), message.New(message.System, "")},
			[]string{"human | (empty message)", "ai | hm<reasoning> | (no answer)", "ai |   [a:sh {}]",
				"tool a:sh | (no output)"}},
		{"a blank result is filled", Rules{Blank: BlankFilled}, []message.Message{ai("", "a:sh"),
			{Role: message.Tool, ToolCallID: "a", Name: "sh"}}, []string{"ai [a:sh {}]", "tool a:sh | (no output)"}},
		{"a blank text beside another", Rules{Blank: BlankDropped},
			[]message.Message{{Role: message.Human, Content: []message.Part{message.Text(""), message.Text("q")}}},
			[]string{"human | q"}},

		{"pictures of results are shown behind them", Rules{Images: ImagesInUser},
			[]message.Message{pictured(human("q"), gif), ai("", "a:sh", "b:ls"), pictured(result("a", "sh", "y"), gif),
				result("b", "ls", "z")},
			[]string{"human | q | <image>", "ai [a:sh {}] [b:ls {}]",
				"tool a:sh | y | [picture: image/gif, 42 B; it is shown below]", "tool b:ls | z",
				"human | [From the result of sh:] | <image>"}},
		{"an answer's picture", Rules{Images: ImagesInResults},
			[]message.Message{pictured(ai("x"), "https://a.test/b.png"), ai("", "a:sh"),
				pictured(result("a", "sh", "y"), gif)},
			[]string{"ai | x | [picture: https://a.test/b.png; it cannot be shown here]", "ai [a:sh {}]",
				"tool a:sh | y | <image>"}},
		{"a model that cannot see", Rules{Images: ImagesNowhere}, []message.Message{pictured(human("q"), gif)},
			[]string{"human | q | [picture: image/gif, 42 B; this model cannot see pictures]"}},
		{"a raw part of another vendor", Rules{RawTypes: []string{"file"}}, []message.Message{document},
			[]string{"human | [content of a kind that this model cannot read: document]\ninside"}},

		{"a raw part that the wire knows", Rules{RawTypes: []string{"file"}},
			[]message.Message{{Role: message.Human,
				Content: []message.Part{{Type: message.PartRaw,
					Raw: json.RawMessage(`{ "x" : {"type":"y"} , "type" : "file" }`)}}}},
			[]string{"human | <raw>"}},
		{"parts that are nothing", Rules{},
			[]message.Message{{Role: message.Human, Content: []message.Part{message.Text("q"), {Type: message.PartRaw},
				{}, {Type: "video"}}}}, []string{"human | q"}},

		{"ids that do not fit", Rules{IDs: ids}, []message.Message{ai("", "A:sh", ":ls"), result("A", "sh", "x"),
			result("", "ls", "y")},
			[]string{"ai [" + ids.ID("A", 0) + ":sh {}] [" + ids.ID("0\x001", 0) + ":ls {}]", "tool " + ids.ID("A", 0) +
				":sh | x", "tool " + ids.ID("0\x001", 0) + ":ls | y"}},
		{"an empty id", Rules{}, []message.Message{ai("", ":sh"), result("", "sh", "x")},
			[]string{"ai [" + (&Shape{}).ID("0\x000", 0) + ":sh {}]", "tool " + (&Shape{}).ID("0\x000", 0) +
				":sh | x"}},
		{"an id twice in an answer", Rules{IDs: ids}, []message.Message{ai("", "a:sh", "a:ls"), result("a", "sh", "x"),
			result("a", "ls", "y")},
			[]string{"ai [a:sh {}] [" + ids.ID("a", 1) + ":ls {}]", "tool a:sh | x", "tool " + ids.ID("a", 1) +
				":ls | y"}},
		{"an id twice in two answers", Rules{IDs: ids}, []message.Message{ai("", "a:sh", "a:ls"),
			result("a", "sh", "1"), result("a", "ls", "2"), ai("", "a:sh", "a:ls"), result("a", "sh", "3"),
			result("a", "ls", "4")},
			[]string{"ai [a:sh {}] [" + ids.ID("a", 1) + ":ls {}]", "tool a:sh | 1", "tool " + ids.ID("a", 1) +
				":ls | 2",
				"ai [a:sh {}] [" + ids.ID("a", 1) + ":ls {}]", "tool a:sh | 3", "tool " + ids.ID("a", 1) + ":ls | 4"}},
		{"an id in two answers", Rules{}, []message.Message{ai("", "a:sh"), result("a", "sh", "x"), ai("", "a:ls"),
			result("a", "ls", "y")},
			[]string{"ai [a:sh {}]", "tool a:sh | x", "ai [a:ls {}]", "tool a:ls | y"}},
		{"an id in two answers of a request", Rules{IDs: ids, UniqueIDs: true},
			[]message.Message{ai("", "a:sh"), result("a", "sh", "x"), ai("", "a:ls"), result("a", "ls", "y")},
			[]string{"ai [a:sh {}]", "tool a:sh | x", "ai [" + ids.ID("a", 1) + ":ls {}]", "tool " + ids.ID("a", 1) +
				":ls | y"}},
		{"a result without an id before the one with it", Rules{},
			[]message.Message{ai("", "a:sh"), result("", "sh", "x"), result("a", "sh", "y")},
			[]string{"ai [a:sh {}]", "tool a:sh | x",
				"human | [Result of \"sh\", whose call is no longer in this conversation:]\n | y"}},
		{"results without ids", Rules{IDs: ids}, []message.Message{ai("", "a:sh", ":sh", "b:ls"), result("", "sh", "x"),
			result("", "ls", "y"), result("a", "sh", "z"), result("", "ls", "w")},
			[]string{"ai [a:sh {}] [" + ids.ID("0\x001", 0) + ":sh {}] [b:ls {}]", "tool a:sh | z", "tool " +
				ids.ID("0\x001", 0) + ":sh | x", "tool b:ls | y",
				"human | [Result of \"ls\", whose call is no longer in this conversation:]\n | w"}},
		{"names of tools and speakers", Rules{Tools: Shape{Max: 12, Chars: Chars("a-z_")},
			Speakers: Shape{Chars: Chars("a-z_")}},
			[]message.Message{named, ai("", "a:sh.x"), result("a", "sh.x", "y")},
			[]string{"human | hi", "ai [a:sh_x {}]", "tool a:sh_x | y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.rules.Apply(c.in)
			if d := cmp.Diff(c.want, lines(got)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if len(got) > 0 && got[0].Name != strings.ReplaceAll(got[0].Name, " ", "_") {
				t.Errorf("the speaker is %q", got[0].Name)
			}
		})
	}
}

// TestApplyWritesNothingBehindAList: the parts of a message may have room behind them that belongs to somebody else.
func TestApplyWritesNothingBehindAList(t *testing.T) {
	room := []message.Part{message.Text("mine"), message.Text("also mine")}
	msgs := []message.Message{{Role: message.Human, Content: room[:0]}}
	if got := lines((&Rules{Blank: BlankFilled}).Apply(msgs)); got[0] != "human | "+emptyUser ||
		room[0].Text != "mine" {
		t.Errorf("%q, and behind the list stands %q", got, room[0].Text)
	}
}

func TestJoinedSpeakers(t *testing.T) {
	speaker := func(name string) message.Message { m := human("x"); m.Name = name; return m }
	for _, c := range []struct{ second, want string }{{"ann", "ann"}, {"bob", ""}, {"", ""}} {
		out := (&Rules{Alternate: true}).Apply([]message.Message{speaker("ann"), speaker(c.second)})
		if len(out) != 1 || out[0].Name != c.want {
			t.Errorf("ann and %q: %d messages of %q", c.second, len(out), out[0].Name)
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	long := strings.Repeat("ü", 10_000)
	msgs := []message.Message{{Role: message.AI,
		InvalidToolCalls: []message.InvalidToolCall{{ID: "a", Name: long, Error: long}}}, result("z", long, "x")}
	out := (&Rules{Tools: Shape{Max: 64}}).Apply(msgs)
	for _, m := range out {
		if n := len(m.Text()) + len(m.Name); n > 1500 {
			t.Errorf("%s: %d bytes", m.Role, n)
		}
	}
	if len(out) != 3 {
		t.Errorf("%d messages", len(out))
	}
}

func TestShape(t *testing.T) {
	word := Chars("a-zA-Z0-9_-")
	for b := range 256 {
		c := byte(b)
		want := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if word.has(c) != want {
			t.Errorf("%q: has is %t", c, !want)
		}
	}
	for _, c := range []struct {
		shape      Shape
		name, want string
	}{
		{Shape{}, "  any thing, ü", "  any thing, ü"},
		{Shape{Chars: word}, "web.search", "web_search"},
		{Shape{Chars: word}, "日本\xff", "___"},
		{Shape{Chars: word, WordFirst: true}, "9lives", "_9lives"},
		{Shape{Chars: word, Min: 3}, "a", "a00"},
		{Shape{Max: 12}, "üüüüüüü", "üü" + (&Shape{Max: 8, Chars: Chars("a-zA-Z0-9")}).ID("üüüüüüü", 0)},
	} {
		got := c.shape.named(c.name)
		if got != c.want || !c.shape.fits(got) {
			t.Errorf("%q: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestHashedIDs: these texts are on the wire of running threads, and a change would cost each its cached prompt.
func TestHashedIDs(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		want  string
	}{
		{Shape{}, "call_"}, {Shape{Max: 40}, "call_"}, {Shape{Max: 26}, ""},
		{Shape{Max: 64, Chars: Chars("a-zA-Z0-9")}, ""}, {Shape{Min: 9, Max: 9, Chars: Chars("a-zA-Z0-9")}, ""},
		{Shape{Min: 30, Max: 64, Chars: Chars("a-zA-Z0-9_-")}, "call_"},
		{Shape{Max: 16, Chars: Chars("a-zA-Z0-9"), WordFirst: true}, ""},
	} {
		seen := map[string]bool{}
		for i := range 1000 {
			id := c.shape.ID("x", i)
			if !c.shape.fits(id) || seen[id] || !strings.HasPrefix(id, c.want) || id != c.shape.ID("x", i) {
				t.Fatalf("%+v: %q", c.shape, id)
			}
			seen[id] = true
		}
	}
	if got := (&Shape{Min: 9, Max: 9, Chars: Chars("a-zA-Z0-9")}).ID("call_1", 0); got != "yihmVKNki" {
		t.Errorf("got %q", got)
	}
}
