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
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink <= 1 {
		return false
	}
	if uid <= 0 {
		uid = os.Geteuid()
	}
	return int64(st.Uid) != int64(uid)
}

// folderOwner is the owner of a folder; zero if it cannot be found out.
func folderOwner(dir *os.Root) (uid, gid int) {
	info, err := dir.Stat(".")
	if err != nil {
		return 0, 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return int(st.Uid), int(st.Gid)
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

// held reports whether somebody may still be writing the open file; when nobody is, it is locked for the caller. Without
// locks nobody can tell.
func held(h *os.File) bool { return flock(h) != nil }

func flock(h *os.File) error {
	raw, err := h.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	if err := raw.Control(func(fd uintptr) { locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) }); err != nil {
		return err
	}
	return locked
}
