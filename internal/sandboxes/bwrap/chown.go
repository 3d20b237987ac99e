//go:build linux

package bwrap

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// own makes the thread's own folders the sandbox user's, and with them all files in them that root wrote. Other mounts
// are a person's: they are shown with mapped users instead. Links are never followed, as earlier code of the sandbox may
// have laid them.
func (w identity) own(mounts []sandbox.Mount) error {
	for _, m := range mounts {
		fd, err := unix.Open(m.Host, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("mount %s: open its folder on the host: %w", m.Path, err)
		}
		if w.drop && !m.ReadOnly && m.OfThread() {
			err = w.ownTree(fd)
		}
		unix.Close(fd)
		if err != nil {
			return fmt.Errorf("mount %s: %w", m.Path, err)
		}
	}
	return nil
}

func (w identity) ownTree(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if int(st.Uid) != w.uid {
		if err := unix.Fchownat(fd, "", w.uid, w.gid, unix.AT_EMPTY_PATH); err != nil {
			return fmt.Errorf("change owner: %w", err)
		}
	}
	return walk(fd, func(dir int, name string, st *unix.Stat_t) error {
		if st.Uid != 0 {
			return nil
		}
		err := unix.Fchownat(dir, name, w.uid, w.gid, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.ENOENT {
			return nil
		}
		return err
	})
}

// walk visits everything below the folder fd, parents first, through file descriptors and without following links, so
// that nothing that moves meanwhile can lead it elsewhere. What vanishes or cannot be read is left out.
func walk(fd int, visit func(dir int, name string, st *unix.Stat_t) error) error {
	dirfd, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(dirfd), "")
	defer f.Close()
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if err := visitOne(dirfd, name, visit); err != nil {
				return err
			}
		}
		if err != nil || len(names) == 0 {
			return nil
		}
	}
}

func visitOne(dir int, name string, visit func(int, string, *unix.Stat_t) error) error {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return nil
	}
	if err := visit(dir, name, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return err
	}
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	return walk(fd, visit)
}
