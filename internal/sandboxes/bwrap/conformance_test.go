//go:build linux

package bwrap

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) { sandboxtest.Run(t, New(Config{})) }

func TestEscape(t *testing.T) { sandboxtest.RunEscape(t, New(Config{})) }
