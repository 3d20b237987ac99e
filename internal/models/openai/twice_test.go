package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// TestWhatComesTwiceIsTakenOnce reads answers that say one thing in two places, as servers do that serve clients of
// several ages: whatever the places are, the message has it once.
func TestWhatComesTwiceIsTakenOnce(t *testing.T) {
	const (
		usage = `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}`
		f     = `{"name":"f","arguments":"{\"a\""}`
		rest  = `{"name":"f","arguments":":1}"}`
		ends  = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	)
	tests := []struct {
		name   string
		events []string
		want   string // (reasoning)text|id name args#usage
	}{
		{"a call as function_call and in tool_calls", []string{
			deltaEvent(`"function_call":` + f + `,"tool_calls":[{"index":0,"id":"c","function":` + f + `}]`),
			deltaEvent(`"tool_calls":[{"index":0,"id":"c","function":` + rest + `}],"function_call":` + rest), ends},
			`|c f {"a":1}`},
		{"a call as function_call after tool_calls", []string{
			deltaEvent(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]`),
			deltaEvent(`"function_call":{"name":"f","arguments":"{\"a\":1}"}`), ends}, `|c f {"a":1}`},
		{"a call in tool_calls after function_call", []string{
			deltaEvent(`"function_call":{"name":"f","arguments":"{\"a\":1}"}`),
			deltaEvent(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]`), ends},
			`|PNdkS2Z2Q f {"a":1}`},
		{"function_call beside empty tool_calls", []string{deltaEvent(`"tool_calls":[],"function_call":` + f),
			deltaEvent(`"tool_calls":[null],"function_call":` + rest), ends}, `|PNdkS2Z2Q f {"a":1}`},
		{"a call in tool_calls and in the text", []string{
			deltaEvent(`"content":"<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n</tool_call>","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}]`), ends},
			`|c f {"a":1}`},
		{"text as content and text", []string{`{"choices":[{"index":0,"text":"a","delta":{"content":"a","text":"a"}}]}`,
			stop}, "a"},
		{"text in delta and message",
			[]string{`{"choices":[{"index":0,"delta":{"content":""},"message":{"content":""}}]}`,
				`{"choices":[{"index":0,"message":{"content":"a"},"delta":{"content":"a"}}]}`,
				`{"choices":[{"index":0,"message":{"content":"b"},"delta":{"content":"b"}}]}`, stop}, "ab"},
		{"the whole message at the end", []string{deltaEvent(`"content":"a"`), deltaEvent(`"content":"b"`),
			`{"choices":[{"index":0,"delta":{},"message":{"content":"ab"},"finish_reason":"stop"}]}`}, "ab"},
		{"pieces in message alone", []string{`{"choices":[{"index":0,"message":{"content":"a"}}]}`,
			`{"choices":[{"index":0,"delta":{"role":"assistant"},"message":{"content":"b"}}]}`, stop}, "ab"},
		{"a refusal as content and refusal", []string{deltaEvent(`"content":"No.","refusal":"No."`), stop}, "No."},
		{"reasoning under two names", []string{deltaEvent(`"reasoning":"why","reasoning_content":"why"`), stop},
			"(why)"},
		{"half a rune of reasoning under two names",
			[]string{deltaEvent(`"reasoning":"\ud83e","reasoning_content":"\ud83e"`),
				deltaEvent(`"reasoning":"\udd8c","reasoning_content":"\udd8c"`), stop}, "(🦌)"},
		{"half a rune of reasoning with its details",
			[]string{deltaEvent(`"reasoning":"\ud83e","reasoning_details":[{"type":"reasoning.text","text":"\ud83e"}]`),
				deltaEvent(`"reasoning":"\udd8c","reasoning_details":[{"type":"reasoning.text","text":"\udd8c"}]`),
				stop},
			"(🦌)"},
		{"details with text and summary",
			[]string{deltaEvent(`"reasoning_details":[{"type":"reasoning.text","text":"why","summary":"why"}]`), stop},
			"(why)"},
		{"reasoning beside a thinking block",
			[]string{deltaEvent(`"reasoning_content":"why","content":[{"type":"thinking","thinking":"why"},{"type":"text","text":"a"}]`), stop}, "(why)a"},
		{"a thinking block with a text",
			[]string{deltaEvent(`"content":[{"type":"thinking","thinking":"why","text":"why"},{"type":"text","text":"a"}]`), stop}, "(why)a"},
		{"a thinking block with nothing but a text",
			[]string{deltaEvent(`"content":[{"type":"thinking","text":"why"}]`), stop}, "(why)"},
		{"usage in two events",
			[]string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":` + usage + `}`,
				`{"choices":[],"usage":` + usage + `}`}, "a#10+5=15"},
		{"usage in the choice and beside it",
			[]string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop","usage":` + usage +
				`}],"usage":` + usage + `}`}, "a#10+5=15"},
		{"one half of the usage in each of two events",
			[]string{`{"choices":[],"usage":{"prompt_tokens":10,"total_tokens":10}}`, deltaEvent(`"content":"a"`), stop,
				`{"choices":[],"usage":{"completion_tokens":5}}`}, "a#10+5=15"},
		{"usage so far with every event",
			[]string{`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":10,"completion_tokens":1,"total_tokens":11}}`, stop,
				`{"choices":[],"usage":` + usage + `}`}, "a#10+5=15"},
		{"the end twice", []string{deltaEvent(`"content":"a"`), stop, stop,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`}, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStream(findDialect("vllm", ""), &model.Request{Tools: []model.Tool{{Name: "f"}}})
			s.origin = &wire.Origin{}
			var b message.Builder
			if err := s.origin.Read(strings.NewReader("data: "+strings.Join(tt.events, "\n\ndata: ")+"\n\n"), s,
				func(c message.Chunk, err error) bool {
					b.Add(c)
					return true
				}); err != nil {
				t.Fatal(err)
			}
			m := b.Message()
			if d := cmp.Diff(tt.want, shown(&m)); d != "" {
				t.Error(d)
			}
			if reason := string(m.ResponseMetadata["finish_reason"]); reason != `"stop"` && reason != `"tool_calls"` {
				t.Errorf("finish reason %s", reason)
			}
		})
	}
}

// shown is a message as the test above shows it.
func shown(m *message.Message) string {
	var b strings.Builder
	if r := m.Reasoning(); r != "" {
		b.WriteString("(" + r + ")")
	}
	b.WriteString(m.Text())
	for _, c := range m.ToolCalls {
		b.WriteString("|" + c.ID + " " + c.Name + " " + string(c.Args))
	}
	for _, c := range m.InvalidToolCalls {
		b.WriteString("|invalid " + c.Args)
	}
	if u := m.Usage; u != nil {
		fmt.Fprintf(&b, "#%d+%d=%d", u.InputTokens, u.OutputTokens, u.TotalTokens)
	}
	return b.String()
}
