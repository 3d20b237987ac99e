package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const givenSecret = "sk-given-4711"

// TestGiven: an entry that somebody gives becomes a model as one of the file does.
func TestGiven(t *testing.T) {
	env := EnvFrom(vars(map[string]string{"OPENAI_API_KEY": "of-env", "OPENAI_BASE_URL": "", "ANTHROPIC_API_KEY": "",
		"X": "leaked"}))
	for _, c := range []struct {
		name  string
		given Given
		want  string // name provider address key
		unfit string
	}{
		{"with its key", Given{Provider: "anthropic", ID: "claude", Key: givenSecret},
			"anthropic/claude anthropic https://api.anthropic.com " + givenSecret, ""},
		{"with a name", Given{Name: "big", Provider: "openai", ID: "gpt", Key: givenSecret},
			"big openai https://api.openai.com/v1 " + givenSecret, ""},
		{"with the environment's key", Given{Provider: "openai", ID: "gpt"},
			"openai/gpt openai https://api.openai.com/v1 of-env", ""},
		{"no key of the environment goes elsewhere", Given{Provider: "openai", ID: "gpt",
			BaseURL: "http://evil.example/v1"}, "openai/gpt openai http://evil.example/v1 ", ""},
		{"without a key", Given{Provider: "anthropic", ID: "claude"},
			"anthropic/claude anthropic https://api.anthropic.com ", "no key for Anthropic"},
		{"a local server", Given{Provider: "ollama", ID: "qwen3:8b"},
			"ollama/qwen3:8b ollama http://127.0.0.1:11434/v1 ", ""},
		{"a server elsewhere", Given{Provider: "ollama", ID: "q", BaseURL: "http://gpu:1/"},
			"ollama/q ollama http://gpu:1/v1 ", ""},
		{"no address", Given{Provider: "vllm", ID: "q"}, "vllm/q vllm  ", "has no address of its own"},
		{"no login goes elsewhere", Given{Provider: "codex", ID: "gpt", BaseURL: "http://evil.example"},
			"codex/gpt codex http://evil.example ", "codex login"},
		{"a resource of Azure", Given{Provider: "azure", ID: "d", BaseURL: "https://r.openai.azure.com",
			Key: givenSecret}, "azure/d azure https://r.openai.azure.com/openai/v1 " + givenSecret, ""},
	} {
		m, err := c.given.Model(env)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := m.Name + " " + m.Provider + " " + m.BaseURL + " " + m.Key.Reveal(); got != c.want || !m.Given ||
			m.Wire == "" || m.ChunkTimeout == 0 {
			t.Errorf("%s: %q, want %q, %+v", c.name, got, c.want, m)
		}
		if (m.Err == nil) != (c.unfit == "") || m.Err != nil && !strings.Contains(m.Err.Error(), c.unfit) {
			t.Errorf("%s: %v, want %q", c.name, m.Err, c.unfit)
		}
	}
}

