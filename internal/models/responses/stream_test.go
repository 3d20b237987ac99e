package responses

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func textDelta(s string) string {
	return `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":` + s +
		`,"logprobs":[]}`
}

func ending(typ, fields string) string {
	return `{"type":"response.` + typ + `","response":{"id":"r","model":"m-1","output":[],"status":"` + typ + `",` +
		fields + `}}`
}

// TestEnds is about how an answer ends: the finish reason that the middlewares read, or the class that the agent acts
// on.
func TestEnds(t *testing.T) {
	call := itemDone("0", `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`)
	failed := func(code, message string) string {
		return ending("failed", `"error":{"code":"`+code+`","message":"`+message+`"}`)
	}
	tests := []struct {
		name   string
		events []string
		finish string
		class  model.Class
	}{
		{"completed", []string{textDelta(`"a"`), completed}, "stop", ""},
		{"completed with a call", []string{call, completed}, "tool_calls", ""},
		{"out of tokens", []string{textDelta(`"a"`),
			ending("incomplete", `"incomplete_details":{"reason":"max_output_tokens"}`)}, "length", ""},
		{"out of tokens in a call",
			[]string{call, ending("incomplete", `"incomplete_details":{"reason":"max_output_tokens"}`)}, "length", ""},
		{"filtered", []string{ending("incomplete", `"incomplete_details":{"reason":"content_filter"}`)},
			"content_filter", ""},
		{"incomplete for a new reason", []string{ending("incomplete", `"incomplete_details":{"reason":"steered"}`)},
			"steered", ""},
		{"incomplete without a reason", []string{`{"type":"response.incomplete"}`}, "incomplete", ""},
		{"events behind the end", []string{completed, textDelta(`"late"`), failed("server_error", "m")}, "stop", ""},
		{"gateway's mark of the end", []string{textDelta(`"a"`), "[DONE]"}, "", model.ClassTransient},
		{"unknown events alone",
			[]string{`{"type":"response.queued"}`, `{"type":"response.audio.delta","delta":{"x":1}}`}, "",
			model.ClassTransient},
		{"failed", []string{failed("server_error", "m")}, "", model.ClassTransient},
		{"failed without an error", []string{ending("failed", `"error":null`)}, "", model.ClassTransient},
		{"failed without a response", []string{`{"type":"response.failed"}`}, "", model.ClassTransient},
		{"failed by a limit", []string{failed("rate_limit_exceeded", "Rate limit reached")}, "", model.ClassRateLimit},
		{"failed for its length", []string{failed("context_length_exceeded", "m")}, "", model.ClassContextLength},
		{"failed for good", []string{failed("invalid_prompt", "m")}, "", model.ClassBadRequest},
		{"failed for an image", []string{failed("image_too_large", "m")}, "", model.ClassBadRequest},
		{"out of credit", []string{failed("insufficient_quota", "m")}, "", model.ClassQuota},
		{"error event",
			[]string{textDelta(`"a"`),
				`{"type":"error","code":"server_error","message":"The server is overloaded","param":null,"sequence_number":3}`}, "", model.ClassBusy},
		{"error event with an object",
			[]string{`{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"m","param":"input"}}`}, "", model.ClassContextLength},
		{"gateway's error", []string{`{"error":{"message":"m","code":429}}`}, "", model.ClassRateLimit},
		{"item of no shape", []string{`{"type":"response.output_item.added","item":7}`, completed}, "stop", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := play(tt.events...)
			finish := ""
			for _, c := range chunks {
				finish += c.FinishReason
			}
			e := model.AsError(err)
			if finish != tt.finish || (e == nil) != (tt.class == "") || e != nil && e.Class != tt.class {
				t.Errorf("finish %q, error %v; want %q, %q", finish, err, tt.finish, tt.class)
			}
		})
	}
}

