package app

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/bin"
	"github.com/pudu-ai/pudu/internal/store"
)

// bin is the bin of a program that carries out runs.
func (e *engine) bin() *bin.Bin {
	return bin.New(bin.Config{
		Store: e.store, Schema: e.schema, Now: time.Now, AtOnce: e.commands,
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
