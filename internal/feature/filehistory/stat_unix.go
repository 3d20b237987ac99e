//go:build unix

package filehistory

import (
	"io/fs"
	"os"
	"syscall"
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
