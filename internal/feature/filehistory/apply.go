package filehistory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// apply makes paths what the steps want them to be. Doing it again does the same.
func (s *session) apply(steps []Change) error {
	if err := s.root.Mkdir(userdata.Data, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	files, err := s.files()
	if err != nil {
		return err
	}
	defer files.Close()
	a := applying{s: s, files: files}
	if info, err := files.Lstat("workspace"); err == nil { // whose code works there
		a.uid, a.gid = ownerOf(info)
	}
	for _, part := range []func([]Change) error{a.clear, a.make, a.remove, a.close} {
		if err := part(steps); err != nil {
			return err
		}
	}
	return syncFiles(files)
}

type applying struct {
	s     *session
	files *os.Root

	uid, gid int
}

// clear opens folders that are closed to their owner, and removes what is of another kind than what is wanted.
func (a applying) clear(steps []Change) error {
	for _, c := range steps {
		if c.Before.Kind == Dir && c.Before.Mode&0o700 != 0o700 || c.After.Kind == Dir && c.After.Mode&0o700 != 0o700 {
			if info, err := a.files.Lstat(c.Path()); err == nil && info.IsDir() {
				if err := a.files.Chmod(c.Path(), info.Mode()&bits|0o700); err != nil {
					return a.fail(c, err)
				}
			}
		}
	}
	for _, c := range slices.Backward(steps) {
		info, err := a.files.Lstat(c.Path())
		if err != nil || c.After.Kind == 0 || entryOf(info, c.Path()).Kind == c.After.Kind {
			continue
		}
		if info.IsDir() { // what is in it goes first
			for _, below := range slices.Backward(steps) {
				if len(below.Path()) > len(c.Path()) && below.Path()[:len(c.Path())+1] == c.Path()+"/" {
					_ = a.files.Remove(below.Path()) // that of the folder tells
				}
			}
		}
		if err := a.files.Remove(c.Path()); err != nil {
			return a.fail(c, err)
		}
	}
	return nil
}

// make makes folders, then files and links.
func (a applying) make(steps []Change) error {
	for _, c := range steps {
		if c.After.Kind == Dir {
			if err := a.folder(c.Path()); err != nil {
				return a.fail(c, err)
			}
		}
	}
	for _, c := range steps {
		var err error
		switch c.After.Kind {
		case File:
			err = a.file(c.After)
		case Link:
			err = a.link(c.After)
		}
		if err != nil {
			return a.fail(c, err)
		}
	}
	return nil
}

// folder makes a folder and those on the way to it, open to their owner.
func (a applying) folder(at string) error {
	if info, err := a.files.Lstat(at); err == nil && info.IsDir() {
		return nil
	}
	if dir := folderOf(at); dir != "." {
		if err := a.folder(dir); err != nil {
			return err
		}
	}
	if err := a.files.Mkdir(at, 0o755); err != nil {
		return err
	}
	return a.own(a.files, at)
}

// own gives something to whoever the thread's files belong to.
func (a applying) own(in *os.Root, name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return in.Lchown(name, a.uid, a.gid)
}

// parent opens the folder that something is put into, so that all of it happens there.
func (a applying) parent(at string) (*os.Root, error) {
	if err := a.folder(folderOf(at)); err != nil {
		return nil, err
	}
	return a.files.OpenRoot(folderOf(at) + "/.")
}

// file gives a file its content, from the copy, unless it has it, and its mode and time.
func (a applying) file(want Entry) error {
	dir, err := a.parent(want.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := lastOf(want.Path)
	if info, err := dir.Lstat(name); err == nil && entryOf(info, want.Path).Kind == File {
		if e := entryOf(info, want.Path); e.Size == want.Size && a.has(dir, name, want) {
			return dir.Chmod(name, want.Mode)
		}
	}
	temp, err := a.copy(dir, want)
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil && temp != "" {
		_ = dir.Remove(temp)
	}
	return err
}

// has reports whether a file has the content that is wanted.
func (a applying) has(dir *os.Root, name string, want Entry) bool {
	h, err := dir.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return want.Sum == ""
	}
	defer h.Close()
	if want.Sum == "" {
		info, err := h.Stat()
		return err == nil && info.ModTime().UnixNano() == want.modified
	}
	hash := sha256.New()
	_, err = io.Copy(hash, h)
	return err == nil && hex.EncodeToString(hash.Sum(nil)) == want.Sum
}

func (a applying) copy(dir *os.Root, want Entry) (temp string, err error) {
	from, err := (&objects{root: a.s.dir}).open(want)
	if err != nil {
		return "", err
	}
	defer from.Close()
	sum := sha256.Sum256([]byte(want.Path))
	temp = sandbox.TempPrefix + hex.EncodeToString(sum[:8]) + ".tmp" // which nobody lists
	_ = dir.Remove(temp)                                             // of a try that was cut off
	to, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(to, io.TeeReader(from, hash))
	if err == nil && hex.EncodeToString(hash.Sum(nil)) != want.Sum {
		err = errDamaged
	}
	if err == nil && os.Geteuid() == 0 {
		err = to.Chown(a.uid, a.gid)
	}
	if err == nil {
		err = to.Chmod(want.Mode)
	}
	if err = errors.Join(err, to.Close()); err == nil {
		err = dir.Chtimes(temp, time.Time{}, want.Modified())
	}
	return temp, err
}

var errDamaged = errors.New("the copy is damaged")

func (a applying) link(want Entry) error {
	dir, err := a.parent(want.Path)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := lastOf(want.Path)
	if target, err := dir.Readlink(name); err == nil {
		if target == want.Target {
			return nil
		}
		if err := dir.Remove(name); err != nil {
			return err
		}
	}
	if err := dir.Symlink(want.Target, name); err != nil {
		return err
	}
	return a.own(dir, name)
}

// remove removes what is to be gone, the deepest first. A folder that has got something in it meanwhile stays.
func (a applying) remove(steps []Change) error {
	for _, c := range slices.Backward(steps) {
		if c.After.Kind != 0 {
			continue
		}
		err := ignoreMissing(a.files.Remove(c.Path()))
		if err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.ENOTDIR) {
			return a.fail(c, err)
		}
	}
	return nil
}

// close gives folders their modes, the deepest first.
func (a applying) close(steps []Change) error {
	for _, c := range slices.Backward(steps) {
		if c.After.Kind == Dir {
			if err := a.files.Chmod(c.Path(), c.After.Mode); err != nil {
				return a.fail(c, err)
			}
		}
	}
	return nil
}

// fail names the path as clients know it, and nothing of the host.
func (a applying) fail(c Change, err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("restore %s: %w", c.Virtual(), err)
}

// whole reports whether the copy of a file is there and has not been damaged.
func (o *objects) whole(e Entry) bool {
	h, err := o.open(e)
	if err != nil {
		return false
	}
	defer h.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, h)
	return err == nil && n == e.Size && hex.EncodeToString(hash.Sum(nil)) == e.Sum
}
