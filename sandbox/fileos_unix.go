//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"syscall"
)

const openNonblock = syscall.O_NONBLOCK

// foreignLink reports whether a file has several names and belongs neither to uid nor, without one, to the server.
func foreignLink(info fs.FileInfo, uid int) bool {
	if uid <= 0 {
		uid = os.Geteuid()
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1 && int64(st.Uid) != int64(uid)
}

// folderOwner is the owner of a folder; zero if it cannot be found out.
func folderOwner(dir *os.Root) (uid, gid int) {
	if info, err := dir.Stat("."); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			uid, gid = int(st.Uid), int(st.Gid)
		}
	}
	return uid, gid
}

func syncFolder(dir *os.Root) error {
	h, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Sync()
}

// hold locks an open file for as long as it stays open. A file system without locks leaves it unlocked.
func hold(h *os.File) { _ = flock(h) }

// held reports whether somebody may still be writing the open file; when nobody is, it is locked for the caller.
// Without locks nobody can tell.
func held(h *os.File) bool { return flock(h) != nil }

func flock(h *os.File) error {
	return syscall.Flock(int(h.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
