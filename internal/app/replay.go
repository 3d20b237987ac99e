package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/agents"
	"github.com/pudu-ai/pudu/internal/replay"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// replayRetry is how long a replay waits before it makes a failed model call again: the recorded failure will not pass.
const replayRetry = time.Millisecond

// recorded makes a test of a user's run that is over.
func (e *engine) recorded(ctx context.Context, u access.User, thread, run string) ([]byte, error) {
	files, err := e.files(ctx, u, thread)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	r, err := replay.Record(ctx, replay.Source{Store: e.store.For(u), Files: files}, thread, run)
	if err != nil {
		return nil, err
	}
	return replay.Encode(r)
}

// Bench implements cli.App: an engine of its own in a new temporary folder, as the configuration wants it but for the
// model. What it must tell a person goes to note.
func (a App) Bench(ctx context.Context, o cli.Options, r *replay.Recording, p *replay.Player,
	note func(string)) (_ *replay.Bench, err error) {
	cfg, data, notes, err := a.settings(o)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pudu-replay-")
	if err != nil {
		return nil, err
	}
	e, err := a.newEngine(quick(cfg), filepath.Join(dir, "data"), o)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	e.agents, e.own.Inside = agents.NewFolder(data), []agent.Middleware{p.Inside()}
	alone := func(context.Context) error {
		m := chosen{model: p, entry: config.Model{SupportsVision: r.Uses("view_image")}}
		s, err := e.newSettings(e.cfg, m, nil)
		if err != nil {
			return err
		}
		s.models.alone = true
		return e.settle(s)
	}
	err = e.start(ctx, parts{
		{"folder", func(context.Context) error { return walkable(dir) },
			func(context.Context) error { return os.RemoveAll(dir) }},
		{"database", e.openOwnDatabase, e.closeDatabase},
		{"program", e.begin, e.end},
		{"outgoing", e.openOutgoing, e.closeOutgoing},
		{"sandboxes", e.openSandboxes, e.closeSandboxes},
		{"settings", alone, nil},
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for _, text := range append(notes, e.box.notes...) {
		note(text)
	}
	owner := newOwner()
	return &replay.Bench{
		Manager: runs.NewManager(runs.Config{Store: e.store, Build: e.build, Owner: owner, Schema: e.schema,
			Now: r.Clock()}),
		Store: e.store, Owner: owner, User: access.Default(), Files: e.files, Close: e.close,
	}, nil
}

// walkable lets others walk through a folder: a sandbox of root runs as another user.
func walkable(dir string) error { return os.Chmod(dir, 0o711) }

// openOwnDatabase opens a file in the data folder, whatever database is configured.
func (e *engine) openOwnDatabase(ctx context.Context) error {
	st, err := sqlstore.Open(ctx, sqlstore.Config{Dir: e.dir, Features: feature.All()})
	if err == nil {
		e.store = st // not the nil of another type
		e.skills = e.newSkills()
	}
	return err
}

// quick is the configuration with nothing to wait for between the tries of a model call.
func quick(cfg *config.Config) *config.Config {
	c := *cfg
	c.LLMCall.RetryBaseDelay, c.LLMCall.RetryCapDelay, c.LLMCall.BurstRetryBaseDelay = replayRetry, replayRetry,
		replayRetry
	return &c
}
