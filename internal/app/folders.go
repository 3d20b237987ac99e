package app

import (
	"context"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/lib/id"
)

// Folders implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Folders(ctx context.Context, o cli.Options, do func(cli.Folders) error) error {
	p, err := a.reach(ctx, o)
	switch {
	case err != nil:
		return err
	case p.server != nil:
		return p.close(do(client.Folders{Client: p.server}))
	}
	return p.close(do(foldersHere{folders.New(p.store).For(access.Default()), p}))
}

// foldersHere are the folders of the user of the commands.
type foldersHere struct {
	*folders.Mine

	at place
}

// Add makes a folder and returns its id.
func (h foldersHere) Add(ctx context.Context, f folders.Folder) (string, error) {
	now := time.Now()
	f.ID, f.CreatedAt, f.UpdatedAt = id.New(now), now, now
	return f.ID, h.Create(ctx, f)
}

// Delete removes a folder.
func (h foldersHere) Delete(ctx context.Context, id string) error {
	err := h.Mine.Delete(ctx, id)
	if err == nil {
		h.at.record(ctx, audit.Delete, "folder", id)
	}
	return err
}
