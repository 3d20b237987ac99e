package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Errors of [Files], beside those of io/fs ([fs.ErrNotExist], [fs.ErrPermission], [fs.ErrExist], [fs.ErrClosed]).
var (
	// ErrOutside: the path, or a symbolic link on its way, leads out of the thread's folders.
	ErrOutside = errors.New("outside of the folders of this thread; use a path under /mnt/user-data/workspace, " +
		"uploads or outputs")
	// ErrInvalidPath: no file can have this path. The message says why.
	ErrInvalidPath = errors.New("invalid path")
	// ErrReadOnly: the folder cannot be written to.
	ErrReadOnly = errors.New("this folder is read-only; write under /mnt/user-data/workspace or outputs")
	// ErrNotRegular: it is a folder, a symbolic link (where one is refused), a FIFO, a socket or a device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrIsDir is the [ErrNotRegular] of a folder.
	ErrIsDir = fmt.Errorf("%w: it is a directory", ErrNotRegular)
	// ErrLinked: the file has several names and another owner, so that it may be somebody else's.
	ErrLinked = errors.New("hard link to a file of another owner")
	// ErrTooLarge: the file or the content is larger than the caller's limit.
	ErrTooLarge = errors.New("too large")
	// ErrTooMany: a walk met more entries than its limit.
	ErrTooMany = errors.New("too many files")
)

var errSymlink = fmt.Errorf("%w: it is a symbolic link; write to the file that it points to", ErrNotRegular)

func invalid(why string) error { return fmt.Errorf("%w: %s", ErrInvalidPath, why) }

// pathError names the virtual path, cut to what is fit to show, and drops everything that knows the host's.
func pathError(op, path string, err error) error {
	const shown = 300
	if len(path) > shown {
		path = path[:shown] + "..."
	}
	path = strings.ToValidUTF8(strings.ReplaceAll(path, "\x00", `\x00`), "\uFFFD")
	return &fs.PathError{Op: op, Path: path, Err: cause(err)}
}

// cause strips the wrappers of package os, whose texts name paths of the host, and gives our names to some errors.
func cause(err error) error {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
			continue
		case *os.LinkError:
			err = e.Err
			continue
		case *os.SyscallError:
			err = e.Err
			continue
		}
		break
	}
	switch {
	case err == nil:
		return errors.New("unknown error")
	case errors.Is(err, syscall.EISDIR):
		return ErrIsDir
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV): // a socket, a FIFO without a reader
		return ErrNotRegular
	case err.Error() == "path escapes from parent": // os does not export its error
		return ErrOutside
	}
	return err
}
