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

	"github.com/pudu-ai/pudu/internal/cli"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// folderToken is the file by which processes that share a database find out that they share the data folder too.
const folderToken = "folder.id"

// checkFolder refuses a data folder that is not the one of the other processes: a run would not find its thread's files
// when it moves from one to the other.
func (e *engine) checkFolder(ctx context.Context) error {
	if !e.shared {
		return nil
	}
	path := filepath.Join(e.dir, folderToken)
	raw, err := os.ReadFile(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh {
		raw = []byte(rand.Text())
	} else if err != nil {
		return fmt.Errorf("check the data folder: %w", err)
	}
	mine := strings.TrimSpace(string(raw))
	agreed, err := e.store.Setting(ctx, folderToken, mine)
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
	return fmt.Errorf("the data folder %s is not the one that this database's other servers use: give all of them "+
		"the same folder, "+
		"on storage that they share, with --data (%s tells it apart; if there is but this one server, and the folder "+
		"was moved or lost, "+
		"write %s into that file)", e.dir, path, agreed)
}

// comes waits a little for a file to say what it should.
func comes(ctx context.Context, path, want string) bool {
	const tries, wait = 20, 100 * time.Millisecond
	for range tries {
		raw, err := os.ReadFile(path)
		if err == nil && strings.TrimSpace(string(raw)) == want {
			return true
		}
		if pause(ctx, wait) != nil {
			return false
		}
	}
	return false
}

// checkAbandoned refuses to begin an empty database in a folder that has had one: the threads in it would be lost to
// view, and a later backup would not have them. Who adopts the folder has it begun all the same; what is left of the
// database is kept under other names.
func checkAbandoned(dir string, adopt bool, now time.Time) error {
	path := filepath.Join(dir, sqlstore.FileName)
	if sizeOf(path) > 0 {
		return nil
	}
	folders, err := userdata.New(dir).Threads()
	if err != nil {
		return fmt.Errorf("look for the files of threads: %w", err)
	}
	unsaved := sizeOf(path+"-wal") > 0
	switch {
	case len(folders) == 0 && !unsaved:
		return nil
	case adopt && unsaved:
		// SQLite would remove it
		return os.Rename(path+"-wal", fmt.Sprintf("%s-wal-%s.bak", path, now.UTC().Format("20060102T150405Z")))
	case adopt:
		return nil
	}
	return fmt.Errorf("the data folder %s has the files of %s, but its database %s is missing or empty, and was not "+
		"begun anew: "+
		"put it back, with its -wal if that is there (copies are named %[3]s.*.bak), or read a backup into a new "+
		"folder with "+
		"pudu restore --data DIR FILE; to begin without the threads, and keep the files where they are, say --adopt",
		dir, cli.Count(len(folders), "thread"), path)
}

// sizeOf is the size of a file; 0 if it cannot be found out.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
