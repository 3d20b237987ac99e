package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// cloneFiles copies the folders of a user's thread to a thread that is not there yet, and reports whether there were
// any files. With a time, they become what they were then.
func (e *engine) cloneFiles(ctx context.Context, u access.User, from, to string,
	then time.Time) (there bool, err error) {
	old, err := e.placeOf(ctx, u, from)
	var copied userdata.Space
	if err == nil {
		copied, err = e.disk.User(u).Thread(to)
	}
	if err != nil {
		return false, err
	}
	for i, m := range old.Mounts() {
		some, err := cloneFolder(ctx, m, copied.Mounts()[i])
		if there = there || some; err != nil {
			return there, err
		}
	}
	if then.IsZero() {
		return there, nil
	}
	past := e.past(copied)
	if err = e.past(old).CopyTo(ctx, past); err == nil {
		_, err = past.Rewind(ctx, to, filehistory.Moment{At: then})
	}
	return true, err
}

func cloneFolder(ctx context.Context, from, to sandbox.Mount) (there bool, err error) {
	root, err := os.OpenRoot(from.Host)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer root.Close()
	some, err := fs.ReadDir(root.FS(), ".")
	if err != nil || len(some) == 0 {
		return false, err
	}
	if err := os.MkdirAll(to.Host, 0o750); err != nil {
		return true, err
	}
	return true, os.CopyFS(to.Host, until{root.FS(), ctx})
}

// until is a folder that is read as long as its context lives.
type until struct {
	fs.FS

	ctx context.Context //nolint:containedctx // it lives for one copy
}

// Open implements [fs.FS].
func (u until) Open(name string) (fs.File, error) {
	if err := u.ctx.Err(); err != nil {
		return nil, err
	}
	return u.FS.Open(name)
}

// Lstat and ReadLink implement [fs.ReadLinkFS]: links are copied as links.
func (u until) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(u.FS, name) }

// ReadLink implements [fs.ReadLinkFS].
func (u until) ReadLink(name string) (string, error) { return fs.ReadLink(u.FS, name) }
