package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/sandboxes/pool"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// replayRetry is how long a replay waits before it makes a failed model call again: the recorded failure will not pass.
const replayRetry = time.Millisecond

// Bench implements cli.App: a house of its own in a new temporary folder, as the configuration wants it but for the model.
// What it must tell a person goes to note.
func (a App) Bench(ctx context.Context, o cli.Options, r *replay.Recording, p *replay.Player, note func(string)) (_ *replay.Bench, err error) {
	cfg, data, notes, err := a.settings(o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pudu-replay-")
	if err != nil {
		return nil, err
	}
	h := &house{
		cfg: quick(cfg), model: chosen{model: p, entry: config.Model{SupportsVision: r.Uses("view_image")}}, inside: []agent.Middleware{p.Inside()},
		box: openSandbox(ctx, cfg, a.Sandbox), dir: filepath.Join(dir, "data"), disk: userdata.New(filepath.Join(dir, "data")),
		own: a, log: cmp.Or(a.Log, slog.Default()),
	}
	if err := h.begin(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for _, text := range append(notes, h.box.notes...) {
		note(text)
	}
	h.models = newModelSet(h.cfg, h.model, nil, nil, h.log)
	h.models.alone = true
	if err := h.furnish(); err != nil {
		return nil, errors.Join(err, h.end(ctx), os.RemoveAll(dir))
	}
	h.agents = agents.NewFolder(data)
	h.pool = pool.New(pool.Config{Provider: h.box.provider})
	closers := []func() error{h.pool.Close, func() error { return h.end(context.WithoutCancel(ctx)) }}
	closeAll := func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(append(errs, os.RemoveAll(dir))...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	if err := os.Chmod(dir, 0o711); err != nil { // a sandbox of root runs as another user, who must be able to walk there
		return nil, err
	}
	if h.mounts, err = configuredMounts(cfg, o.Mounts); err != nil {
		return nil, err
	}
	if h.store, err = sqlstore.Open(ctx, sqlstore.Config{Dir: h.dir}); err != nil {
		return nil, err
	}
	closers = append(closers, h.store.Close)
	owner := newOwner()
	return &replay.Bench{
		Manager: runs.NewManager(runs.Config{Store: h.store, Build: h.build, Owner: owner, Schema: h.schema, Now: r.Clock()}),
		Store:   h.store, Owner: owner, User: access.Default(), Files: h.files, Close: closeAll,
	}, nil
}

// quick is the configuration with nothing to wait for between the tries of a model call.
func quick(cfg *config.Config) *config.Config {
	c := *cfg
	c.LLMCall.RetryBaseDelay, c.LLMCall.RetryCapDelay, c.LLMCall.BurstRetryBaseDelay = replayRetry, replayRetry, replayRetry
	return &c
}
