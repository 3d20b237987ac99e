package app_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/app"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/replay"
)

var update = flag.Bool("update", false, "record the runs of testdata/replay anew")

// TestRecordings runs the recorded runs of testdata/replay again: the real loop, chain, tools, sandbox and store must
// do what they did. A new one comes from `pudu export THREAD --test`.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "replay", "*.replay.yaml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("found the recordings %v, %v", files, err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml") // not that of the person who runs the tests
	if err := os.WriteFile(config, []byte("config_version: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) { replayFile(t, name, cli.Options{Config: config}) })
	}
}

func replayFile(t *testing.T, name string, o cli.Options) {
	r, err := replay.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	report, err := replay.Play(t.Context(), r, replay.Options{
		Beside: name + ".files",
		Open: func(ctx context.Context, r *replay.Recording, p *replay.Player) (*replay.Bench, error) {
			return app.App{}.Bench(ctx, o, r, p, func(note string) { t.Log(note) })
		},
	})
	switch {
	case err != nil:
		t.Fatal(err)
	case report.Difference == nil:
	case *update:
		raw, err := replay.Encode(report.Again)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s\n(run with -update if the change is meant)", report.Difference)
	}
}
