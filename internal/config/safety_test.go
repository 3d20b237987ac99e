package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSafetyFinish(t *testing.T) {
	const class = "deerflow.agents.middlewares.safety_termination_detectors:"
	for _, c := range []struct {
		name, text string
		want       []SafetyDetector
		warning    string
	}{
		{"nothing", "{}", nil, ""},
		{"null", "{detectors: null}", nil, ""},
		{"by name", "{detectors: [{use: gemini}]}", []SafetyDetector{{Use: "gemini", Kind: SafetyGemini, Line: 1}}, ""},
		{"by class", "{detectors: [{use: '" + class +
			"OpenAICompatibleContentFilterDetector', config: {finish_reasons: [blocked]}}]}",
			[]SafetyDetector{{Use: class + "OpenAICompatibleContentFilterDetector", Kind: SafetyOpenAI, Line: 1,
				Config: SafetyDetectorConfig{Reasons: []string{"blocked"}}}}, ""},
		{"one cannot be loaded",
			"{detectors: [{use: 'mine.safety:Mine'}, {use: anthropic, config: {stop_reasons: [no]}}]}",
			[]SafetyDetector{{Use: "anthropic", Kind: SafetyAnthropic, Line: 1,
				Config: SafetyDetectorConfig{Reasons: []string{"no"}}}},
			"detectors[0].use: mine.safety:Mine cannot be loaded"},
	} {
		cfg, warnings := mustParse(t, "safety_finish_reason: "+c.text, nil)
		if diff := cmp.Diff(SafetyFinish{Enabled: true, Detectors: c.want}, cfg.SafetyFinish); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
		if told := lines(warnings); c.warning != "" && !strings.Contains(told, c.warning) {
			t.Errorf("%s: warnings %s", c.name, told)
		}
	}
	for text, want := range map[string]string{
		"[]":                              "is empty",
		"{}":                              "must be a list",
		"[{use: gemni}]":                  `did you mean "gemini"?`,
		"[{}]":                            `needs the key "use"`,
		"[{use: gemini, config: {x: 1}}]": "unknown key",
	} {
		_, _, err := parsed(t, "safety_finish_reason:\n  detectors: "+text, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "config.yaml:2") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
