//go:build linux

package bwrap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// walkFolders is how many folders a walk holds open at once, however deep they lie in each other.
const walkFolders = 32

// errMoved means that a folder was moved while a walk was below it.
var errMoved = errors.New("a folder moved while it was walked through")

// visitor is called for everything that a walk finds: a name in an open folder.
type visitor func(dir int, name string, st *unix.Stat_t) error

// walk visits everything below the folder top, parents first, through file descriptors and without following links, so
// that nothing that moves meanwhile can lead it elsewhere. What vanishes or cannot be read is left out; a folder whose
// owner has taken his own right to read it gets that back.
func walk(top int, visit visitor) error {
	w := &walker{visit: visit}
	defer w.close()
	w.enter(top, ".")
	for len(w.open) > 0 {
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

type walker struct {
	visit visitor
	// The folders on the way from the top to where the walk is: first those that were closed to save descriptors, then
	// those that are open.
	above []closedFolder
	open  []*openFolder
}

type inode struct{ dev, ino uint64 }

type closedFolder struct {
	id inode
	at int64 // where reading goes on
}

type openFolder struct {
	closedFolder
	fd   int
	read []byte // entries that were read and not yet visited
	buf  [4096]byte
}

// step visits the next name in the deepest folder.
func (w *walker) step() error {
	f := w.open[len(w.open)-1]
	name, ok := f.next()
	if !ok {
		return w.leave()
	}
	var st unix.Stat_t
	if unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return nil //nolint:nilerr // it is gone
	}
	if err := w.visit(f.fd, name, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		w.enter(f.fd, name)
	}
	return nil
}

func (w *walker) enter(dir int, name string) {
	f, err := readable(dir, name)
	if err != nil {
		return
	}
	w.open = append(w.open, f)
	if len(w.open) > walkFolders {
		first := w.open[0]
		w.above = append(w.above, first.closedFolder)
		unix.Close(first.fd)
		w.open = slices.Delete(w.open, 0, 1)
	}
}

// leave goes back to the folder above, which may have to be opened again.
func (w *walker) leave() error {
	last := w.open[len(w.open)-1]
	defer unix.Close(last.fd)
	w.open = w.open[:len(w.open)-1]
	if len(w.open) > 0 || len(w.above) == 0 {
		return nil
	}
	f, err := readable(last.fd, "..")
	if err != nil {
		return fmt.Errorf("%w: %w", errMoved, err)
	}
	w.open = append(w.open, f)
	want := w.above[len(w.above)-1]
	w.above = w.above[:len(w.above)-1]
	if f.id != want.id {
		return errMoved
	}
	f.at = want.at
	_, err = unix.Seek(f.fd, f.at, 0)
	return err
}

func (w *walker) close() {
	for _, f := range w.open {
		unix.Close(f.fd)
	}
}

// next returns the next name in the folder.
func (f *openFolder) next() (string, bool) {
	const inode, reclen, header = 8, 16, 19 // of the kernel's struct linux_dirent64
	for {
		if len(f.read) < header {
			n, err := unix.Getdents(f.fd, f.buf[:])
			if err != nil || n <= 0 {
				return "", false
			}
			f.read = f.buf[:n]
		}
		entry := f.read[:binary.NativeEndian.Uint16(f.read[reclen:])]
		f.read = f.read[len(entry):]
		f.at = int64(binary.NativeEndian.Uint64(entry[inode:]))
		if name := unix.ByteSliceToString(entry[header:]); name != "." && name != ".." {
			return name, true
		}
	}
}

// What a walk needs to open a folder.
const (
	folderFlags  = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	folderRights = 0o500
)

// readable opens a folder for reading, and gives its owner the right to do so if need be.
func readable(dir int, name string) (*openFolder, error) {
	fd, err := unix.Openat(dir, name, folderFlags, 0)
	if err == unix.EACCES {
		fd, err = unlocked(dir, name)
	}
	if err != nil {
		return nil, err
	}
	f := &openFolder{fd: fd}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, err
	}
	if st.Mode&folderRights != folderRights && unix.Geteuid() != 0 {
		_ = unix.Fchmod(fd, st.Mode&0o7777|folderRights) // refused where the folder is another's
	}
	f.id = inode{st.Dev, st.Ino}
	return f, nil
}

// unlocked opens a folder whose owner may not read it, and gives that right back.
func unlocked(dir int, name string) (int, error) {
	path, err := unix.Openat(dir, name, folderFlags|unix.O_PATH, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(path)
	var st unix.Stat_t
	if err := unix.Fstat(path, &st); err != nil {
		return -1, err
	}
	if err := unix.Chmod("/proc/self/fd/"+strconv.Itoa(path), st.Mode&0o7777|folderRights); err != nil {
		return -1, err
	}
	return unix.Openat(path, ".", folderFlags, 0)
}
