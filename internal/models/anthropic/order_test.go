package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// answerOf is the stream of an answer with these blocks, the text of each in pieces.
func answerOf(blocks []json.RawMessage) string {
	var b strings.Builder
	event := func(name, fields string) { fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", name, name, fields) }
	event("message_start", `,"message":{"id":"msg_1","model":"m","usage":{"input_tokens":1,"output_tokens":1}}`)
	for i, raw := range blocks {
		block, _ := rawjson.Members(raw)
		kind, _ := rawjson.String(block["type"])
		start, deltas := string(raw), []string(nil)
		piece := func(delta, field, text string) {
			half := textPlace(text, len(text)/2) // the API cuts between characters
			for _, s := range []string{text[:half], text[half:]} {
				deltas = append(deltas, `{"type":"`+delta+`","`+field+`":`+string(rawjson.AppendString(nil, s))+`}`)
			}
		}
		switch kind {
		case "text":
			text, _ := rawjson.String(block["text"])
			start = `{"type":"text","text":""}`
			piece("text_delta", "text", text)
		case "thinking":
			text, _ := rawjson.String(block["thinking"])
			signature, _ := rawjson.String(block["signature"])
			start = `{"type":"thinking","thinking":"","signature":""}`
			piece("thinking_delta", "thinking", text)
			piece("signature_delta", "signature", signature)
		case "tool_use":
			start = fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, block["id"], block["name"])
			piece("input_json_delta", "partial_json", string(block["input"]))
		}
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, start))
		for _, d := range deltas {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, i, d))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, i))
	}
	event("message_delta", `,"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}`)
	event("message_stop", "")
	return b.String()
}

// fataler is what a test and a property have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// receive reads an answer and sends it through the codec of the store.
func receive(t fataler, answer string) message.Message {
	t.Helper()
	s := stream{origin: &New(Config{}).client.Origin}
	var b message.Builder
	err := s.origin.Read(strings.NewReader(answer), &s, func(c message.Chunk, _ error) bool { b.Add(c); return true })
	if err != nil {
		t.Fatal(err)
	}
	raw, err := b.Message().AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var stored message.Message
	if err := json.Unmarshal(raw, &stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

// sentBlocks are the blocks of the first message of a request that has only this answer, byte for byte.
func sentBlocks(t fataler, msg message.Message) []string {
	t.Helper()
	raw, _, err := New(Config{NoCache: true}).encode(&model.Request{Messages: []message.Message{msg}})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Messages []struct{ Content []json.RawMessage }
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	if len(body.Messages) == 0 {
		return nil
	}
	var out []string
	for _, b := range body.Messages[0].Content {
		out = append(out, string(b))
	}
	return out
}

func textOf(s string) json.RawMessage {
	return append(rawjson.AppendString([]byte(`{"type":"text","text":`), s), '}')
}

func thinkingBlock(text, signature string) json.RawMessage {
	b := rawjson.AppendString([]byte(`{"type":"thinking","thinking":`), text)
	return append(rawjson.AppendString(append(b, `,"signature":`...), signature), '}')
}

func callOf(id, input string) json.RawMessage {
	return json.RawMessage(`{"type":"tool_use","id":"` + id + `","name":"f","input":` + input + `}`)
}

// TestBlocksGoBackInTheirOrder plays answers of any order and sends them back: the same blocks, byte for byte, in the
// same order. Neighbouring texts have become one.
func TestBlocksGoBackInTheirOrder(t *testing.T) {
	word := rapid.StringMatching(`[a-zäß😀"\\\n]{1,6}`)
	visible := rapid.Custom(func(t *rapid.T) string { return "x" + word.Draw(t, "word") })
	rapid.Check(t, func(t *rapid.T) {
		var blocks []json.RawMessage
		var want []string
		texts := "" // of the neighbours
		flush := func() {
			if texts != "" {
				want, texts = append(want, string(textOf(texts))), ""
			}
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "blocks") {
			var b json.RawMessage
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				s := visible.Draw(t, "text")
				blocks, texts = append(blocks, textOf(s)), texts+s
				continue
			case 1:
				b = thinkingBlock(word.Draw(t, "thinking"), word.Draw(t, "signature"))
			case 2:
				b = append(rawjson.AppendString([]byte(`{"type":"redacted_thinking","data":`), word.Draw(t, "data")),
					'}')
			case 3:
				b = callOf(fmt.Sprint("toolu_", i),
					rapid.SampledFrom([]string{`{}`, `{"a": 1e2}`, `{"b":"ä", "a" :[]}`}).Draw(t, "input"))
			}
			flush()
			blocks, want = append(blocks, b), append(want, string(b))
		}
		flush()
		if d := cmp.Diff(want, sentBlocks(t, receive(t, answerOf(blocks)))); d != "" {
			t.Fatal(d)
		}
	})
}

func TestPositionsAreKeptOnlyWhereTheyTell(t *testing.T) {
	think, call1, call2 := thinkingBlock("t", "s"), callOf("a", "{}"), callOf("b", "{}")
	for _, tt := range []struct {
		name   string
		blocks []json.RawMessage
		want   string
	}{
		{"parts, then calls", []json.RawMessage{think, textOf("x"), call1, call2}, ""},
		{"no calls", []json.RawMessage{textOf("x"), think, textOf("y")}, ""},
		{"interleaved", []json.RawMessage{think, textOf("x"), call1, think, call2}, `{"a":[1,1]}`},
		{"within text", []json.RawMessage{textOf("äx"), call1, textOf("y"), call2}, `{"a":[0,3]}`},
		{"before all", []json.RawMessage{call1, call2, textOf("y")}, `{"a":[0,0],"b":[0,0]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(receive(t, answerOf(tt.blocks)).Kwargs[KeyCallPositions]); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestPositionsThatDoNotFit: a message that was changed since, or comes from a client, still becomes a valid request.
func TestPositionsThatDoNotFit(t *testing.T) {
	for _, tt := range []struct{ positions, want string }{
		{`{"c":[0,1]}`, `x c ä y`},
		{`{"c":[0,2]}`, `x c ä y`}, // in the middle of a character
		{`{"c":[0,99]}`, `xä c y`},
		{`{"c":[9,0]}`, `xä y c`},
		{`{"c":[-1,0]}`, `xä y c`},
		{`{"c":1}`, `xä y c`},
		{`"c"`, `xä y c`},
		{`{"other":[0,0]}`, `xä y c`},
	} {
		msg := message.Message{Role: message.AI,
			Kwargs:    message.Fields{KeyCallPositions: json.RawMessage(tt.positions)},
			Content:   []message.Part{message.Text("xä"), message.Text("y")},
			ToolCalls: []message.ToolCall{{ID: "c", Name: "f"}}}
		var got []string
		for _, raw := range sentBlocks(t, msg) {
			var b struct{ Text, ID string }
			if err := json.Unmarshal([]byte(raw), &b); err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Text+b.ID)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.positions, s, tt.want)
		}
	}
}
