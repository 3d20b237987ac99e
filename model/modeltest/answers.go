package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// answerCase is a fixture and the message that must come out of it.
type answerCase struct {
	name     string
	bytewise bool // deliver each byte by itself
	want     message.Message
}

func answerCases() []answerCase {
	text := func(s string) message.Message { return message.New(message.AI, s) }
	reasoned := func(parts ...message.Part) message.Message { return message.Message{Content: parts} }
	thought := message.Part{Type: message.PartReasoning, Text: "Let me think."}
	two := message.Message{ToolCalls: []message.ToolCall{
		{ID: "call_1", Name: "list_files", Args: json.RawMessage(`{"path":"a"}`)},
		{ID: "call_2", Name: "read_file", Args: json.RawMessage(`{"path":"b"}`)}}}
	return []answerCase{
		// Streamed in at least two pieces.
		{name: "text", want: text("Hello, world!")},
		// Reasoning, then text, then one call.
		{name: "order", want: message.Message{Content: []message.Part{thought, message.Text("I look.")},
			ToolCalls: two.ToolCalls[:1]}},
		{name: "reasoning", want: reasoned(thought, message.Text("42"))},
		{name: "parallel_calls", want: two},
		// The pieces of both calls alternate.
		{name: "interleaved_calls", want: two},
		{name: "calls_without_index", want: two},
		// Spaces, order and number formats of the arguments stay as they are.
		{name: "exact_args", want: message.Message{ToolCalls: []message.ToolCall{
			{ID: "call_1", Name: "list_files", Args: json.RawMessage(`{"path": "a",  "n":1e2, "a":"\u00e4"}`)}}}},
		{name: "no_args", want: message.Message{ToolCalls: []message.ToolCall{
			{ID: "call_1", Name: "list_files", Args: json.RawMessage(`{}`)}}}},
		// The answer reached its limit inside the arguments.
		{name: "cut_args", want: message.Message{InvalidToolCalls: []message.InvalidToolCall{
			{ID: "call_1", Name: "list_files", Args: `{"path":"a`}}}},
		// The arguments are complete and no JSON.
		{name: "bad_args", want: message.Message{InvalidToolCalls: []message.InvalidToolCall{
			{ID: "call_1", Name: "list_files", Args: `{"path": a}`}}}},
		{name: "unicode", bytewise: true, want: text("Grüße, 世界 😀!")},
		// Runes are cut between two events.
		{name: "half_runes", want: text("Grüße, 世界 😀!")},
		// 100 tokens in, 60 of them from the cache; 20 out. The text is "ok".
		{name: "usage", want: message.Message{Content: []message.Part{message.Text("ok")},
			Usage: &message.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120, CacheRead: 60}}},
		// Each event says "error": null.
		{name: "error_null", want: text("Hello, world!")},
		// An answer that is not streamed.
		{name: "whole", want: text("Hello, world!")},
	}
}

func (c answerCase) run(t *testing.T, h Harness) {
	a := load(t, h, c.name)
	a.bytewise = c.bytewise
	_, m := start(t, h, 0, a)
	chunks, err := drain(t, m, &model.Request{Messages: []message.Message{message.New(message.Human, "hi")}})
	if err != nil {
		t.Fatal(err)
	}
	got := fold(chunks)
	compare(t, c.want, got)
	if c.want.Usage != nil {
		u := *got.Usage
		u.CacheCreation, u.Reasoning = 0, 0
		if d := cmp.Diff(*c.want.Usage, u); d != "" {
			t.Errorf("usage (-want +got)\n%s", d)
		}
	}
	checkOrder(t, chunks)
	checkMetadata(t, &got)
}

// view is what the suite compares of a message.
type view struct {
	Parts          [][2]string // type, text
	Calls, Invalid [][3]string // id, name, arguments
}

func viewOf(m message.Message) (v view) {
	for _, p := range m.Content {
		v.Parts = append(v.Parts, [2]string{string(p.Type), p.Text})
	}
	for _, c := range m.ToolCalls {
		v.Calls = append(v.Calls, [3]string{c.ID, c.Name, string(c.Args)})
	}
	for _, c := range m.InvalidToolCalls {
		v.Invalid = append(v.Invalid, [3]string{c.ID, c.Name, c.Args})
	}
	return v
}

func compare(t *testing.T, want, got message.Message) {
	t.Helper()
	if d := cmp.Diff(viewOf(want), viewOf(got)); d != "" {
		t.Errorf("message (-want +got)\n%s", d)
	}
}

// checkOrder wants reasoning before text before calls, as the fixtures tell it, and one finish reason.
func checkOrder(t *testing.T, chunks []message.Chunk) {
	t.Helper()
	var kinds strings.Builder
	finished := 0
	for _, c := range chunks {
		if c.FinishReason != "" {
			finished++
		}
		for _, part := range []struct {
			kind string
			has  bool
		}{{"r", c.Reasoning != ""}, {"t", c.Text != ""}, {"c", len(c.ToolCalls) > 0}} {
			if part.has && !strings.HasSuffix(kinds.String(), part.kind) {
				kinds.WriteString(part.kind)
			}
		}
	}
	if order := kinds.String(); !strings.Contains("rtc", order) && order != "rc" { //nolint:gocritic // any piece of "rtc" will do
		t.Errorf("the chunks came in the order %q, want reasoning, text, calls", order)
	}
	if finished != 1 {
		t.Errorf("%d chunks have a finish reason, want 1", finished)
	}
}

func checkMetadata(t *testing.T, m *message.Message) {
	t.Helper()
	for _, key := range []string{"model_name", "model_provider", "finish_reason", "id"} {
		var s string
		if json.Unmarshal(m.ResponseMetadata[key], &s) != nil || s == "" {
			t.Errorf("response_metadata[%q] = %s, want a text", key, m.ResponseMetadata[key])
		}
	}
}

// drain reads a stream to its end and checks that an error is the last pair and has no chunk.
func drain(t *testing.T, m model.ChatModel, req *model.Request) (chunks []message.Chunk, last error) {
	t.Helper()
	for c, err := range m.Stream(t.Context(), req) {
		if last != nil {
			t.Fatal("the stream went on after an error")
		}
		if last = err; err == nil {
			chunks = append(chunks, c)
		} else if d := cmp.Diff(message.Chunk{}, c); d != "" {
			t.Errorf("the error came with a chunk: %s", d)
		}
	}
	return chunks, last
}

func fold(chunks []message.Chunk) message.Message {
	var b message.Builder
	for _, c := range chunks {
		b.Add(c)
	}
	return b.Message()
}
