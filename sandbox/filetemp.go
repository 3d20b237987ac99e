package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// TempPrefix starts the names of files that are being written; they are renamed when they are complete.
const TempPrefix = ".pudu-"

const tempSuffix = ".tmp"

func tempName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return TempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// IsTemp reports whether a file of this name is one that is being written, or that a write which was cut off left
// behind. [Files] neither lists such files nor makes them for a caller who names one.
func IsTemp(name string) bool {
	id, ok := strings.CutPrefix(name, TempPrefix)
	if !ok || len(id) != 16+len(tempSuffix) || !strings.HasSuffix(id, tempSuffix) {
		return false
	}
	return strings.Trim(id[:16], "0123456789abcdef") == ""
}

// temp is a file on its way to its name. It is locked until drop, which is how [Files.Sweep] knows that it is not a
// leftover: a lock ends with its process, however that ends.
type temp struct {
	dir  *os.Root
	name string
	h    *os.File
}

// newTemp makes a new file in the folder. It is locked while it is still empty.
func newTemp(dir *os.Root) (*temp, error) {
	t := &temp{dir: dir, name: tempName()}
	var err error
	if t.h, err = dir.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return nil, err
	}
	hold(t.h)
	return t, nil
}

// drop closes the file and removes its first name, which is gone if it was renamed.
func (t *temp) drop() {
	_ = t.dir.Remove(t.name)
	_ = t.h.Close() // synced, or of no use
}

// WriteNew makes a file in a folder of the host, in which it appears whole or not at all, also after a power cut. A
// name that exists, as whatever it may be, is [fs.ErrExist] and stays as it is. The folders on the way must exist.
func WriteNew(dir *os.Root, name string, data []byte) error {
	in, err := dir.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer in.Close()
	t, err := newTemp(in)
	if err != nil {
		return err
	}
	defer t.drop()
	if _, err := t.h.Write(data); err != nil {
		return err
	}
	if err := t.h.Sync(); err != nil {
		return err
	}
	if err := t.place(filepath.Base(name)); err != nil {
		return err
	}
	return syncFolder(in)
}

// place gives the file a name that nothing has. A file system without hard links cannot do that in one step, so that
// there somebody may come in between.
func (t *temp) place(name string) error {
	err := t.dir.Link(t.name, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	switch _, err := t.dir.Lstat(name); {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return t.dir.Rename(t.name, name)
}

const (
	// sweepEntries bounds how many files and folders a sweep looks at.
	sweepEntries = 100_000
	// sweepGrace is the age from which an empty file counts as left behind: a younger one may not be locked yet.
	sweepGrace = time.Minute
)

// Sweep removes from the writable mounts what writes that a crash cut off left behind, and says how many files it
// removed. What somebody is writing right now, here or in another process, stays. It looks at no more than 100,000
// files and folders; beyond them it ends with [ErrTooMany], which leaves nothing worse than a hidden file. What no path
// of at most [MaxPath] bytes leads to is passed over. It is meant for a thread whose run is taken over; other threads
// have nothing to sweep.
func (f *Files) Sweep(ctx context.Context) (removed int, err error) {
	s := sweep{ctx: ctx, left: sweepEntries}
	for i := range f.mounts {
		m := f.mounts[i]
		if m.ReadOnly {
			continue
		}
		if err := s.folder(place{f, m, ".", m.Path}); err != nil {
			return s.removed, fmt.Errorf("sweep %s: %w", m.Path, err)
		}
	}
	return s.removed, nil
}

type sweep struct {
	ctx     context.Context
	left    int
	removed int
}

// folder sweeps a folder and those below. What cannot be read is passed over.
func (s *sweep) folder(at place) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	entries, all, err := at.real(s.left)
	if err != nil {
		return nil //nolint:nilerr // a folder that is gone or closed to us
	}
	for _, e := range entries {
		below := place{at.files, at.mount, path.Join(at.rel, e.Name()), at.path + "/" + e.Name()}
		s.left--
		switch {
		case len(below.path) > MaxPath: // nobody writes there
		case e.IsDir():
			if err := s.folder(below); err != nil {
				return err
			}
		case e.Type().IsRegular() && IsTemp(e.Name()) && below.removeLeftover():
			s.removed++
		}
	}
	if !all || s.left < 0 {
		return ErrTooMany
	}
	return nil
}

// removeLeftover removes a file that nobody is writing.
func (p place) removeLeftover() bool {
	h, err := p.openFile(os.O_RDWR) // NFS locks only what may be written
	if err != nil {
		return false
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil || held(h) {
		return false
	}
	if info.Size() == 0 && time.Since(info.ModTime()) < sweepGrace {
		return false
	}
	root, err := p.mount.open()
	return err == nil && root.Remove(p.rel) == nil
}
