package app

import (
	"context"
	"errors"
	"io"
	"path"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/client"
	"github.com/pudu-ai/pudu/internal/feature/audit"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/lib/id"
	"github.com/pudu-ai/pudu/sandbox"
)

// Folders implements cli.App: here, through the server that holds the data folder, or at a server elsewhere.
func (a App) Folders(ctx context.Context, o cli.Options, do func(cli.Folders) error) error {
	p, err := a.settle(ctx, o)
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

// Delete removes a folder with its files.
func (h foldersHere) Delete(ctx context.Context, id string) error {
	err := dropFolder(ctx, h.Mine, h.at.disk.User(access.Default()), id)
	if err == nil {
		h.at.record(ctx, audit.Delete, "folder", id)
	}
	return err
}

// with has do work with the files of a folder.
func (h foldersHere) with(ctx context.Context, folder string, do func(*sandbox.Files) error) error {
	files, err := filesOfFolder(ctx, h.Mine, h.at.disk.User(access.Default()), folder)
	if err != nil {
		return err
	}
	defer files.Close()
	return do(files)
}

// Files lists the files of a folder.
func (h foldersHere) Files(ctx context.Context, folder string, limit int) (list []threadfiles.Entry, more bool, err error) {
	err = h.with(ctx, folder, func(files *sandbox.Files) (err error) {
		list, more, err = threadfiles.Tree(ctx, files, sandbox.Folder, "", limit, 0)
		return err
	})
	return list, more, err
}

// AddFile puts a file into a folder.
func (h foldersHere) AddFile(ctx context.Context, folder, into, name string, content io.Reader, _ int64) error {
	at, err := threadfiles.Below(sandbox.Folder, path.Join(into, name))
	if err != nil {
		return err
	}
	quota := sandboxLimits(h.at.cfg).OrDefault().Disk
	return h.with(ctx, folder, func(files *sandbox.Files) error {
		n, left, _, err := folders.Room(ctx, files, quota)
		if err == nil && n == 0 {
			err = folders.Full(quota)
		}
		if err != nil {
			return err
		}
		if _, err = files.WriteFrom(at, content, left); errors.Is(err, sandbox.ErrTooLarge) {
			err = folders.Full(quota)
		}
		return err
	})
}

// ReadFile writes a file of a folder.
func (h foldersHere) ReadFile(ctx context.Context, folder, name string, w io.Writer) error {
	at, err := threadfiles.Below(sandbox.Folder, name)
	if err != nil {
		return err
	}
	return h.with(ctx, folder, func(files *sandbox.Files) error {
		f, err := files.Open(at)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

// RemoveFile removes a file of a folder.
func (h foldersHere) RemoveFile(ctx context.Context, folder, name string) error {
	at, err := threadfiles.Below(sandbox.Folder, name)
	if err != nil {
		return err
	}
	err = h.with(ctx, folder, func(files *sandbox.Files) error { return files.Remove(at) })
	if err == nil {
		h.at.record(ctx, audit.Delete, "folder file", folder+"/"+name)
	}
	return err
}
