package sqlstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/flock"
	"github.com/pudu-ai/pudu/internal/store"
)

// LockName is the name of the lock file in the data folder. It stays there; what counts is the lock on it. Its text
// is the process id of the owner.
const LockName = "pudu.lock"

// lockDir makes this process the owner of the data folder until unlock is called. It locks the folder itself, too: the
// lock on a file that somebody removes keeps nobody out any more.
func lockDir(dir string) (unlock func() error, err error) {
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

// holder reads who has the lock. A process that has just taken it may not have written its id yet.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid := strings.TrimSpace(string(text))
	if _, bad := strconv.Atoi(pid); err != nil || bad != nil {
		return "another process"
	}
	return "process " + pid
}
