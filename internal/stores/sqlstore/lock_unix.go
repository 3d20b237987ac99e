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

// lockFolder opens a folder and locks it; false if another process has it locked. A file system whose folders cannot be locked,
// as of some networks, has the lock file alone.
func lockFolder(dir string) (*os.File, bool, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	ok, err := tryLock(f)
	return f, ok || err != nil, nil
}
