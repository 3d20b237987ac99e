package message

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decode(t testing.TB, raw string) Message {
	t.Helper()
	var m Message
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatalf("decode %s: %v", raw, err)
	}
	return m
}

func encode(t testing.TB, m Message) string {
	t.Helper()
	b, err := m.AppendJSON(nil)
	if err != nil {
		t.Fatalf("encode %+v: %v", m, err)
	}
	if !json.Valid(b) {
		t.Fatalf("not JSON: %s", b)
	}
	return string(b)
}

// wireMessages are messages as LangGraph put them on the wire.
func wireMessages(t testing.TB) []json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile("testdata/wire.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// keys returns the names of an object's members in order.
func keys(t *testing.T, raw []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, name.(string))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestWireGolden(t *testing.T) {
	for i, raw := range wireMessages(t) {
		m := decode(t, string(raw))
		got := encode(t, m)
		var want, have any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &have); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("message %d (-wire +ours):\n%s", i, d)
		}
		if d := cmp.Diff(keys(t, raw), keys(t, []byte(got))); d != "" {
			t.Errorf("message %d: order of members (-wire +ours):\n%s", i, d)
		}
		if d := cmp.Diff(m, decode(t, got)); d != "" {
			t.Errorf("message %d does not survive:\n%s", i, d)
		}
		if m.Extra != nil {
			t.Errorf("message %d: members not understood: %v", i, m.Extra)
		}
	}
}

