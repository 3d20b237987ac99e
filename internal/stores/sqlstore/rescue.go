package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/durable"
)

// rescueTimeout bounds the saving of a database that was lost.
const rescueTimeout = 10 * time.Minute

// rescue saves what is still there of a database that was lost. A file that was deleted is there as long as it is open.
type rescue struct {
	writer  *worker // the one with the files open, which begins nothing any more
	file    *os.File
	dialect sqlite
	now     func() time.Time
	log     *slog.Logger
}

// save copies the database, with all that was committed, to a file beside it, which takes its name if nothing else has
// it. It says in the log what was lost and what is to be done.
func (r rescue) save(lost error) {
	path := r.dialect.path
	r.log.Error("THE DATABASE IS LOST: every request is refused until Pudu is started again", "error", lost)
	ctx, cancel := context.WithTimeout(context.Background(), rescueTimeout)
	defer cancel()
	saved, err := r.copy(ctx)
	if err != nil {
		r.log.Error("what was in the database could not be saved. Copy what is left: the file itself, as long as "+
			"this process runs, and its "+
			"log with the last commits. Then stop Pudu, move the data folder away, and read a backup into a new one "+
			"with pudu restore",
			"error", err, "file", fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), r.file.Fd()), "log", path+"-wal")
		return
	}
	if err := r.replace(saved); err != nil {
		r.log.Error("all that was in the database was saved in a copy. Stop Pudu, remove "+path+
			" with its -wal and -shm, give the copy that "+
			"name, and start Pudu again", "copy", saved, "error", err)
		return
	}
	r.log.Error("all that was in the database was saved, and the copy has its name; start Pudu again", "file", path)
}

// copy copies the database as it was last committed, if all of it can be read. A transaction that was open at the loss
// ends first.
func (r rescue) copy(ctx context.Context) (path string, err error) {
	r.writer.busy.Lock()
	defer r.writer.busy.Unlock()
	var check string
	if err := r.writer.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&check); err != nil || check != "ok" {
		return "", errors.Join(fmt.Errorf("check of what is left: %s", check), err)
	}
	path = r.aside(".saved")
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", errors.Join(fmt.Errorf("copy to %s: %w", path, fs.ErrExist), err)
	}
	_, err = r.writer.conn.ExecContext(ctx, r.dialect.rewrite("VACUUM INTO $1"), path)
	if err == nil {
		err = durable.Sync(path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("copy to %s: %w", path, err), os.Remove(path))
	}
	return path, nil
}

// replace gives the copy the database's name. The log of the old file goes out of its way: SQLite would apply it to the
// copy.
func (r rescue) replace(saved string) error {
	path := r.dialect.path
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return errors.New("something else has the name now")
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, r.aside(suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(os.Link(saved, path), durable.Sync(filepath.Dir(path)))
}

// aside is the name of a file that is kept beside the database.
func (r rescue) aside(suffix string) string {
	return fmt.Sprintf("%s%s-%s.bak", r.dialect.path, suffix, r.now().UTC().Format("20060102T150405Z"))
}
