package app

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// folderOf is the folder of a user's thread, as its model is told of it, with the mount that shows its files: to a run
// an empty folder too, since files can come while it works.
func (e *engine) folderOf(ctx context.Context, user access.User, thread string) (out lead.Folder,
	mounts []sandbox.Mount, err error) {
	f, err := folders.New(e.store).For(user).Of(ctx, thread)
	if err != nil || f.ID == "" {
		return out, nil, err
	}
	out.Instructions = f.Instructions
	at, err := e.disk.User(user).Shared(f.ID)
	if err != nil {
		return out, nil, nil // a folder whose id can have no place on a disk has no files
	}
	if mounts, err = at.Mount(true); err != nil {
		return out, nil, err
	}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{})
	if err != nil {
		return out, nil, err
	}
	defer files.Close()
	out.Files, out.More, err = folders.Names(ctx, files, lead.MaxFolderFiles)
	return out, mounts, err
}

// folderMount is what [engine.folderOf] shows, to who only looks at the files of a thread.
func (e *engine) folderMount(ctx context.Context, user access.User, thread string) ([]sandbox.Mount, error) {
	f, err := folders.New(e.store).For(user).Of(ctx, thread)
	if err != nil || f.ID == "" {
		return nil, err
	}
	at, err := e.disk.User(user).Shared(f.ID)
	if err != nil {
		return nil, nil //nolint:nilerr // it has no files
	}
	return at.Mount(false)
}

// folderFiles opens the files of one of a user's folders; the caller closes them. [store.ErrNotFound] if he has no such
// folder.
func (e *engine) folderFiles(ctx context.Context, user access.User, id string) (*sandbox.Files, error) {
	return filesOfFolder(ctx, folders.New(e.store).For(user), e.disk.User(user), id)
}

func filesOfFolder(ctx context.Context, mine *folders.Mine, disk userdata.User, id string) (*sandbox.Files, error) {
	if _, err := mine.Folder(ctx, id); err != nil {
		return nil, err
	}
	at, err := disk.Shared(id)
	if err != nil {
		return nil, err
	}
	return at.Files()
}

// dropFolder removes a user's folder, and then its files. When it is cut off in between, the files belong to no folder
// and are collected later.
func dropFolder(ctx context.Context, mine *folders.Mine, disk userdata.User, id string) error {
	if err := mine.Delete(ctx, id); err != nil {
		return err
	}
	at, err := disk.Shared(id)
	if err != nil {
		return nil //nolint:nilerr // it has no files
	}
	return at.Remove()
}

// deleteFolder removes a user's folder with its files.
func (e *engine) deleteFolder(ctx context.Context, user access.User, id string) error {
	return dropFolder(ctx, folders.New(e.store).For(user), e.disk.User(user), id)
}
