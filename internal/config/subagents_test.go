package config

import (
	"strings"
	"testing"
)

func TestSubagents(t *testing.T) {
	for text, want := range map[string]int{"{}": 6, "null": 6, "{max_total_per_run: 50}": 50, "{timeout_seconds: 1800}": 6} {
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
}
