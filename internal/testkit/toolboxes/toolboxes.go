// Package toolboxes installs the toolbox for the tests, once, into the repository's cache.
package toolboxes

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
)

// Get is the toolbox for the Python of this machine, in dir. A machine that cannot have one cannot run the test.
func Get(t testing.TB, dir string) toolbox.Version {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	v, err := install(t.Context(), dir)
	if err != nil {
		machinetest.Cannot(t, "a toolbox: "+err.Error())
	}
	return v
}

var mu sync.Mutex

func install(ctx context.Context, dir string) (toolbox.Version, error) {
	out, err := exec.CommandContext(ctx, "bash", "-c", toolbox.Question).Output()
	if err != nil {
		return toolbox.Version{}, err
	}
	target, err := toolbox.ParseAnswer(string(out))
	if err != nil {
		return toolbox.Version{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return toolbox.Version{}, err
	}
	box := toolbox.New(toolbox.Config{Dir: dir,
		HTTP: outgoing.Operator(outgoing.Profile{Stream: true, MaxBytes: 1 << 30, Redirects: 5})})
	for {
		v, err := box.Install(ctx, target, nil, nil)
		if !errors.Is(err, toolbox.ErrBusy) {
			return v, err
		}
		select { // the tests of another package install it
		case <-ctx.Done():
			return v, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
