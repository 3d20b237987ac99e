package lead_test

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/sandbox"
)

// BenchmarkBuild makes the agent of a run, as is done for each.
func BenchmarkBuild(b *testing.B) {
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: b.TempDir(), Path: sandbox.Workspace}}, sandbox.FilesOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer files.Close()
	cfg := config.Default()
	c := lead.Config{
		Settings: cfg, Model: &capture{}, Guard: lead.NewModelGuard(cfg.LLMCall, cfg.CircuitBreaker), Space: space{files},
	}
	if c.System, err = lead.Prompt(c); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lead.Build(c); err != nil {
			b.Fatal(err)
		}
	}
}
