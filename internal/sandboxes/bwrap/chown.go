//go:build linux

package bwrap

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/pudu-ai/pudu/sandbox"
)

// own makes the thread's own folders the sandbox user's, and with them all files in them that root wrote. Other mounts
// are a person's: they are shown with mapped users instead. Links are never followed, as earlier code of the sandbox
// may have laid them. On its way it counts what the folders hold, while nothing in them changes.
func (w identity) own(mounts []sandbox.Mount) (*contents, error) {
	held := &contents{}
	for _, m := range mounts {
		fd, err := unix.Open(m.Host, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("mount %s: open its folder on the host: %w", m.Path, err)
		}
		switch {
		case m.ReadOnly:
		case m.OfThread():
			err = w.ownTree(fd, held)
		default:
			held.partial = true // it may be large
		}
		unix.Close(fd)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", m.Path, err)
		}
	}
	return held, nil
}

func (w identity) ownTree(fd int, held *contents) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if w.drop && int(st.Uid) != w.uid {
		if err := unix.Fchownat(fd, "", w.uid, w.gid, unix.AT_EMPTY_PATH); err != nil {
			return fmt.Errorf("change owner: %w", err)
		}
	}
	return walk(fd, func(dir int, name string, st *unix.Stat_t) error {
		held.add(st)
		if !w.drop || st.Uid != 0 {
			return nil
		}
		err := unix.Fchownat(dir, name, w.uid, w.gid, unix.AT_SYMLINK_NOFOLLOW)
		if err == unix.ENOENT {
			return nil
		}
		return err
	})
}
