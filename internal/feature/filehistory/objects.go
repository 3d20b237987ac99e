package filehistory

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// objects keeps contents of files by their sums, each once, in a folder that no sandbox sees. They are copies: a file
// that was linked, not copied, would change with the one that is written in place.
type objects struct {
	root  *os.Root // the history's folder
	bytes int64
	count int
	most  Bounds
	full  bool // something was left out since the last trimming
	watch Watcher
}

// Bounds say how much of a thread's past is kept.
type Bounds struct {
	// Bytes are those of all copies of a thread together; 0 means 512 MiB, negative keeps none.
	Bytes int64
	// File is the largest file that is copied; 0 means 64 MiB.
	File int64
	// Files is how many copies a thread has at most; 0 means 50,000.
	Files int
}

func (b Bounds) withDefaults() Bounds {
	if b.Bytes == 0 {
		b.Bytes = 512 << 20
	}
	if b.File == 0 {
		b.File = 64 << 20
	}
	if b.Files == 0 {
		b.Files = 50_000
	}
	return b
}

const objectsFolder = "objects"

func objectName(sum string) string { return path.Join(objectsFolder, sum[:2], sum[2:]) }

// take reads a file, which has just been looked at, and keeps a copy of it. One that cannot be read, or is too large,
// is described without a sum.
func (o *objects) take(in *os.Root, name string, e Entry) (Entry, error) {
	if e.Size > o.most.File {
		return e, nil
	}
	h, err := in.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return e, nil // it is gone, or closed to us
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return e, nil // another took its place
	}
	path := e.Path
	if now := entryOf(info, path); now.inode == e.inode {
		e = now
	} else {
		return e, nil // a link to another file: the next look sees what it is
	}
	if o.bytes+e.Size > o.most.Bytes || o.count >= o.most.Files {
		o.full = true
		return o.sum(h, e)
	}
	return o.copy(h, e)
}

// sum reads a file without keeping it, unless there is a copy already.
func (o *objects) sum(h io.Reader, e Entry) (Entry, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(h, o.most.File+1))
	if err != nil || n > o.most.File {
		return e, nil //nolint:nilerr // it cannot be read, or grows
	}
	e.Size, e.Sum = n, hex.EncodeToString(hash.Sum(nil))
	_, err = o.root.Lstat(objectName(e.Sum))
	e.Kept = err == nil
	return e, nil
}

// copy writes a copy under another name, and then under the one that its content gives it.
func (o *objects) copy(h io.Reader, e Entry) (Entry, error) {
	temp := path.Join(objectsFolder, "part-"+rand.Text())
	to, err := o.create(temp)
	if err != nil {
		return e, fmt.Errorf("keep a copy: %w", err)
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(hash, to), io.LimitReader(h, o.most.File+1))
	if errClose := to.Close(); err == nil {
		err = errClose
	}
	if err == nil && n <= o.most.File {
		e.Size, e.Sum = n, hex.EncodeToString(hash.Sum(nil))
		err = o.place(temp, objectName(e.Sum), n)
		e.Kept = err == nil
	}
	if !e.Kept {
		_ = o.root.Remove(temp) // what is left of it is found by the next trimming
	}
	return e, nil // a file that could not be copied is named as one
}

func (o *objects) create(name string) (*os.File, error) {
	to, err := o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = o.root.MkdirAll(path.Dir(name), 0o700); err == nil {
			to, err = o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	return to, err
}

func (o *objects) place(temp, name string, size int64) error {
	if _, err := o.root.Lstat(name); err == nil {
		return o.root.Remove(temp)
	}
	err := o.root.Rename(temp, name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = o.root.MkdirAll(path.Dir(name), 0o700); err == nil {
			err = o.root.Rename(temp, name)
		}
	}
	if err == nil {
		o.bytes += size
		o.count++
		o.watch.FileCopied(size)
	}
	return err
}

// ErrNotKept is that there is no copy of the content any more, or that there never was one.
var ErrNotKept = errors.New("no copy of this content was kept")

// open opens a copy.
func (o *objects) open(e Entry) (*os.File, error) {
	if e.Sum == "" {
		return nil, ErrNotKept
	}
	h, err := o.root.Open(objectName(e.Sum))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotKept
	}
	return h, err
}

// has reports whether there is a whole copy.
func (o *objects) has(e Entry) bool {
	if e.Sum == "" {
		return false
	}
	info, err := o.root.Lstat(objectName(e.Sum))
	return err == nil && info.Mode().IsRegular() && info.Size() == e.Size
}

// object is a copy on disk.
type object struct {
	name string
	size int64
	last int64 // the number of the last batch that names it; 0 for one that nothing names
}

// list finds all copies, and removes what is left of some that were cut off.
func (o *objects) list() (all []object, err error) {
	err = fs.WalkDir(o.root.FS(), objectsFolder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreMissing(err)
		}
		if path.Dir(p) == objectsFolder {
			return ignoreMissing(o.root.Remove(p))
		}
		info, err := d.Info()
		if err == nil {
			all = append(all, object{name: p, size: info.Size()})
		}
		return ignoreMissing(err)
	})
	return all, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
