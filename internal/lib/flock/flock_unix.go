//go:build unix

package flock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes a lock on an open file or folder, alone or beside others, and does not wait.
func Try(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
}

// Busy says whether an error of Try is that somebody else has the lock.
func Busy(err error) bool { return errors.Is(err, syscall.EWOULDBLOCK) }

func again(err error) bool { return Busy(err) || errors.Is(err, syscall.EINTR) }
