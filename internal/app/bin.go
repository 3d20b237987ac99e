package app

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/store"
)

// bin is the bin of a program that carries out runs.
func (e *engine) bin() *bin.Bin {
	return bin.New(bin.Config{
		Store: e.store, Schema: e.schema, Now: time.Now,
		Drop: func(ctx context.Context, u access.User, id string, still func(store.Thread) bool) error {
			return dropThread(ctx, e.store.For(u), e.disk, id, still, e.pool.Drop)
		},
		Stop: func(ctx context.Context, u access.User, runID string) error {
			_, err := e.manager.For(u).Cancel(ctx, runID, store.StopInterrupt)
			return err
		},
		Keep: func() (trashed, temporary time.Duration) {
			keep := e.now().cfg.Retention
			return time.Duration(keep.Bin), time.Duration(keep.Temporary)
		},
	})
}

// Bin implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Bin(ctx context.Context, o cli.Options, do func(cli.Bin) error) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.Bin{Client: p.server}))
	}
	schema, err := lead.Schema(p.cfg, a.Middlewares...)
	if err != nil {
		return p.close(err)
	}
	b := bin.New(bin.Config{
		Store: p.store, Schema: schema,
		Drop: func(ctx context.Context, u access.User, id string, still func(store.Thread) bool) error {
			return dropThread(ctx, p.store.For(u), p.disk, id, still, func(string) {})
		},
	})
	return p.close(do(binHere{b.For(access.Default()), b, p}))
}

// binHere is the bin of the user of the commands.
type binHere struct {
	*bin.Mine

	all *bin.Bin
	at  place
}

// Trash puts a thread into the bin.
func (h binHere) Trash(ctx context.Context, id string) (store.Thread, error) {
	t, err := h.Mine.Trash(ctx, id)
	if err == nil {
		h.at.record(ctx, audit.Delete, "thread to the bin", id)
	}
	return t, err
}

// Empty empties the bin. No server is there for what follows it.
func (h binHere) Empty(ctx context.Context) (int, error) {
	n, err := h.Mine.Empty(ctx)
	if err == nil && n > 0 {
		h.at.record(ctx, audit.Delete, "bin", "")
		err = h.all.Sweep(ctx, store.Outlived{})
	}
	return n, err
}
