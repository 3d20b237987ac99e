package lead_test

import (
	"testing"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/sandbox"
)

// BenchmarkBuild makes the agent of a run, as is done for each.
func BenchmarkBuild(b *testing.B) {
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: b.TempDir(), Path: sandbox.Workspace}},
		sandbox.FilesOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer files.Close()
	cfg := config.Default()
	c := lead.Config{
		Settings: cfg, Models: modelsOf(cfg, &capture{}, config.Model{}), Thread: lead.Thread{Space: space{files}},
		Skills: (*skills.Mine)(nil).Run(nil),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lead.Build(c); err != nil {
			b.Fatal(err)
		}
	}
}
