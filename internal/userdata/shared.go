package userdata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pudu-ai/pudu/sandbox"
)

// Shared is where the files of a folder of threads lie, which all its threads see.
type Shared struct{ dir, name string }

// content is where in it they lie.
const content = "files"

// Shared is where the files of one of the user's folders of threads lie. It makes nothing.
func (u User) Shared(id string) (Shared, error) {
	if CheckThreadID(id) != nil {
		return Shared{}, fmt.Errorf("folder id %.80q is not allowed: use 1 to 64 letters, digits, _ and -", id)
	}
	folder, err := u.folder(shared)
	if err != nil {
		return Shared{}, err
	}
	return Shared{u.disk.dir, path.Join(folder, id)}, nil
}

// Shared are those of all users, those whose removal was cut off among them.
func (d Disk) Shared() (list []Shared, err error) {
	names, err := d.ofUsers(shared)
	for _, name := range names {
		list = append(list, Shared{d.dir, name})
	}
	return list, err
}

// Name is the path below the data folder.
func (s Shared) Name() string { return s.name }

// Parts are the folders that the server makes, as paths below the data folder.
func (s Shared) Parts() []string { return []string{s.name, path.Join(s.name, content)} }

func (s Shared) host() string { return filepath.Join(s.dir, filepath.FromSlash(s.name), content) }

// Mount shows the files to a thread, which cannot change them. Where no file was put there yet it is made if create
// says so, else there is none.
func (s Shared) Mount(create bool) (list []sandbox.Mount, err error) {
	if create {
		err = os.MkdirAll(s.host(), 0o755) //nolint:gosec // the sandbox of root runs as another user, who must get there
	} else if _, err = os.Stat(s.host()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the files of a folder: %w", err)
	}
	return []sandbox.Mount{{Host: s.host(), Path: sandbox.Folder, ReadOnly: true}}, nil
}

// Files opens the files at [sandbox.Folder], to be changed too. The caller closes them.
func (s Shared) Files() (*sandbox.Files, error) {
	mounts, err := s.Mount(true)
	if err != nil {
		return nil, err
	}
	mounts[0].ReadOnly = false
	return sandbox.NewFiles(mounts, sandbox.FilesOptions{})
}

// Remove removes them, as [Folder.Remove] does.
func (s Shared) Remove() error { return remove(s.dir, s.name) }
