package openai

import (
	stdcmp "cmp"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// play reads an answer of these events.
func play(dialect string, events ...string) ([]message.Chunk, error) {
	var chunks []message.Chunk
	s := &stream{origin: &wire.Origin{Provider: "p", Model: "m"}, dialect: findDialect(dialect, "")}
	err := s.origin.Read(strings.NewReader("data: "+strings.Join(events, "\n\ndata: ")+"\n\n"), s,
		func(c message.Chunk, err error) bool {
			chunks = append(chunks, c)
			return true
		})
	return chunks, err
}

func deltaEvent(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }

const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`

func TestCallNumbers(t *testing.T) {
	tests := []struct {
		name   string
		pieces []string
		want   []string // "id name args" by number
	}{
		{"by index", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`,
			`{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}`,
			`{"index":0,"function":{"arguments":"{}"}}`}, []string{"a f {}", "b g {}"}},
		{"index starts at one", []string{`{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}`},
			[]string{"a f {}"}},
		{"index zero for all", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`,
			`{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}`},
			[]string{"a f {}", "b f {}"}},
		{"a new id for each piece", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`,
			`{"index":0,"id":"x","function":{"arguments":"}"}}`},
			[]string{"a f {}"}},
		{"by id", []string{`{"id":"a","function":{"name":"f","arguments":"{"}}`,
			`{"id":"b","function":{"name":"g","arguments":"{"}}`,
			`{"id":"a","function":{"arguments":"}"}}`, `{"id":"b","function":{"arguments":"}"}}`},
			[]string{"a f {}", "b g {}"}},
		{"id only at first", []string{`{"id":"a","function":{"name":"f","arguments":"{"}}`,
			`{"function":{"arguments":"}"}}`}, []string{"a f {}"}},
		{"no names for calls at all", []string{`{"function":{"name":"f","arguments":{"p": 1}}}`,
			`{"function":{"name":"f","arguments":{"p": 2}}}`},
			[]string{`PNdkS2Z2Q f {"p": 1}`, `qEQcBQcyr f {"p": 2}`}},
		{"name repeated in each piece", []string{`{"function":{"name":"f","arguments":"{"}}`,
			`{"function":{"name":"f","arguments":"}"}}`}, []string{"PNdkS2Z2Q f {}"}},
		{"one id for two calls", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`,
			`{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}`},
			[]string{"a f {}", "qEQcBQcyr g {}"}},
		{"one id for two whole calls without index", []string{`{"id":"a","function":{"name":"f","arguments":"{}"}}`,
			`{"id":"a","function":{"name":"f","arguments":"{}"}}`},
			[]string{"a f {}", "qEQcBQcyr f {}"}},
		{"an id that comes late", []string{`{"index":0,"function":{"name":"f","arguments":"{"}}`,
			`{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`},
			[]string{"PNdkS2Z2Q f {}"}},
		{"arguments that are no object", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":5}}`,
			`{"index":1,"id":"b","function":{"name":"f","arguments":["x"]}}`},
			[]string{"a f 5", `b f ["x"]`}},
		{"null arguments and null piece", []string{`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`,
			`null`}, []string{"a f "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var events []string
			for _, p := range tt.pieces {
				events = append(events, deltaEvent(`"tool_calls":[`+p+`]`))
			}
			chunks, err := play("generic", append(events, stop)...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, joinCalls(chunks)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLegacyFunctionCall(t *testing.T) {
	chunks, err := play("generic", deltaEvent(`"content":null,"function_call":{"name":"f","arguments":""}`),
		deltaEvent(`"function_call":{"arguments":"{\"a\""}`),
		deltaEvent(`"function_call":{"arguments":":1}"}`),
		`{"choices":[{"index":0,"delta":{"function_call":null},"finish_reason":"function_call"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{`PNdkS2Z2Q f {"a":1}`}, joinCalls(chunks)); d != "" {
		t.Error(d)
	}
}

// TestMadeIDs are nine letters and digits, the same for the same request, and others for another one.
func TestMadeIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, seed := range []string{"", "a", "b"} {
		one, two := calls{seed: []byte(seed)}, calls{seed: []byte(seed)}
		for range 100 {
			a, b := one.whole(textCall{name: "f"}).ID, two.whole(textCall{name: "f"}).ID
			if a != b || seen[a] || !regexp.MustCompile("^[a-zA-Z0-9]{9}$").MatchString(a) {
				t.Fatalf("%q, %q, seen before: %v", a, b, seen[a])
			}
			seen[a] = true
		}
	}
}

// FuzzCalls assembles calls of any pieces: every call has an id of its own, and all of its arguments.
func FuzzCalls(f *testing.F) {
	f.Add(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}`, `{"index":0,"function":{"arguments":"}"}}`,
		`{"id":"a","function":{"name":"g"}}`)
	f.Add(`{"function":{"name":"f","arguments":{}}}`, `{"function":{"name":"f","arguments":1}}`, `{"index":7,"id":"a"}`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var all calls
		ids, size := map[string]int{}, 0
		for _, piece := range []string{a, b, c} {
			if !json.Valid([]byte(piece)) {
				return
			}
			chunk, err := all.add([]byte(piece))
			if err != nil {
				return
			}
			if n, seen := ids[chunk.ID]; chunk.ID != "" && seen && n != chunk.Index {
				t.Fatalf("id %s for calls %d and %d", chunk.ID, n, chunk.Index)
			}
			ids[chunk.ID] = chunk.Index
			size = max(size, chunk.Index+1)
		}
		delete(ids, "")
		if len(ids) != size {
			t.Fatalf("%d ids for %d calls", len(ids), size)
		}
	})
}

func joinCalls(chunks []message.Chunk) (out []string) {
	var open []message.ToolCallChunk
	for _, c := range chunks {
		for _, p := range c.ToolCalls {
			for len(open) <= p.Index {
				open = append(open, message.ToolCallChunk{})
			}
			o := &open[p.Index]
			o.ID, o.Name = stdcmp.Or(o.ID, p.ID), stdcmp.Or(o.Name, p.Name)
			o.Args += p.Args
		}
	}
	for _, o := range open {
		out = append(out, o.ID+" "+o.Name+" "+o.Args)
	}
	return out
}

func TestUnknownCallFieldsAreKept(t *testing.T) {
	chunks, err := play("gemini",
		deltaEvent(`"tool_calls":[{"index":0,"id":"a","type":"function","extra_content":{"google": {"thought_signature":"s"}},"function":{"name":"f","arguments":"{}","sig":1}}]`), stop)
	if err != nil {
		t.Fatal(err)
	}
	want := message.Fields{"extra_content": raw(`{"google": {"thought_signature":"s"}}`), "function": raw(`{"sig":1}`)}
	if d := cmp.Diff(want, chunks[0].ToolCalls[0].Extra); d != "" {
		t.Error(d)
	}
}

func TestReasoningFields(t *testing.T) {
	tests := map[string]string{
		"reasoning_content": `"reasoning_content":"why"`,
		"reasoning":         `"reasoning":"why"`,
		"both":              `"reasoning":"why","reasoning_content":"why"`,
		"details only":      `"reasoning_details":[{"type":"reasoning.text","text":"wh"},{"type":"reasoning.summary","summary":"y"}]`,
		"details beside":    `"reasoning":"why","reasoning_details":[{"type":"reasoning.text","text":"why"}]`,
		"thinking block":    `"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}]`,
	}
	for name, fields := range tests {
		t.Run(name, func(t *testing.T) {
			chunks, err := play("generic", deltaEvent(fields), stop)
			if err != nil || chunks[0].Reasoning != "why" || chunks[0].Text != "" {
				t.Errorf("%+v, %v", chunks, err)
			}
		})
	}
}

func TestReasoningDetailsAreFolded(t *testing.T) {
	chunks, err := play("openrouter",
		deltaEvent(`"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","index":0,"format":"f"}]`),
		deltaEvent(`"reasoning":"do","reasoning_details":[{"type":"reasoning.text","text":"do\n","index":0}]`),
		deltaEvent(`"reasoning_details":[{"type":"reasoning.text","signature":"s==","index":0}]`),
		deltaEvent(`"reasoning_details":[{"type":"reasoning.encrypted","data":"d","index":1}]`), stop)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"format":"f","index":0,"signature":"s==","text":"I do\n","type":"reasoning.text"},{"data":"d","index":1,"type":"reasoning.encrypted"}]`
	if got := string(chunks[len(chunks)-1].Kwargs[keyDetails]); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name, in string
		want     message.Usage
	}{
		{"OpenAI", `{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":2}}`,
			message.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15, CacheRead: 8, Reasoning: 2}},
		{"DeepSeek", `{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":7}`,
			message.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15, CacheRead: 7}},
		{"reasoning counted beside",
			`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":3}}`,
			message.Usage{InputTokens: 10, OutputTokens: 8, TotalTokens: 18, Reasoning: 3}},
		{"null and odd fields",
			`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null,"cached_tokens":"x"}`,
			message.Usage{InputTokens: 10, OutputTokens: 5, TotalTokens: 15}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, ev := range []string{`{"choices":[],"usage":` + tt.in + `}`,
				`{"choices":[{"index":0,"delta":{},"usage":` + tt.in + `}]}`} {
				chunks, err := play("generic", stop, ev, "[DONE]")
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(&tt.want, chunks[len(chunks)-1].Usage); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestEnds(t *testing.T) {
	text := deltaEvent(`"content":"a"`)
	tests := []struct {
		name   string
		events []string
		class  model.Class // empty: success
	}{
		{"finish without [DONE]", []string{text, stop}, ""},
		{"[DONE] without finish", []string{text, "[DONE]"}, model.ClassTransient},
		{"only [DONE]", []string{"[DONE]"}, model.ClassTransient},
		{"chunks without choices", []string{`{"choices":[]}`, `{}`, text, stop}, ""},
		{"only chunks without choices", []string{`{"choices":[]}`, "[DONE]"}, model.ClassTransient},
		{"other choices are left out",
			[]string{`{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}`}, model.ClassTransient},
		{"two finish reasons", []string{text, stop, stop, "[DONE]"}, ""},
		{"blank finish reason", []string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":""}]}`},
			model.ClassTransient},
		{"error with null choices", []string{`{"choices":null,"error":{"message":"m","code":"insufficient_quota"}}`},
			model.ClassQuota},
		{"bare error after a list", []string{text, `{"error":"boom"}`}, model.ClassTransient},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := play("generic", tt.events...)
			if e := model.AsError(err); (e == nil) != (tt.class == "") || e != nil && e.Class != tt.class {
				t.Errorf("error %v, want class %q", err, tt.class)
			}
		})
	}
	_, err := play("generic", text+"\n\nevent: error\ndata: {\"message\":\"m\",\"code\":\"rate_limit_exceeded\"}")
	if e := model.AsError(err); e == nil || e.Class != model.ClassRateLimit {
		t.Errorf("named error event: %v", err)
	}
}

