package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/sandboxes/bwrap"
	"github.com/pudu-ai/pudu/internal/sandboxes/host"
	"github.com/pudu-ai/pudu/sandbox"
)

// probeTimeout bounds the probe of the sandbox, which takes milliseconds.
const probeTimeout = 10 * time.Second

// box is the sandbox provider of this process, or the reason why there is none.
type box struct {
	provider sandbox.Provider
	name     string // for people
	isolated bool
	off      string // why code cannot be run; empty if it can
	notes    []string
	limits   sandbox.Limits
	programs string
}

// sandboxLimits are those of the configuration.
func sandboxLimits(cfg *config.Config) sandbox.Limits {
	l := cfg.Sandbox.Limits
	return sandbox.Limits{Processes: l.Processes, Memory: int64(l.Memory), Tmp: int64(l.Tmp), Disk: int64(l.Disk)}
}

// openSandbox makes the configured provider, unless own is one, and probes it. What cannot isolate is not used: then
// code tools are off.
func openSandbox(ctx context.Context, cfg *config.Config, own sandbox.Provider) box {
	b := box{limits: sandboxLimits(cfg)}
	switch use := cfg.Sandbox.Provider; {
	case use == config.NoSandbox:
		b.name, b.off = "none (code tools are off)", "the configuration turns the sandbox off."
		return b
	case own != nil:
		b.provider = own
	case use == config.HostSandbox:
		b.provider = &host.Provider{}
		b.notes = append(b.notes, "the sandbox is \"host\": commands are NOT isolated and run as you, on this machine")
	default:
		b.provider = bwrap.New(bwrap.Config{RuntimeDir: runtimeDir()})
	}
	b.name, b.isolated = b.provider.Name(), b.provider.Isolated()
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := b.provider.Probe(ctx); err != nil {
		why := err.Error()
		if _, cause, ok := strings.Cut(why, sandbox.ErrUnavailable.Error()+": "); ok {
			why = cause
		}
		b.name, b.off = "none (code tools are off)", why
		b.notes = append(b.notes, "code tools are off: "+why)
		return b
	}
	if !b.isolated {
		b.name += " (not isolated)"
	}
	if lister, ok := b.provider.(interface {
		Programs(ctx context.Context) []string
	}); ok {
		b.programs = strings.Join(lister.Programs(ctx), ", ")
	}
	return b
}

// runtimeDir is where sandboxes keep their sockets and small files. A sandbox of root runs as another user, who must be
// able to walk there, which a private temporary folder would not let it. Empty means the temporary folder.
func runtimeDir() string {
	const dir = "/run/pudu"
	if os.Geteuid() != 0 || os.MkdirAll(dir, 0o711) != nil {
		return ""
	}
	trial, err := os.MkdirTemp(dir, "trial-") // root of a user namespace may write less than it seems
	if err != nil || os.Remove(trial) != nil {
		return ""
	}
	return dir
}

// owner is who must own the files that the server makes for a sandbox.
func (b box) owner(id string) sandbox.FilesOptions {
	if p, ok := b.provider.(interface {
		Owner(id string) (uid, gid int)
	}); ok {
		uid, gid := p.Owner(id)
		return sandbox.FilesOptions{UID: uid, GID: gid}
	}
	return sandbox.FilesOptions{}
}

// check opens a sandbox of the provider and runs a command in it.
func (b box) check(ctx context.Context) error {
	if b.off != "" {
		return errors.New(b.off)
	}
	out, res, err := b.ask(ctx, "doctor",
		"echo $((6*7)); cat /etc/shadow /proc/1/environ 2>/dev/null | tr '\\0' '\\n' | grep -c .")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(out, "42\n") {
		return fmt.Errorf("a command gave %q and exit code %d", out, res.Exit)
	}
	return nil
}

// ask runs a script in a sandbox of its own, with an empty folder, and returns what it has written.
func (b box) ask(ctx context.Context, id, script string) (string, sandbox.Result, error) {
	dir, err := os.MkdirTemp("", "pudu-"+id+"-")
	if err != nil {
		return "", sandbox.Result{}, err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "workspace")
	// the sandbox of root runs as another user
	if err := errors.Join(os.Mkdir(work, 0o755), os.Chmod(dir, 0o755)); err != nil {
		return "", sandbox.Result{}, err
	}
	box, err := b.provider.Open(ctx,
		sandbox.Spec{ID: id, Mounts: []sandbox.Mount{{Host: work, Path: sandbox.Workspace}}})
	if err != nil {
		return "", sandbox.Result{}, err
	}
	defer box.Close()
	var out strings.Builder
	res, err := box.Run(ctx, sandbox.Command{Script: script, Stdout: &out})
	return out.String(), res, err
}
