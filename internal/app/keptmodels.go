package app

import (
	"context"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/models"
	"github.com/pudu-ai/pudu/internal/secrets"
)

// Keeper implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Keeper(ctx context.Context, o cli.Options, do func(cli.Keeper) error) error {
	p, err := a.settle(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.Keeper{Client: p.server}))
	}
	k, err := a.keeperHere(p, o)
	if err != nil {
		return p.close(err)
	}
	return p.close(do(keeperHere{k, p}))
}

// keeperHere works with the store of a data folder. Servers that share its database see a change before their next run.
func (a App) keeperHere(p place, o cli.Options) (*keeper, error) {
	s, err := secrets.Open(p.dir, p.cfg.Env.Get(secrets.Variable))
	if err != nil {
		return nil, err
	}
	rows := models.New(p.store, s)
	return &keeper{
		rows: rows, script: demoScript, fixed: a.fixedBy(o.Model), tests: make(chan struct{}, testsAtOnce),
		view: func(ctx context.Context) (modelView, error) {
			kept, err := rows.Load(ctx)
			v := modelView{base: p.cfg, cfg: withAdded(p.cfg, kept), kept: kept}
			if err == nil {
				v.std = a.standard(ctx, v.cfg, o.Model)
			}
			return v, err
		},
		changed: func(context.Context) error { return nil },
	}, nil
}

// standard is the model of runs that name none. One that cannot be used is none, for the reason that is missing.
func (a App) standard(ctx context.Context, cfg *config.Config, name string) chosen {
	c, err := a.chooseModel(ctx, cfg, name, demoScript)
	if err != nil {
		return chosen{missing: err}
	}
	return c
}

// keeperHere tells the audit log what a command changes.
type keeperHere struct {
	*keeper

	at place
}

// Add implements [cli.Keeper], as the other methods do.
func (h keeperHere) Add(ctx context.Context, g config.Given, standard bool) error {
	return h.told(ctx, audit.Change, "model", g.FullName(), h.keeper.Add(ctx, g, standard))
}

// Put changes a model.
func (h keeperHere) Put(ctx context.Context, g config.Given, keep bool) error {
	return h.told(ctx, audit.Change, "model", g.FullName(), h.keeper.Put(ctx, g, keep))
}

// Remove removes a model.
func (h keeperHere) Remove(ctx context.Context, name string) error {
	return h.told(ctx, audit.Delete, "model", name, h.keeper.Remove(ctx, name))
}

// SetStandard chooses the default.
func (h keeperHere) SetStandard(ctx context.Context, name string) error {
	return h.told(ctx, audit.Change, "default model", name, h.keeper.SetStandard(ctx, name))
}

func (h keeperHere) told(ctx context.Context, verb audit.Verb, kind, object string, err error) error {
	if err == nil {
		h.at.record(ctx, verb, kind, object)
	}
	return err
}
