package gemini

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/internal/model/wire"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func body(t interface{ Fatal(args ...any) }, cfg Config, req *model.Request) string {
	raw, err := New(cfg).encode(req)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(raw) {
		t.Fatal("no JSON: " + string(raw))
	}
	return string(raw)
}

// contentsOf is what stands between the brackets of a body's contents.
func contentsOf(t *testing.T, cfg Config, msgs ...message.Message) string {
	t.Helper()
	_, rest, _ := strings.Cut(body(t, cfg, &model.Request{Messages: msgs}), `"contents":[`)
	return strings.TrimSuffix(rest, "]}")
}

// called is an answer with one call.
func called(id, args string, extra message.Fields) message.Message {
	return message.Message{Role: message.AI,
		ToolCalls: []message.ToolCall{{ID: id, Name: "f", Args: json.RawMessage(args), Extra: extra}}}
}

func TestContents(t *testing.T) {
	thought := message.Part{Type: message.PartReasoning, Text: "t"}
	signed := message.Part{Type: message.PartReasoning, Text: "t", Signature: "c2ln"}
	by := func(m message.Message, provider string) message.Message {
		m.ResponseMetadata = message.Fields{"model_provider": json.RawMessage(`"` + provider + `"`)}
		return m
	}
	result := message.Message{Role: message.Tool, ToolCallID: "1", Name: "f",
		Content: []message.Part{message.Text("r"), {Type: message.PartImage, URL: "https://x/y"}}}
	gemini3 := Config{Model: "models/gemini-3-flash-preview"}
	raw := func(s string) message.Message {
		return message.Message{Role: message.Human,
			Content: []message.Part{{Type: message.PartRaw, Raw: json.RawMessage(s)}}}
	}
	tests := []struct {
		name string
		cfg  Config
		msgs []message.Message
		want string
	}{
		{"empty answer between two questions", Config{}, []message.Message{message.New(message.Human, "a"),
			message.New(message.AI, ""), message.New(message.Human, "b")},
			`{"role":"user","parts":[{"text":"a"},{"text":"b"}]}`},
		{"a later system message is the user's", Config{}, []message.Message{message.New(message.Human, "a"),
			message.New(message.System, "b")},
			`{"role":"user","parts":[{"text":"a"},{"text":"b"}]}`},
		{"own thoughts", Config{},
			[]message.Message{by(message.Message{Role: message.AI,
				Content: []message.Part{thought, signed, message.Text("x")}}, "gemini")},
			`{"role":"model","parts":[{"text":"t","thought":true},{"text":"t","thought":true,"thoughtSignature":"c2ln"},{"text":"x"}]}`},
		{"another vendor's thoughts", Config{},
			[]message.Message{by(message.Message{Role: message.AI,
				Content: []message.Part{thought, signed, message.Text("x")}}, "anthropic")},
			`{"role":"model","parts":[{"text":"x"}]}`},
		{"thoughts of nobody known", Config{},
			[]message.Message{{Role: message.AI, Content: []message.Part{thought, signed}}},
			`{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"c2ln"}]}`},
		{"arguments byte for byte", Config{},
			[]message.Message{{Role: message.AI,
				ToolCalls: []message.ToolCall{{ID: "1", Name: "f",
					Args: json.RawMessage(`{"b": 1e2,  "a":"<\u00e4>"}`)}}}},
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"b": 1e2,  "a":"<\u00e4>"}}}]}`},
		{"results together, their images behind them", Config{}, []message.Message{called("1", "", nil), result,
			{Role: message.Tool, ToolCallID: "2", Name: "g", Status: message.StatusError}},
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"r"}}},{"functionResponse":{"id":"2","name":"g","response":{"error":""}}},{"fileData":{"fileUri":"https://x/y"}}]}`},
		{"a result without its call", Config{}, []message.Message{result},
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"r"}}},{"fileData":{"fileUri":"https://x/y"}}]}`},
		{"an id that the API did not give", Config{}, []message.Message{called(madeUp+"r_0", "{}", nil),
			{Role: message.Tool, ToolCallID: madeUp + "r_0", Name: "f"}},
			`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":""}}}]}`},
		{"another vendor's calls at once", gemini3,
			[]message.Message{{Role: message.AI, ToolCalls: []message.ToolCall{{ID: "1", Name: "f"},
				{ID: "2", Name: "f"}}}},
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"2","name":"f","args":{}}}]}`},
		{"own calls at once", gemini3,
			[]message.Message{{Role: message.AI,
				ToolCalls: []message.ToolCall{{ID: "1", Name: "f",
					Extra: message.Fields{keySignature: json.RawMessage(`"a\/b"`)}}, {ID: "2", Name: "f"}}}},
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}},"thoughtSignature":"a\/b"},{"functionCall":{"id":"2","name":"f","args":{}}}]}`},
		{"a signature that came over the vendor's other endpoint", gemini3,
			[]message.Message{called("1", "{}",
				message.Fields{"extra_content": json.RawMessage(`{"google":{"thought_signature":"cw=="}}`)})},
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}},"thoughtSignature":"cw=="}]}`},
		{"older models need no signature", Config{Model: "gemini-2.5-pro"},
			[]message.Message{called("1", "{}", message.Fields{keySignature: json.RawMessage(`{}`)})},
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}}]}`},
		{"text signed behind its end, and in itself", Config{}, []message.Message{
			{Role: message.AI, Content: []message.Part{message.Text("x")},
				Kwargs: message.Fields{keySignatures: json.RawMessage(`{"1":"cw=="}`)}},
			{Role: message.AI, Content: []message.Part{message.Text("x")},
				Kwargs: message.Fields{keySignatures: json.RawMessage(`{"0":"cw=="}`)}}},
			`{"role":"model","parts":[{"text":"x"},{"text":"","thoughtSignature":"cw=="},{"text":"x","thoughtSignature":"cw=="}]}`},
		{"the vendor's own part", Config{},
			[]message.Message{raw(`{"fileData":{"fileUri":"files/1"},"videoMetadata":{}}`)},
			`{"role":"user","parts":[{"fileData":{"fileUri":"files/1"},"videoMetadata":{}}]}`},
		{"files as LangChain writes them", Config{},
			[]message.Message{raw(`{"type":"media","mime_type":"application/pdf","data":"cGRm"}`),
				raw(`{"type":"audio","url":"https://x/y.mp3"}`)},
			`{"role":"user","parts":[{"inlineData":{"mimeType":"application/pdf","data":"cGRm"}},{"fileData":{"mimeType":"audio/mp3","fileUri":"https://x/y.mp3"}}]}`},
		{"a part of another vendor", Config{}, []message.Message{raw(`{"type":"document","x":1}`)},
			`{"role":"user","parts":[{"text":"[A part of type \"document\" was left out: this model cannot take it.]"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, contentsOf(t, tt.cfg, tt.msgs...)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestImageWithoutBase64(t *testing.T) {
	for _, role := range []message.Role{message.Human, message.Tool} {
		req := &model.Request{Messages: []message.Message{{Role: role,
			Content: []message.Part{{Type: message.PartImage, URL: "data:image/svg+xml,<svg>"}}}}}
		_, err := model.Collect(New(Config{}).Stream(t.Context(), req))
		if e := model.AsError(err); e == nil || e.Class != model.ClassBadRequest {
			t.Errorf("error %v", err)
		}
	}
}

func TestThinking(t *testing.T) {
	on, off := true, false
	raw := func(s string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"generationConfig": json.RawMessage(s)}
	}
	tests := []struct {
		model    string
		cfg      Config
		settings model.Settings
		want     string
	}{
		{"gemini-3-pro", Config{}, model.Settings{}, ``},
		{"gemini-3-pro", Config{}, model.Settings{Thinking: &on}, `{"includeThoughts":true}`},
		{"gemini-3-pro-preview", Config{}, model.Settings{Thinking: &on, Effort: "medium"},
			`{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro-preview", Config{Settings: model.Settings{Thinking: &on, Effort: "medium"}}, model.Settings{},
			`{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3-pro", Config{}, model.Settings{Effort: "minimal"}, `{"thinkingLevel":"LOW"}`},
		{"gemini-3-flash", Config{}, model.Settings{Effort: "minimal"}, `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3-pro", Config{Settings: model.Settings{Thinking: &on}}, model.Settings{Thinking: &off},
			`{"thinkingLevel":"LOW"}`},
		{"gemini-flash-latest", Config{}, model.Settings{Thinking: &off, Effort: "high"},
			`{"thinkingLevel":"MINIMAL"}`},
		{"gemini-3-pro", Config{ThinkingBudget: 900}, model.Settings{Thinking: &on},
			`{"includeThoughts":true,"thinkingBudget":900}`},
		{"google/gemini-2.5-pro", Config{}, model.Settings{Thinking: &off}, `{"thinkingBudget":128}`},
		{"gemini-2.5-flash-lite", Config{}, model.Settings{Thinking: &off}, `{"thinkingBudget":0}`},
		{"gemini-2.5-flash", Config{ThinkingBudget: wire.Adaptive}, model.Settings{Thinking: &on},
			`{"includeThoughts":true,"thinkingBudget":-1}`},
		{"gemini-2.5-flash", Config{ThinkingBudget: 900}, model.Settings{Thinking: &on, Effort: "medium"},
			`{"includeThoughts":true,"thinkingBudget":8192}`},
		{"gemini-2.0-flash", Config{ThinkingBudget: 900}, model.Settings{Thinking: &off, Effort: "high"}, ``},
		{"tuned", Config{}, model.Settings{Thinking: &off, Effort: "high"}, ``},
		{"gemini-3-pro", Config{ThinkingOn: raw(`{"thinkingConfig":{"thinkingBudget":7}}`)},
			model.Settings{Thinking: &on, Effort: "high"}, `{"includeThoughts":true,"thinkingBudget":7}`},
		{"gemini-3-pro", Config{ThinkingOn: raw(`{"thinkingConfig":{"thinkingBudget":7}}`)},
			model.Settings{Thinking: &off}, `{"thinkingLevel":"LOW"}`},
		{"gemini-3-pro", Config{ThinkingOff: raw(`{"thinkingConfig":null}`)}, model.Settings{Thinking: &off}, ``},
	}
	for _, tt := range tests {
		tt.cfg.Model = tt.model
		var got struct {
			GenerationConfig struct{ ThinkingConfig json.RawMessage }
		}
		if err := json.Unmarshal([]byte(body(t, tt.cfg, &model.Request{Settings: tt.settings})), &got); err != nil {
			t.Fatal(err)
		}
		if string(got.GenerationConfig.ThinkingConfig) != tt.want {
			t.Errorf("%s %+v: got %s, want %s", tt.model, tt.settings, got.GenerationConfig.ThinkingConfig, tt.want)
		}
	}
}

