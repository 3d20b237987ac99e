//go:build linux

package bwrap

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

var _ sandbox.Provider = (*Provider)(nil)

// probeTimeout bounds the trial run. It takes some ten milliseconds on a healthy machine.
const probeTimeout = 5 * time.Second

// Provider opens sandboxes made by bubblewrap. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	sweep  sync.Once
	groups groups // where fresh cgroups are made; set by the sweep
}

// New returns a provider. Whether it works on this machine is what [Provider.Probe] finds out.
func New(cfg Config) *Provider { return &Provider{cfg: cfg.orDefault()} }

// Name is "bubblewrap".
func (p *Provider) Name() string { return "bubblewrap" }

// Isolated is true.
func (p *Provider) Isolated() bool { return true }

// Probe opens a sandbox with the full profile, as an unprivileged user like any other, and runs a command in it.
func (p *Provider) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(p.cfg.RuntimeDir, "pudu-probe-")
	if err != nil {
		return unavailable("make a folder for the trial run", err)
	}
	defer os.RemoveAll(dir)
	box, err := p.Open(ctx, sandbox.Spec{ID: "probe", Mounts: []sandbox.Mount{{Host: dir, Path: sandbox.Workspace}}})
	if err != nil {
		return err
	}
	defer box.Close()
	res, err := box.Run(ctx, sandbox.Command{Script: "exit 42"})
	if err != nil {
		return unavailable("run a command", err)
	}
	if res.Exit != 42 {
		return unavailable("run a command", fmt.Errorf("exit code %d instead of 42", res.Exit))
	}
	return nil
}

// Open starts a sandbox and waits until its init is ready.
func (p *Provider) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := spec.Check(); err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	spec.Limits = spec.Limits.OrDefault()
	p.sweep.Do(p.prepare)
	box, err := p.open(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("open sandbox %s: %w", spec.ID, err)
	}
	return box, nil
}

func (p *Provider) open(ctx context.Context, spec sandbox.Spec) (*box, error) {
	bin, err := exec.LookPath(p.cfg.Binary)
	if err != nil {
		return nil, unavailable("find bubblewrap", err)
	}
	who, err := p.cfg.identity(spec.ID)
	if err != nil {
		return nil, unavailable("choose a user", err)
	}
	spec.Mend()
	held, err := who.own(spec.Mounts)
	if err != nil {
		return nil, fmt.Errorf("hand over folders: %w", err)
	}
	dir, err := p.runtimeDir()
	if err != nil {
		return nil, err
	}
	group, err := p.groups.create(filepath.Base(dir), spec.Limits)
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("make cgroup: %w", err)
	}
	b := newBox(p.cfg, spec, who, dir, group, held)
	if err := b.start(ctx, bin); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// runtimeDir makes the folder through which server and sandbox talk. Everybody may pass through it, as the sandbox's
// user has to; what is in it belongs to that user alone.
func (p *Provider) runtimeDir() (string, error) {
	dir, err := os.MkdirTemp(p.cfg.RuntimeDir, fmt.Sprintf("%s%d-", prefix, os.Getpid()))
	if err != nil {
		return "", fmt.Errorf("make runtime folder: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("make runtime folder: %w", err)
	}
	return dir, nil
}
