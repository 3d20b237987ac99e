package config

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// only returns the one model of a file with that entry.
func only(t *testing.T, entry string, env map[string]string) Model {
	t.Helper()
	cfg, _ := mustParse(t, "models:\n  - "+entry, env)
	return cfg.Models[0]
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestThinkingBodies is the table of DeerFlow's factory: what an entry's arguments make of a call with and without
// thinking.
func TestThinkingBodies(t *testing.T) {
	const local = "name: m, model: m, base_url: 'http://gpu/v1', "
	for _, c := range []struct{ name, entry, on, off string }{
		{"nothing said", `{provider: vllm, ` + local + `supports_thinking: true}`, `null`, `null`},
		{"the switch of DeepSeek and Doubao", `{provider: deepseek, ` + local +
			`when_thinking_enabled: {extra_body: {thinking: {type: enabled}}}}`,
			`{"thinking":{"type":"enabled"}}`, `{"thinking":{"type":"disabled"}}`},
		{"the same with an effort", `{provider: doubao, ` + local +
			`supports_reasoning_effort: true, when_thinking_enabled: {extra_body: {thinking: {type: enabled}}}}`,
			`{"thinking":{"type":"enabled"}}`, `{"reasoning_effort":"minimal","thinking":{"type":"disabled"}}`},
		{"vLLM's template with enable_thinking", `{provider: vllm, ` + local +
			`when_thinking_enabled: {extra_body: {chat_template_kwargs: {enable_thinking: true}}}}`,
			`{"chat_template_kwargs":{"enable_thinking":true}}`, `{"chat_template_kwargs":{"enable_thinking":false}}`},
		{"vLLM's template with thinking", `{provider: vllm, ` + local +
			`when_thinking_enabled: {extra_body: {chat_template_kwargs: {thinking: true, other: 1}}}}`,
			`{"chat_template_kwargs":{"other":1,"thinking":true}}`, `{"chat_template_kwargs":{"thinking":false}}`},
		{"Anthropic's own", `{provider: anthropic, ` + local +
			`when_thinking_enabled: {thinking: {type: enabled, budget_tokens: 4096}}}`,
			`{"thinking":{"budget_tokens":4096,"type":"enabled"}}`, `{"thinking":{"type":"disabled"}}`},
		{"the shortcut", `{provider: anthropic, ` + local +
			`thinking: {budget_tokens: 99}, when_thinking_enabled: {thinking: {type: enabled}}}`,
			`{"thinking":{"budget_tokens":99,"type":"enabled"}}`, `{"thinking":{"type":"disabled"}}`},
		{"off as it is said", `{provider: vllm, ` +
			local + `when_thinking_enabled: {extra_body: {thinking: {type: enabled}}}, when_thinking_disabled: {extra_body: {enable_thinking: false}, temperature: 0.5}}`,
			`{"thinking":{"type":"enabled"}}`, `{"enable_thinking":false,"temperature":0.5}`},
		{"a switch that nobody can turn round", `{provider: qwen, ` + local +
			`when_thinking_enabled: {extra_body: {enable_thinking: true}}}`, `{"enable_thinking":true}`, `null`},
		{"an effort that the model does not take", `{provider: vllm, ` + local +
			`when_thinking_enabled: {reasoning_effort: high, max_tokens: 9}}`, `{"max_tokens":9}`, `null`},
		{"an effort that it takes", `{provider: vllm, ` +
			local + `supports_reasoning_effort: true, when_thinking_enabled: {reasoning_effort: high}, when_thinking_disabled: {reasoning_effort: minimal}}`,
			`{"reasoning_effort":"high"}`, `{"reasoning_effort":"minimal"}`},
		{"arguments of the client", `{provider: vllm, ` + local +
			`when_thinking_enabled: {timeout: 3, api_key: k, model_kwargs: {a: 1}, extra_body: {a: 2}}}`, `{"a":2}`,
			`null`},
		{"OpenAI's name for the bound",
			`{provider: openai, name: m, model: m, api_key: k, when_thinking_enabled: {max_tokens: 9}}`,
			`{"max_completion_tokens":9}`, `null`},
		{"the Responses API", `{provider: openai, name: m, model: m, api_key: k, use_responses_api: true, supports_reasoning_effort: true, when_thinking_enabled: {reasoning_effort: high, max_tokens: 9}}`,
			`{"max_output_tokens":9,"reasoning":{"effort":"high"}}`, `null`},
		{"Gemini's own API", `{provider: gemini, name: m, model: m, api_key: k, supports_reasoning_effort: true, when_thinking_enabled: {thinking_level: high, temperature: 1, top_p: 0.5, include_thoughts: true}, when_thinking_disabled: {thinking_budget: 0}}`,
			`{"generationConfig":{"temperature":1,"thinkingConfig":{"thinkingLevel":"HIGH"},"topP":0.5}}`,
			`{"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}}`},
		{"Anthropic's effort", `{provider: anthropic, name: m, model: m, api_key: k, supports_reasoning_effort: true, when_thinking_enabled: {effort: high, stop: [a]}}`,
			`{"output_config":{"effort":"high"},"stop_sequences":["a"]}`, `null`},
		{"Ollama's words", `{provider: ollama, name: m, model: m, when_thinking_enabled: {reasoning: true}, when_thinking_disabled: {reasoning: false}}`, `null`, `{"reasoning_effort":"none"}`},
		{"OpenRouter's effort", `{provider: openrouter, name: m, model: m, api_key: k, supports_reasoning_effort: true, when_thinking_enabled: {reasoning_effort: low, reasoning: {exclude: false}}}`,
			`{"reasoning":{"effort":"low","exclude":false}}`, `null`},
		{"Codex", `{use: "deerflow.models.openai_codex_provider:CodexChatModel", name: m, model: m, api_key: k}`,
			`null`, `{"reasoning":{"effort":"none"}}`},
		{"nothing at all in it", `{provider: vllm, ` + local + `when_thinking_enabled: {extra_body: null}}`, `null`,
			`null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := only(t, c.entry, nil)
			if m.Err != nil {
				t.Fatal(m.Err)
			}
			on, off := m.ThinkingBodies()
			if diff := cmp.Diff([]string{c.on, c.off}, []string{jsonOf(t, on), jsonOf(t, off)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
