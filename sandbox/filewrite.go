package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// WriteFile replaces or creates a file, or with add appends to it. Readers see the old content or the new one, never a
// part, also after a power cut; an addition may be cut off. Folders on the way are created; the mode of an existing
// file is kept. A symbolic link, a file without write permission and a foreign hard link are refused.
func (f *Files) WriteFile(path string, data []byte, add bool) error {
	if add {
		return f.addTo(path, data)
	}
	_, err := f.WriteFrom(path, bytes.NewReader(data), int64(len(data)))
	return err
}

// WriteFrom replaces or creates a file as [Files.WriteFile] does, with the content of a reader. More than limit bytes
// is [ErrTooLarge], and like every other failure it leaves what was there.
func (f *Files) WriteFrom(path string, r io.Reader, limit int64) (int64, error) {
	at, dir, err := f.writable(path)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	n, err := at.replace(dir, r, limit)
	if err != nil {
		return 0, at.fail("write", err)
	}
	return n, nil
}

func (p place) replace(dir *os.Root, r io.Reader, limit int64) (n int64, err error) {
	old, err := p.writeTarget(dir)
	if err != nil {
		return n, err
	}
	temp, err := newTemp(dir)
	if err != nil {
		return n, err
	}
	defer temp.drop()
	if n, err = p.fill(temp.h, old, r, limit); err != nil {
		return n, err
	}
	if err := dir.Rename(temp.name, path.Base(p.rel)); err != nil {
		return n, err
	}
	return n, syncFolder(dir)
}

// fill writes, owns and syncs the new file.
func (p place) fill(h *os.File, old fs.FileInfo, r io.Reader, limit int64) (n int64, err error) {
	if n, err = io.Copy(h, io.LimitReader(r, limit+1)); err != nil {
		return n, err
	}
	if n > limit {
		return n, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err = p.mount.own(h); err != nil {
		return n, err
	}
	if old != nil {
		if err = h.Chmod(old.Mode().Perm()); err != nil {
			return n, err
		}
	}
	return n, h.Sync()
}

// writeTarget looks at what has the name now; nil if nothing has.
func (p place) writeTarget(dir *os.Root) (fs.FileInfo, error) {
	info, err := dir.Lstat(path.Base(p.rel))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.check(info); err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o222 == 0 {
		return nil, fs.ErrPermission
	}
	return info, nil
}

// Create makes a new file and opens it for writing. A path that exists, as whatever it may be, is [fs.ErrExist].
func (f *Files) Create(path string) (*File, error) { return f.openWith(path, "create", place.create) }

// Append opens a file for writing at its end and creates it when it is missing. What it refuses is as for
// [Files.WriteFile].
func (f *Files) Append(path string) (*File, error) { return f.openWith(path, "append", place.extend) }

// openWith opens a file of a folder that may be written to; what names it in errors.
func (f *Files) openWith(path, what string, open func(place, *os.Root) (*os.File, error)) (*File, error) {
	at, dir, err := f.writable(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	h, err := open(at, dir)
	if err != nil {
		return nil, at.fail(what, err)
	}
	return &File{h, at.path}, nil
}

func (p place) create(dir *os.Root) (*os.File, error) {
	h, err := dir.OpenFile(path.Base(p.rel), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	if err := p.mount.own(h); err != nil {
		h.Close()
		_ = dir.Remove(path.Base(p.rel)) // nobody could write to it
		return nil, err
	}
	return h, nil
}

func (f *Files) addTo(path string, data []byte) error {
	h, err := f.Append(path)
	if err != nil {
		return err
	}
	defer h.Close() // synced, or cut off
	if _, err := h.Write(data); err != nil {
		return err
	}
	return h.Sync()
}

// extend opens the file that has the name, or a new one. os.Root follows links below the folder whatever the flags say,
// so the open file must be the one that was looked at. The loop is for files that come or go in between.
func (p place) extend(dir *os.Root) (*os.File, error) {
	for range 8 {
		old, err := p.writeTarget(dir)
		if err != nil {
			return nil, err
		}
		if old == nil {
			if h, err := p.create(dir); !errors.Is(err, fs.ErrExist) {
				return h, err
			}
			continue
		}
		h, err := dir.OpenFile(path.Base(p.rel), os.O_WRONLY|os.O_APPEND|openNonblock, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if now, err := h.Stat(); err == nil && os.SameFile(old, now) && p.check(now) == nil {
			return h, nil
		}
		h.Close()
	}
	return nil, fmt.Errorf("%w: it changes all the time", ErrNotRegular)
}

// MkdirAll makes a folder and those on the way to it. A folder that exists is fine.
func (f *Files) MkdirAll(path string) error {
	at, err := f.locate("mkdir", path)
	if err != nil {
		return err
	}
	if at.virtual() || at.rel == "." {
		return nil
	}
	if at.mount.ReadOnly {
		return at.fail("mkdir", ErrReadOnly)
	}
	dir, err := at.folder(at.rel)
	if err != nil {
		return at.fail("mkdir", err)
	}
	return dir.Close()
}

// Remove removes a file, a symbolic link or an empty folder. The folder of a mount is [ErrReadOnly].
func (f *Files) Remove(path string) error {
	at, err := f.locate("remove", path)
	if err != nil {
		return err
	}
	if at.virtual() || at.rel == "." || at.mount.ReadOnly {
		return at.fail("remove", ErrReadOnly)
	}
	root, err := at.mount.look()
	switch {
	case err == nil && root == nil:
		err = fs.ErrNotExist
	case err == nil:
		err = root.Remove(at.rel)
	}
	if err != nil {
		return at.fail("remove", err)
	}
	return nil
}

// writable finds a path that may be written and opens its folder, so that what follows happens in one folder even if
// somebody renames the path meanwhile.
func (f *Files) writable(p string) (place, *os.Root, error) {
	at, err := f.locate("write", p)
	switch {
	case err != nil:
		return place{}, nil, err
	case at.virtual(), at.rel == ".":
		return place{}, nil, at.fail("write", ErrIsDir)
	case at.mount.ReadOnly:
		return place{}, nil, at.fail("write", ErrReadOnly)
	case IsTemp(path.Base(at.rel)):
		return place{}, nil, at.fail("write", invalid("names like this are those of files that are being written"))
	}
	dir, err := at.folder(path.Dir(at.rel))
	if err != nil {
		return place{}, nil, at.fail("write", err)
	}
	return at, dir, nil
}

// folder opens a folder of the mount and makes what is missing on the way.
func (p place) folder(rel string) (*os.Root, error) {
	root, err := p.mount.open()
	if err != nil {
		return nil, err
	}
	dir, err := root.OpenRoot(asFolder(rel))
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	for i := range len(rel) + 1 {
		if i < len(rel) && rel[i] != '/' {
			continue
		}
		err := root.Mkdir(rel[:i], 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := p.ownFolder(root, rel[:i]); err != nil {
			_ = root.Remove(rel[:i]) // nobody could write to it
			return nil, err
		}
	}
	return root.OpenRoot(asFolder(rel))
}

func (p place) ownFolder(root *os.Root, rel string) error {
	h, err := root.Open(asFolder(rel))
	if err != nil {
		return err
	}
	defer h.Close()
	return p.mount.own(h)
}
