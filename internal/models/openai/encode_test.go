package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

func body(cfg Config, req *model.Request) string { return string(New(cfg).encode(req)) }

func raw(s string) json.RawMessage { return json.RawMessage(s) }

// TestEncodeDialects pins the bytes of each vendor's body.
func TestEncodeDialects(t *testing.T) {
	on, off := true, false
	history := []message.Message{
		{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Text: "why"}},
			Kwargs: message.Fields{"reasoning_details": raw(`[{"a":1}]`)},
			ToolCalls: []message.ToolCall{{ID: "1", Name: "f", Args: raw(`{ }`), Extra: message.Fields{
				"extra_content": raw(`{"google":{"thought_signature":"s=="}}`), "function": raw(`{"sig":"x"}`)}}}},
		{Role: message.Tool, ToolCallID: "1", Content: []message.Part{message.Text("r")}}}
	const (
		tail   = `{"role":"tool","tool_call_id":"1","content":"r"}]}`
		begin  = `{"model":"m","stream":true,"stream_options":{"include_usage":true},`
		call   = `"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{ }"`
		plain  = call + `}}]},`
		signed = call + `,"sig":"x"},"extra_content":{"google":{"thought_signature":"s=="}}}]},`
		empty  = `"messages":[{"role":"assistant","content":null,`
	)
	tests := []struct {
		dialect  string
		settings model.Settings
		want     string
	}{
		{"openai", model.Settings{MaxTokens: 9, Effort: "low"}, `"max_completion_tokens":9,"reasoning_effort":"low",` +
			empty + plain},
		{"deepseek", model.Settings{MaxTokens: 9, Thinking: &on}, `"max_tokens":9,"thinking":{"type":"enabled"},` +
			empty + `"reasoning_content":"why",` + signed},
		{"deepseek", model.Settings{Thinking: &off, Effort: "low"}, `"thinking":{"type":"disabled"},` + empty +
			`"reasoning_content":"why",` + signed},
		{"openrouter", model.Settings{Thinking: &on, Effort: "high"}, `"reasoning":{"effort":"high","enabled":true},` +
			empty + `"reasoning":"why","reasoning_details":[{"a":1}],` + signed},
		{"openrouter", model.Settings{Thinking: &off}, `"reasoning":{"enabled":false},` + empty +
			`"reasoning":"why","reasoning_details":[{"a":1}],` + signed},
		{"gemini", model.Settings{Effort: "medium"}, `"reasoning_effort":"medium",` + empty + signed},
		{"ollama", model.Settings{Thinking: &off}, `"reasoning_effort":"none",` + empty + `"reasoning":"why",` +
			signed},
		{"generic", model.Settings{Thinking: &on}, empty + signed},
	}
	for _, tt := range tests {
		t.Run(tt.dialect, func(t *testing.T) {
			got := body(Config{Dialect: tt.dialect, Model: "m"},
				&model.Request{Messages: history, Settings: tt.settings})
			if want := begin + tt.want + tail; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestEncodeMessages(t *testing.T) {
	image := message.Part{Type: message.PartImage, URL: "https://x/y.png", Detail: "low"}
	tests := []struct {
		name string
		msgs []message.Message
		want string
	}{
		{"empty answer", []message.Message{{Role: message.AI}}, `{"role":"assistant","content":""}`},
		{"empty question", []message.Message{{Role: message.Human}}, `{"role":"user","content":""}`},
		{"two texts",
			[]message.Message{{Role: message.Human, Content: []message.Part{message.Text("a"), message.Text("b")}}},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{"image and unknown block",
			[]message.Message{{Role: message.Human,
				Content: []message.Part{image, {Type: message.PartRaw, Raw: raw(`{"type":"file"}`)}}}},
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png","detail":"low"}},{"type":"file"}]}`},
		{"name", []message.Message{{Role: message.Human, Name: "ann", Content: []message.Part{message.Text("a")}}},
			`{"role":"user","content":"a"}`},
		{"removal", []message.Message{{Role: message.Remove, ID: "x"}}, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, _ := strings.Cut(body(Config{}, &model.Request{Messages: tt.msgs}), `"messages":`)
			if want := "[" + tt.want + "]}"; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestEncodeConfig(t *testing.T) {
	half := 0.5
	cfg := Config{Model: "m", SendNames: true, Settings: model.Settings{MaxTokens: 5, Temperature: &half},
		ExtraBody: map[string]json.RawMessage{
			"temperature": raw(`1`), "stream_options": raw(`null`), "stream": raw(`false`), "messages": raw(`[]`),
			"b": raw(`{ "x":1 }`), "a": raw(`2`)}}
	got := body(cfg,
		&model.Request{Messages: []message.Message{{Role: message.Human, Name: "ann",
			Content: []message.Part{message.Text("h")}}}})
	want := `{"model":"m","stream":true,"max_completion_tokens":5,"a":2,"b":{ "x":1 },"temperature":1,"messages":[{"role":"user","name":"ann","content":"h"}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFindDialect(t *testing.T) {
	for base, want := range map[string]string{
		"": "openai", "https://api.openai.com/v1": "openai", "https://x.openai.azure.com/openai/v1": "azure",
		"https://api.deepseek.com": "deepseek", "https://openrouter.ai/api/v1": "openrouter",
		"http://localhost:11434/v1": "ollama", "https://generativelanguage.googleapis.com/v1beta/openai/": "gemini",
		"https://notopenrouter.ai/v1": "generic", "http://localhost:8000/v1": "generic",
		"https://dashscope-intl.aliyuncs.com/compatible-mode/v1": "qwen",
		"https://ark.cn-beijing.volces.com/api/v3":               "doubao", "http://127.0.0.1:1234/v1": "lmstudio"} {
		if got := New(Config{BaseURL: base}).dialect.name; got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, tt := range []struct{ dialect, base, want string }{
		{"generic", "https://h/v1", "https://h/v1/chat/completions"},
		{"generic", "https://h/v1/", "https://h/v1/chat/completions"},
		{"generic", "https://h", "https://h/chat/completions"},
		{"generic", "https://h/chat/completions", "https://h/chat/completions"},
		{"generic", "https://h/d?api-version=1", "https://h/d/chat/completions?api-version=1"},
		{"ollama", "http://localhost:11434", "http://localhost:11434/v1/chat/completions"},
		{"zai", "https://api.z.ai/", "https://api.z.ai/api/paas/v4/chat/completions"},
		{"azure", "https://x.openai.azure.com", "https://x.openai.azure.com/openai/v1/chat/completions"},
		{"azure", "https://x.openai.azure.com/openai/v1/", "https://x.openai.azure.com/openai/v1/chat/completions"},
		{"azure", "https://x.openai.azure.com/openai/deployments/d",
			"https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{"azure", "https://x.openai.azure.com/openai/deployments/d?api-version=2025-01-01-preview",
			"https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview"},
	} {
		if got := New(Config{Dialect: tt.dialect, BaseURL: tt.base}).url; got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.dialect, tt.base, got, tt.want)
		}
	}
}

func TestKeyHeader(t *testing.T) {
	for dialect, want := range map[string]string{"azure": "Api-Key: k", "qwen": "Authorization: Bearer k"} {
		name, value, _ := strings.Cut(want, ": ")
		m := New(Config{Dialect: dialect, APIKey: "k"})
		if got := m.header.Get(name); got != value || len(m.header) != 1 {
			t.Errorf("%s: header %v, want %s", dialect, m.header, want)
		}
	}
}

// TestPreviousRequestIsAPrefix is what provider caches live on: a longer conversation repeats the bytes of the shorter
// one, and every body is valid JSON.
func TestPreviousRequestIsAPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dialect := rapid.SampledFrom(dialects).Draw(t, "dialect").name
		m := New(Config{Dialect: dialect, Model: "m", ExtraBody: map[string]json.RawMessage{"z": raw(`1`),
			"k": raw(`{"a": 2}`)}})
		req := &model.Request{System: "s", Tools: []model.Tool{{Name: "t"}}}
		var last []byte
		for i := range rapid.IntRange(1, 8).Draw(t, "n") {
			text := rapid.String().Draw(t, "text")
			id := fmt.Sprint("c", i)
			req.Messages = append(req.Messages, message.New(message.Human, text),
				message.Message{Role: message.AI, Content: []message.Part{{Type: message.PartReasoning, Text: text}},
					ToolCalls: []message.ToolCall{{ID: id, Name: "t", Args: raw(`{"b": 1, "a":2}`),
						Extra: message.Fields{"y": raw(`1`), "x": raw(`2`)}}}},
				message.Message{Role: message.Tool, ToolCallID: id, Content: []message.Part{message.Text(text)}})
			req.Settings.NoTools = rapid.Bool().Draw(t, "no tools") // as a run's last request at a limit
			next := m.encode(req)
			if !json.Valid(next) {
				t.Fatalf("invalid JSON: %s", next)
			}
			if !bytes.HasPrefix(next, last) {
				t.Fatalf("no prefix:\n%s\n%s", last, next)
			}
			last = bytes.TrimSuffix(next, []byte("}"))
			last = bytes.TrimSuffix(bytes.TrimSuffix(last, []byte(`,"tool_choice":"none"`)), []byte("]"))
		}
	})
}
