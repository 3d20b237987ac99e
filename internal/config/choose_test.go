package config

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
)

func chosen(t *testing.T, file, name string, env map[string]string, local ...string) (Choice, error) {
	t.Helper()
	cfg, _ := mustParse(t, file, env)
	return Choose(cfg, name, func(base string) ([]string, error) {
		if len(local) == 0 {
			return nil, errors.New("connection refused")
		}
		return local, nil
	})
}

func TestChooseOrder(t *testing.T) {
	const file = "models: [{name: mine, provider: vllm, model: m, base_url: 'http://gpu/v1'}, {name: other/one, provider: vllm, model: n, base_url: 'http://gpu/v1'}]"
	keys := map[string]string{"PUDU_MODEL": "gemini/g", "OPENAI_API_KEY": "o", "GOOGLE_API_KEY": "g",
		"ANTHROPIC_API_KEY": "a"}
	without := func(names ...string) map[string]string {
		m := maps.Clone(keys)
		for _, n := range names {
			delete(m, n)
		}
		return m
	}
	for _, c := range []struct {
		name, file, option string
		env                map[string]string
		local              []string
		want               string // provider model key
		why                string
	}{
		{"the option", file, "deepseek/x", map[string]string{"DEEPSEEK_API_KEY": "d"}, nil, "deepseek x d",
			"asked for by name"},
		{"the option names a configured model", file, "mine", keys, nil, "vllm m ", "asked for by name"},
		{"a configured name with a slash", file, "other/one", keys, nil, "vllm n ", "asked for by name"},
		{"a model id with slashes", "", "openrouter/a/b", map[string]string{"OPENROUTER_API_KEY": "r"}, nil,
			"openrouter a/b r", ""},
		{"a provider alone", "", "anthropic", keys, nil, "anthropic claude-sonnet-5-5 a", ""},
		{"the variable", file, "", keys, nil, "gemini g g", "PUDU_MODEL"},
		{"the first configured model", file, "", without("PUDU_MODEL"), nil, "vllm m ",
			"the first model of config.yaml"},
		{"the first key", "", "", without("PUDU_MODEL"), nil, "openai gpt-5.5 o", "OPENAI_API_KEY is set"},
		{"the next key", "", "", without("PUDU_MODEL", "OPENAI_API_KEY"), nil, "anthropic claude-sonnet-5-5 a",
			"ANTHROPIC_API_KEY is set"},
		{"the second name of a key", "", "", without("PUDU_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"), nil,
			"gemini gemini-flash-latest g", "GOOGLE_API_KEY is set"},
		{"an empty key is none", "", "", map[string]string{"OPENAI_API_KEY": " ", "XAI_API_KEY": "x"}, nil,
			"xai grok-4.7 x", "XAI_API_KEY is set"},
		{"a model variable", "", "", map[string]string{"OPENAI_API_KEY": "o", "OPENAI_MODEL": "mini"}, nil,
			"openai mini o", ""},
		{"a server without a key", "", "", map[string]string{"OPENAI_BASE_URL": "http://h:1/v1/", "OPENAI_MODEL": "l"},
			nil, "openai l ", "http://h:1/v1 (OPENAI_BASE_URL)"},
		{"a local Ollama", "", "", nil, []string{"nomic-embed-text", "qwen3:8b"}, "ollama qwen3:8b ",
			"found a local Ollama"},
		{"a local Ollama and a wish", "", "", map[string]string{"OLLAMA_MODEL": "gemma"}, []string{"qwen3:8b"},
			"ollama gemma ", ""},
		{"the demonstration", file, "demo", keys, nil, "scripted demo ",
			"the scripted demonstration: asked for by name"},
		{"a configured model of that name",
			"models: [{name: demo, provider: vllm, model: m, base_url: 'http://gpu/v1'}]", "demo", nil, nil, "vllm m ",
			""},
		{"a script", "", "scripted/testdata/turns.yaml", nil, nil, "scripted turns.yaml ", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := chosen(t, c.file, c.option, c.env, c.local...)
			if err != nil {
				t.Fatal(err)
			}
			m := got.Model
			if s := m.Provider + " " + m.ID + " " + m.Key.Reveal(); s != c.want {
				t.Errorf("model %q, want %q", s, c.want)
			}
			if !strings.Contains(got.Reason, c.why) || strings.Contains(got.Reason, "\n") {
				t.Errorf("reason %q, want %q", got.Reason, c.why)
			}
			if m.Wire == "" || m.ChunkTimeout == 0 || (m.BaseURL == "") != (m.Wire == WireScripted) {
				t.Errorf("not complete: %+v", m)
			}
		})
	}
}

