package message

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBuilder(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	text := func(s string) Chunk { return Chunk{Text: s} }
	call := func(c ToolCallChunk) Chunk { return Chunk{ToolCalls: []ToolCallChunk{c}} }
	reasoning := Part{Type: PartReasoning}
	with := func(p Part, f func(*Part)) Part { f(&p); return p }
	tests := []struct {
		name   string
		chunks []Chunk
		want   Message
	}{
		{"nothing", nil, Message{Role: AI}},
		{"text", []Chunk{text("a"), {}, text("b")}, New(AI, "ab")},
		{"reasoning, then text", []Chunk{{Reasoning: "r"}, {Reasoning: "s"}, text("a")},
			Message{Role: AI, Content: []Part{{Type: PartReasoning, Text: "rs"}, Text("a")}}},
		{"reasoning and text in one chunk", []Chunk{{Text: "a", Reasoning: "r"}},
			Message{Role: AI, Content: []Part{{Type: PartReasoning, Text: "r"}, Text("a")}}},
		{"text around reasoning", []Chunk{text("a"), {Reasoning: "r"}, text("b")},
			Message{Role: AI, List: true, Content: []Part{Text("a"), {Type: PartReasoning, Text: "r"}, Text("b")}}},
		{"a signature closes", []Chunk{{Reasoning: "r"}, {Signature: "s"}, {Reasoning: "t", Signature: "u"}},
			Message{Role: AI, List: true, Content: []Part{
				with(reasoning, func(p *Part) { p.Text, p.Signature = "r", "s" }),
				with(reasoning, func(p *Part) { p.Text, p.Signature = "t", "u" })}}},
		{"a signature alone", []Chunk{{Signature: "s"}, text("a")},
			Message{Role: AI, List: true, Content: []Part{with(reasoning, func(p *Part) { p.Signature = "s" }),
				Text("a")}}},
		{"redacted", []Chunk{{Reasoning: "r"}, {Redacted: "x"}, {Reasoning: "s"}},
			Message{Role: AI, List: true, Content: []Part{
				with(reasoning, func(p *Part) { p.Text = "r" }), with(reasoning, func(p *Part) { p.Redacted = "x" }),
				with(reasoning, func(p *Part) { p.Text = "s" })}}},
		{"calls", []Chunk{
			call(ToolCallChunk{Index: 7, ID: "1", Name: "ls", Args: `{"a":`}),
			call(ToolCallChunk{Index: 2, ID: "2", Name: "now", Extra: Fields{"sig": raw(`"x"`)}}),
			call(ToolCallChunk{Index: 7, ID: "later", Args: `  1}`})}, Message{Role: AI, ToolCalls: []ToolCall{
			{ID: "1", Name: "ls", Args: raw(`{"a":  1}`)},
			{ID: "2", Name: "now", Args: raw("{}"), Extra: Fields{"sig": raw(`"x"`)}}}}},
		{"cut off", []Chunk{call(ToolCallChunk{ID: "1", Name: "ls", Args: `{"a":"b`})},
			Message{Role: AI, InvalidToolCalls: []InvalidToolCall{
				{ID: "1", Name: "ls", Args: `{"a":"b`, Error: "the arguments are cut off after 7 bytes"}}}},
		{"no object", []Chunk{call(ToolCallChunk{Args: `[1]`})}, Message{Role: AI, InvalidToolCalls: []InvalidToolCall{
			{Args: `[1]`, Error: "the arguments are a list, not a JSON object"}}}},
		{"no JSON", []Chunk{call(ToolCallChunk{Args: `path=x`})}, Message{Role: AI, InvalidToolCalls: []InvalidToolCall{
			{Args: `path=x`,
				Error: "the arguments are not JSON: invalid character 'p' looking for beginning of value"}}}},
		{"two objects", []Chunk{call(ToolCallChunk{Args: `{}{}`})},
			Message{Role: AI, InvalidToolCalls: []InvalidToolCall{
				{Args: `{}{}`, Error: "the arguments are not JSON: more text follows the object"}}}},
		{"usage counter by counter", []Chunk{{Usage: &Usage{InputTokens: 5, OutputTokens: 1}},
			{Usage: &Usage{OutputTokens: 9, TotalTokens: 14}}},
			Message{Role: AI, Usage: &Usage{InputTokens: 5, OutputTokens: 9, TotalTokens: 14}}},
		{"metadata", []Chunk{{Metadata: Fields{"a": raw("1"), "b": raw("1")}, Kwargs: Fields{"k": raw("1")}},
			{Metadata: Fields{"b": raw("2")}, FinishReason: "stop"}}, Message{Role: AI,
			ResponseMetadata: Fields{"a": raw("1"), "b": raw("2"), "finish_reason": raw(`"stop"`)},
			Kwargs:           Fields{"k": raw("1")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b Builder
			for _, c := range tt.chunks {
				b.Add(c)
			}
			if d := cmp.Diff(tt.want, b.Message()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := cmp.Diff(tt.want, decode(t, encode(t, b.Message()))); d != "" {
				t.Errorf("does not survive:\n%s", d)
			}
		})
	}
}

func TestBuilderPartialResultsStay(t *testing.T) {
	var b Builder
	first := Chunk{Text: "a", Usage: &Usage{InputTokens: 1}, Metadata: Fields{"m": json.RawMessage("1")},
		ToolCalls: []ToolCallChunk{{Name: "t", Args: "{}", Extra: Fields{"e": json.RawMessage("1")}}}}
	b.Add(first)
	early := b.Message()
	want := encode(t, early)
	b.Add(Chunk{Text: "b", Usage: &Usage{InputTokens: 2}, Metadata: Fields{"m": json.RawMessage("2")},
		FinishReason: "stop", ToolCalls: []ToolCallChunk{{Args: " "}}})
	if got := encode(t, early); got != want {
		t.Errorf("an early result changed:\n%s\n%s", want, got)
	}
	if string(first.Metadata["m"]) != "1" || first.Usage.InputTokens != 1 {
		t.Error("the builder changed a chunk")
	}
}

// TestBuilderIsLinear would take minutes if each chunk copied what came before.
func TestBuilderIsLinear(t *testing.T) {
	var b Builder
	piece := strings.Repeat("x", 16)
	start := time.Now()
	for range 300_000 {
		b.Add(Chunk{Text: piece, ToolCalls: []ToolCallChunk{{Args: piece}}})
	}
	m := b.Message()
	if n := len(m.Text()) + len(m.InvalidToolCalls[0].Args); n != 2*300_000*16 {
		t.Errorf("%d bytes", n)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}
