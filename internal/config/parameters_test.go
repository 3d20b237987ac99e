package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWires(t *testing.T) {
	const class = "use: 'langchain_openai:ChatOpenAI', "
	for _, c := range []struct {
		name, entry string
		wire        Wire
		base        string
	}{
		{"chat completions", `{` + class + `model: m}`, WireOpenAI, "https://api.openai.com/v1"},
		{"Responses by name", `{` + class + `model: m, use_responses_api: true}`, WireResponses,
			"https://api.openai.com/v1"},
		{"Responses by the form of the output", `{` + class + `model: m, output_version: responses/v1}`, WireResponses,
			"https://api.openai.com/v1"},
		{"Responses by an argument of its own", `{` + class + `model: m, reasoning: {effort: low}}`, WireResponses,
			"https://api.openai.com/v1"},
		{"not Responses", `{` + class + `model: m, output_version: responses/v1, use_responses_api: false}`, WireOpenAI,
			"https://api.openai.com/v1"},
		{"another form of the output", `{` + class + `model: m, output_version: v1}`, WireOpenAI,
			"https://api.openai.com/v1"},
		{"a vendor without Responses", `{provider: deepseek, model: m, use_responses_api: true}`, WireOpenAI,
			"https://api.deepseek.com/v1"},
		{"Gemini", `{use: 'langchain_google_genai:ChatGoogleGenerativeAI', model: m}`, WireGemini,
			"https://generativelanguage.googleapis.com"},
		{"Gemini's gateway",
			`{provider: gemini, model: m, base_url: 'https://generativelanguage.googleapis.com/v1beta/openai/'}`,
			WireOpenAI,
			"https://generativelanguage.googleapis.com/v1beta/openai"},
		{"Gemini as DeerFlow patches it",
			`{use: 'deerflow.models.patched_openai:PatchedChatOpenAI', model: m, base_url: 'https://g/v1'}`, WireOpenAI,
			"https://g/v1"},
		{"a resource of Azure", `{provider: azure, model: m, base_url: 'https://r.openai.azure.com'}`, WireOpenAI,
			"https://r.openai.azure.com/openai/v1"},
		{"Azure's class", `{use: 'langchain_openai:AzureChatOpenAI', model: m, azure_endpoint: 'https://r.openai.azure.com/', azure_deployment: d, api_version: v, use_responses_api: false}`,
			WireOpenAI, "https://r.openai.azure.com/openai/deployments/d?api-version=v"},
		{"Azure's class with its model as the deployment",
			`{use: 'langchain_openai:AzureChatOpenAI', model: m, azure_endpoint: 'https://r', openai_api_version: v}`,
			WireOpenAI, "https://r/openai/deployments/m?api-version=v"},
		{"Azure without a version", `{provider: azure, model: m, azure_endpoint: 'https://r', use_responses_api: true}`,
			WireResponses, "https://r/openai/v1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := only(t, c.entry, map[string]string{"OPENAI_API_KEY": "k", "DEEPSEEK_API_KEY": "k",
				"GEMINI_API_KEY": "k", "AZURE_OPENAI_API_KEY": "k"})
			if m.Err != nil || m.Wire != c.wire || m.BaseURL != c.base {
				t.Errorf("%s at %s, %v", m.Wire, m.BaseURL, m.Err)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ name, entry, body, effort string }{
		{"arguments of the model",
			`{provider: vllm, base_url: 'http://g/v1', model: m, model_kwargs: {a: 1, b: 1}, extra_body: {b: 2}, top_p: 0.5}`, `{"a":1,"b":2,"top_p":0.5}`, ""},
		{"no question for usage", `{provider: vllm, base_url: 'http://g/v1', model: m, stream_usage: false}`,
			`{"stream_options":null}`, ""},
		{"usage anyway", `{provider: vllm, base_url: 'http://g/v1', model: m, stream_usage: true, model_kwargs: null}`,
			``, ""},
		{"Gemini's sampling", `{provider: gemini, api_key: k, model: m, top_k: 4, stop: [x], thinking_level: low}`,
			`{"generationConfig":{"stopSequences":["x"],"topK":4}}`, "low"},
		{"Anthropic's stop", `{provider: anthropic, api_key: k, model: m, stop: [x], effort: medium}`,
			`{"stop_sequences":["x"]}`, "medium"},
		{"Ollama's effort", `{provider: ollama, model: m, reasoning: high}`, ``, "high"},
		{"OpenRouter's reasoning", `{provider: openrouter, api_key: k, model: m, reasoning: {max_tokens: 9}}`,
			`{"reasoning":{"max_tokens":9}}`, ""},
		{"the effort of Responses", `{provider: openai, api_key: k, model: m, reasoning: {effort: low}}`, ``, "low"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := only(t, c.entry, nil)
			if diff := cmp.Diff([]string{c.body, c.effort}, []string{string(m.ExtraBody), m.Effort}); diff != "" ||
				m.Err != nil {
				t.Error(diff, m.Err)
			}
		})
	}
}