func TestChooseFailures(t *testing.T) {
	for _, c := range []struct {
		name, file, option string
		env                map[string]string
		local              []string
		want               string
	}{
		{"nothing at all", "", "", nil, nil,
			"no language model: set the key of one provider in the environment, a .env file here"},
		{"only embeddings", "", "", nil, []string{"nomic-embed-text"}, "no language model"},
		{"a provider without its key", "", "mistral/m", nil, nil,
			"use model mistral/m (asked for by name): no key for Mistral: set MISTRAL_API_KEY"},
		{"an unknown provider", "", "antropic/c", nil, nil, `did you mean "anthropic"?`},
		{"an unknown name", "models: [{name: mine, provider: ollama, model: m}]", "minee", nil, nil,
			`did you mean "mine"?`},
		{"a configured model without its key",
			"models: [{name: a, provider: openai, model: m, api_key: $K}, {name: b, provider: ollama, model: m}]", "",
			nil, nil,
			"config.yaml:1: models[0].api_key: the variable K is not set: export it, or put K=... into a .env file beside the configuration; or use --model with one of b"},
		{"a server without a key or a model", "", "", map[string]string{"OPENAI_BASE_URL": "http://h/v1"}, nil,
			"which model? set OPENAI_MODEL"},
		{"a server that is no address", "", "", map[string]string{"OPENAI_BASE_URL": "h", "OPENAI_MODEL": "m"}, nil,
			`OPENAI_BASE_URL: must be an address such as https://host/v1, got "h"`},
		{"Ollama without a model", "", "ollama", nil, nil, "run `ollama pull`"},
		{"a provider without a default", "", "vllm", nil, nil, "write --model vllm/MODEL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := chosen(t, c.file, c.option, c.env, c.local...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if errors.Is(err, ErrNoModel) != strings.HasPrefix(c.want, "no language model") {
				t.Errorf("ErrNoModel: %v", err)
			}
		})
	}
}

func TestChooseNeverShowsAKey(t *testing.T) {
	got, err := chosen(t, "", "", map[string]string{"OPENAI_API_KEY": "sk-very-secret"})
	if err != nil || strings.Contains(got.Reason, "sk-very") {
		t.Errorf("%q %v", got.Reason, err)
	}
}

// TestChooseShowsNoCredentialsOfAnAddress: neither of one that is used nor of one that is none.
func TestChooseShowsNoCredentialsOfAnAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://user:hunter2@h:1/v1?key=hunter2": "model openai/m at https://h:1/v1 (OPENAI_BASE_URL): OPENAI_BASE_URL is set",
		"user:hunter2@h:1/v1":                     "h:1/v1",
		"ftp://user:hunter2@h/v1?key=hunter2":     "ftp://h/v1",
	} {
		got, err := chosen(t, "", "", map[string]string{"OPENAI_BASE_URL": address, "OPENAI_MODEL": "m"})
		if shown := fmt.Sprint(got.Reason, err); !strings.Contains(shown, want) || strings.Contains(shown, "hunter2") {
			t.Errorf("%s: %s", address, shown)
		}
	}
}

func TestProvidersTable(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Providers() {
		if seen[p.Name] || p.Title == "" || p.Wire == "" {
			t.Errorf("%+v", p)
		}
		seen[p.Name] = true
		if p.BaseURL != "" && checkURL(p.BaseURL) != nil {
			t.Errorf("%s: address %q", p.Name, p.BaseURL)
		}
		if !p.Keyless && (len(p.KeyVars) == 0 || p.KeyURL == "") {
			t.Errorf("%s needs a key that nobody can get", p.Name)
		}
	}
	for _, c := range classes() {
		if !seen[c.provider] {
			t.Errorf("%s is an alias of %q, which is not there", c.path, c.provider)
		}
	}
}

func TestOllamaURL(t *testing.T) {
	for host, want := range map[string]string{
		"":                   "http://127.0.0.1:11434",
		"0.0.0.0":            "http://127.0.0.1:11434",
		"[::]:80":            "http://127.0.0.1:80",
		"box":                "http://box:11434",
		"box:1":              "http://box:1",
		"https://box:2/":     "https://box:2",
		"http://[fd00::1]:3": "http://[fd00::1]:3",
	} {
		if got := OllamaURL(EnvFrom(vars(map[string]string{"OLLAMA_HOST": host}))); got != want {
			t.Errorf("%q gives %q, want %q", host, got, want)
		}
	}
}
