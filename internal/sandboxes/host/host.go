// Package host is the sandbox provider "host", which is none: it runs the agent's code on this machine with all rights
// of the server. It exists for people who ask for it by name, on machines where nothing else works and nothing is to
// lose.
//
// There is no mount namespace to show virtual paths in, so they are replaced in the script by the folders of the host
// (paths.go), and those are put back in the output. Read-only mounts and limits are not enforced.
package host

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/pudu-ai/pudu/sandbox"
)

var _ sandbox.Provider = (*Provider)(nil)

// Provider opens sandboxes that are none. The zero value works.
type Provider struct {
	// Environ is what commands inherit, after scrubbing. Nil means the server's environment.
	Environ []string
}

// Name is "host".
func (p *Provider) Name() string { return "host" }

// Isolated is false.
func (p *Provider) Isolated() bool { return false }

// Probe looks for bash.
func (p *Provider) Probe(context.Context) error {
	if _, err := exec.LookPath("bash"); err != nil {
		return fmt.Errorf("%w: there is no bash; install it", sandbox.ErrUnavailable)
	}
	return nil
}

// plain are the paths that mean themselves in any place of a script, quoted or not.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./@%+=:,-]+$`)

// Open checks the folders and starts the keeper, a shell that kills what is left if this process is killed.
func (p *Provider) Open(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := errors.Join(p.Probe(ctx), spec.Check()); err != nil {
		return nil, fmt.Errorf("open sandbox: %w", err)
	}
	spec.Mend()
	b := &box{spec: spec, markBase: 1<<41 + rand.Uint64N(1<<40)<<20, closed: make(chan struct{})} //nolint:gosec // a mark is no secret
	for _, m := range spec.Mounts {
		resolved, err := filepath.EvalSymlinks(m.Host)
		if err != nil {
			return nil, fmt.Errorf("open sandbox: mount %s: %w", m.Path, err)
		}
		if !plain.MatchString(m.Host) {
			return nil,
				fmt.Errorf("open sandbox: mount %s: the folder %q has characters with a meaning for the shell; "+
					"use another data folder, or a provider that isolates", m.Path, m.Host)
		}
		b.in = append(b.in, pair{m.Path, m.Host})
		b.out = append(b.out, pair{m.Host, m.Path})
		if resolved != m.Host {
			b.out = append(b.out, pair{resolved, m.Path})
		}
	}
	longestFirst(b.in)
	longestFirst(b.out)
	environ := p.Environ
	if environ == nil {
		environ = os.Environ()
	}
	b.env = scrub(environ)
	var err error
	if b.keeper, err = startKeeper(b.markBase, b.markBase+maxCommands); err != nil {
		return nil, fmt.Errorf("open sandbox: start the keeper: %w", err)
	}
	return b, nil
}

// maxCommands is how many marks a sandbox has, far more than it will run commands.
const maxCommands = 1<<20 - 1

// box is one "sandbox".
type box struct {
	spec     sandbox.Spec
	in, out  []pair // virtual to host, host to virtual
	env      []string
	markBase uint64
	keeper   *keeper

	mu      sync.Mutex
	count   uint64
	isDone  bool
	closed  chan struct{}
	runs    sync.WaitGroup
	streams sync.WaitGroup
}

// Close kills what the commands left running.
func (b *box) Close() error {
	b.mu.Lock()
	again := b.isDone
	if !b.isDone {
		b.isDone = true
		close(b.closed)
	}
	first, last := b.markBase, b.markBase+b.count
	b.mu.Unlock()
	b.runs.Wait()
	killMarked(first, last, 0)
	b.streams.Wait()
	if !again {
		b.keeper.close()
	}
	return nil
}

// begin gives a command its mark.
func (b *box) begin() (uint64, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isDone || b.count == maxCommands {
		return 0, false
	}
	b.runs.Add(1)
	b.count++
	return b.markBase + b.count, true
}