func TestResponsesReasoningGoesBesideTheOwn(t *testing.T) {
	m := only(t, `{provider: openai, api_key: k, model: m, reasoning: {effort: low, summary: detailed}}`, nil)
	on, _ := m.ThinkingBodies()
	if m.Effort != "low" || jsonOf(t, on) != `{"reasoning":{"summary":"detailed"}}` {
		t.Errorf("effort %q, on %s", m.Effort, jsonOf(t, on))
	}
}

func TestHeadersAndNames(t *testing.T) {
	m := only(t, `{provider: openai, api_key: k, model: m, organization: org-1, betas: [a, b], default_headers: {Anthropic-Beta: c}, num_predict: 7, read_timeout: 9}`, nil)
	if diff := cmp.Diff(map[string]string{"OpenAI-Organization": "org-1", "Anthropic-Beta": "c"},
		m.Headers); diff != "" {
		t.Error(diff)
	}
	if m.MaxTokens != 7 || m.ChunkTimeout.Seconds() != 9 || len(m.Extra) != 0 {
		t.Errorf("%+v", m)
	}
	_, _, err := parsed(t, "models: [{provider: anthropic, api_key: k, model: m, betas: x}]", nil)
	if err == nil || !strings.Contains(err.Error(), "models[0].betas: must be a list of words") {
		t.Error(err)
	}
}

func TestSaid(t *testing.T) {
	m := only(t, `{use: ollama, model: m, supports_vision: false, supports_thinking: null, request_timeout: 4}`, nil)
	if diff := cmp.Diff([]string{"use", "model", "timeout", "supports_vision"}, m.Said); diff != "" {
		t.Error(diff)
	}
	for _, entry := range []string{`{provider: gemini, api_key: k, model: m, thinking_budget: 0}`,
		`{provider: ollama, model: m, reasoning: false}`} {
		if m := only(t, entry, nil); !m.Says("supports_thinking") || m.SupportsThinking {
			t.Errorf("%s: said %v", entry, m.Said)
		}
	}
	if _, _, err := parsed(t, `models: [{provider: ollama, model: m, "@said": [a]}]`, nil); err != nil {
		t.Error(err)
	}
}

func TestCompleteComesBeforeTheChecks(t *testing.T) {
	fill := func(m *Model) { m.Pricing = &Pricing{Input: 1, BuiltIn: "2026-01-01"} }
	text := "models: [{provider: ollama, model: m}, {provider: openai, model: n}]\ntoken_budget: {enabled: true, max_cost: 1}"
	cfg, warnings, err := LoadOptions{Complete: fill}.parse("config.yaml", []byte(text), EnvFrom(vars(nil)))
	if err != nil || cfg.Models[0].Pricing == nil || cfg.Models[1].Pricing != nil {
		t.Fatalf("%+v %v", cfg.Models, err)
	}
	if s := lines(warnings); !strings.Contains(s,
		"models[0]: has no pricing: token_budget.max_cost counts with the built-in prices of 2026-01-01") {
		t.Error(s)
	}
}
