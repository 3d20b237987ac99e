//go:build !linux

package bwrap

import (
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/sandbox"
)

var _ sandbox.Provider = (*Provider)(nil)

// Config adjusts a [Provider]. Here it has no effect.
type Config struct {
	Binary         string
	RuntimeDir     string
	FirstUID, UIDs int
	NoCgroup       bool
}

// Provider refuses everything: bubblewrap needs Linux.
type Provider struct{}

// New returns a provider that refuses everything.
func New(Config) *Provider { return &Provider{} }

// Name is "bubblewrap".
func (*Provider) Name() string { return "bubblewrap" }

// Isolated is true.
func (*Provider) Isolated() bool { return true }

// Probe says that Linux is needed.
func (*Provider) Probe(context.Context) error { return errSystem() }

// Open says that Linux is needed.
func (*Provider) Open(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, errSystem()
}

// Reap has nothing to do.
func (*Provider) Reap(context.Context) error { return nil }

// Programs is empty.
func (*Provider) Programs(context.Context) []string { return nil }

// Owner is nobody in particular.
func (*Provider) Owner(string) (uid, gid int) { return 0, 0 }

func errSystem() error {
	return fmt.Errorf("%w: bubblewrap needs Linux", sandbox.ErrUnavailable)
}
