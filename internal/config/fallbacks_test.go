package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func namesOf(models []Model) (names []string) {
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}

func TestFallbacks(t *testing.T) {
	cfg, warnings := mustParse(t, `models:
  - {name: a, provider: openai, model: m, api_key: k, fallbacks: [c, gone, a, unset, b, c]}
  - {name: b, provider: openai, model: n, api_key: k, fallbacks: [a]}
  - {name: c, provider: ollama, model: o}
  - {name: unset, provider: openai, model: p, api_key: $NOT_SET}
`, nil)
	a, _ := cfg.Model("a")
	if diff := cmp.Diff([]string{"c", "b"}, namesOf(cfg.FallbacksOf(a))); diff != "" {
		t.Error(diff)
	}
	if got := cfg.FallbacksOf(cfg.Models[2]); got != nil {
		t.Errorf("%v", namesOf(got))
	}
	text := lines(warnings)
	for _, want := range []string{
		`config.yaml:2: models[0].fallbacks[1]: no configured model is named "gone"`,
		`config.yaml:2: models[0].fallbacks[2]: is the model itself`,
		`config.yaml:2: models[0].fallbacks[5]: "c" stands in the list twice`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning %q in:\n%s", want, text)
		}
	}
}

// TestRateLimitIsOfTheKey and not of the entry that says it; the least number counts.
func TestRateLimitIsOfTheKey(t *testing.T) {
	cfg, _ := mustParse(t, `llm_call: {rate_limit: {concurrent: 4}}
models:
  - {name: a, provider: openai, model: m, api_key: k, rate_limit: {requests_per_minute: 60, tokens_per_minute: 100000, concurrent: 8}}
  - {name: b, provider: openai, model: n, api_key: k, rate_limit: {requests_per_minute: 50}}
  - {name: c, provider: openai, model: m, api_key: other}
  - {name: d, provider: openai, model: m, api_key: k, base_url: "http://h/v1"}
  - {name: e, provider: openai, model: m, api_key: k}
`, nil)
	shared, usual := RateLimit{50, 100_000, 8}, RateLimit{Concurrent: 4}
	for name, want := range map[string]RateLimit{"a": shared, "b": shared, "c": usual, "d": usual, "e": shared} {
		m, _ := cfg.Model(name)
		if got := cfg.RateLimitOf(m); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	if got := cfg.RateLimitOf(Model{RateLimit: RateLimit{Concurrent: 1}}); got.Concurrent != 1 {
		t.Errorf("a model that is not in the file: %+v", got)
	}
	for _, bad := range []string{"requests_per_minute: 0", "tokens_per_minute: -1", "concurrent: x", "per_minute: 5"} {
		if _, _, err := parsed(t, "llm_call: {rate_limit: {"+bad+"}}", nil); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestUnusableFallbackIsLeftOut(t *testing.T) {
	cfg := &Config{Models: []Model{{Name: "a", Fallbacks: []string{"b", "c"}}, {Name: "b", Err: ErrNoModel},
		{Name: "c"}}}
	if got := namesOf(cfg.FallbacksOf(cfg.Models[0])); !slices.Equal(got, []string{"c"}) {
		t.Errorf("%v", got)
	}
}
