package userdata

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// Folder is where the files of a thread lie, whoever's it is.
type Folder struct{ dir, name string }

// Name is the folder's path below the data folder.
func (f Folder) Name() string { return f.name }

// Thread is the id of the thread.
func (f Folder) Thread() string { return path.Base(f.name) }

// Parts are the folder and those in it that the server makes, as paths below the data folder.
func (f Folder) Parts() []string {
	list := []string{f.name, path.Join(f.name, userData)}
	for _, name := range folders() {
		list = append(list, path.Join(f.name, userData, name))
	}
	return list
}

// Paths of what lies in a thread's folder, beside what its sandbox shows: History holds what its files were before.
const (
	Data    = userData
	History = "history"
)

// Root opens the thread's folder, which is made if need be. Without create, one that is not there is fs.ErrNotExist.
func (f Folder) Root(create bool) (*os.Root, error) {
	dir := filepath.Join(f.dir, filepath.FromSlash(f.name))
	if create {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the sandbox of root runs as another user, who must get there
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of thread %s: %w", f.Thread(), err)
	}
	return root, nil
}

// mount shows one of the folders to the sandbox.
func (f Folder) mount(name string) sandbox.Mount {
	host := filepath.Join(f.dir, filepath.FromSlash(f.name), userData, name)
	return sandbox.Mount{Host: host, Path: sandbox.UserData + "/" + name}
}

// Open opens what there is of the files; nil if there are none. One of the folders that nobody has used is empty.
func (f Folder) Open(readOnly bool) (*sandbox.Files, error) {
	var mounts []sandbox.Mount
	there := false
	for _, name := range folders() {
		m := f.mount(name)
		info, err := os.Lstat(m.Host)
		if err == nil && !info.IsDir() {
			continue
		}
		there = there || err == nil
		m.ReadOnly = readOnly
		mounts = append(mounts, m)
	}
	if !there {
		return nil, nil
	}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{Make: true})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.name, err)
	}
	return files, nil
}

// Remove removes the folder. It loses its name first, in one step, so that nothing takes what is left of it for the
// thread's; where that is cut off, [Disk.Threads] has the rest. That it is not there is no error.
func (f Folder) Remove() error { return errors.Join(remove(f.dir, f.name), f.Stay()) }

// Going notes that the folder goes if the thread's rows do, so that a process that is killed between the two leaves no
// files to a thread that gets the id again: [Disk.Going] has them. Remove takes the note away, and so does Stay.
func (f Folder) Going() error {
	dir := filepath.Join(f.dir, filepath.FromSlash(f.name))
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil // there are no files to forget
	}
	return os.WriteFile(f.note(), nil, 0o600)
}

// Stay takes the note of Going away. That there is none is no error.
func (f Folder) Stay() error {
	if err := os.Remove(f.note()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// GoingSince is when the note of Going was made; now, if there is none any more.
func (f Folder) GoingSince() time.Time {
	if info, err := os.Lstat(f.note()); err == nil {
		return info.ModTime()
	}
	return time.Now()
}

func (f Folder) note() string {
	return filepath.Join(f.dir, filepath.FromSlash(path.Dir(f.name)), going+f.Thread())
}

// remove removes what stands at a path below the data folder, as [Folder.Remove] does.
func remove(dir, name string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	gone := name
	if !Removed(gone) {
		gone = path.Join(path.Dir(name), removed+rand.Text())
		err = root.Rename(name, gone)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", path.Dir(name), err)
	}
	return sandbox.RemoveAll(root, gone)
}

// Space is where a user's thread works.
type Space struct {
	Folder

	sandboxID string
}

// SandboxID names the thread's sandbox: no other user's has the name.
func (s Space) SandboxID() string { return s.sandboxID }

// Mounts are the thread's own folders as its sandbox shows them.
func (s Space) Mounts() (list []sandbox.Mount) {
	for _, name := range folders() {
		list = append(list, s.mount(name))
	}
	return list
}

// Files opens the thread's files, with more mounts that its sandbox shows. A folder is made when it is first used.
func (s Space) Files(more []sandbox.Mount, o sandbox.FilesOptions) (*sandbox.Files, error) {
	o.Make = true
	return sandbox.NewFiles(append(s.Mounts(), more...), o)
}