// TestWholeAnswers are answers that are not streamed.
func TestWholeAnswers(t *testing.T) {
	const output = `"output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"1=="},` +
		`{"id":"fc_1","type":"function_call","call_id":"c1","name":"f","arguments":"{}"},` +
		`{"id":"rs_2","type":"reasoning","summary":[{"type":"summary_text","text":"b"}],"encrypted_content":"2=="},` +
		`{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"t"}]}]`
	got, err := readWhole(`{"id":"r","status":"completed","error":null,` + output + `}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []message.Part{{Type: message.PartReasoning, Text: "a", Signature: "1=="},
		{Type: message.PartReasoning, Text: "b", Signature: "2=="}, message.Text("t")}
	if d := cmp.Diff(want, got.Content); d != "" || len(got.ToolCalls) != 1 {
		t.Errorf("%s, calls %v", d, got.ToolCalls)
	}
	for in, class := range map[string]model.Class{
		`{"status":"failed","error":{"code":"invalid_prompt","message":"m"}}`: model.ClassBadRequest,
		`{"status":"cancelled","error":null}`:                                 model.ClassTransient,
		`{"status":"queued","error":null}`:                                    model.ClassTransient,
		`{"error":{"message":"m","code":"insufficient_quota"}}`:               model.ClassQuota,
		`{"status":"compl`: model.ClassTransient,
	} {
		if _, err := readWhole(in); model.AsError(err) == nil || model.AsError(err).Class != class {
			t.Errorf("%s: error %v, want %s", in, err, class)
		}
	}
}

func readWhole(in string) (message.Message, error) {
	var b message.Builder
	s := &stream{origin: &wire.Origin{}}
	err := s.origin.Read(strings.NewReader(in), s, func(c message.Chunk, _ error) bool { b.Add(c); return true })
	return b.Message(), err
}

// TestReasoningIsShownAsItComes is what a person sees: the parts of a summary apart, open reasoning as it is.
func TestReasoningIsShownAsItComes(t *testing.T) {
	summary := func(part, text string) string {
		return `{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":` +
			part + `,"delta":"` + text + `"}`
	}
	part := `{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}`
	open := `{"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":0,"content_index":0,"delta":"why"}`
	for name, tt := range map[string]struct {
		events []string
		want   string
	}{
		"two parts":               {[]string{summary("0", "a"), summary("0", "b"), part, summary("1", "c")}, "ab\n\nc"},
		"parts without their own": {[]string{summary("0", "a"), summary("1", "c")}, "a\n\nc"},
		"open":                    {[]string{open}, "why"},
	} {
		if got := hear(t, append(tt.events, completed)...); got.Reasoning() != tt.want {
			t.Errorf("%s: %q, want %q", name, got.Reasoning(), tt.want)
		}
	}
}

// TestTextsAreShownOnce is about servers that leave out deltas, or say at the end what they said before.
func TestTextsAreShownOnce(t *testing.T) {
	all := `{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"hello","logprobs":[]}`
	end := itemDone("0", `{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hello"}]}`)
	for name, events := range map[string][]string{
		"deltas": {textDelta(`"hel"`), textDelta(`"lo"`), all, end}, "half": {textDelta(`"hel"`), all},
		"only the text's end": {all}, "only the item's end": {end},
	} {
		if got := hear(t, append(events, completed)...); got.Text() != "hello" {
			t.Errorf("%s: %q", name, got.Text())
		}
	}
	args := hear(t, `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"a\""}`,
		`{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{\"a\":1}"}`,
		itemDone("0", `{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"}`), completed)
	if len(args.ToolCalls) != 1 || args.ToolCalls[0].ID != "c" || string(args.ToolCalls[0].Args) != `{"a":1}` {
		t.Errorf("calls %+v", args.ToolCalls)
	}
}

// TestWhatComesTwiceIsTakenOnce is about answers that say one thing in two fields or at two places.
func TestWhatComesTwiceIsTakenOnce(t *testing.T) {
	text := `{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"hello"}]}`
	begun := `{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","content":[]}}`
	said := strings.Replace(textDelta(`"hello"`), `"output_index":0`, `"output_index":1`, 1)
	whole := `{"type":"response.completed","response":{"id":"r","model":"m-1","status":"completed","output":[` + text +
		`]}}`
	for name, events := range map[string][]string{
		"a text at another place in the whole answer": {begun, said, whole},
		"a text as refusal, too": {itemDone("0",
			`{"type":"message","content":[{"type":"refusal","text":"hello","refusal":"hello"}]}`), completed},
		"usage and end twice": {`{"type":"response.in_progress","response":{"id":"r","usage":{"input_tokens":1}}}`,
			begun, said,
			ending("completed", `"usage":{"input_tokens":1,"output_tokens":2}`),
			ending("completed", `"usage":{"input_tokens":1,"output_tokens":2}`)},
	} {
		got := hear(t, events...)
		if got.Text() != "hello" || got.Usage != nil && got.Usage.TotalTokens != 3 {
			t.Errorf("%s: %q, %+v", name, got.Text(), got.Usage)
		}
	}
	call := hear(t, `{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}`,
		strings.Replace(whole, text, `{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"}`,
			1))
	if len(call.ToolCalls)+len(call.InvalidToolCalls) != 1 || len(call.ToolCalls) == 1 &&
		string(call.ToolCalls[0].Args) != "{}" {
		t.Errorf("calls %+v, invalid %+v", call.ToolCalls, call.InvalidToolCalls)
	}
}

func TestRefusalIsText(t *testing.T) {
	got := hear(t, `{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"No"}`,
		`{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"No."}`, completed)
	if got.Text() != "No." {
		t.Errorf("%q", got.Text())
	}
}

func TestUsage(t *testing.T) {
	got := hear(t,
		ending("completed", `"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":7},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":120}`))
	want := &message.Usage{InputTokens: 100, OutputTokens: 20, TotalTokens: 120, CacheRead: 60, CacheCreation: 7,
		Reasoning: 5}
	if d := cmp.Diff(want, got.Usage); d != "" {
		t.Error(d)
	}
}

// TestTangledItems is about texts that come in an order that a message cannot keep: the answer is whole, without a
// layout.
func TestTangledItems(t *testing.T) {
	summary := func(part, text string) string {
		return `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":` + part +
			`,"delta":"` + text + `"}`
	}
	open := `{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"o"}`
	sealed := itemDone("0",
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"}],"encrypted_content":"e=="}`)
	for name, tt := range map[string]struct {
		events []string
		want   string
	}{
		"an earlier item": {[]string{textDelta(`"a"`), strings.Replace(textDelta(`"b"`), `"output_index":0`,
			`"output_index":1`, 1), textDelta(`"c"`)}, "abc"},
		"an earlier part":          {[]string{summary("0", "a"), summary("1", "b"), summary("0", "c")}, "a\n\nbc"},
		"a summary behind":         {[]string{open, summary("0", "a")}, "o\n\na"},
		"reasoning behind its end": {[]string{sealed, summary("0", "b")}, "ab"},
		"a part far away":          {[]string{summary("0", "a"), summary("99999", "b")}, "ab"},
	} {
		got := hear(t, append(tt.events, completed)...)
		if said := got.Reasoning() + got.Text(); said != tt.want || got.Kwargs[keyItems] != nil {
			t.Errorf("%s: %q, layout %s", name, said, got.Kwargs[keyItems])
		}
	}
}

// TestMetadataComesOnce is about who answered.
func TestMetadataComesOnce(t *testing.T) {
	chunks, err := play(`{"type":"response.created","response":{"id":"r","model":"m-1","service_tier":"flex","status":"in_progress","output":[]}}`,
		`{"type":"response.in_progress","response":{"id":"r","model":"m-1"}}`, textDelta(`"a"`), completed)
	if err != nil {
		t.Fatal(err)
	}
	want := message.Fields{"id": raw(`"r"`), "model_name": raw(`"m-1"`), "model_provider": raw(`"openai"`),
		"service_tier": raw(`"flex"`)}
	if d := cmp.Diff(want, chunks[0].Metadata); d != "" {
		t.Error(d)
	}
	for _, c := range chunks[1:] {
		if c.Metadata != nil {
			t.Errorf("again: %s", c.Metadata)
		}
	}
}

// everyday are events as an answer mostly has them.
var everyday = []string{
	`{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"aB3"}`,
	`{"type":"response.reasoning_summary_text.delta","sequence_number":0,"item_id":"rs_1","output_index":1,"summary_index":2,"delta":"why \"\u00e4\ud83d"}`,
	`{"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":10,"content_index":0,"delta":""}`,
	`{"type":"response.function_call_arguments.delta","sequence_number":999999999,"item_id":"fc_1","output_index":3,"delta":"{\"a\\n\":"}`,
}

// uncommon are events that are broken, or of another shape than usual.
var uncommon = []string{``, `{`, `{}`, `{"type"}`, `{"type":}`, `{"delta":"a"}`, `{"type":"response.output_text.delta"`,
	`{"type":"response.output_text.delta"}}`,
	`{"type":"response.output_text.delta",}`, `{"type":"response.output_text.delta","delta":null}`,
	`{"type":"response.output_text.delta","delta":"\x"}`, "{\"type\":\"response.output_text.delta\",\"delta\":\"\n\"}",
	`{"type":"response.output_text.delta","item_id":"\x"}`, `{"type":"response.output_text.delta","output_index":01}`,
	`{"type":"response.output_text.delta","output_index":"1"}`, `{"type":"response.output_text.delta","Delta":"a"}`,
	`{"type":"response.output_text.delta","error":"boom"}`, `{"type":"response.completed","response":{}}`,
	`{"type":"response.output_text.delta","sequence_number":}`}

// FuzzStream wants no panic, no success without a finish reason, and a message that goes back as valid JSON.
func FuzzStream(f *testing.F) {
	for _, s := range append(append([]string{completed, `{"type":"error"}`, `<html>`,
		itemDone("0", `{"type":"reasoning","id":"r","summary":[{"text":"a"},{"text":"b"}],"encrypted_content":"e"}`),
		itemDone("2", `{"type":"function_call","call_id":"c","name":"f","arguments":"{","namespace":"n"}`),
		itemDone("-1", `{"type":"message","phase":"commentary","content":[{"type":"refusal","refusal":"x"}]}`),
		itemDone("1", `{"type":"web_search_call","id":"w"}`)}, everyday...), uncommon...) {
		f.Add([]byte("data: " + s + "\n\ndata: " + textDelta(`"a"`) + "\n\ndata: " + completed + "\n\n"))
	}
	f.Add([]byte(`{"status":"completed","output":[{"type":"message","content":[{"text":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var b message.Builder
		finished := false
		s := &stream{origin: &wire.Origin{Provider: "openai"}}
		err := s.origin.Read(iotest.HalfReader(strings.NewReader(string(in))), s, func(c message.Chunk, _ error) bool {
			b.Add(c)
			finished = finished || c.FinishReason != ""
			return true
		})
		if err == nil && !finished {
			t.Error("success without a finish reason")
		}
		if sent := body(Config{}, &model.Request{Messages: []message.Message{b.Message()}}); !json.Valid([]byte(sent)) {
			t.Errorf("no JSON goes back: %s", sent)
		}
	})
}

// FuzzLayout wants valid JSON from any layout, and all of the text and the calls in it.
func FuzzLayout(f *testing.F) {
	for _, s := range []string{`[]`, `null`,
		`[{"type":"message","content":[1,1]},{"type":"function_call","call_id":"c"}]`,
		`[{"type":"reasoning","summary":[2],"encrypted":true},{"type":"message","content":[2]}]`,
		`[{"type":"x","item":{"a":1}},{"type":"function_call","call_id":"c","item":{"b":2}}]`,
		`[{"type":"reasoning","content":[1,-9223372036854775808]}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, layout string) {
		if !json.Valid([]byte(layout)) {
			return
		}
		m := message.Message{Role: message.AI,
			Content:   []message.Part{{Type: message.PartReasoning, Text: "th", Signature: "s"}, message.Text("ab")},
			ToolCalls: []message.ToolCall{{ID: "c", Name: "f", Args: raw(`{}`)}},
			Kwargs:    message.Fields{keyItems: raw(layout)}}
		sent := body(Config{}, &model.Request{Messages: []message.Message{m}})
		if !json.Valid([]byte(sent)) {
			t.Fatalf("no JSON: %s", sent)
		}
		said, calls := "", 0
		for _, it := range itemsOf(&m, true) {
			switch it.Type {
			case typeMessage:
				said += strings.Join(it.content, "")
			case typeCall:
				calls++
			}
		}
		if said != "ab" || calls != 1 {
			t.Errorf("%s: text %q, %d calls", layout, said, calls)
		}
	})
}
