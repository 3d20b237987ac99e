package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// File is an open regular file. Its errors name the virtual path.
type File struct {
	h    *os.File
	path string
}

// Name returns the file's absolute virtual path.
func (f *File) Name() string { return f.path }

// Read implements [io.Reader].
func (f *File) Read(b []byte) (int, error) { n, err := f.h.Read(b); return n, f.wrap("read", err) }

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.h.ReadAt(b, off)
	return n, f.wrap("read", err)
}

// Seek implements [io.Seeker].
func (f *File) Seek(off int64, whence int) (int64, error) {
	n, err := f.h.Seek(off, whence)
	return n, f.wrap("seek", err)
}

// Write implements [io.Writer]; it fails on a file that was opened for reading.
func (f *File) Write(b []byte) (int, error) { n, err := f.h.Write(b); return n, f.wrap("write", err) }

// Stat returns the file's data; its name is the last one of the virtual path.
func (f *File) Stat() (fs.FileInfo, error) {
	info, err := f.h.Stat()
	if err != nil {
		return nil, f.wrap("stat", err)
	}
	return named{info, path.Base(f.path)}, nil
}

// Sync makes what was written durable.
func (f *File) Sync() error { return f.wrap("sync", f.h.Sync()) }

// Close closes the file.
func (f *File) Close() error { return f.wrap("close", f.h.Close()) }

func (f *File) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return pathError(op, f.path, err)
}

// Open opens a regular file for reading. It never waits, whatever kind of file the path names.
func (f *Files) Open(path string) (*File, error) {
	at, err := f.locate("open", path)
	if err != nil {
		return nil, err
	}
	if at.virtual() {
		return nil, at.fail("open", ErrIsDir)
	}
	h, err := at.openFile(os.O_RDONLY)
	if err != nil {
		return nil, at.fail("open", err)
	}
	if err := at.checkOpen(h); err != nil {
		h.Close()
		return nil, at.fail("open", err)
	}
	return &File{h, at.path}, nil
}

// openFile opens the file. Without O_NONBLOCK, opening a FIFO waits for a writer for ever.
func (p place) openFile(flag int) (*os.File, error) {
	root, err := p.mount.look()
	if err == nil && root == nil {
		err = p.absent()
		if err == nil {
			err = ErrIsDir
		}
	}
	if err != nil {
		return nil, err
	}
	return root.OpenFile(p.rel, flag|openNonblock, 0)
}

// checkOpen refuses what is open but no regular file, or maybe somebody else's.
func (p place) checkOpen(h *os.File) error {
	info, err := h.Stat()
	if err != nil {
		return err
	}
	return p.check(info)
}

func (p place) check(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrIsDir
	case info.Mode()&fs.ModeSymlink != 0:
		return errSymlink
	case !info.Mode().IsRegular():
		return ErrNotRegular
	case !p.mount.ReadOnly && foreignLink(info, p.mount.uid):
		return ErrLinked
	}
	return nil
}

// ReadFile returns the content of a regular file of at most limit bytes; a larger one is [ErrTooLarge].
func (f *Files) ReadFile(path string, limit int64) ([]byte, error) {
	h, err := f.Open(path)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, pathError("read", h.path, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, info.Size(),
			limit))
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	n, err := buf.ReadFrom(io.LimitReader(h, limit+1)) // the file may grow meanwhile
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, pathError("read", h.path, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit))
	}
	return buf.Bytes(), nil
}

// Stat describes what the path leads to; a symbolic link is followed within its mount.
func (f *Files) Stat(path string) (fs.FileInfo, error) { return f.stat("stat", path, (*os.Root).Stat) }

// Lstat describes the path itself, also when it is a symbolic link.
func (f *Files) Lstat(path string) (fs.FileInfo, error) {
	return f.stat("lstat", path, (*os.Root).Lstat)
}

func (f *Files) stat(op, p string, do func(*os.Root, string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	at, err := f.locate(op, p)
	if err != nil {
		return nil, err
	}
	if at.virtual() {
		return folder(path.Base(at.path)), nil
	}
	root, err := at.mount.look()
	if err == nil && root == nil {
		if err = at.absent(); err == nil {
			return folder(path.Base(at.path)), nil
		}
	}
	var info fs.FileInfo
	if err == nil {
		info, err = do(root, at.rel)
	}
	if err != nil {
		return nil, at.fail(op, err)
	}
	return named{info, path.Base(at.path)}, nil
}

// named is a file under its virtual name: the folder of a mount has another one on the host.
type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }

// folder is a virtual folder of this name; it is its own [fs.DirEntry] and [fs.FileInfo].
type folder string

func (f folder) Name() string               { return string(f) }
func (folder) Size() int64                  { return 0 }
func (folder) Mode() fs.FileMode            { return fs.ModeDir | 0o555 }
func (folder) ModTime() time.Time           { return time.Time{} }
func (folder) IsDir() bool                  { return true }
func (folder) Sys() any                     { return nil }
func (folder) Type() fs.FileMode            { return fs.ModeDir }
func (f folder) Info() (fs.FileInfo, error) { return f, nil }
