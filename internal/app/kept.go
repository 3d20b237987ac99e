package app

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// kept is the store with its data folder, for looking after both: no models and no sandboxes are set up.
type kept struct {
	cfg   *config.Config
	dir   string
	store store.Store
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
	return &kept{cfg: cfg, dir: dir, store: st}, nil
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

// threadFolder is a thread's folder, below the data folder.
func threadFolder(user, threadID string) string {
	return path.Join("users", config.UserFolder(user), "threads", threadID)
}

// filesIn opens the files of a thread's folder; nil if it has none. A folder of its own that nobody has used is empty.
func filesIn(dir, folder string, readOnly bool) (*sandbox.Files, error) {
	var mounts []sandbox.Mount
	there := false
	for _, name := range threadFolders {
		host := filepath.Join(dir, filepath.FromSlash(folder), "user-data", name)
		info, err := os.Lstat(host)
		if err == nil && !info.IsDir() {
			continue
		}
		there = there || err == nil
		mounts = append(mounts, sandbox.Mount{Host: host, Path: sandbox.UserData + "/" + name, ReadOnly: readOnly})
	}
	if !there {
		return nil, nil
	}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{Make: true})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", folder, err)
	}
	return files, nil
}
