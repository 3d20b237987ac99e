//go:build linux

package pool_test

import (
	"context"
	"testing"

	"github.com/pudu-ai/pudu/internal/sandboxes/bwrap"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
)

// TestOrphansOfParkedSandboxes kills a process whose sandbox waits in the pool while processes go on in its background.
func TestOrphansOfParkedSandboxes(t *testing.T) {
	sandboxtest.RunOrphans(t, bwrap.New(bwrap.Config{}),
		func(ctx context.Context, p sandbox.Provider, spec sandbox.Spec) (sandbox.Sandbox, error) {
			box, park, err := pool.New(pool.Config{Provider: p}).Acquire(ctx, spec)
			if err != nil {
				return nil, err
			}
			park()
			return box, nil
		})
}
