package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/sandbox"
)

// MaxFiles bounds the files that a folder has for its threads, its subfolders among them.
const MaxFiles = 10_000

// ErrFull is that a folder has as many files, or bytes, as it may.
var ErrFull = errors.New("the folder is full")

// Full says how much a folder may have.
func Full(quota int64) error {
	return fmt.Errorf("%w: it may have %d files of %s; remove some", ErrFull, MaxFiles, units.Bytes(float64(quota)))
}

// Room is what there is room for in a folder whose files may have so many bytes. Neither is negative; if one is 0, or
// the files were more than may be, over says so.
func Room(ctx context.Context, files *sandbox.Files, quota int64) (n int, bytes int64, over bool, err error) {
	n, bytes = MaxFiles, quota
	err = files.Walk(ctx, sandbox.Folder, MaxFiles+1, func(_ string, e fs.DirEntry) error {
		n--
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes -= info.Size()
		}
		return nil
	})
	if errors.Is(err, sandbox.ErrTooMany) {
		n, bytes, err = -1, 0, nil // which files were seen is by chance
	}
	return max(n, 0), max(bytes, 0), n < 0 || bytes < 0, err
}

// Names are the paths of the first files of a folder, below it, with their sizes, and how many more there are.
func Names(ctx context.Context, files *sandbox.Files, most int) (list []string, more int, err error) {
	err = files.Walk(ctx, sandbox.Folder, MaxFiles+1, func(p string, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // it is gone, or a folder
		}
		if len(list) == most {
			more++
			return nil
		}
		list = append(list, fmt.Sprintf("%s (%s)", strings.TrimPrefix(p, sandbox.Folder+"/"),
			units.Bytes(float64(info.Size()))))
		return nil
	})
	if errors.Is(err, sandbox.ErrTooMany) {
		err = nil
	}
	return list, more, err
}
