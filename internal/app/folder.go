package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folderToken is the file by which processes that share a database find out that they share the data folder too.
const folderToken = "folder.id"

// checkFolder refuses a data folder that is not the one of the other processes: a run would not find its thread's files
// when it moves from one to the other.
func (h *house) checkFolder(ctx context.Context) error {
	path := filepath.Join(h.dir, folderToken)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw = []byte(rand.Text())
	} else if err != nil {
		return fmt.Errorf("check the data folder: %w", err)
	}
	mine := strings.TrimSpace(string(raw))
	agreed, err := h.store.Setting(ctx, folderToken, mine)
	if err != nil {
		return fmt.Errorf("check the data folder: %w", err)
	}
	if agreed == mine {
		return os.WriteFile(path, []byte(mine+"\n"), 0o600)
	}
	return fmt.Errorf("the data folder %s is not the one that this database's other servers use: give all of them the same folder, "+
		"on storage that they share, with --data (%s tells it apart; if there is but this one server, and the folder was moved or lost, "+
		"write %s into that file)", h.dir, path, agreed)
}
