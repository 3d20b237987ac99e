package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/search"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

// openStore opens the database: SQLite in the data folder, or the PostgreSQL that was named. For reading only, one that
// is not there yet is fs.ErrNotExist.
func openStore(ctx context.Context, cfg *config.Config, o cli.Options, dir string,
	readOnly bool) (database.Store, error) {
	b, err := cfg.ChooseDatabase(o.Database)
	if err != nil {
		return nil, err
	}
	if b.URL == "" && readOnly {
		if err := hasFile(dir); err != nil {
			return nil, err
		}
	}
	if b.URL == "" && !readOnly {
		if err := checkAbandoned(dir, o.Adopt, time.Now()); err != nil {
			return nil, err
		}
	}
	if b.URL != "" && !readOnly { // the threads' files are there
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make data folder: %w", err)
		}
	}
	st, err := sqlstore.Open(ctx, sqlstore.Config{
		Dir: dir, ReadOnly: readOnly, URL: b.URL.Reveal(), Schema: b.Schema, Pool: b.PoolSize,
		Recycle: time.Duration(max(b.PoolRecycle, 0)) * time.Second, Timeout: b.CommandTimeout, Features: feature.All(),
		After:   []store.After{runs.After, search.After, memory.After(cfg.Memory)},
		Changed: []store.Changed{search.Changed},
	})
	if readOnly && errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, err // not the nil of another type
	}
	return st, nil
}

// hasFile is fs.ErrNotExist if a data folder has no database yet.
func hasFile(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, sqlstore.FileName)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data folder %s: %w; nothing was done there yet, or another one must be named with --data",
			dir, fs.ErrNotExist)
	}
	return nil
}

// isShared reports whether other processes can work on the store too: a PostgreSQL was named.
func isShared(cfg *config.Config, o cli.Options) bool {
	b, err := cfg.ChooseDatabase(o.Database)
	return err == nil && b.URL != ""
}

// leaseholder returns the owner of a run in a shared database, if it is alive.
func leaseholder(ctx context.Context, st store.Store, run store.Run) (string, error) {
	if run.Status != event.StatusRunning {
		return "", nil
	}
	left, err := st.System().Abandoned(ctx, "", 1000)
	if err != nil || slices.ContainsFunc(left, func(r store.Run) bool { return r.ID == run.ID }) {
		return "", err
	}
	return run.Owner, nil
}
