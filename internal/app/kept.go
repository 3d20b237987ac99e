package app

import (
	"context"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// kept is the store with its data folder, for looking after both: no models and no sandboxes are set up.
type kept struct {
	cfg   *config.Config
	dir   string
	disk  userdata.Disk
	store database.Store
}

// openKept opens the store; for reading only, it opens beside whoever holds the folder.
func (a App) openKept(ctx context.Context, o cli.Options, readOnly bool) (*kept, error) {
	cfg, dir, _, err := a.settings(o)
	if err != nil {
		return nil, err
	}
	st, err := openStore(ctx, cfg, o, dir, readOnly)
	if err != nil {
		return nil, err
	}
	return &kept{cfg: cfg, dir: dir, disk: userdata.New(dir), store: st}, nil
}

// openOwned opens the store of a data folder that is there, and holds the folder.
func (a App) openOwned(ctx context.Context, o cli.Options) (*kept, error) {
	k, err := a.openKept(ctx, o, true) // which, unlike an owner, makes no folder
	if err != nil {
		return nil, err
	}
	if err := k.store.Close(); err != nil {
		return nil, err
	}
	return a.openKept(ctx, o, false)
}
