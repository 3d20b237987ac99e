package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// someTools are offered: one whose parameters have types, and one of which nothing is known.
var someTools = []model.Tool{
	{Name: "ls", Parameters: raw(`{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer"},
		"all":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"sizes":{"type":["array","null"]},"text":{"type":"string"}}}`)},
	{Name: "now"}}

func proseOf(dialect string, tools []model.Tool) *prose {
	return newProse(findDialect(dialect, ""), &model.Request{Tools: tools})
}

// readAll reads a text in pieces of these sizes, the last one for all that follow.
func readAll(p *prose, text string, sizes ...int) (all found) {
	var said, thought strings.Builder
	add := func(f found) {
		said.WriteString(f.text)
		thought.WriteString(f.reasoning)
		all.calls = append(all.calls, f.calls...)
	}
	for i := 0; text != ""; i++ {
		n := min(len(text), max(1, sizes[min(i, len(sizes)-1)]))
		add(p.read(text[:n]))
		text = text[n:]
	}
	add(p.finish())
	all.text, all.reasoning = said.String(), thought.String()
	return all
}

func (f found) String() string {
	var b strings.Builder
	if f.reasoning != "" {
		b.WriteString("(" + f.reasoning + ")")
	}
	b.WriteString(f.text)
	for _, c := range f.calls {
		b.WriteString("|" + c.id + ":" + c.name + " " + c.args)
	}
	return b.String()
}

