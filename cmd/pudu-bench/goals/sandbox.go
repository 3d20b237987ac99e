package goals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/internal/sandboxes/bwrap"
	"github.com/pudu-ai/pudu/sandbox"
)

// python is the same program on both sides; the one in the PATH may be a wrapper.
const python = "/usr/bin/python3"

// measureSandbox compares commands in a sandbox with starting the same program without one.
func measureSandbox(ctx context.Context, _ env, r *measure.Table) (err error) {
	provider := bwrap.New(bwrap.Config{})
	if err := provider.Probe(ctx); err != nil {
		r.Missing("sandbox command", err)
		return nil
	}
	place, err := newPlace(provider)
	if err != nil {
		return err
	}
	defer os.RemoveAll(place.dir)
	warm, err := place.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, warm.Close()) }()
	took, err := compare(ctx, 30, place.cold, timed(5, command(warm, "true")), timed(5, bare("/bin/true")),
		timed(1, command(warm, python+" -c pass")), timed(1, bare(python, "-c", "pass")))
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "open and first command, beside a bare /bin/true",
		Unit: units.Seconds, Value: took[0], Beside: took[2], Goal: measure.Within(12e-3)})
	r.Add(measure.Figure{Name: "next command, beside a bare /bin/true",
		Unit: units.Seconds, Value: took[1], Beside: took[2], Goal: measure.Within(3e-3)})
	r.Add(measure.Figure{Name: "python3 -c pass, beside the same without sandbox",
		Unit: units.Seconds, Value: took[3], Beside: took[4]})
	return nil
}

// place makes sandboxes with a workspace of their own.
type place struct {
	provider sandbox.Provider
	dir      string
	n        int
}

// newPlace makes a folder that other users can pass through: the sandbox's user is not ours.
func newPlace(p sandbox.Provider) (*place, error) {
	dir, err := os.MkdirTemp("", "pudu-bench-")
	if err != nil {
		return nil, err
	}
	return &place{provider: p, dir: dir}, os.Chmod(dir, 0o755) //nolint:gosec // see above
}

func (p *place) open(ctx context.Context) (sandbox.Sandbox, error) {
	p.n++
	id := fmt.Sprintf("bench-%d", p.n)
	work := filepath.Join(p.dir, id)
	if err := os.Mkdir(work, 0o755); err != nil { //nolint:gosec // see newPlace
		return nil, err
	}
	return p.provider.Open(ctx, sandbox.Spec{ID: id, Mounts: []sandbox.Mount{{Host: work, Path: sandbox.Workspace}}})
}

// cold is the side of a fresh sandbox with its first command. Closing it is not counted: nobody waits for that.
func (p *place) cold(ctx context.Context) ([]time.Duration, error) {
	start := time.Now()
	box, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	err = command(box, "true")(ctx)
	took := time.Since(start)
	return []time.Duration{took}, errors.Join(err, box.Close())
}

func command(box sandbox.Sandbox, script string) func(context.Context) error {
	return func(ctx context.Context) error {
		res, err := box.Run(ctx, sandbox.Command{Script: script})
		if err == nil && res.Exit != 0 {
			err = fmt.Errorf("%s: exit code %d", script, res.Exit)
		}
		return err
	}
}

func bare(name string, args ...string) func(context.Context) error {
	return func(ctx context.Context) error { return exec.CommandContext(ctx, name, args...).Run() }
}
