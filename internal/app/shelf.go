package app

import (
	"context"
	"io"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// shelf has the files of the threads of a session here.
type shelf struct {
	*cli.Session

	disk   userdata.Disk
	makers threadfiles.Makers
}

// Tree implements [cli.Shelf].
func (s shelf) Tree(ctx context.Context, thread, path string, limit, offset int) (list []threadfiles.Entry, more bool, err error) {
	err = s.with(ctx, thread, func(files *sandbox.Files) (err error) {
		list, more, err = threadfiles.Tree(ctx, files, sandbox.UserData, path, limit, offset)
		return err
	})
	if err == nil {
		err = threadfiles.Fill(ctx, s.makers, access.Default(), thread, list)
	}
	return list, more, err
}

// Zip implements [cli.Shelf].
func (s shelf) Zip(ctx context.Context, thread string, paths []string, w io.Writer) error {
	return s.with(ctx, thread, func(files *sandbox.Files) error {
		a, err := threadfiles.Choose(ctx, files, sandbox.UserData, paths)
		if err != nil {
			return err
		}
		return a.Write(ctx, w)
	})
}

// with opens the files of a thread; one that has none yet has empty folders.
func (s shelf) with(ctx context.Context, thread string, do func(*sandbox.Files) error) error {
	t, err := s.List.Thread(ctx, thread)
	if err != nil {
		return err
	}
	files, err := s.Files(t)
	if err == nil && files == nil {
		files, err = s.none(t)
	}
	if err != nil {
		return err
	}
	defer files.Close()
	return do(files)
}

// none are the files of a thread that has none yet: its folders, empty. They are not made by being looked at.
func (s shelf) none(t store.Thread) (*sandbox.Files, error) {
	place, err := s.disk.Of(t)
	if err != nil {
		return nil, err
	}
	return place.Files(nil, sandbox.FilesOptions{})
}
