//go:build unix

package sqlstore

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks the whole file; false if another process has it. The system gives the lock back when the process
// that holds it ends, however it ends.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
