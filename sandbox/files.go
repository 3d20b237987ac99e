package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Files gives the server the files of a thread under the paths that the model uses. It is the one place where such a
// path becomes a file: every mount is an [os.Root], so no "..", no symbolic link and no race between check and use
// leads out of it. Only regular files are read and written; FIFOs, sockets, devices and foreign hard links are refused.
//
// Paths are absolute ("/mnt/user-data/outputs/a.md") or relative to [Workspace]. The folders above the mounts, such as
// /mnt and /mnt/user-data, can be listed but hold nothing else. Errors are [fs.PathError] values that name the virtual
// path and never one of the host; test them with errors.Is and the errors of this package or of io/fs.
//
// Files is safe for concurrent use. It keeps one file descriptor per mount until Close.
type Files struct {
	mounts []*mount // those with longer paths first
	locks  keyedMutex
}

// FilesOptions tunes [Files].
type FilesOptions struct {
	// UID and GID own what Files creates in the thread's own folders, those below [UserData], when the server runs as
	// root; 0 and negative values leave it to the server's own. On other mounts it belongs to the owner of the mount's
	// folder. A hard-linked file on a writable mount must belong to that user to be touched.
	UID, GID int
	// Make says that the host folders of the thread's own mounts need not exist: each is made when it is first used.
	Make bool
}

// NewFiles opens the mounts. Their host folders must exist, but for those that are made on use. The caller closes the
// Files.
func NewFiles(mounts []Mount, opts FilesOptions) (*Files, error) {
	if err := (Spec{ID: "files", Mounts: mounts}).Check(); err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	f := &Files{}
	for _, m := range mounts {
		opened := &mount{Mount: m, uid: opts.UID, gid: opts.GID}
		if own := m.OfThread(); own && opts.Make {
			opened.make = true
		} else if err := opened.prepare(!own); err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("open files: mount %s: %w", m.Path, cause(err))
		}
		f.mounts = append(f.mounts, opened)
	}
	slices.SortStableFunc(f.mounts, func(a, b *mount) int { return len(b.Path) - len(a.Path) })
	return f, nil
}

// Close releases the mounts; later calls fail with [fs.ErrClosed]. Open files stay usable. Closing twice is fine.
func (f *Files) Close() error {
	var errs []error
	for _, m := range f.mounts {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

// Make makes the host folders that [FilesOptions].Make has left to be made, for those who use them without the Files.
func (f *Files) Make() error {
	for _, m := range f.mounts {
		if _, err := m.open(); err != nil {
			return fmt.Errorf("open files: mount %s: %w", m.Path, cause(err))
		}
	}
	return nil
}

// Mounts returns the mounts, those with longer paths first.
func (f *Files) Mounts() []Mount {
	out := make([]Mount, len(f.mounts))
	for i, m := range f.mounts {
		out[i] = m.Mount
	}
	return out
}

// Lock makes the caller the only holder of the path's lock until it calls unlock; other spellings of the same path
// share it. It is what keeps two edits of one file apart: read, change and write under it. It is not reentrant, and
// reading and writing do not take it by themselves.
func (f *Files) Lock(path string) (unlock func()) {
	if clean, err := CleanPath(path); err == nil {
		path = clean
	}
	return f.locks.lock(path)
}

// Resolve returns the mount that a path lies on and the path below it ("." for the mount itself), which is always local
// in the sense of [filepath.IsLocal]. It looks at names only; what the path leads to is decided when it is opened.
func (f *Files) Resolve(path string) (Mount, string, error) {
	at, err := f.locate("resolve", path)
	if err != nil {
		return Mount{}, "", err
	}
	if at.virtual() {
		return Mount{}, "", at.fail("resolve", ErrIsDir)
	}
	return at.mount.Mount, at.rel, nil
}

// HostPath returns where a path is on the host, for handing a folder to another program or to an operator. The server
// itself must not open it: links below the mount are not checked.
func (f *Files) HostPath(path string) (string, error) {
	m, rel, err := f.Resolve(path)
	if err != nil {
		return "", err
	}
	return filepath.Join(m.Host, filepath.FromSlash(rel)), nil
}

// place is a path that was found on a mount, or a virtual folder above the mounts.
type place struct {
	files *Files
	mount *mount // nil for a virtual folder
	rel   string // below the mount, "." for the mount itself
	path  string // absolute and clean
}

func (p place) virtual() bool { return p.mount == nil }

func (p place) fail(op string, err error) error { return pathError(op, p.path, err) }

func (f *Files) locate(op, path string) (place, error) {
	clean, err := CleanPath(path)
	if err != nil {
		return place{}, pathError(op, path, err)
	}
	for i := range f.mounts {
		if rel, ok := below(f.mounts[i].Path, clean); ok {
			return place{f, f.mounts[i], rel, clean}, nil
		}
	}
	if clean == mountTop || len(f.children(clean)) > 0 {
		return place{files: f, rel: ".", path: clean}, nil
	}
	return place{}, pathError(op, path, ErrOutside)
}

// children returns the names that mounts add to the folder, "workspace" for /mnt/user-data; a name may come more than
// once.
func (f *Files) children(folder string) []string {
	var names []string
	for _, m := range f.mounts {
		rel, ok := below(folder, m.Path)
		if !ok || rel == "." {
			continue
		}
		name, _, _ := strings.Cut(rel, "/")
		names = append(names, name)
	}
	return names
}