func TestExtraBody(t *testing.T) {
	hot := 0.5
	req := &model.Request{System: "s", Settings: model.Settings{Temperature: &hot, MaxTokens: 9, NoTools: true},
		Tools:    []model.Tool{{Name: "f", Description: "d"}},
		Messages: []message.Message{message.New(message.Human, "hi")}}
	cfg := Config{ExtraBody: map[string]json.RawMessage{
		"contents":         json.RawMessage(`[]`),
		"generationConfig": json.RawMessage(`{"topK": 4, "temperature":null, "speechConfig":{"a":null,"b":1}}`),
		"toolConfig":       json.RawMessage(`{"functionCallingConfig":{"allowedFunctionNames":["f"]}}`),
		"safetySettings":   json.RawMessage(`[{"category":"C", "threshold":"OFF"}]`),
		"tools":            json.RawMessage(`null`)}}
	want := `{"generationConfig":{"maxOutputTokens":9,"speechConfig":{"a":null,"b":1},"topK":4},"safetySettings":[{"category":"C", "threshold":"OFF"}],` +
		`"systemInstruction":{"parts":[{"text":"s"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}],` +
		`"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["f"],"mode":"NONE"}}}`
	for range 5 { // the order of a map's members must not show
		if got := body(t, cfg, req); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// TestARequestBeginsWithTheOneBefore sends a conversation that grows by an answer and what follows it. Up to the end of
// its contents, each body must be the beginning of the next one.
func TestARequestBeginsWithTheOneBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Model: rapid.SampledFrom([]string{"gemini-3-pro", "gemini-2.5-flash", "tuned"}).Draw(t, "model")}
		req := &model.Request{System: "Be brief.",
			Tools:    []model.Tool{{Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}},
			Messages: []message.Message{message.New(message.Human, "hi")}}
		before := ""
		for range rapid.IntRange(1, 5).Draw(t, "turns") {
			req.Settings.NoTools = rapid.Bool().Draw(t, "no tools")
			now := body(t, cfg, req)
			if !strings.HasPrefix(now, before) {
				t.Fatalf("%s\ndoes not begin with\n%s", now, before)
			}
			before, _, _ = strings.Cut(now, `]}],"toolConfig"`)
			before = strings.TrimSuffix(before, "]}]}")
			answer := message.Message{Role: message.AI,
				Content: []message.Part{message.Text(rapid.String().Draw(t, "text") + ".")}}
			n := rapid.IntRange(0, 3).Draw(t, "calls")
			for i := range n {
				call := message.ToolCall{ID: rapid.StringMatching(`[a-z]{8}`).Draw(t, "id"), Name: "f",
					Args: json.RawMessage(`{ "n": 1.0 }`)}
				if i == 0 && rapid.Bool().Draw(t, "signed") {
					call.Extra = message.Fields{keySignature: json.RawMessage(`"c2ln"`)}
				}
				answer.ToolCalls = append(answer.ToolCalls, call)
			}
			req.Messages = append(req.Messages, answer)
			for _, c := range answer.ToolCalls {
				req.Messages = append(req.Messages, message.Message{Role: message.Tool, ToolCallID: c.ID, Name: "f",
					Content: []message.Part{message.Text("ok"), {Type: message.PartImage, URL: "https://x/y.png"}}})
			}
			if n == 0 || rapid.Bool().Draw(t, "says") {
				req.Messages = append(req.Messages,
					message.New(rapid.SampledFrom([]message.Role{message.Human, message.System}).Draw(t, "role"),
						"go on"))
			}
		}
	})
}

