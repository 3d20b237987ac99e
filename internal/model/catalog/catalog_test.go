package catalog

import (
	"path"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/config"
)

func TestTheTableIsSound(t *testing.T) {
	if _, err := time.Parse(time.DateOnly, Date); err != nil {
		t.Error(err)
	}
	providers := map[string]bool{"": true}
	for _, p := range config.Providers() {
		providers[p.Name] = true
	}
	seen := map[string]bool{}
	for _, r := range Rows() {
		at := r.Vendor + " " + r.Pattern
		if seen[at] || !providers[r.Vendor] {
			t.Errorf("%s stands twice, or its vendor is no provider", at)
		}
		seen[at] = true
		if _, err := path.Match(r.Pattern, ""); err != nil || strings.ContainsAny(r.Pattern, `?[\/:@ `) ||
			r.Pattern != strings.ToLower(r.Pattern) {
			t.Errorf("%s: no pattern of ids: %v", at, err)
		}
		if r.Window < 4096 || r.Window > 10_000_000 || r.Output < 0 || r.Output > r.Window {
			t.Errorf("%s: window %d, output %d", at, r.Window, r.Output)
		}
		if r.Can&(Efforts|Adaptive) != 0 && r.Can&Thinking == 0 {
			t.Errorf("%s takes an effort and cannot think", at)
		}
		checkPrice(t, at, r)
	}
}

// checkPrice: a family has none, output is dearer than input, what is read from the cache is cheaper, and nothing is
// off by the factor of a thousand that a price per thousand tokens would be.
func checkPrice(t *testing.T, at string, r Row) {
	t.Helper()
	p := r.Price
	if p == nil {
		return
	}
	if strings.Contains(r.Pattern, "*") || r.Vendor == "" {
		t.Errorf("%s has a price, and is no vendor's single model", at)
	}
	if p.Input < 0.03 || p.Output > 600 || p.Output < p.Input || p.CacheRead >= p.Input || p.CacheWrite > 2*p.Input {
		t.Errorf("%s: %+v", at, *p)
	}
}

func TestEveryRowIsReached(t *testing.T) {
	for _, r := range Rows() {
		id := strings.ReplaceAll(r.Pattern, "*", "zz")
		got, ok := Lookup(r.Vendor, id)
		if !ok || got.Pattern != r.Pattern || got.Vendor != r.Vendor {
			t.Errorf("%s %s is served by %s %s", r.Vendor, id, got.Vendor, got.Pattern)
		}
	}
}

