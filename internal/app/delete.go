package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/pudu-ai/pudu/internal/archive"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// DeleteThread implements cli.App.
func (a App) DeleteThread(ctx context.Context, o cli.Options, id string) error {
	c, err := connect(ctx, o)
	if err != nil {
		return err
	}
	if c != nil {
		defer c.Close()
		return thereIs(c.DeleteThread(ctx, id), id)
	}
	k, err := a.openOwned(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(deleteThread(ctx, k.store, k.dir, id), k.store.Close())
}

// deleteThread removes a thread for the command.
func deleteThread(ctx context.Context, s store.Store, dir, id string) error {
	if err := config.CheckThreadID(id); err != nil {
		return err
	}
	return thereIs(removeThread(ctx, s, dir, id), id)
}

// thereIs says what is in the way of removing a thread.
func thereIs(err error, id string) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("there is no thread %q; `pudu threads` lists them", id)
	case errors.Is(err, store.ErrConflict):
		return fmt.Errorf("thread %s has an unfinished run; end it first: pudu run --resume %[1]s (Ctrl-C cancels it)", id)
	}
	return err
}

// removeThread removes a thread: its rows, then its files. When it is cut off in between, the files belong to no thread
// and are collected later.
func removeThread(ctx context.Context, s store.Store, dir, id string) error {
	t, err := s.Thread(ctx, id)
	if err == nil {
		err = s.DeleteThread(ctx, id)
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return bury(root, threadFolder(t.UserID, id))
}

// bury removes a thread's folder. It loses its name first, in one step, so that nothing takes what is left of it for the
// thread's. That it is not there is no error.
func bury(root *os.Root, folder string) error {
	gone := path.Join(path.Dir(folder), archive.Trash+rand.Text())
	err := root.Rename(folder, gone)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the files of a thread: %w", err)
	}
	return sandbox.RemoveAll(root, gone)
}
