package openai

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// sentSettings is what stands between stream_options and the messages of a request.
func sentSettings(cfg Config, s model.Settings) string {
	got, _, _ := strings.Cut(body(cfg, &model.Request{Settings: s}), `,"messages":`)
	_, got, _ = strings.Cut(got, `"stream":true`)
	return strings.TrimPrefix(strings.TrimPrefix(got, `,"stream_options":{"include_usage":true}`), ",")
}

func TestEfforts(t *testing.T) {
	for _, tt := range []struct{ dialect, model, effort, want string }{
		{"openai", "gpt-5.5", "max", `"reasoning_effort":"xhigh"`},
		{"openai", "gpt-5.1", "xhigh", `"reasoning_effort":"high"`},
		{"openai", "gpt-5.1", "minimal", `"reasoning_effort":"none"`},
		{"openai", "gpt-5-mini", "none", `"reasoning_effort":"minimal"`},
		{"openai", "o4-mini", "minimal", `"reasoning_effort":"low"`},
		{"openai", "gpt-5.2-chat-latest", "high", ``},
		{"openai", "gpt-4.1", "high", `"reasoning_effort":"high"`}, // its user knows better, or hears of it
		{"openai", "gpt-5.5", "ultra", `"reasoning_effort":"ultra"`},
		{"azure", "my-deployment", "low", `"reasoning_effort":"low"`},
		{"deepseek", "deepseek-v4", "none", `"thinking":{"type":"disabled"}`},
		{"deepseek", "deepseek-v4", "minimal", `"reasoning_effort":"low"`},
		{"qwen", "qwen3-max", "minimal", `"thinking_budget":1024`},
		{"qwen", "qwen3-max", "medium", `"thinking_budget":16384`},
		{"qwen", "qwen3-max", "max", ``},
		{"openrouter", "x/y", "max", `"reasoning":{"effort":"xhigh"}`},
		{"moonshot", "kimi-k2.5", "high", ``},
		{"mistral", "mistral-small-latest", "medium", `"reasoning_effort":"high"`},
		{"mistral", "mistral-large-latest", "high", ``},
		{"gemini", "gemini-3-pro-preview", "minimal", `"reasoning_effort":"low"`},
		{"groq", "openai/gpt-oss-120b", "max", `"reasoning_effort":"high"`},
		{"xai", "grok-3-mini", "medium", `"reasoning_effort":"low"`},
		{"xai", "grok-4", "high", ``},
		{"vllm", "m", "none", `"chat_template_kwargs":{"enable_thinking":false,"thinking":false}`},
		{"llamacpp", "m", "max", `"chat_template_kwargs":{"reasoning_effort":"high"}`},
		{"generic", "m", "max", `"reasoning_effort":"max"`},
	} {
		got := sentSettings(Config{Dialect: tt.dialect, Model: tt.model}, model.Settings{Effort: tt.effort})
		if got != tt.want {
			t.Errorf("%s %s %s: %s, want %s", tt.dialect, tt.model, tt.effort, got, tt.want)
		}
	}
}

func TestThinkingSwitches(t *testing.T) {
	for _, tt := range []struct{ dialect, model, on, off string }{
		{"openai", "gpt-4.1", ``, ``},
		{"openai", "gpt-5-codex", ``, `"reasoning_effort":"low"`},
		{"qwen", "qwen3-235b-a22b-thinking-2507", ``, ``},
		{"moonshot", "kimi-k2-thinking", ``, ``},
		{"zai", "glm-4.6", `"thinking":{"type":"enabled"}`, `"thinking":{"type":"disabled"}`},
		{"minimax", "MiniMax-M2", `"reasoning_split":true`, `"reasoning_split":true`},
		{"mistral", "mistral-small-latest", `"reasoning_effort":"high"`, `"reasoning_effort":"none"`},
		{"gemini", "gemini-2.5-flash", `"extra_body":{"google":{"thinking_config":{"include_thoughts":true}}}`,
			`"reasoning_effort":"none"`},
		{"gemini", "gemini-2.5-pro", `"extra_body":{"google":{"thinking_config":{"include_thoughts":true}}}`,
			`"reasoning_effort":"low"`},
		{"groq", "openai/gpt-oss-20b", ``, `"reasoning_effort":"low"`},
		{"groq", "llama-3.3-70b-versatile", ``, ``},
	} {
		for want, on := range map[string]bool{"on" + tt.on: true, "off" + tt.off: false} {
			want = strings.TrimPrefix(strings.TrimPrefix(want, "off"), "on")
			if got := sentSettings(Config{Dialect: tt.dialect, Model: tt.model},
				model.Settings{Thinking: &on}); got != want {
				t.Errorf("%s %s, thinking %v: %s, want %s", tt.dialect, tt.model, on, got, want)
			}
		}
	}
}