// proseTests are texts and what is found in them: "(reasoning)text|id:name args".
var proseTests = []struct{ name, in, want string }{
	{"text", "Hello < [x] ` \n\n world\n", "Hello < [x] ` \n\n world\n"},
	{"only space", "\n\n", "\n\n"},
	{"reasoning", "<think>\nI do\n</think>\n\nHello", "(I do)Hello"},
	{"reasoning behind space", "\n <think>a</think>b", "(a)b"},
	{"reasoning cut off", "<think>I do <\n", "(I do <\n)"},
	{"empty reasoning", "<think>\n\n</think>\n\nHello", "Hello"},
	{"reasoning later is text", "So: <think>a</think>b", "So: <think>a</think>b"},
	{"start of a tag", "<thin air", "<thin air"},
	{"text that ends like a marker", "a\n<tool_c", "a\n<tool_c"},

	{"Hermes",
		"Let me look.\n<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"a\",  \"n\":1e2}}\n</tool_call>",
		`Let me look.|:ls {"path": "a",  "n":1e2}`},
	{"Hermes, two calls",
		"<tool_call>{\"name\":\"ls\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"now\"}</tool_call>\n",
		`|:ls {}|:now `},
	{"Hermes, text around", "a\n\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>\nb\n", "a\nb\n|:now {}"},
	{"Hermes, the end inside a string",
		"<tool_call>{\"name\":\"ls\",\"arguments\":{\"path\":\"</tool_call>\"}}</tool_call>",
		`|:ls {"path":"</tool_call>"}`},
	{"Hermes, arguments in a string", `<tool_call>{"name":"ls","arguments":"{\"path\":\"ä\"}"}</tool_call>`,
		`|:ls {"path":"ä"}`},
	{"Hermes, no end", `<tool_call>{"name":"ls","arguments":{"path":"a"}}`, `|:ls {"path":"a"}`},
	{"Hermes, one brace less", "<tool_call>{\"name\":\"ls\",\"arguments\":{\"path\":\"a\"}\n</tool_call>",
		`|:ls {"path":"a"}`},
	{"Hermes, one brace more", `<tool_call>{"name":"ls","arguments":{"path":"a"}}}</tool_call>`, `|:ls {"path":"a"}`},
	{"Hermes, cut off", `<tool_call>{"name":"ls","arguments":{"path":"a`, `|:ls {"path":"a`},
	{"Hermes, broken", `<tool_call>{"name":"ls","arguments":{path:1}}</tool_call> b`, ` b|:ls {path:1}}`},
	{"Hermes, broken before its name", `<tool_call>{"nam":"ls"}</tool_call>b`, `<tool_call>{"nam":"ls"}</tool_call>b`},
	{"reasoning and call", "<think>a</think>\n<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>",
		"(a)|:now {}"},
	{"a call in reasoning", "<think><tool_call>{\"name\":\"now\"}</tool_call></think>b",
		`(<tool_call>{"name":"now"}</tool_call>)b`},

	{"about calls", "Write <tool_call>{\"name\":\"now\"}</tool_call> to call.",
		"Write <tool_call>{\"name\":\"now\"}</tool_call> to call."},
	{"about the tag", "<tool_call> tags hold calls\n<tool_call>\n<b>", "<tool_call> tags hold calls\n<tool_call>\n<b>"},
	{"in a fence",
		"So:\n```\n<tool_call>{\"name\":\"now\"}</tool_call>\n```\n<tool_call>{\"name\":\"now\"}</tool_call>",
		"So:\n```\n<tool_call>{\"name\":\"now\"}</tool_call>\n```|:now "},

	{"Qwen-Coder", "<tool_call>\n<function=ls>\n<parameter=path>\na\nb</parameter> \n</parameter>\n<parameter=depth>\n3\n</parameter>\n</function>\n</tool_call>",
		`|:ls {"path":"a\nb</parameter> ","depth":3}`},
	{"function alone",
		"<function=ls><parameter=path>7</parameter><parameter=depth>x</parameter></function><function=now></function>",
		`|:ls {"path":"7","depth":"x"}|:now {}`},
	{"types", "<function=ls><parameter=all>true</parameter><parameter=sizes>[1]</parameter><parameter=text>{\"a\":1}</parameter><parameter=other>{\"a\": 1}</parameter></function>",
		`|:ls {"all":true,"sizes":[1],"text":"{\"a\":1}","other":{"a": 1}}`},
	{"function cut off", "<tool_call><function=ls><parameter=path>a", "|:ls <parameter=path>a"},
	{"function without end of a parameter", "<function=ls><parameter=path>a</function>\nb",
		"|:ls <parameter=path>a</function>\nb"},

	{"GLM",
		"<tool_call>ls\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>depth</arg_key>\n<arg_value>2</arg_value>\n</tool_call>", `|:ls {"path":"a","depth":2}`},
	{"GLM without arguments", "<tool_call>now</tool_call>", `|:now {}`},
	{"GLM cut off", "<tool_call>ls\n<arg_key>path</arg_key>\n<arg_value>a",
		"|:ls <arg_key>path</arg_key>\n<arg_value>a"},

	{"Mistral",
		`[TOOL_CALLS] [{"name": "ls", "arguments": {"path": "a"}, "id": "abcdefghi"}, {"name": "now", "arguments": {}}]`, `|abcdefghi:ls {"path": "a"}|:now {}`},
	{"Mistral, newer", `I look.[TOOL_CALLS]ls[ARGS]{"path": "a"}[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}`,
		`I look.|:ls {"path": "a"}|abcdefghi:now {}`},
	{"a list that is none", "[TOOL_CALLS] are calls", "[TOOL_CALLS] are calls"},
	{"Mistral cut off", `[TOOL_CALLS] [{"name": "ls", "argu`, `[TOOL_CALLS] [{"name": "ls", "argu`},

	{"Llama", `<|python_tag|>{"name": "ls", "parameters": {"path": "a"}}; {"name":"now","parameters":{}}`,
		`|:ls {"path": "a"}|:now {}`},
	{"a program", "<|python_tag|>print(1)", "<|python_tag|>print(1)"},

	{"DeepSeek R1",
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{\"path\": \"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", `|:ls {"path": "a"}`},
	{"DeepSeek V3.1", "I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{\"path\": \"a\"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		`I look.|:ls {"path": "a"}|:now {}`},
	{"DeepSeek V3.1 cut off", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ls<｜tool▁sep｜>{\"pa", `|:ls {"pa`},
	{"DeepSeek V3.2", "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"ls\">\n<｜DSML｜parameter name=\"path\" string=\"true\">1</｜DSML｜parameter>\n<｜DSML｜parameter name=\"depth\" string=\"false\">2</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
		`|:ls {"path":"1","depth":2}`},
	{"Kimi", `<|tool_calls_section_begin|><|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`,
		`|functions.ls:0:ls {"path": "a"}|functions.now:1:now {}`},
	{"MiniMax",
		"<minimax:tool_call>\n<invoke name=\"ls\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n</minimax:tool_call>", `|:ls {"path":"a"}`},
}

func TestProse(t *testing.T) {
	for _, tt := range proseTests {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 3, 7, 1 << 20} {
				if d := cmp.Diff(tt.want, readAll(proseOf("generic", someTools), tt.in, size).String()); d != "" {
					t.Errorf("in pieces of %d (-want +got): %s", size, d)
				}
			}
		})
	}
}

func TestCallsNeedTools(t *testing.T) {
	const text = "<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>"
	req := &model.Request{Tools: someTools, Settings: model.Settings{NoTools: true}}
	for name, p := range map[string]*prose{"none": proseOf("generic", nil),
		"forbidden": newProse(findDialect("generic", ""), req), "not looked for": proseOf("gemini", someTools)} {
		if got := readAll(p, text, 1).String(); got != text {
			t.Errorf("%s: %s", name, got)
		}
	}
	if proseOf("openai", someTools) != nil {
		t.Error("the text of OpenAI is looked at")
	}
}

