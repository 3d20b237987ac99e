//go:build linux

package bwrap

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) { sandboxtest.Run(t, New(Config{})) }

func TestEscape(t *testing.T) { sandboxtest.RunEscape(t, New(Config{})) }

func TestOrphans(t *testing.T) {
	sandboxtest.RunOrphans(t, New(Config{}),
		func(ctx context.Context, p sandbox.Provider, spec sandbox.Spec) (sandbox.Sandbox, error) {
			return p.Open(ctx, spec)
		})
}
