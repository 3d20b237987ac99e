//go:build unix

package flock_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/flock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestWait: one has the lock until the file is closed; who waits gets it then, or gives up with its context.
func TestWait(t *testing.T) {
	path := t.TempDir() + "/lock"
	first, second := open(t, path), open(t, path)
	if err := flock.Wait(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if err := flock.Try(second, false); !flock.Busy(err) {
		t.Errorf("two have the lock: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := flock.Wait(ctx, second); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	got := make(chan error)
	go func() { got <- flock.Wait(t.Context(), second) }()
	first.Close()
	if err := <-got; err != nil {
		t.Error(err)
	}
}
