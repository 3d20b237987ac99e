package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/middleware/tooloutputbudget"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	"github.com/pudu-ai/pudu/sandbox"
)

// kind is a kind of files that a thread can do without when they are old: a folder in it, and a pattern of their names.
// Other files there are the agent's.
type kind struct{ folder, pattern string }

// leavings are the outputs of commands, and the results of tools that were too long to be shown. Images that the model
// has looked at are none of them: the conversation shows them as long as it is there.
func leavings(c config.ToolOutput) []kind {
	list := []kind{{shell.LogFolder, shell.LogPattern}, {tooloutputbudget.DefaultFolder, tooloutputbudget.FilePattern}}
	if own := (kind{sandbox.Outputs + "/" + c.StorageSubdir, tooloutputbudget.FilePattern}); own != list[1] {
		list = append(list, own)
	}
	return list
}

// prune removes the files of a kind that nothing was written to since before, and says how many files and bytes that
// were. Nothing may be writing them.
func (k kind) prune(files *sandbox.Files, before time.Time) (n int, bytes int64, err error) {
	entries, err := files.ReadDir(k.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("list old results: %w", err)
	}
	for _, e := range entries {
		if ok, _ := path.Match(k.pattern, e.Name()); !ok || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) {
			continue // gone, or young
		}
		if err := files.Remove(k.folder + "/" + e.Name()); err != nil {
			return n, bytes, fmt.Errorf("remove old result: %w", err)
		}
		n, bytes = n+1, bytes+info.Size()
	}
	return n, bytes, nil
}
