package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSubagents(t *testing.T) {
	for text, want := range map[string]int{"{}": 6, "null": 6, "{max_total_per_run: 50}": 50,
		"{timeout_seconds: 1800}": 6} {
		if cfg, _ := mustParse(t, "subagents: "+text, nil); cfg.Subagents.MaxTotalPerRun != want {
			t.Errorf("%s: %d", text, cfg.Subagents.MaxTotalPerRun)
		}
	}
	for _, bad := range []string{"0", "51", "many"} {
		_, _, err := parsed(t, "subagents:\n  max_total_per_run: "+bad, nil)
		if err == nil || !strings.Contains(err.Error(), "config.yaml:2: subagents.max_total_per_run") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{"max_depth: 4", "max_depth: 0", "custom_agents: {x: {description: d}}",
		"custom_agents: {'a b': {description: d, system_prompt: s}}",
		"token_budget: {warn_threshold: 0.9, hard_stop_threshold: 0.5}",
		"agents: {bash: {token_budget: {hard_stop_threshold: 0.5}}}", "token_budget: {max_tokens: 3}"} {
		if _, _, err := parsed(t, "subagents: {"+bad+"}", nil); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestSubagentsOfTheOperator(t *testing.T) {
	cfg, warnings := mustParse(t, `
models: [{name: small, use: "scripted", model: small}]
subagents:
  timeout_seconds: 60
  agents: {bash: {timeout_seconds: 5, max_turns: 7, model: small, skills: []}, nobody: {max_turns: 1}}
  custom_agents:
    reader: {description: Reads., system_prompt: You read., tools: [read_file], disallowed_tools: [], model: other}
    bash: {description: Mine., system_prompt: s}
`, nil)
	s := cfg.Subagents
	if s.Timeout != time.Minute || s.MaxDepth != 1 {
		t.Errorf("%+v", s)
	}
	want := SubagentChange{Timeout: 5 * time.Second, MaxTurns: 7, Model: "small", Skills: []string{}}
	if d := cmp.Diff(want, s.Agents["bash"]); d != "" {
		t.Error(d)
	}
	reader := CustomSubagent{Description: "Reads.", System: "You read.", Tools: []string{"read_file"},
		Disallowed: []string{}, Model: "other"}
	if d := cmp.Diff(map[string]CustomSubagent{"reader": reader}, s.Custom); d != "" {
		t.Error(d)
	}
	said := ""
	for _, w := range warnings {
		said += w.String() + "\n"
	}
	for _, want := range []string{"custom_agents.bash: has no effect", "agents.nobody: no sub-agent is named so",
		`custom_agents.reader.model: no configured model is named "other"`} {
		if !strings.Contains(said, want) {
			t.Errorf("no warning of %q in\n%s", want, said)
		}
	}
}

// TestSubagentBudget: what was written wins over the standard, which is smaller where conversations are summed up.
func TestSubagentBudget(t *testing.T) {
	for text, want := range map[string]TokenBudget{
		"{}": {Enabled: true, MaxTokens: 2_000_000, WarnThreshold: 0.7,
			HardStopThreshold: 1},
		"{token_budget: {enabled: false}}": {MaxTokens: 2_000_000, WarnThreshold: 0.7, HardStopThreshold: 1},
		"{token_budget: {max_tokens: 5000}}": {Enabled: true, MaxTokens: 5000, WarnThreshold: 0.7,
			HardStopThreshold: 1},
		"{token_budget: {max_tokens: 5000}, agents: {bash: {token_budget: {warn_threshold: 0.5, max_input_tokens: 9, max_output_tokens: 8, max_cost: 2, hard_stop_threshold: 0.9}}}}": {
			Enabled: true, MaxTokens: 5000, MaxInputTokens: 9, MaxOutputTokens: 8, MaxCost: 2, WarnThreshold: 0.5,
			HardStopThreshold: 0.9},
	} {
		cfg, _ := mustParse(t, "subagents: "+text, nil)
		if d := cmp.Diff(want, cfg.BudgetOf(BashAgent)); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	cfg, _ := mustParse(t, "summarization: {enabled: true}", nil)
	if got := cfg.BudgetOf(GeneralPurpose).MaxTokens; got != 1_000_000 {
		t.Errorf("%d tokens where conversations are summed up", got)
	}
}