func TestRefusalIsText(t *testing.T) {
	chunks, err := play("openai", deltaEvent(`"content":null,"refusal":"No."`), stop)
	if err != nil || chunks[0].Text != "No." {
		t.Errorf("%+v, %v", chunks, err)
	}
}

func TestALostHalfIsVisible(t *testing.T) {
	for name, half := range map[string]string{"bytes": "\xf0\x9f", "escape": `\ud83d`} {
		chunks, err := play("generic", deltaEvent(`"content":"a`+half+`"`), stop)
		if err != nil || chunks[0].Text != "a\uFFFD" {
			t.Errorf("%s: %+v, %v", name, chunks, err)
		}
	}
}

func TestUnknownDialect(t *testing.T) {
	_, err := model.Collect(New(Config{Dialect: "klingon"}).Stream(t.Context(), &model.Request{}))
	if e := model.AsError(err); e == nil || e.Class != model.ClassBadRequest ||
		!strings.Contains(e.Message, "deepseek") {
		t.Errorf("error %v", err)
	}
}

// FuzzHalves cuts the JSON of a text at any place; the pieces must join to the text.
func FuzzHalves(f *testing.F) {
	f.Add("Grüße 😀 \\ \" \n", uint(3), false)
	f.Add("😀😀", uint(7), true)
	f.Fuzz(func(t *testing.T, text string, at uint, escaped bool) {
		text = strings.ToValidUTF8(text, "")
		quoted := rawjson.AppendString(nil, text)
		if escaped {
			quoted = []byte(asciiJSON(text))
		}
		body := quoted[1 : len(quoted)-1]
		n := int(at % uint(len(body)+1))
		first := append(append([]byte{'"'}, body[:n]...), '"')
		if !json.Valid(first) {
			return // inside an escape: no server can send this
		}
		var h halves
		got := h.join(first)
		got += h.join(append(append([]byte{'"'}, body[n:]...), '"')) + h.rest()
		if got != text {
			t.Errorf("%q cut at %d: %q", text, n, got)
		}
	})
}

