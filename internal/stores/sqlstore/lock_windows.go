package sqlstore

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a byte far behind the file's text, so that others can still read the text; false if another process
// has it. The system gives the lock back when the process that holds it ends, however it ends.
func tryLock(f *os.File) (bool, error) {
	at := &windows.Overlapped{OffsetHigh: 1}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// lockFolder locks nothing: this system removes no file that is open, so that the lock file is enough.
func lockFolder(dir string) (*os.File, bool, error) {
	f, err := os.Open(dir)
	return f, true, err
}
