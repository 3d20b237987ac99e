package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// MaxDirEntries bounds what [Files.ReadDir] returns of one folder.
const MaxDirEntries = 100_000

// ReadDir lists a folder, sorted by name; mounts below it are listed in their place. A folder of more than
// [MaxDirEntries] gives ErrTooMany. Files that are being written, or that a crash left half-written, are not shown; see
// [IsTemp].
func (f *Files) ReadDir(path string) ([]fs.DirEntry, error) { return f.readDir(path, MaxDirEntries) }

func (f *Files) readDir(path string, most int) ([]fs.DirEntry, error) {
	at, err := f.locate("list", path)
	if err != nil {
		return nil, err
	}
	entries, all, err := at.list(most)
	if err != nil {
		return nil, at.fail("list", err)
	}
	if !all {
		return nil, at.fail("list", ErrTooMany)
	}
	return entries, nil
}

// WalkFunc is called with the virtual path of each entry. [fs.SkipDir] leaves out the folder (or, for a file, the rest
// of its folder), [fs.SkipAll] ends the walk; another error ends it and is returned.
type WalkFunc func(path string, entry fs.DirEntry) error

// Walk calls fn for everything below a folder, in lexical order per folder, without the folder itself. Symbolic links
// are reported and never followed, folders that cannot be read are passed over. After limit entries it stops with
// [ErrTooMany]; fn has seen the entries before.
func (f *Files) Walk(ctx context.Context, path string, limit int, fn WalkFunc) error {
	at, err := f.locate("walk", path)
	if err != nil {
		return err
	}
	w := walk{ctx: ctx, left: limit, fn: fn}
	if err := w.folder(at, true); !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

type walk struct {
	ctx  context.Context
	left int
	fn   WalkFunc
}

func (w *walk) folder(at place, top bool) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, all, err := at.list(w.left)
	switch {
	case err != nil && top:
		return at.fail("walk", err)
	case err != nil:
		return nil //nolint:nilerr // what cannot be listed is left out
	}
	for _, e := range entries {
		if w.left--; w.left < 0 {
			break
		}
		err := w.entry(at.path+"/"+e.Name(), e, at.files)
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if !all || w.left < 0 {
		return at.fail("walk", ErrTooMany)
	}
	return nil
}

// entry reports one entry and goes into it. SkipDir as a result means the rest of the folder that it is in.
func (w *walk) entry(path string, e fs.DirEntry, f *Files) error {
	err := w.fn(path, e)
	if !e.IsDir() {
		return err
	}
	if errors.Is(err, fs.SkipDir) {
		return nil
	}
	if err != nil {
		return err
	}
	at, err := f.locate("walk", path)
	if err != nil {
		return nil //nolint:nilerr // a name that no path can have
	}
	return w.folder(at, false)
}

// list returns up to limit entries, sorted, and whether these are all.
func (p place) list(limit int) (entries []fs.DirEntry, all bool, err error) {
	if all = p.virtual(); !all {
		if entries, all, err = p.real(limit); err != nil {
			return nil, all, err
		}
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return IsTemp(e.Name()) && !e.IsDir() })
	}
	for _, name := range p.files.children(p.path) {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
		entries = append(entries, folder(name))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, all, nil
}

func (p place) real(limit int) (entries []fs.DirEntry, all bool, err error) {
	root, err := p.mount.look()
	if err != nil {
		return nil, all, err
	}
	if root == nil {
		return nil, true, p.absent()
	}
	h, err := root.Open(asFolder(p.rel))
	if err != nil {
		return nil, all, err
	}
	defer h.Close()
	for len(entries) <= limit {
		batch, err := h.ReadDir(min(1024, limit-len(entries)+1))
		for _, e := range batch {
			entries = append(entries, dirEntry{e, p})
		}
		if err == io.EOF {
			return entries, true, nil
		}
		if err != nil {
			return nil, all, err
		}
	}
	return entries[:max(limit, 0)], false, nil
}

// absent is the answer about a path on a mount whose folder nobody has used yet: the folder itself is empty.
func (p place) absent() error {
	if p.rel == "." {
		return nil
	}
	return fs.ErrNotExist
}

// asFolder makes os.Root open the path's last name as a folder or not at all: as the last name it would be opened
// whatever it is, and opening a FIFO waits for ever.
func asFolder(rel string) string { return rel + "/." }

// dirEntry asks the root, not a path of the host, for the data of an entry.
type dirEntry struct {
	fs.DirEntry
	in place
}

func (e dirEntry) Info() (fs.FileInfo, error) {
	var info fs.FileInfo
	root, err := e.in.mount.open()
	if err == nil {
		info, err = root.Lstat(e.in.rel + "/" + e.Name())
	}
	if err != nil {
		return nil, pathError("stat", e.in.path+"/"+e.Name(), err)
	}
	return info, nil
}
