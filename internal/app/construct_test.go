package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/model/catalog"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
)

// heard is what a server was sent.
type heard struct {
	path   string
	header http.Header
	body   map[string]json.RawMessage
}

// listen answers each request with a refusal, and keeps the last one.
func listen(t *testing.T) (address string, last *heard) {
	t.Helper()
	last = &heard{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		*last = heard{path: r.URL.Path, header: r.Header}
		if err != nil || json.Unmarshal(data, &last.body) != nil {
			t.Errorf("a body that is no JSON: %q %v", data, err)
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	return server.URL, last
}

// entryOf is the model of a configuration with that one entry, as the program has it.
func entryOf(t *testing.T, entry string, env map[string]string) config.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("models:\n  - "+entry), 0o600); err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	cfg, _, err := config.Load(config.LoadOptions{Path: path, Env: lookup, Complete: catalog.Complete})
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Models[0]
}

// ask builds the model of an entry and makes a call. ADDRESS in the entry is the server's.
func ask(t *testing.T, entry string, env map[string]string, s model.Settings) heard {
	t.Helper()
	address, last := listen(t)
	m, err := buildModel(entryOf(t, strings.ReplaceAll(entry, "ADDRESS", address), env))
	if err != nil {
		t.Fatal(err)
	}
	req := &model.Request{Messages: []message.Message{message.New(message.Human, "hi")}, Settings: s}
	if _, err := model.Collect(m.Stream(t.Context(), req)); model.AsError(err) == nil {
		t.Fatalf("the refusal did not arrive: %v", err)
	}
	return *last
}