func TestEveryStandardModelIsKnown(t *testing.T) {
	for _, p := range config.Providers() {
		if p.Model == "" || p.Model == "openrouter/auto" {
			continue
		}
		if r, ok := Lookup(p.Name, p.Model); !ok || r.Window == 0 {
			t.Errorf("nothing is known of %s/%s", p.Name, p.Model)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ provider, id, want string }{
		{"openai", "gpt-5.5", "openai gpt-5.5 5"},
		{"openai", "gpt-5.5-2026-04-23", "openai gpt-5.5 5"},
		{"openai", "gpt-5.9-nova", "openai gpt-5* 0"},
		{"openai", "gpt-5-chat-latest", "openai gpt-5*-chat 0"},
		{"openai", "gpt-4o-2024-11-20", "openai gpt-4o 2.5"},
		{"openai", "gpt-4o-2024-05-13", "openai gpt-4o-2024-05-13 5"},
		{"openrouter", "openai/gpt-5", "openai gpt-5 0"},
		{"openrouter", "anthropic/claude-sonnet-4-5:beta", "anthropic claude-sonnet-4-5 0"},
		{"anthropic", "claude-sonnet-4-20250514", "anthropic claude-sonnet-4 3"},
		{"anthropic", "claude-3-5-sonnet-latest", "anthropic claude-3-5-sonnet 3"},
		{"anthropic", "claude-opus-9", "anthropic claude-opus-* 0"},
		{"compatible", "us.anthropic.claude-opus-4-5-20251101-v1:0", "anthropic claude-opus-4-5 0"},
		{"compatible", "claude-sonnet-4@20250514", "anthropic claude-sonnet-4 0"},
		{"gemini", "models/gemini-2.5-flash", "gemini gemini-2.5-flash 0.3"},
		{"gemini", "gemini-flash-latest", "gemini gemini-flash* 0"},
		{"groq", "openai/gpt-oss-120b", "groq gpt-oss-120b 0.15"},
		{"vllm", "openai/gpt-oss-120b", "groq gpt-oss-120b 0"},
		{"ollama", "gpt-oss:20b", " gpt-oss* 0"},
		{"ollama", "qwen3:8b-q4_K_M", "qwen qwen3* 0"},
		{"vllm", "Qwen/Qwen3-30B-A3B-Instruct-2507-FP8", "qwen qwen3*-instruct-2507 0"},
		{"vllm", "Qwen/Qwen3-30B-A3B-Thinking-2507", "qwen qwen3-*-2507 0"},
		{"llamacpp", "Llama-3.3-70B-Instruct-Q4_K_M", " llama-3* 0"},
		{"ollama", "llama3:8b", " llama3 0"},
		{"minimax", "MiniMax-M2", "minimax minimax-m2 0.3"},
		{"mistral", "mistral-large-latest", "mistral mistral-large-latest 0.5"},
		{"doubao", "doubao-seed-1-8-251228", "doubao doubao-seed-1-8* 0"},
		{"zai", "GLM-4.6", "zai glm-4.6 0.6"},
	} {
		r, ok := Lookup(c.provider, c.id)
		price := 0.0
		if r.Price != nil {
			price = r.Price.Input
		}
		if got := r.Vendor + " " + r.Pattern + " " + trim(price); !ok && c.want != "" || got != c.want {
			t.Errorf("%s %s: %q, want %q", c.provider, c.id, got, c.want)
		}
	}
	for _, id := range []string{"", "my-own-model", "/", ":", "*", "gpt"} {
		if r, ok := Lookup("openai", id); ok {
			t.Errorf("%q is taken for %s", id, r.Pattern)
		}
	}
}

func TestComplete(t *testing.T) {
	price := &config.Pricing{Currency: "USD", Input: 5, Output: 30, CacheRead: new(0.5), BuiltIn: Date}
	home, cny := "https://api.openai.com/v1", &config.Pricing{Currency: "CNY", Input: 1}
	for _, c := range []struct {
		name     string
		in, want config.Model
	}{
		{"all that is open", config.Model{Provider: "openai", ID: "gpt-5.5", BaseURL: home},
			config.Model{ContextWindow: 1_050_000, SupportsVision: true, SupportsThinking: true,
				SupportsReasoningEffort: true, Pricing: price}},
		{"what the entry says", config.Model{Provider: "openai", ID: "gpt-5.5", BaseURL: home, ContextWindow: 9,
			Pricing: cny, Said: []string{"supports_vision", "supports_thinking", "supports_reasoning_effort"}},
			config.Model{ContextWindow: 9, Pricing: cny}},
		{"what the entry says for a model that cannot",
			config.Model{Provider: "openai", ID: "gpt-4o", SupportsThinking: true, Said: []string{"supports_thinking"}},
			config.Model{ContextWindow: 128_000, SupportsThinking: true, SupportsVision: true}},
		{"another address has other prices",
			config.Model{Provider: "openai", ID: "gpt-5.5", BaseURL: "http://proxy/v1"},
			config.Model{ContextWindow: 1_050_000, SupportsVision: true, SupportsThinking: true,
				SupportsReasoningEffort: true}},
		{"a server that cuts the window", config.Model{Provider: "ollama", ID: "qwen3:8b",
			BaseURL: "http://127.0.0.1:11434/v1"}, config.Model{SupportsThinking: true}},
		{"Anthropic's bound and budget", config.Model{Provider: "anthropic", Wire: config.WireAnthropic,
			ID: "claude-opus-4-6"},
			config.Model{ContextWindow: 1_000_000, MaxTokens: answerLimit, ThinkingBudget: config.AdaptiveThinking,
				SupportsVision: true, SupportsThinking: true, SupportsReasoningEffort: true}},
		{"an older one of Anthropic", config.Model{Provider: "anthropic", Wire: config.WireAnthropic,
			ID: "claude-3-5-haiku-20241022"},
			config.Model{ContextWindow: 200_000, MaxTokens: 8192, SupportsVision: true}},
		{"Anthropic's as it is said", config.Model{Provider: "anthropic", Wire: config.WireAnthropic,
			ID: "claude-opus-4-6", MaxTokens: 5, ThinkingBudget: 2000},
			config.Model{ContextWindow: 1_000_000, MaxTokens: 5, ThinkingBudget: 2000, SupportsVision: true,
				SupportsThinking: true, SupportsReasoningEffort: true}},
		{"an unknown model", config.Model{Provider: "openai", ID: "mine", BaseURL: home}, config.Model{}},
		{"a script", config.Model{Provider: "scripted", Wire: config.WireScripted, ID: "gpt-5.5"}, config.Model{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.in
			Complete(&got)
			c.want.Provider, c.want.ID, c.want.Wire, c.want.BaseURL, c.want.Said = c.in.Provider, c.in.ID, c.in.Wire,
				c.in.BaseURL, c.in.Said
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			again := got
			Complete(&again)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("a second time: %s", diff)
			}
		})
	}
}

