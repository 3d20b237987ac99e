//go:build linux

package bwrap

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// TestOpenIsCancelledAtAnyMoment: a start that is given up returns at once, wherever bwrap is with its work.
func TestOpenIsCancelledAtAnyMoment(t *testing.T) {
	p := New(Config{})
	work := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	spec := sandbox.Spec{ID: "cut", Mounts: []sandbox.Mount{{Host: work, Path: sandbox.Workspace}}}
	for after := time.Duration(0); after < 12*time.Millisecond; after += 100 * time.Microsecond {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		opened := make(chan struct{})
		go func() {
			defer close(opened)
			if b, err := p.Open(ctx, spec); err == nil {
				b.Close()
			}
		}()
		select {
		case <-opened:
		case <-time.After(20 * time.Second):
			t.Fatalf("an Open that was cancelled after %s does not return", after)
		}
		cancel()
	}
}