// TestSignaturesComeBackByteForByte plays three turns: a signed call, calls at once of which one is signed, and a
// signed text. The answers travel over a client between the turns. The last body must hold each part that the API sent
// as it sent it.
func TestSignaturesComeBackByteForByte(t *testing.T) {
	turns, err := os.ReadFile("testdata/three_turns.sse")
	if err != nil {
		t.Fatal(err)
	}
	m := New(Config{Model: "gemini-3-pro"})
	req := &model.Request{Messages: []message.Message{message.New(message.Human, "hi")}}
	for turn := range bytes.SplitSeq(turns, []byte("---\n")) {
		got := roundTrip(t, play(t, string(turn)))
		req.Messages = append(req.Messages, got)
		for _, c := range got.ToolCalls {
			req.Messages = append(req.Messages, message.Message{Role: message.Tool, ToolCallID: c.ID, Name: c.Name,
				Content: []message.Part{message.Text("ok")}})
		}
		if len(got.ToolCalls) == 0 {
			req.Messages = append(req.Messages, message.New(message.Human, "thanks"))
		}
	}
	raw, err := m.encode(req)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/three_turns.request.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(raw), `{"role":`, "\n"+`{"role":`) + "\n"; got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// roundTrip sends a message to a client and takes it back.
func roundTrip(t *testing.T, m message.Message) message.Message {
	t.Helper()
	raw, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var back message.Message
	if err := back.UnmarshalJSON(raw); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return back
}
