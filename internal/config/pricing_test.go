package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/message"
)

func TestPricing(t *testing.T) {
	const model = "models:\n  - {name: m, provider: ollama, model: x, pricing: "
	read := 0.25
	for text, want := range map[string]*Pricing{
		"null": nil,
		"{currency: usd, input_per_million: 2.5, output_per_million: 10}": {Currency: "usd", Input: 2.5, Output: 10},
		"{input_per_million: 1, input_cache_hit_per_million: 0.25}":       {Input: 1, CacheRead: &read},
	} {
		cfg, _ := mustParse(t, model+text+"}", nil)
		if diff := cmp.Diff(want, cfg.Models[0].Pricing); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		_, priced := cfg.Prices()["m"]
		if priced != (want != nil) {
			t.Errorf("%s: prices %v", text, cfg.Prices())
		}
	}
	cfg, warnings := mustParse(t, model+"{cache_read_per_million: 0.25, cache_write_per_million: 0.25, per_image: 1}}",
		nil)
	if p := cfg.Models[0].Pricing; *p.CacheRead != read || *p.CacheWrite != read ||
		!strings.Contains(lines(warnings), "models[0].pricing.per_image: unknown key") {
		t.Errorf("%+v\n%s", p, lines(warnings))
	}
	if _, _, err := parsed(t, model+"{input_per_million: -1}}", nil); err == nil ||
		!strings.Contains(err.Error(), "config.yaml:2: models[0].pricing.input_per_million: must be 0 or more") {
		t.Error(err)
	}
}

func TestCost(t *testing.T) {
	read, write, free := 0.1, 2.5, 0.0
	usage := message.Usage{InputTokens: 1_000_000, CacheRead: 400_000, CacheCreation: 100_000, OutputTokens: 500_000,
		Reasoning: 100_000}
	for _, c := range []struct {
		name string
		p    Pricing
		want float64
	}{
		{"nothing", Pricing{}, 0},
		{"cached input costs as any", Pricing{Input: 2, Output: 8}, 2 + 4},
		{"cached input has prices", Pricing{Input: 2, Output: 8, CacheRead: &read, CacheWrite: &write}, 1 + 0.04 +
			0.25 + 4},
		{"reading is free", Pricing{Input: 2, CacheRead: &free}, 1.2},
	} {
		if got := c.p.Cost(usage); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	odd := message.Usage{InputTokens: 10, CacheRead: 20}
	if got := (Pricing{Input: 1, CacheRead: &free}).Cost(odd); got != 0 {
		t.Errorf("a provider that counts cached input beside the other: %v", got)
	}
	if (Pricing{}).Money() != "USD" || (Pricing{Currency: "eur"}).Money() != "EUR" {
		t.Error("currencies are misread")
	}
}

func TestBudgetOfMoney(t *testing.T) {
	const models = "models:\n" +
		"  - {name: a, provider: ollama, model: x, pricing: {input_per_million: 1}}\n" +
		"  - {name: b, provider: ollama, model: x}\n" +
		"  - {name: c, provider: ollama, model: x, pricing: {currency: CNY}}\n"
	cfg, warnings := mustParse(t, models+"token_budget: {enabled: true, max_cost: 0.5}", nil)
	told := lines(warnings)
	if cfg.TokenBudget.MaxCost != 0.5 || !strings.Contains(told, "config.yaml:3: models[1]: has no pricing") ||
		!strings.Contains(told, "config.yaml:4: models[2].pricing: is in CNY, others are in USD") ||
		strings.Contains(told, "models[0]") {
		t.Errorf("%v\n%s", cfg.TokenBudget, told)
	}
	if _, warnings = mustParse(t, models+"token_budget: {enabled: false, max_cost: 0.5}",
		nil); strings.Contains(lines(warnings), "pricing") {
		t.Errorf("a budget that is off: %s", lines(warnings))
	}
	if _, _, err := parsed(t, "token_budget: {max_cost: 0}", nil); err == nil ||
		!strings.Contains(err.Error(), "must be above 0") {
		t.Error(err)
	}
}

func TestToolProgress(t *testing.T) {
	cfg, _ := mustParse(t, "tool_progress: {enabled: true, stagnation_threshold: 4, exempt_tools: []}", nil)
	want := defaultToolProgress()
	want.Enabled, want.StagnationThreshold, want.ExemptTools = true, 4, []string{}
	if diff := cmp.Diff(want, cfg.ToolProgress); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(defaultToolProgress(), Default().ToolProgress); diff != "" || want.MaxTrackedThreads != 100 {
		t.Error(diff)
	}
	for text, says := range map[string]string{
		"{jaccard_similarity_threshold: 1.1}": "must be above 0 and at most 1",
		"{stagnation_threshold: 0}":           "must be 1 or more", "{x: 1}": "unknown key",
	} {
		if _, _, err := parsed(t, "tool_progress: "+text, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
