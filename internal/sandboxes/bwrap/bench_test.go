//go:build linux

package bwrap

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
)

// median reports the p50 of f in milliseconds, which a busy machine moves less than the mean.
func median(b *testing.B, f func()) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		f()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[0].Microseconds())/1000, "min-ms")
}

func benchOpen(b *testing.B, p *Provider) sandbox.Sandbox {
	b.Helper()
	box, err := p.Open(b.Context(),
		sandbox.Spec{ID: "bench", Mounts: []sandbox.Mount{{Host: sandboxtest.Folder(b), Path: sandbox.Workspace}}})
	if err != nil {
		b.Fatal(err)
	}
	return box
}

func benchRun(b *testing.B, box sandbox.Sandbox, script string) {
	b.Helper()
	if res, err := box.Run(b.Context(), sandbox.Command{Script: script, Timeout: 10 * time.Second}); err != nil ||
		res.Exit != 0 {
		b.Fatalf("%+v, %v", res, err)
	}
}

func BenchmarkBareTrue(b *testing.B) {
	median(b, func() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkBareBash(b *testing.B) {
	median(b, func() {
		if err := exec.Command("/bin/bash", "--norc", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkColdOpenTrue(b *testing.B) {
	p := New(Config{})
	median(b, func() {
		box := benchOpen(b, p)
		benchRun(b, box, "true")
		b.StopTimer()
		b.Cleanup(func() { box.Close() })
		b.StartTimer()
	})
}

func BenchmarkColdOpenTrueClose(b *testing.B) {
	p := New(Config{})
	median(b, func() {
		box := benchOpen(b, p)
		benchRun(b, box, "true")
		box.Close()
	})
}

func BenchmarkWarmTrue(b *testing.B) { benchWarm(b, "true") }

func BenchmarkWarmPython(b *testing.B) { benchWarm(b, "python3 -c pass") }

func benchWarm(b *testing.B, script string) {
	box := benchOpen(b, New(Config{}))
	defer box.Close()
	benchRun(b, box, script)
	median(b, func() { benchRun(b, box, script) })
}
