//go:build linux

package bwrap

import (
	"golang.org/x/sys/unix"
)

// Small files are read and written here without package os, which would hand each to the poller of the runtime: with
// files of /proc and of cgroups that takes longer than the work itself.

// readAt reads a file of at most 4 KiB below the folder dir; nil means that it is not there or cannot be read.
func readAt(dir int, name string) []byte {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// writeFile makes or replaces a file and gives it to the user.
func writeFile(path, text string, mode uint32, to identity) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if to.drop {
		if err := unix.Fchown(fd, to.uid, to.gid); err != nil {
			return err
		}
	}
	for data := []byte(text); len(data) > 0; {
		n, err := unix.Write(fd, data)
		if err != nil && err != unix.EINTR { // the kernel lets a signal interrupt the change of a memory limit
			return err
		}
		data = data[max(n, 0):]
	}
	return nil
}