// TestOwnThinkingFields puts the configuration's fields in place of the dialect's switch.
func TestOwnThinkingFields(t *testing.T) {
	on, off := true, false
	cfg := Config{Dialect: "vllm", Model: "m", Settings: model.Settings{MaxTokens: 100},
		ExtraBody: map[string]json.RawMessage{"chat_template_kwargs": raw(`{"a":{"x":1},"b":2}`), "top_k": raw(`5`)},
		ThinkingOn: map[string]json.RawMessage{"chat_template_kwargs": raw(`{"a":{"y":2},"thinking":true}`),
			"max_tokens": raw(`900`),
			"stream":     raw(`false`), "messages": raw(`[]`)},
		ThinkingOff: map[string]json.RawMessage{"top_k": raw(`null`), "min_p": raw(`0.1`)}}
	for _, tt := range []struct {
		name     string
		thinking *bool
		want     string
	}{
		{"on", &on, `"max_tokens":900,"chat_template_kwargs":{"a":{"x":1,"y":2},"b":2,"thinking":true},"top_k":5`},
		{"off", &off, `"max_tokens":100,"chat_template_kwargs":{"a":{"x":1},"b":2},"min_p":0.1`},
		{"as it is", nil, `"max_tokens":100,"chat_template_kwargs":{"a":{"x":1},"b":2},"top_k":5`},
	} {
		if got := sentSettings(cfg, model.Settings{Thinking: tt.thinking}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	got := sentSettings(Config{Dialect: "openai", Model: "m", Settings: model.Settings{MaxTokens: 1},
		ThinkingOn: map[string]json.RawMessage{"max_tokens": raw(`9`)}},
		model.Settings{Thinking: &on})
	if want := `"max_completion_tokens":9`; got != want {
		t.Errorf("by the protocol's name: %s, want %s", got, want)
	}
}

func TestBlankReasoning(t *testing.T) {
	off := false
	history := []message.Message{{Role: message.AI, ToolCalls: []message.ToolCall{{ID: "1", Name: "f"}}},
		message.New(message.AI, "Hi")}
	for dialect, want := range map[string]string{"moonshot": `"reasoning_content":" "`,
		"deepseek": `"reasoning_content":""`} {
		if got := body(Config{Dialect: dialect}, &model.Request{Messages: history}); strings.Count(got, want) != 1 {
			t.Errorf("%s: want one %s in %s", dialect, want, got)
		}
		if got := body(Config{Dialect: dialect},
			&model.Request{Messages: history, Settings: model.Settings{Thinking: &off}}); strings.Contains(got,
			"reasoning_content") {
			t.Errorf("%s without thinking: %s", dialect, got)
		}
	}
}

// TestUnsupportedParameter: what a vendor says about a parameter reaches the user.
func TestUnsupportedParameter(t *testing.T) {
	const said = "Unsupported value: 'reasoning_effort' does not support 'ultra' with this model."
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		w.Write([]byte(`{"error":{"message":"` + said +
			`","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_value"}}`))
	}))
	defer srv.Close()
	m := New(Config{BaseURL: srv.URL, Dialect: "openai", Model: "gpt-5.5"})
	_, err := model.Collect(m.Stream(t.Context(), &model.Request{Settings: model.Settings{Effort: "ultra"}}))
	e := model.AsError(err)
	if e == nil || e.Class != model.ClassBadRequest || e.Code != "unsupported_value" || e.Message != said {
		t.Errorf("error %+v", e)
	}
}

// TestProseHistory is the conversation as plain texts.
func TestProseHistory(t *testing.T) {
	_, got, _ := strings.Cut(body(Config{Dialect: "mindie"}, &model.Request{System: "s", Messages: []message.Message{
		message.New(message.System, "t"),
		message.New(message.Human, "a"),
		{Role: message.AI, Content: []message.Part{message.Text("b")},
			ToolCalls: []message.ToolCall{{ID: "1", Name: "f", Args: raw(`{"z":"1\n2","a":{"b": 3}}`)},
				{ID: "2", Name: "g"}}},
		{Role: message.Tool, ToolCallID: "1", Content: []message.Part{message.Text("r")}}}}), `"messages":`)
	want := `[{"role":"system","content":"s"},{"role":"system","content":"t"},{"role":"user","content":"a"},` +
		`{"role":"assistant","content":"b\n<tool_call>\n<function=f>\n<parameter=z>\n1\n2\n</parameter>\n<parameter=a>\n{\"b\": 3}\n</parameter>\n</function>\n</tool_call>\n` +
		`<tool_call>\n<function=g>\n</function>\n</tool_call>"},` +
		`{"role":"user","content":"<tool_response>\nr\n</tool_response>"}]}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
