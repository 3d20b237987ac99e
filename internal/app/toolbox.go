package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/outgoing"
	"github.com/pudu-ai/pudu/sandbox"
)

const (
	// toolboxDir is the folder of the toolbox, below the data folder.
	toolboxDir = "toolbox"
	// maxIndexAnswer bounds an answer of the index of packages, in bytes.
	maxIndexAnswer = 300 << 20
)

// newToolbox is the toolbox of a data folder.
func newToolbox(cfg *config.Config, dir string, log *slog.Logger) *toolbox.Box {
	return toolbox.New(toolbox.Config{
		Dir: filepath.Join(dir, toolboxDir), Index: cmp.Or(cfg.Env.Get("PUDU_TOOLBOX_INDEX"), cfg.Sandbox.ToolboxIndex),
		Log: log, HTTP: outgoing.Operator(outgoing.Profile{Stream: true, MaxBytes: maxIndexAnswer,
			Redirects: maxRedirects}),
	})
}

// Toolbox implements cli.App.
func (a App) Toolbox(o cli.Options) (*toolbox.Box, func(ctx context.Context) (toolbox.Target, error), error) {
	cfg, dir, _, err := a.settings(o)
	if err != nil {
		return nil, nil, err
	}
	target := func(ctx context.Context) (toolbox.Target, error) { return openSandbox(ctx, cfg, a.Sandbox).target(ctx) }
	return newToolbox(cfg, dir, cmp.Or(a.Log, slog.Default())), target, nil
}

// target is for what the toolbox of this sandbox would have to be.
func (b box) target(ctx context.Context) (toolbox.Target, error) {
	if b.off != "" {
		return toolbox.Target{}, errors.New("code tools are off: " + b.off)
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	out, _, err := b.ask(ctx, "toolbox", toolbox.Question)
	if err != nil {
		return toolbox.Target{}, err
	}
	return toolbox.ParseAnswer(out)
}

// tools is what a run that begins now has of the toolbox: its folder, and the names of its packages.
func (e *engine) tools(ctx context.Context) ([]sandbox.Mount, []string) {
	v, ok := e.kit.Shown(ctx)
	if !ok {
		return nil, nil
	}
	return []sandbox.Mount{{Host: v.Host, Path: toolbox.Mount, ReadOnly: true}}, v.Names()
}

// bringTools has a server install the toolbox where nobody can be asked, but has said so beforehand.
func (e *engine) bringTools(ctx context.Context) {
	if e.cfg.Env.Get("PUDU_TOOLBOX") != "install" {
		return
	}
	if err := e.kit.Begin(ctx); err != nil {
		e.log.Warn("PUDU_TOOLBOX=install: the toolbox cannot be installed", "error", err)
	}
}
