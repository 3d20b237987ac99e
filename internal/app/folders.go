package app

import (
	"context"
	"errors"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/internal/store"
)

// Folders implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Folders(ctx context.Context, o cli.Options, do func(cli.Folders) error) error {
	c, err := connect(ctx, o)
	if err != nil {
		return err
	}
	if c == nil {
		k, err := a.openOwned(ctx, o)
		if err == nil {
			return errors.Join(do(foldersHere{folders.New(k.store).For(access.Default())}), k.store.Close())
		}
		if !errors.Is(err, store.ErrLocked) {
			return err
		}
		_, dir, _, errServer := a.settings(o)
		if errServer == nil {
			c, errServer = client.Dial(ctx, client.Config{Dir: dir})
		}
		if errServer != nil {
			return err // whose holder does not listen
		}
	}
	defer c.Close()
	return do(client.Folders{Client: c})
}

// foldersHere are the folders of the user of the commands.
type foldersHere struct{ *folders.Mine }

// Add makes a folder and returns its id.
func (h foldersHere) Add(ctx context.Context, f folders.Folder) (string, error) {
	now := time.Now()
	f.ID, f.CreatedAt, f.UpdatedAt = id.New(now), now, now
	return f.ID, h.Create(ctx, f)
}
