package app

import (
	"context"
	"log/slog"
	"sync"

	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/sandbox"
)

// kit is the toolbox as the runs of this process have it. A version that was shown once is kept from being removed until the
// process ends: a sandbox may still show it.
type kit struct {
	box  *toolbox.Box
	from box
	log  *slog.Logger

	mu     sync.Mutex
	asked  bool // the sandbox for its Python
	target toolbox.Target
	held   map[string]func()
}

func newKit(b *toolbox.Box, from box, log *slog.Logger) *kit {
	return &kit{box: b, from: from, log: log, held: map[string]func(){}}
}

// shown is what a run that begins now has of the toolbox: its folder, and the names of its packages. Without one it is nothing.
// What keeps it from being found does not keep the run from working.
func (k *kit) shown(ctx context.Context) ([]sandbox.Mount, []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, err := k.find(ctx)
	if err != nil {
		k.log.WarnContext(ctx, "runs go on without the toolbox", "error", err)
	}
	if err != nil || v.Name == "" {
		return nil, nil
	}
	return []sandbox.Mount{{Host: v.Host, Path: toolbox.Mount, ReadOnly: true}}, v.Names()
}

// find finds the version to be shown, and keeps it. The lock is held.
func (k *kit) find(ctx context.Context) (toolbox.Version, error) {
	if k.from.off != "" || k.box.Empty() {
		return toolbox.Version{}, nil
	}
	target, err := k.forTarget(ctx)
	if err != nil {
		return toolbox.Version{}, err
	}
	v, ok, err := k.box.Find(target)
	if err != nil || !ok {
		return toolbox.Version{}, err
	}
	if k.held[v.Name] == nil {
		release, err := k.box.Hold(v)
		if err != nil {
			return toolbox.Version{}, err
		}
		k.held[v.Name] = release
	}
	return v, nil
}

// forTarget asks the sandbox once. What it cannot say now it is asked again. The lock is held.
func (k *kit) forTarget(ctx context.Context) (toolbox.Target, error) {
	if k.asked {
		return k.target, nil
	}
	t, err := k.from.target(ctx)
	k.asked, k.target = err == nil, t
	return t, err
}

func (k *kit) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, release := range k.held {
		release()
	}
	clear(k.held)
}
