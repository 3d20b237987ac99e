//go:build unix

package filehistory

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// inodeOf is what changes when something is done to a file, whatever its times are set to.
func inodeOf(info fs.FileInfo) (inode uint64, changed int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino, changedAt(st)
	}
	return 0, 0
}

func ownerOf(info fs.FileInfo) (uid, gid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return os.Geteuid(), os.Getegid()
}

const openNonblock = syscall.O_NONBLOCK

// lock waits until nobody else, in this process or another, holds the file's lock. It ends with the file's closing.
func lock(ctx context.Context, f *os.File) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
