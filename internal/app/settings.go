package app

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pudu-ai/pudu/internal/config"
	addedmodels "github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/sandbox"
)

// settings are what the configuration says to the runs that begin. They never change: a run keeps those that it began
// with.
type settings struct {
	cfg    *config.Config // with the models that were added
	base   *config.Config // without them
	added  addedmodels.Kept
	model  chosen
	models *modelSet
	mounts []sandbox.Mount
	guards lead.Guards
	notes  []string
}

// now are the settings of a run that begins now.
func (e *engine) now() *settings { return e.current.Load() }

// configure makes the settings for the first runs.
func (e *engine) configure(ctx context.Context) error {
	s, err := e.settingsFor(ctx, e.cfg)
	if err != nil {
		return err
	}
	return e.settle(s)
}

// outline makes settings of what costs nothing to know, for commands. Those that need the model of runs ask for
// [engine.fresh] ones.
func (e *engine) outline(ctx context.Context) error {
	e.stale.Store(true)
	kept, _ := e.added.Load(ctx) // what keeps it from being read is said to those who need it
	return e.settle(&settings{cfg: withAdded(e.cfg, kept), base: e.cfg, added: kept})
}

// settle makes the settings those of the first runs.
func (e *engine) settle(s *settings) (err error) {
	e.schema, err = lead.Schema(s.cfg, e.own.Middlewares...)
	e.current.Store(s)
	e.calls = newCalls(e.store, e.schema, func() []config.Model { return e.now().cfg.Models }, e.log)
	return err
}

// settingsFor are the settings of a configuration, with the models that were added.
func (e *engine) settingsFor(ctx context.Context, cfg *config.Config) (*settings, error) {
	if err := e.own.check(cfg); err != nil {
		return nil, err
	}
	kept, err := e.added.Load(ctx)
	if err != nil {
		return nil, err
	}
	all := withAdded(cfg, kept)
	m, err := e.own.chooseModel(ctx, all, e.options.Model, e.box.demo())
	if e.commands { // they may be what is to make it one that can be used
		m.missing = cmp.Or(m.missing, err)
		return &settings{cfg: all, base: cfg, added: kept, model: m,
			models: newModelSet(all, m, e.box.demo(), nil, e.log)}, nil
	}
	if err != nil {
		return nil, err
	}
	s, err := e.newSettings(all, m, e.watch.call)
	if err == nil {
		s.base, s.added = cfg, kept
	}
	return s, err
}

func (e *engine) newSettings(cfg *config.Config, m chosen, observe lead.CallObserver) (s *settings, err error) {
	s = &settings{cfg: cfg, model: m, models: newModelSet(cfg, m, e.box.demo(), observe, e.log)}
	if len(m.unread) > 0 {
		s.notes = []string{fmt.Sprintf("model %s: %s is read but has no effect", m.model.Name(),
			strings.Join(m.unread, ", "))}
	}
	if s.mounts, err = configuredMounts(cfg, e.options.Mounts); err != nil {
		return nil, err
	}
	s.guards, err = lead.NewGuards(cfg)
	return s, err
}

// configuredMounts joins the mounts of the configuration and of the command line.
func configuredMounts(cfg *config.Config, more []sandbox.Mount) ([]sandbox.Mount, error) {
	var mounts []sandbox.Mount
	for _, m := range cfg.Sandbox.Mounts {
		if _, err := os.Stat(m.HostPath); err != nil {
			return nil, fmt.Errorf("%s:%d: sandbox mount: %w", cfg.Path, m.Line, err)
		}
		mounts = append(mounts, sandbox.Mount{Host: m.HostPath, Path: m.ContainerPath, ReadOnly: m.ReadOnly})
	}
	return append(mounts, more...), nil
}
