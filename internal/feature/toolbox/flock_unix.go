//go:build unix

package toolbox

import (
	"os"
	"syscall"
)

// flock takes a lock on an open file or folder, alone or beside others, and does not wait.
func flock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
}