// shortest is the last of the spellings, by which the catalogue looks when no longer one is known.
func shortest(id string) string {
	list := spellings(id)
	return list[len(list)-1]
}

func TestNormalise(t *testing.T) {
	for id, want := range map[string]string{
		"OpenAI/GPT-5.2-2025-12-11":               "gpt-5.2",
		"accounts/fireworks/models/llama-v3p1-8b": "llama-v3p1-8b",
		"qwen3:30b-a3b":                           "qwen3",
		"kimi-k2-0905-preview":                    "kimi-k2-0905-preview",
		"mistral-large-2512":                      "mistral-large",
		"Phi-4-mini-instruct-IQ3_XS.gguf":         "phi-4-mini-instruct",
		"model-Q8_0-GGUF":                         "model",
		"gpt-4":                                   "gpt-4",
		"2025-04-14":                              "2025",
		"-":                                       "-",
		"anthropic.claude-3-haiku-20240307-v1:0":  "claude-3-haiku",
		"deepseek.v3-v1:0":                        "v3",
		"claude-sonnet-4-5-20250929":              "claude-sonnet-4-5",
		"glm-4.5-air":                             "glm-4.5-air",
		"nvidia/Qwen3-8B-FP8":                     "qwen3-8b",
		"doubao-seed-2-1-pro-260628":              "doubao-seed-2-1-pro",
		"meta-llama/Llama-4-Scout-17B-16E-Instruct-hf": "llama-4-scout-17b-16e-instruct",
	} {
		if got := shortest(id); got != want {
			t.Errorf("%q gives %q, want %q", id, got, want)
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"", "gpt-5-2025-04-14", "a/b:c@d", "--01-02", "q4_k_m", "anthropic.", "x-", "ⱥ-2025",
		"İ/İ-latest"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		got := shortest(id)
		if again := shortest(got); again != got {
			t.Errorf("%q gives %q and then %q", id, got, again)
		}
		if len(got) > len(strings.ToLower(id)) {
			t.Errorf("%q grew to %q", id, got)
		}
		if r, ok := Lookup("openai", id); ok && r.Window <= 0 {
			t.Errorf("%q: %+v", id, r)
		}
	})
}

func trim(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