// fieldsOf are the fields that thinking, effort and extra bodies touch.
func fieldsOf(t *testing.T, h heard) string {
	t.Helper()
	for _, key := range []string{"model", "messages", "stream", "stream_options", "system", "input", "instructions",
		"store", "include", "contents", "tools"} {
		delete(h.body, key)
	}
	data, err := json.Marshal(h.body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestThinkingOnTheWire has a row for each rule of DeerFlow's factory (spec 08): what stands in the request then.
func TestThinkingOnTheWire(t *testing.T) {
	yes, no := new(true), new(false)
	const at, deep = "model: m, api_key: k, base_url: ADDRESS",
		"when_thinking_enabled: {extra_body: {thinking: {type: enabled}}}"
	for _, c := range []struct {
		name, entry string
		settings    model.Settings
		want        string
	}{
		{"on: the settings are merged", "{use: 'langchain_openai:ChatOpenAI', " + at +
			", supports_thinking: true, extra_body: {a: 1}, " + deep + "}",
			model.Settings{Thinking: yes}, `{"a":1,"thinking":{"type":"enabled"}}`},
		{"off: extra_body.thinking becomes disabled", "{use: 'langchain_openai:ChatOpenAI', " + at +
			", supports_thinking: true, extra_body: {a: 1}, " + deep + "}",
			model.Settings{Thinking: no}, `{"a":1,"thinking":{"type":"disabled"}}`},
		{"off: and the effort the least", "{use: 'langchain_openai:ChatOpenAI', " + at +
			", supports_thinking: true, supports_reasoning_effort: true, " + deep + "}",
			model.Settings{Thinking: no}, `{"reasoning_effort":"minimal","thinking":{"type":"disabled"}}`},
		{"off: what the entry says wins", "{use: 'langchain_openai:ChatOpenAI', " + at + ", supports_thinking: true, " +
			deep + ", when_thinking_disabled: {extra_body: {quiet: true}}}",
			model.Settings{Thinking: no}, `{"quiet":true}`},
		{"off: vLLM's template", "{use: 'deerflow.models.vllm_provider:VllmChatModel', " +
			at +
			", supports_thinking: true, when_thinking_enabled: {extra_body: {chat_template_kwargs: {enable_thinking: true}}}}",
			model.Settings{Thinking: no}, `{"chat_template_kwargs":{"enable_thinking":false}}`},
		{"off: Anthropic", "{use: 'langchain_anthropic:ChatAnthropic', " +
			at +
			", max_tokens: 9000, supports_thinking: true, when_thinking_enabled: {thinking: {type: enabled, budget_tokens: 2048}}}",
			model.Settings{Thinking: no}, `{"max_tokens":9000,"thinking":{"type":"disabled"}}`},
		{"on: Anthropic", "{use: 'langchain_anthropic:ChatAnthropic', " + at +
			", max_tokens: 9000, supports_thinking: true, thinking: {type: enabled, budget_tokens: 2048}}",
			model.Settings{Thinking: yes}, `{"max_tokens":9000,"thinking":{"budget_tokens":2048,"type":"enabled"}}`},
		{"a model that cannot think is told so", "{use: 'langchain_openai:ChatOpenAI', " + at + ", " + deep + "}",
			model.Settings{}, `{"thinking":{"type":"disabled"}}`},
		{"an effort goes to who takes one", "{use: 'langchain_openai:ChatOpenAI', " + at +
			", supports_reasoning_effort: true, reasoning_effort: low}", model.Settings{},
			`{"reasoning_effort":"low"}`},
		{"an effort of the call before that of the entry", "{use: 'langchain_openai:ChatOpenAI', " + at +
			", supports_reasoning_effort: true, reasoning_effort: low}",
			model.Settings{Effort: "high"}, `{"reasoning_effort":"high"}`},
		{"an effort goes to nobody else", "{use: 'langchain_openai:ChatOpenAI', " + at + ", reasoning_effort: low}",
			model.Settings{}, `{}`},
		{"the Responses API", "{use: 'langchain_openai:ChatOpenAI', " +
			at +
			", use_responses_api: true, supports_reasoning_effort: true, max_tokens: 50, when_thinking_enabled: {reasoning_effort: high}}",
			model.Settings{Thinking: yes}, `{"max_output_tokens":50,"reasoning":{"effort":"high","summary":"auto"}}`},
		{"a server that rejects the question for usage", "{provider: vllm, " + at + ", stream_usage: false, top_k: 5}",
			model.Settings{}, `{"top_k":5}`},
		{"no cache marks", "{provider: anthropic, " + at + ", max_tokens: 5, enable_prompt_caching: false, stop: [x]}",
			model.Settings{}, `{"max_tokens":5,"stop_sequences":["x"]}`},
		{"Gemini's own API", "{provider: gemini, " + at + ", top_p: 0.5}", model.Settings{},
			`{"generationConfig":{"topP":0.5}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, fieldsOf(t, ask(t, c.entry, nil, c.settings))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCodexOnTheWire(t *testing.T) {
	login := filepath.Join(t.TempDir(), "auth.json")
	if err := os.WriteFile(login, []byte(`{"tokens":{"access_token":"acc","account_id":"acct"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const class = "{use: 'deerflow.models.openai_codex_provider:CodexChatModel', model: m, base_url: ADDRESS, max_tokens: 9"
	for _, c := range []struct {
		name, entry string
		thinking    *bool
		effort      string
	}{
		{"nobody says", class + "}", nil, "medium"},
		{"the entry says", class + ", reasoning_effort: xhigh}", nil, "xhigh"},
		{"it says what is not known", class + ", reasoning_effort: minimal}", nil, "medium"},
		{"thinking off", class + ", reasoning_effort: high}", new(false), "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := ask(t, c.entry, map[string]string{"CODEX_AUTH_PATH": login}, model.Settings{Thinking: c.thinking})
			var reasoning struct {
				Effort string `json:"effort"`
			}
			if err := json.Unmarshal(h.body["reasoning"], &reasoning); err != nil || reasoning.Effort != c.effort {
				t.Errorf("effort %q %v, want %q", reasoning.Effort, err, c.effort)
			}
			if h.body["max_output_tokens"] != nil || h.header.Get("Authorization") != "Bearer acc" ||
				h.header.Get("Chatgpt-Account-Id") != "acct" {
				t.Errorf("%s %v", h.body["max_output_tokens"], h.header)
			}
		})
	}
}

func TestKeysOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name, entry  string
		env          map[string]string
		path, header string
		value        string
	}{
		{"chat completions", "{provider: vllm, model: m, base_url: ADDRESS/v1, api_key: k}", nil,
			"/v1/chat/completions", "Authorization", "Bearer k"},
		{"Responses",
			"{provider: openai, model: m, base_url: ADDRESS/v1, api_key: k, output_version: responses/v1, organization: o}", nil, "/v1/responses", "Openai-Organization", "o"},
		{"Azure", "{provider: azure, model: m, azure_endpoint: ADDRESS, api_version: v, api_key: k}", nil,
			"/openai/deployments/m/chat/completions", "Api-Key", "k"},
		{"Azure's Responses",
			"{provider: azure, model: m, base_url: ADDRESS/openai/v1, api_key: k, use_responses_api: true}", nil,
			"/openai/v1/responses", "Api-Key", "k"},
		{"Anthropic", "{provider: anthropic, model: m, base_url: ADDRESS, api_key: k}", nil, "/v1/messages",
			"X-Api-Key", "k"},
		{"a bearer token", "{provider: anthropic, model: m, base_url: ADDRESS}",
			map[string]string{"ANTHROPIC_AUTH_TOKEN": "t"}, "/v1/messages", "Authorization", "Bearer t"},
		{"Gemini", "{provider: gemini, model: m, base_url: ADDRESS, api_key: k}", nil,
			"/v1beta/models/m:streamGenerateContent", "X-Goog-Api-Key", "k"},
		{"Gemini's gateway", "{provider: gemini, model: m, base_url: ADDRESS/v1beta/openai, api_key: k}", nil,
			"/v1beta/openai/chat/completions", "Authorization", "Bearer k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := ask(t, c.entry, c.env, model.Settings{})
			if h.path != c.path || h.header.Get(c.header) != c.value {
				t.Errorf("%s, %s: %q", h.path, c.header, h.header.Get(c.header))
			}
		})
	}
}

func TestBuildModelNamesWhatIsWrong(t *testing.T) {
	m := entryOf(t, "{provider: anthropic, model: m, api_key: k}", nil)
	m.Expires = time.Unix(1, 0)
	if _, err := buildModel(m); err == nil || !strings.Contains(err.Error(), "has expired: run `claude`") {
		t.Error(err)
	}
	if _, err := buildModel(entryOf(t, "{provider: mistral, model: m}", nil)); err == nil ||
		!strings.Contains(err.Error(), "no key for Mistral") {
		t.Error(err)
	}
}

func TestUnread(t *testing.T) {
	const all = "model: m, api_key: k, base_url: 'http://g', enable_prompt_caching: true, prompt_cache_size: 2, auto_thinking_budget: true, thinking_budget: 9, use_responses_api: true, max_tokens: 3, timeout: 4, extra_body: {a: 1}}"
	for entry, want := range map[string][]string{
		"{provider: vllm, reasoning_effort: low, " + all: {"auto_thinking_budget",
			"enable_prompt_caching", "prompt_cache_size", "reasoning_effort (it needs supports_reasoning_effort)",
			"thinking_budget", "use_responses_api"},
		"{provider: openai, " + all: {"auto_thinking_budget",
			"enable_prompt_caching", "prompt_cache_size", "thinking_budget"},
		"{provider: anthropic, " + all:                                               {"use_responses_api"},
		"{provider: codex, model: m, api_key: k, max_tokens: 3}":                     {"max_tokens"},
		"{provider: deepseek, model: m, api_key: k, timeout: 4, extra_body: {a: 1}}": nil,
	} {
		if diff := cmp.Diff(want, unread(entryOf(t, entry, nil))); diff != "" {
			t.Errorf("%s: %s", entry, diff)
		}
	}
}

func TestAModelFromTheEnvironmentIsKnown(t *testing.T) {
	env := func(name string) (string, bool) { return "k", name == "ANTHROPIC_API_KEY" }
	cfg, _, err := config.Load(config.LoadOptions{Cwd: t.TempDir(), Env: env, Complete: catalog.Complete})
	if err != nil {
		t.Fatal(err)
	}
	c, err := chooseModel(t.Context(), cfg, "", demoScript)
	if err != nil {
		t.Fatal(err)
	}
	if m := c.entry; m.ContextWindow != 1_000_000 || !m.SupportsVision || !m.SupportsThinking || m.Pricing == nil ||
		m.Pricing.BuiltIn != catalog.Date {
		t.Errorf("%+v", m)
	}
}

func TestTimeoutBoundsTheWholeCall(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil { // never silent, never done
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}))
	defer server.Close()
	build := func(timeout string) model.ChatModel {
		m, err := buildModel(entryOf(t, "{provider: vllm, model: org/m, base_url: '"+server.URL+"'"+timeout+"}", nil))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	req := &model.Request{Messages: []message.Message{message.New(message.Human, "hi")}}
	msg, err := model.Collect(build(", timeout: 1.5").Stream(t.Context(), req))
	failed := model.AsError(err)
	if failed == nil || failed.Class != model.ClassTransient ||
		!strings.Contains(err.Error(), "vllm/org/m: no complete answer within 1.5s: raise the model's timeout") {
		t.Errorf("%v", err)
	}
	if msg.Text() == "" {
		t.Error("what had come is lost")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, timeout := range []string{"", ", timeout: 600"} {
		if _, err := model.Collect(build(timeout).Stream(ctx, req)); err != context.DeadlineExceeded {
			t.Errorf("the caller's own end%s: %v", timeout, err)
		}
	}
}

func TestEveryProviderHasItsDialect(t *testing.T) {
	for _, p := range config.Providers() {
		if p.Wire != config.WireOpenAI {
			continue
		}
		address, last := listen(t)
		m, err := buildModel(entryOf(t, "{provider: "+p.Name+", model: m, api_key: k, base_url: "+address+"}", nil))
		if err != nil {
			t.Fatal(err)
		}
		req := &model.Request{Messages: []message.Message{message.New(message.Human, "hi")}}
		if _, err := model.Collect(m.Stream(t.Context(), req)); last.path == "" {
			t.Errorf("%s asked nobody: %v", p.Name, err)
		}
	}
}