// TestTextGoesOutAtOnce counts what waits behind each piece.
func TestTextGoesOutAtOnce(t *testing.T) {
	for text, waits := range map[string]string{"Hi": "", "Hi ": "", "Hi\n": "\n", "a < b": "", "a\n <tool": "\n <tool",
		"a\n<tool_call>{\"b": "\n<tool_call>{\"b",
		"a\n<tool_call>{b":   "", "a <function=": "", "[TO": "[TO", "[TODO": "", "x <|python_tag|>p": "",
		"```\n<tool_call>": ""} {
		p := proseOf("generic", someTools)
		if got := p.read(text).text; got+waits != text {
			t.Errorf("%q: %q went out, want all but %q", text, got, waits)
		}
	}
}

func TestReasoningOfItsOwnField(t *testing.T) {
	chunks, err := play("generic", deltaEvent(`"reasoning_content":"why"`), deltaEvent(`"content":"<think>a</think>"`),
		stop)
	if err != nil || chunks[0].Reasoning != "why" {
		t.Errorf("%+v, %v", chunks, err)
	}
}

// TestMisleadingTextIsCheap reads four megabytes of markers, and a call that never ends.
func TestMisleadingTextIsCheap(t *testing.T) {
	for _, in := range []string{strings.Repeat("\n<tool_call>{\"", 300_000),
		strings.Repeat("\n<tool_call>{\"name\":\"x\",\"arguments\":{\"a\":\"</tool_call>", 90_000),
		"<tool_call>{\"name\":\"x\",\"arguments\":{\"a\":\"" + strings.Repeat("b", maxCall),
		strings.Repeat("<|tool_calls_section_begin|><|tool_call_begin|>", 90_000)} {
		if got := readAll(proseOf("generic", someTools), in, 4096).String(); len(got) < len(in)*99/100 {
			t.Errorf("%d bytes of %d are left of %.60q", len(got), len(in), in)
		}
	}
}

// FuzzProse wants of any text that the same is found in it however it is cut, that a text without calls comes out whole
// but for space and the tags of its reasoning, and that no call has a name that is not there.
func FuzzProse(f *testing.F) {
	for i, tt := range proseTests {
		f.Add(tt.in, uint8(i), uint8(i/3))
	}
	f.Fuzz(func(t *testing.T, text string, first, then uint8) {
		whole := readAll(proseOf("generic", someTools), text, len(text)+1)
		parts := readAll(proseOf("generic", someTools), text, int(first), int(then%16))
		if d := cmp.Diff(whole.String(), parts.String()); d != "" {
			t.Fatalf("%q: whole and in parts: %s", text, d)
		}
		if plain := readAll(proseOf("generic", nil), text, 5); plain.calls != nil {
			t.Fatal("calls without tools")
		}
		if len(whole.calls) == 0 && bare(whole.reasoning+whole.text) != bare(text) &&
			strings.Replace(bare(text), "<think>", "", 1) != bare(whole.reasoning+whole.text) &&
			strings.Replace(strings.Replace(bare(text), "<think>", "", 1), "</think>", "", 1) != bare(whole.reasoning+
				whole.text) {
			t.Fatalf("%q: found %q", text, whole)
		}
		for _, c := range whole.calls {
			name, _ := json.Marshal(c.name)
			if c.name == "" || !strings.Contains(text, c.name) &&
				!strings.Contains(text, strings.Trim(string(name), `"`)) && !strings.Contains(text, `\`) {
				t.Fatalf("%q: a call of %q", text, c.name)
			}
		}
	})
}

// bare is a text without space.
func bare(s string) string { return strings.Join(strings.Fields(s), "") }

// TestHeldTextOfACutStream: what waited for more comes out when the stream breaks off, and calls of the text are
// numbered with the others.
func TestHeldTextOfACutStream(t *testing.T) {
	s := &stream{origin: &wire.Origin{}, dialect: findDialect("generic", ""), prose: proseOf("generic", someTools)}
	var all message.Builder
	err := s.origin.Read(strings.NewReader("data: "+deltaEvent(`"content":"a\n<tool_call>{\"name\":"`)+"\n\n"), s,
		func(c message.Chunk, _ error) bool {
			all.Add(c)
			return true
		})
	if m := all.Message(); err == nil || m.Text() != "a\n<tool_call>{\"name\":" {
		t.Errorf("%q, %v", m.Text(), err)
	}
}

func TestCallsOfBothKinds(t *testing.T) {
	s := &stream{origin: &wire.Origin{}, dialect: findDialect("generic", ""), prose: proseOf("generic", someTools)}
	var chunks []message.Chunk
	err := s.origin.Read(strings.NewReader("data: "+
		deltaEvent(`"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}]`)+
		"\n\ndata: "+deltaEvent(`"content":"<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>"`)+"\n\ndata: "+
		stop+"\n\n"), s, func(c message.Chunk, _ error) bool {
		chunks = append(chunks, c)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a ls {}", "qEQcBQcyr now {}"}, joinCalls(chunks)); d != "" {
		t.Error(d)
	}
	if got := chunks[len(chunks)-1].FinishReason; got != "tool_calls" {
		t.Errorf("finish reason %q", got)
	}
}
