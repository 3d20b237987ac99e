//go:build linux

package shell_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/sandboxes/bwrap"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
	"github.com/pudu-ai/pudu/tool"
)

// place is a thread's space with a real sandbox.
type place struct {
	files *sandbox.Files
	box   sandbox.Sandbox
	host  string
}

func (p *place) ID() string                                       { return "bench" }
func (p *place) Files() *sandbox.Files                            { return p.files }
func (p *place) Sandbox(context.Context) (sandbox.Sandbox, error) { return p.box, nil }

func newPlace(t testing.TB) *place {
	t.Helper()
	host := sandboxtest.Folder(t)
	mounts := []sandbox.Mount{{Host: host, Path: sandbox.Workspace}}
	provider := bwrap.New(bwrap.Config{})
	box, err := provider.Open(t.Context(), sandbox.Spec{ID: "bench", Mounts: mounts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	uid, gid := provider.Owner("bench")
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{UID: uid, GID: gid})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return &place{files, box, host}
}

// BenchmarkWarmBash is what a call of the tool takes in a sandbox that is open: a quick command, and one that lasts
// long enough to get a log.
func BenchmarkWarmBash(b *testing.B) {
	for _, c := range []struct{ name, script string }{{"quick", "echo hello"}, {"slow", "echo hello; sleep 0.015"}} {
		b.Run(c.name, func(b *testing.B) {
			bash := shell.New(shell.Config{Space: newPlace(b)})
			args, _ := json.Marshal(map[string]string{"description": "bench", "command": c.script})
			call := func() {
				res, err := bash.Run(b.Context(),
					&tool.Call{ID: "c", RunID: "r", Args: args, Progress: func(string) {}})
				if err != nil || res.Text() != "hello\n" {
					b.Fatal(res, err)
				}
			}
			call()
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				call()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[0].Microseconds())/1000, "min-ms")
		})
	}
}
