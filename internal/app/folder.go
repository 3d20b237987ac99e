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
	"time"
)

// folderToken is the file by which processes that share a database find out that they share the data folder too.
const folderToken = "folder.id"

// checkFolder refuses a data folder that is not the one of the other processes: a run would not find its thread's files
// when it moves from one to the other.
func (h *house) checkFolder(ctx context.Context) error {
	path := filepath.Join(h.dir, folderToken)
	raw, err := os.ReadFile(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh {
		raw = []byte(rand.Text())
	} else if err != nil {
		return fmt.Errorf("check the data folder: %w", err)
	}
	mine := strings.TrimSpace(string(raw))
	agreed, err := h.store.Setting(ctx, folderToken, mine)
	switch {
	case err != nil:
		return fmt.Errorf("check the data folder: %w", err)
	case agreed != mine && fresh && comes(ctx, path, agreed):
		return nil // another server began at the same moment, and its word counts
	case agreed == mine && fresh:
		return os.WriteFile(path, []byte(mine+"\n"), 0o600)
	case agreed == mine:
		return nil
	}
	return fmt.Errorf("the data folder %s is not the one that this database's other servers use: give all of them the same folder, "+
		"on storage that they share, with --data (%s tells it apart; if there is but this one server, and the folder was moved or lost, "+
		"write %s into that file)", h.dir, path, agreed)
}

// comes waits a little for a file to say what it should.
func comes(ctx context.Context, path, want string) bool {
	const tries, wait = 20, 100 * time.Millisecond
	for range tries {
		raw, err := os.ReadFile(path)
		if err == nil && strings.TrimSpace(string(raw)) == want {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
	return false
}