// asciiJSON escapes everything beyond ASCII.
func asciiJSON(s string) string {
	var b strings.Builder
	for _, r := range string(rawjson.AppendString(nil, s)) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			b.WriteString(`\u` + hex4(r))
		default:
			r -= 0x10000
			b.WriteString(`\u` + hex4(0xD800+r>>10) + `\u` + hex4(0xDC00+r&0x3FF))
		}
	}
	return b.String()
}

func hex4(r rune) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
}

// FuzzStream wants no panic, and no success without a finish reason.
func FuzzStream(f *testing.F) {
	for _, s := range []string{deltaEvent(`"content":"a"`), stop,
		deltaEvent(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]`), `{"error":null}`,
		deltaEvent(`"reasoning_details":[{"type":"reasoning.text","text":"a"},{"type":"reasoning.text","text":"b"}]`),
		`<html>`} {
		f.Add([]byte("data: " + s + "\n\n" + "data: " + stop + "\n\n"))
	}
	f.Add([]byte(`{"choices":[{"message":{"content":[{"type":"text","text":"x"}]},"finish_reason":"stop"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		finished := false
		s := &stream{origin: &wire.Origin{}, dialect: findDialect("openrouter", "")}
		err := s.origin.Read(iotest.HalfReader(strings.NewReader(string(in))), s,
			func(c message.Chunk, err error) bool {
				finished = finished || c.FinishReason != ""
				for k, v := range c.Kwargs {
					if !json.Valid(v) {
						t.Errorf("%s is no JSON: %s", k, v)
					}
				}
				return true
			})
		if err == nil && !finished {
			t.Error("success without a finish reason")
		}
	})
}
