package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/internal/archive"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/store"
)

// Backup implements cli.App.
func (a App) Backup(ctx context.Context, o cli.Options, w io.Writer) (archive.Summary, error) {
	k, err := a.openKept(ctx, o, true)
	if err != nil {
		return archive.Summary{}, err
	}
	sum, err := archive.Write(ctx, w, k.store.System(), k.dir, time.Now())
	return sum, errors.Join(err, k.store.Close())
}

// Restore implements cli.App.
func (a App) Restore(ctx context.Context, o cli.Options, r io.Reader) (archive.Summary, error) {
	k, err := a.openKept(ctx, o, false)
	if err != nil {
		return archive.Summary{}, err
	}
	sum, err := k.restore(ctx, r)
	if errors.Is(err, store.ErrConflict) {
		err = fmt.Errorf("%w; a backup is restored into an empty place only: name another data folder with --data", err)
	}
	return sum, errors.Join(err, k.store.Close())
}

func (k *kept) restore(ctx context.Context, r io.Reader) (archive.Summary, error) {
	free, err := freeBytes(k.dir)
	if err != nil {
		return archive.Summary{}, fmt.Errorf("restore backup: %w", err)
	}
	return archive.Read(ctx, r, k.store.System(), k.dir, free/10*9)
}

// freeBytes is the room on the disk of a folder.
func freeBytes(dir string) (int64, error) {
	_, free, err := diskOf(dir)
	return free, err
}

// diskOf is the size of the disk of a folder, and the room on it.
func diskOf(dir string) (size, free int64, err error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, 0, err
	}
	block := int64(fs.Bsize) //nolint:unconvert // of another type on other systems
	return int64(fs.Blocks) * block, int64(fs.Bavail) * block, nil
}