func TestEncode(t *testing.T) {
	const tail = `,"additional_kwargs":{},"response_metadata":{},"type":"human","name":null,"id":null}`
	tests := []struct {
		name string
		in   Message
		want string // the content
	}{
		{"no part", Message{Role: Human}, `""`},
		{"no part in a list", Message{Role: Human, List: true}, `[]`},
		{"text", New(Human, "<a> & \u2028 🦌\n"), `"<a> & ` + "\u2028" + ` 🦌\n"`},
		{"text in a list", Message{Role: Human, List: true, Content: []Part{Text("a")}},
			`[{"type":"text","text":"a"}]`},
		{"two texts force a list", Message{Role: Human, Content: []Part{Text("a"), Text("")}},
			`[{"type":"text","text":"a"},{"type":"text","text":""}]`},
		{"extra of a text forces a list",
			Message{Role: Human, Content: []Part{{Type: PartText, Text: "a",
				Extra: Fields{"x": json.RawMessage("[ 1 ]")}}}}, `[{"type":"text","text":"a","x":[ 1 ]}]`},
		{"image", Message{Role: Human, Content: []Part{{Type: PartImage, URL: "https://e/i.png", Detail: "low"}}},
			`[{"type":"image_url","image_url":{"url":"https://e/i.png","detail":"low"}}]`},
		{"raw part", Message{Role: Human, Content: []Part{{Type: PartRaw, Raw: json.RawMessage(`{ "type":"x" }`)}}},
			`[{ "type":"x" }]`},
		{"reasoning of a human stays a block", Message{Role: Human, Content: []Part{{Type: PartReasoning, Text: "r"}}},
			`[{"type":"thinking","thinking":"r"}]`},
		{"bytes that are not UTF-8", New(Human, "a\xff"), "\"a\uFFFD\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, want := encode(t, tt.in), `{"content":`+tt.want+tail; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestReasoningOnTheWire(t *testing.T) {
	r := func(text, sig, redacted string) Part {
		return Part{Type: PartReasoning, Text: text, Signature: sig, Redacted: redacted}
	}
	tests := []struct {
		name   string
		parts  []Part
		list   bool
		kwargs Fields
		want   string // content and additional_kwargs
	}{
		{"plain and text", []Part{r("think", "", ""), Text("hi")}, false, nil,
			`"hi","additional_kwargs":{"reasoning_content":"think"}`},
		{"plain alone", []Part{r("think", "", "")}, false, nil, `"","additional_kwargs":{"reasoning_content":"think"}`},
		{"plain and a list", []Part{r("think", "", ""), Text("hi")}, true, nil,
			`[{"type":"text","text":"hi"}],"additional_kwargs":{"reasoning_content":"think"}`},
		{"signed", []Part{r("think", "sig", ""), Text("hi")}, true,
			nil,
			`[{"type":"thinking","thinking":"think","signature":"sig"},{"type":"text","text":"hi"}],"additional_kwargs":{}`},
		{"redacted", []Part{r("", "", "xyz")}, true, nil,
			`[{"type":"redacted_thinking","data":"xyz"}],"additional_kwargs":{}`},
		{"two", []Part{r("a", "", ""), r("b", "", "")}, true, nil,
			`[{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":"b"}],"additional_kwargs":{}`},
		{"behind text", []Part{Text("hi"), r("a", "", "")}, true, nil,
			`[{"type":"text","text":"hi"},{"type":"thinking","thinking":"a"}],"additional_kwargs":{}`},
		{"name taken", []Part{r("a", "", "")}, true, Fields{"reasoning_content": json.RawMessage("[1]")},
			`[{"type":"thinking","thinking":"a"}],"additional_kwargs":{"reasoning_content":[1]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Message{Role: AI, Content: tt.parts, List: tt.list, Kwargs: tt.kwargs}
			got := encode(t, m)
			if want := `{"content":` + tt.want + `,"response_metadata"`; !strings.HasPrefix(got, want) {
				t.Errorf("got  %s\nwant %s...", got, want)
			}
			if d := cmp.Diff(m, decode(t, got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestDecodeForms(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	image := func(url string, extra Fields) []Part { return []Part{{Type: PartImage, URL: url, Extra: extra}} }
	tests := []struct {
		name, in string
		want     Message
	}{
		{"role instead of type", `{"role":"user","content":"hi"}`, New(Human, "hi")},
		{"OpenAI's message type", `{"type":"message","role":"assistant","content":"hi"}`, New(AI, "hi")},
		{"type and role agree", `{"type":"human","role":"user","content":"hi"}`, New(Human, "hi")},
		{"chunk class", `{"type":"AIMessageChunk","content":"hi","tool_call_chunks":[]}`,
			Message{Role: AI, Content: []Part{Text("hi")}, Extra: Fields{"tool_call_chunks": raw("[]")}}},
		{"developer", `{"role":"developer","content":"hi"}`, New(System, "hi")},
		{"null content",
			`{"type":"ai","content":null,"id":null,"name":null,"additional_kwargs":null,"usage_metadata":null}`,
			Message{Role: AI}},
		{"no content of an ai", `{"role":"assistant"}`, Message{Role: AI}},
		{"bare strings in a list", `{"type":"human","content":["a",{"type":"text","text":"b"}]}`,
			Message{Role: Human, List: true, Content: []Part{Text("a"), Text("b")}}},
		{"last of equal names", `{"type":"ai","type":"human","content":"a","content":"b"}`, New(Human, "b")},
		{"escapes", `{"type":"human","content":"\ud83e\udd8c \ud800 \u003c\n"}`, New(Human, "🦌 \uFFFD <\n")},
		{"unknown members", `{"type":"human","content":"a","example":false,"tool_calls":[ ]}`,
			Message{Role: Human, Content: []Part{Text("a")},
				Extra: Fields{"example": raw("false"), "tool_calls": raw("[ ]")}}},
		{"empty reasoning", `{"type":"ai","content":"a","additional_kwargs":{"reasoning_content":""}}`, New(AI, "a")},
		{"null reasoning", `{"type":"ai","content":"a","additional_kwargs":{"reasoning_content":null}}`, New(AI, "a")},
		{"reasoning_content of a human", `{"type":"human","content":"a","additional_kwargs":{"reasoning_content":"r"}}`,
			Message{Role: Human, Content: []Part{Text("a")}, Kwargs: Fields{"reasoning_content": raw(`"r"`)}}},
		{"image as a string", `{"type":"human","content":[{"type":"image_url","image_url":"https://e/i"}]}`,
			Message{Role: Human, List: true, Content: image("https://e/i", nil)}},
		{"image with members of its own",
			`{"type":"human","content":[{"type":"image_url","image_url":{"url":"u","fps":1},"cache_control":{}}]}`,
			Message{Role: Human, List: true,
				Content: image("u", Fields{"image_url": raw(`{"fps":1}`), "cache_control": raw("{}")})}},
		{"LangChain image with base64",
			`{"type":"human","content":[{"type":"image","base64":"QQ==","mime_type":"image/png","id":"7"}]}`,
			Message{Role: Human, List: true, Content: image("data:image/png;base64,QQ==", Fields{"id": raw(`"7"`)})}},
		{"LangChain image with data",
			`{"type":"human","content":[{"type":"image","source_type":"base64","data":"QQ==","mime_type":"image/png"}]}`, Message{Role: Human, List: true, Content: image("data:image/png;base64,QQ==", nil)}},
		{"LangChain image with url", `{"type":"human","content":[{"type":"image","url":"https://e/i","base64":null}]}`,
			Message{Role: Human, List: true, Content: image("https://e/i", nil)}},
		{"image that names a file", `{"type":"human","content":[{"type":"image", "file_id":"f"}]}`,
			Message{Role: Human, List: true,
				Content: []Part{{Type: PartRaw, Raw: raw(`{"type":"image", "file_id":"f"}`)}}}},
		{"unknown block", `{"type":"human","content":[{"type":"file",  "id":1}, {}]}`, Message{Role: Human, List: true,
			Content: []Part{{Type: PartRaw, Raw: raw(`{"type":"file",  "id":1}`)}, {Type: PartRaw, Raw: raw(`{}`)}}}},
		{"tool", `{"type":"tool","content":"x","tool_call_id":"c","artifact":{"a":  1}}`,
			Message{Role: Tool, Content: []Part{Text("x")}, ToolCallID: "c", Status: StatusSuccess,
				Artifact: raw(`{"a":  1}`)}},
		{"usage without details", `{"type":"ai","content":"","usage_metadata":{"input_tokens":1,"output_tokens":2,"total_tokens":3,"input_token_details":{"audio":1,"cache_creation":1},"output_token_details":null}}`, Message{Role: AI, Usage: &Usage{InputTokens: 1, OutputTokens: 2, TotalTokens: 3, CacheCreation: 1}}},
		{"calls", `{"type":"ai","content":"","tool_calls":[{"name":"a","args":{"a":  1},"id":"1","type":"tool_call","index":0},{"name":"b","args":null,"id":null},{"name":"c"}],"invalid_tool_calls":[{"name":null,"args":"{","id":"2","error":null,"type":"invalid_tool_call"}]}`, Message{Role: AI,
			ToolCalls: []ToolCall{{ID: "1", Name: "a", Args: raw(`{"a":  1}`), Extra: Fields{"index": raw("0")}},
				{Name: "b", Args: raw("{}")}, {Name: "c", Args: raw("{}")}},
			InvalidToolCalls: []InvalidToolCall{{ID: "2", Args: "{"}}}},
		{"OpenAI calls", `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{\"a\":  1}"}},{"id":"2","type":"function","function":{"name":"b","arguments":""}},{"id":"3","type":"function","function":{"name":"c","arguments":"[1]"}},{"id":"4","function":{"name":"d","arguments":{"x":1}}}]}`, Message{Role: AI,
			ToolCalls: []ToolCall{{ID: "1", Name: "a", Args: raw(`{"a":  1}`)},
				{ID: "2", Name: "b", Args: raw("{}")}, {ID: "4", Name: "d", Args: raw(`{"x":1}`)}},
			InvalidToolCalls: []InvalidToolCall{{ID: "3", Name: "c", Args: "[1]",
				Error: "the arguments are a list, not a JSON object"}}}},
		{"remove", `{"type":"remove","id":"__remove_all__","content":""}`, Message{Role: Remove, ID: RemoveAll}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := decode(t, tt.in)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := cmp.Diff(got, decode(t, encode(t, got))); d != "" {
				t.Errorf("does not survive:\n%s", d)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"no object", `"hi"`, "must be an object, not a string"},
		{"null", `null`, "must be an object, not null"},
		{"no type", `{"content":"a"}`, "type is missing"},
		{"unknown type", `{"type":"nobody","content":"a"}`, `type "nobody" is unknown`},
		{"unknown role", `{"role":"nobody","content":"a"}`, `role "nobody" is unknown`},
		{"contradiction", `{"type":"ai","role":"user","content":"a"}`, `type "ai" and role "user" contradict`},
		{"type is a number", `{"type":1}`, "type: must be a string, not a number"},
		{"no content", `{"type":"human"}`, "content: is missing"},
		{"content is a number", `{"type":"human","content":1}`,
			"content: must be a string or a list of blocks, not a number"},
		{"block is a number", `{"type":"human","content":["a",1]}`,
			"content: [1]: must be a string or an object, not a number"},
		{"text without text", `{"type":"human","content":[{"type":"text"}]}`, "content: [0]: text: is missing"},
		{"image without url", `{"type":"human","content":[{"type":"image_url","image_url":{"detail":"low"}}]}`,
			"content: [0]: image_url: has no url"},
		{"image url is a number", `{"type":"human","content":[{"type":"image_url","image_url":{"url":1}}]}`,
			"content: [0]: image_url: url: must be a string"},
		{"image without mime type", `{"type":"human","content":[{"type":"image","base64":"QQ=="}]}`,
			"content: [0]: mime_type: is missing"},
		{"id is a number", `{"type":"human","content":"","id":1}`, "id: must be a string, not a number"},
		{"kwargs are a list", `{"type":"human","content":"","additional_kwargs":[]}`,
			"additional_kwargs: must be an object, not a list"},
		{"tool call is a string", `{"type":"ai","tool_calls":["a"]}`,
			"tool_calls: [0]: must be an object, not a string"},
		{"tool call without name", `{"type":"ai","tool_calls":[{"name":"a"},{"args":{}}]}`,
			"tool_calls: [1]: name: is missing"},
		{"args are a list", `{"type":"ai","tool_calls":[{"name":"a","args":[]}]}`,
			"tool_calls: [0]: args: must be an object, not a list"},
		{"function without name", `{"type":"ai","tool_calls":[{"function":{}}]}`,
			"tool_calls: [0]: function: name: is missing"},
		{"tool message without call", `{"type":"tool","content":""}`, "tool_call_id: is missing"},
		{"status", `{"type":"tool","content":"","tool_call_id":"","status":"ok"}`, `status: "ok" is neither`},
		{"usage", `{"type":"ai","usage_metadata":{"output_token_details":{"reasoning":1.5}}}`,
			"usage_metadata: output_token_details: reasoning: must be an integer, not 1.5"},
		{"too many parts", `{"type":"human","content":[""` + strings.Repeat(`,""`, maxParts) + `]}`,
			"content: more than 10000"},
		{"too many calls", `{"type":"ai","tool_calls":[0` + strings.Repeat(`,0`, maxParts) + `]}`,
			"tool_calls: more than 10000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := New(Human, "before")
			err := m.UnmarshalJSON([]byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if d := cmp.Diff(New(Human, "before"), m); d != "" {
				t.Errorf("changed on error:\n%s", d)
			}
		})
	}
	if err := new(Message).UnmarshalJSON([]byte(`{"type":`)); err == nil {
		t.Error("broken JSON was accepted")
	}
}

func TestEncodeErrors(t *testing.T) {
	bad := json.RawMessage("{")
	tests := []struct {
		name string
		in   Message
		want string
	}{
		{"zero", Message{}, `role "" is unknown`},
		{"kwargs", Message{ID: "m", Role: AI, Kwargs: Fields{"k": bad}},
			`encode message "m": additional_kwargs: k: not valid JSON`},
		{"args cut off", Message{Role: AI, ToolCalls: []ToolCall{{}, {Args: bad}}},
			"tool_calls: [1]: args: not valid JSON"},
		{"args no object", Message{Role: AI, ToolCalls: []ToolCall{{Args: json.RawMessage("1")}}},
			"tool_calls: [0]: args: must be an object"},
		{"artifact", Message{Role: Tool, Artifact: bad}, "artifact: not valid JSON"},
		{"raw part", Message{Role: AI, Content: []Part{{Type: PartRaw}}},
			"content: [0]: a raw part must be a JSON object"},
		{"part type", Message{Role: AI, Content: []Part{{}}}, `content: [0]: part type "" is unknown`},
		{"parts", Message{Role: AI, Content: make([]Part, maxParts+1)}, "content: more than 10000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, err := tt.in.AppendJSON([]byte("x"))
			if b != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, error %v, want %q", b, err, tt.want)
			}
		})
	}
}

func TestDecodeKeepsNothingOfItsInput(t *testing.T) {
	for _, raw := range wireMessages(t) {
		buf := bytes.Clone(raw)
		var m Message
		if err := m.UnmarshalJSON(buf); err != nil {
			t.Fatal(err)
		}
		clear(buf)
		if d := cmp.Diff(decode(t, string(raw)), m); d != "" {
			t.Error(d)
		}
	}
}

func FuzzMessageCodec(f *testing.F) {
	for _, raw := range wireMessages(f) {
		f.Add([]byte(raw))
	}
	for _, s := range []string{
		`{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"s"},{"type":"redacted_thinking","data":""},{"type":"redacted_thinking","data":"d","thinking":"x"}],"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{\"a\":"}}]}`,
		`{"type":"human","content":["a",{"type":"image","url":"u","base64":"b","image_url":"x"},{"type":"image_url","image_url":{"url":"u","x":{}}},{"type":"text","text":null,"y":1}]}`,
		`{"type":"ai","content":"","additional_kwargs":{"reasoning_content":[]},"usage_metadata":{},"x":"` + "\xff" +
			`"}`,
		`{"type":"ai","content":[{"type":"thinking"}],"additional_kwargs":{"reasoning_content":"r"},"invalid_tool_calls":[{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var m, again Message
		if err := m.UnmarshalJSON(raw); err != nil {
			return
		}
		first := encode(t, m)
		if err := again.UnmarshalJSON([]byte(first)); err != nil {
			t.Fatalf("own output %s: %v", first, err)
		}
		if d := cmp.Diff(m, again); d != "" {
			t.Fatalf("decode, encode, decode:\n%s", d)
		}
		if second := encode(t, again); second != first {
			t.Fatalf("no fixed point:\n%s\n%s", first, second)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	for name, m := range benchMessages(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 4096)
			for b.Loop() {
				if _, err := m.AppendJSON(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+", to be kept", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.AppendJSON(nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, m := range benchMessages(b) {
		raw := []byte(encode(b, m))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				var m Message
				if err := m.UnmarshalJSON(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchMessages(b *testing.B) map[string]Message {
	wire := wireMessages(b)
	ai, tool := decode(b, string(wire[2])), decode(b, string(wire[3]))
	tool.Content = []Part{Text(strings.Repeat("drwxr-xr-x 2 root root 4096 größe.txt\n", 9))}
	return map[string]Message{"ai": ai, "tool": tool}
}
