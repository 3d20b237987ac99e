package filehistory

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// folder is an open folder, which no link has led to. The system is asked with no way in between: os.Root takes three
// times as many calls for a folder, and as much time for a name again as the system does.
type folder struct{ file *os.File }

// openFolder opens a folder below a root.
func openFolder(root *os.Root, name string) (folder, error) {
	file, err := root.Open(name + "/.") // as a folder, or not at all: opening a FIFO waits
	return folder{file}, err
}

func (f folder) close() { f.file.Close() }

func (f folder) names() ([]string, error) { return namesIn(f.file) }

// open opens a folder in a folder.
func (f folder) open(name string) (folder, error) {
	for {
		fd, err := unix.Openat(int(f.file.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			return folder{os.NewFile(uintptr(fd), name)}, nil
		case unix.EINTR:
		default:
			return folder{}, err
		}
	}
}

// look is what a stat tells of a name, all but its path. A link is not followed.
func (f folder) look(name string) (Entry, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(f.file.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	for err == unix.EINTR {
		err = unix.Fstatat(int(f.file.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Kind: Special, Mode: modeOf(st.Mode), Size: st.Size, modified: st.Mtim.Nano(), changed: st.Ctim.Nano(),
		inode: st.Ino}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		e.Kind = File
	case unix.S_IFDIR:
		e.Kind, e.Size, e.modified, e.changed = Dir, 0, 0, 0 // they tell of what is in it
	case unix.S_IFLNK:
		e.Kind = Link
	}
	return e, nil
}

// modeOf is a mode as Go has it.
func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode) & fs.ModePerm
	if mode&unix.S_ISUID != 0 {
		m |= fs.ModeSetuid
	}
	if mode&unix.S_ISGID != 0 {
		m |= fs.ModeSetgid
	}
	if mode&unix.S_ISVTX != 0 {
		m |= fs.ModeSticky
	}
	return m
}
