package sqlstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/flock"
	"github.com/pudu-ai/pudu/internal/store"
)

// LockName is the name of the lock file in the data folder. It stays there; what counts is the lock on it. Its text
// is the process id of the owner.
const LockName = "pudu.lock"

// lastBreath is how long the lock of a process that is gone is waited for. What it was starting when it was killed
// holds the lock until it runs a program of its own, which takes longer where much else goes on.
const lastBreath = 5 * time.Second

// lockDir makes this process the owner of the data folder until unlock is called.
func lockDir(dir string) (unlock func() error, err error) {
	for end := time.Now().Add(lastBreath); ; time.Sleep(10 * time.Millisecond) {
		unlock, err = tryLockDir(dir)
		if !errors.Is(err, store.ErrLocked) || !ownerGone(dir) || time.Now().After(end) {
			return unlock, err
		}
	}
}

// ownerGone says that the process is gone that the lock file names.
func ownerGone(dir string) bool {
	f, err := os.Open(filepath.Join(dir, LockName))
	if err != nil {
		return false
	}
	defer f.Close()
	pid := ownerIn(f)
	return pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH
}

// tryLockDir locks the folder itself, too: the lock on a file that somebody removes keeps nobody out any more.
func tryLockDir(dir string) (unlock func() error, err error) {
	folder, free, err := lockFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	file, err := lockFile(dir, free)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return func() error { return errors.Join(file.Close(), folder.Close()) }, nil
}

// lockFolder opens a folder and locks it; false if another process has it locked. A file system whose folders cannot be
// locked, as of some networks, has the lock file alone.
func lockFolder(dir string) (f *os.File, free bool, err error) {
	if f, err = os.Open(dir); err != nil {
		return nil, false, err
	}
	return f, !flock.Busy(flock.Try(f, true)), nil
}

// lockFile locks the lock file of a folder; free says that nobody has locked the folder.
func lockFile(dir string, free bool) (*os.File, error) {
	path := filepath.Join(dir, LockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	err = flock.Try(f, true)
	if flock.Busy(err) || err == nil && !free {
		err = fmt.Errorf("%w: %s works on %s; stop it, or name another data folder", store.ErrLocked, holder(f), dir)
	}
	if err == nil {
		err = writePID(f)
	}
	switch {
	case err == nil:
		return f, nil
	case !errors.Is(err, store.ErrLocked): // which names the folder
		err = fmt.Errorf("lock %s: %w", path, err)
	}
	f.Close()
	return nil, err
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder names who has the lock.
func holder(f *os.File) string {
	if pid := ownerIn(f); pid > 0 {
		return fmt.Sprint("process ", pid)
	}
	return "another process"
}

// ownerIn reads the process's id in a lock file; 0 if there is none: who has just taken the lock may not have written
// it yet.
func ownerIn(f *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		return 0
	}
	return pid
}