// TestGivenSettings are those of a file, but for variables, which are text.
func TestGivenSettings(t *testing.T) {
	env := EnvFrom(vars(map[string]string{"X": "leaked"}))
	g := Given{Provider: "openai", ID: "gpt", Key: givenSecret,
		Settings: json.RawMessage(`{"context_window":1000000,"supports_vision":true,
		"display_name":"$X \ud83e\udd8c <b>","temperature":0.5,"when_thinking_enabled":{"extra_body":{"a":"${X}"}},"timeout":60,"use_responses_api":true}`)}
	m, err := g.Model(env)
	if err != nil || m.ContextWindow != 1_000_000 || !m.SupportsVision || m.DisplayName != "$X 🦌 <b>" ||
		*m.Temperature != 0.5 || m.Wire != WireResponses ||
		m.Timeout.Seconds() != 60 || !m.Says("supports_vision") || m.Says("supports_thinking") ||
		strings.Contains(fmt.Sprintf("%+v %s", m, m.ThinkingOn), "leaked") {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestGivenIsRefused with what is wrong and never with the key.
func TestGivenIsRefused(t *testing.T) {
	good := Given{Provider: "openai", ID: "gpt", Key: givenSecret}
	for want, change := range map[string]func(*Given){
		`provider: "opnai" is none of`:     func(g *Given) { g.Provider = "opnai" },
		`did you mean "openai"?`:           func(g *Given) { g.Provider = "opnai" },
		`provider: "scripted" is none`:     func(g *Given) { g.Provider, g.ID = "scripted", "/etc/passwd" },
		"model: must be what OpenAI calls": func(g *Given) { g.ID = "a\nb" },
		"name: \"a b\"":                    func(g *Given) { g.Name = "a b" },
		"name: \"../x\"":                   func(g *Given) { g.Name = "../x" },
		"name: \"a//b\"":                   func(g *Given) { g.Name = "a//b" },
		"the scripted demonstration":       func(g *Given) { g.Name = "demo" },
		"at most 200":                      func(g *Given) { g.Name = strings.Repeat("a", 201) },
		"base_url: must be an address":     func(g *Given) { g.BaseURL = "file:///etc/passwd" },
		"base_url: must have no user":      func(g *Given) { g.BaseURL = "https://me:" + givenSecret + "@h/v1" },
		"the key belongs into api_key":     func(g *Given) { g.BaseURL = "https://h/v1?key=" + givenSecret },
		"visible ASCII":                    func(g *Given) { g.Key += "\r\nX-Evil: 1" },
		"settings.api_key: is none of": func(g *Given) {
			g.Settings = json.RawMessage(`{"api_key":"` + givenSecret + `"}`)
		},
		"settings.default_headers":      func(g *Given) { g.Settings = json.RawMessage(`{"default_headers":{}}`) },
		"settings.temperature: must be": func(g *Given) { g.Settings = json.RawMessage(`{"temperature":9}`) },
		"settings: must be an object":   func(g *Given) { g.Settings = json.RawMessage(`[1]`) },
		"settings.when_thinking_enabled: m": func(g *Given) {
			g.Settings = json.RawMessage(`{"when_thinking_enabled":[1]}`)
		},
		`did you mean "supports_vision"`: func(g *Given) {
			g.Settings = json.RawMessage(`{"supports_visions":true}`)
		},
	} {
		g := good
		change(&g)
		_, err := g.Model(Env{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), givenSecret) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestChooseAmongThoseAdded: one that was made the default counts before the file, all others come last, and what
// cannot be used stands in nobody's way.
func TestChooseAmongThoseAdded(t *testing.T) {
	const file = "models: [{name: mine, provider: vllm, model: m, base_url: 'http://gpu/v1'}]"
	added := []Model{
		{Name: "broken", Given: true, Wire: WireOpenAI, Err: errors.New("no key")},
		{Name: "new", Given: true, Wire: WireOpenAI},
		{Name: "mine", Given: true, Wire: WireOpenAI, Provider: "another"},
	}
	for _, c := range []struct{ name, file, standard, env, want, why string }{
		{"the default", file, "new", "", "new", "it was made the default"},
		{"the file", file, "", "", "mine", "the first model of config.yaml"},
		{"a default that is gone", file, "gone", "", "mine", "the first model of"},
		{"a default that cannot be used", file, "broken", "", "mine", "the first model of"},
		{"the variable", file, "new", "mine", "mine", "PUDU_MODEL"},
		{"one that was added, by the variable", file, "", "new", "new", "PUDU_MODEL"},
		{"the first that was added", "", "", "", "new", "the first model that was added"},
		{"the environment's provider as the default", file, "ollama/x", "", "ollama/x", "it was made the default"},
	} {
		cfg, _ := mustParse(t, c.file, map[string]string{"PUDU_MODEL": c.env})
		got, err := Choose(cfg.With(added, c.standard), "", nil)
		if err != nil || got.Model.Name != c.want || !strings.Contains(got.Reason, c.why) ||
			got.Model.Provider == "another" && c.file != "" {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	if _, err := Choose(Default().With(added[:1], ""), "", nil); !errors.Is(err, ErrNoModel) {
		t.Errorf("none can be used: %v", err)
	}
	cfg, _ := mustParse(t, file, nil)
	if with := cfg.With(added, "new"); len(with.Models) != 3 || len(cfg.Models) != 1 || cfg.Standard != "" {
		t.Errorf("%d of %d", len(with.Models), len(cfg.Models))
	}
}

// FuzzGiven: whatever is given is refused or a model with the bounds of one, and the key is nowhere else.
func FuzzGiven(f *testing.F) {
	f.Add("", "openai", "gpt", "https://h/v1", `{"context_window":1}`)
	f.Add("a", "ollama", "q", "", `{"fallbacks":["a"],"pricing":{"input_per_million":1}}`)
	f.Add("a", "azure", "q", "https://x.openai.azure.com", `{"when_thinking_enabled":{"extra_body":{"model":"x"}}}`)
	f.Fuzz(func(t *testing.T, name, provider, id, base, settings string) {
		g := Given{Name: name, Provider: provider, ID: id, BaseURL: base, Key: givenSecret,
			Settings: json.RawMessage(settings)}
		m, err := g.Model(EnvFrom(vars(map[string]string{"HOME": "/nowhere"})))
		if err != nil {
			if strings.Contains(err.Error(), givenSecret) {
				t.Error(err)
			}
			return
		}
		if m.Key != givenSecret || m.Wire == "" || m.Wire == WireScripted || checkGivenName(m.Name) != nil ||
			len(m.Headers) > 0 {
			t.Errorf("%+v", m)
		}
	})
}
