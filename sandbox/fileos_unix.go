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
