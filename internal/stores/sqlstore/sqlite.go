package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/pudu-ai/pudu/internal/store"
)

// FileName is the name of the database in the data folder. Beside it stand its write-ahead log (-wal, -shm), the
// lock file and the copies made before migrations (.bak).
const FileName = "pudu.db"

// pageSize is what a commit of a 2 KB message wastes least with: at 4 KB only one such row fits in a page, and a
// bigger page costs more writing for each small commit.
const pageSize = 8192

// sqlite is the dialect of SQLite for the database file at path.
type sqlite struct {
	path string
	vfs  string // the driver's layer between SQLite and the files; empty means its own
}

var _ dialect = sqlite{}

// rewrite turns $N into ?N: SQLite takes $N for a name and numbers names in the order of first appearance.
func (sqlite) rewrite(query string) string {
	b := []byte(query)
	for i := 0; i+1 < len(b); i++ {
		if b[i] == '$' && b[i+1] >= '0' && b[i+1] <= '9' {
			b[i] = '?'
		}
	}
	return string(b)
}

func (sqlite) begin() string { return "BEGIN IMMEDIATE" }

// locking implements dialect: the one writer holds everything.
func (sqlite) locking() string { return "" }

// unheld implements dialect: the lock on the data folder is the lease of the one owner.
func (sqlite) unheld() string { return "" }

func (sqlite) among(param string) string { return " IN (SELECT value FROM json_each(" + param + "))" }

// transient implements dialect: there is no other transaction.
func (sqlite) transient(error) bool { return false }

// unreachable implements dialect: a file is not far away.
func (sqlite) unreachable(error) bool { return false }

// tuning of SQLite: one connection writes, and a transaction may be as long as the queue.
func (sqlite) tuning() tuning { return tuning{writers: 1, batch: 128} }

// retriable: a COMMIT that SQLite reports as failed is rolled back.
func (sqlite) retriable(err error) bool { return !errors.Is(err, store.ErrUnknown) }

// explain implements dialect.
func (d sqlite) explain(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	switch {
	case errors.Is(err, sqlite3.CONSTRAINT_UNIQUE), errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY):
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	case errors.Is(err, sqlite3.CONSTRAINT_FOREIGNKEY):
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	case errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.CORRUPT):
		return d.corrupt(err)
	case errors.Is(err, sqlite3.FULL), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: disk of %s is full; free some space and try again: %w", store.ErrDiskFull, d.path, err)
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.PERM), errors.Is(err, sqlite3.CANTOPEN),
		errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("cannot write %s; check that this user may read and write the folder %s: %w",
			d.path, filepath.Dir(d.path), err)
	case errors.Is(err, sqlite3.IOERR): // the driver reports a full disk so, too
		return fmt.Errorf("%w: disk of %s is full or fails; free some space, or check it, and try again: %w",
			store.ErrDiskFull, d.path, err)
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return fmt.Errorf("%w: another program is using %s; close it and try again: %w", store.ErrLocked, d.path, err)
	}
	return err
}

// corrupt says that the file cannot be used and what is left to do.
func (d sqlite) corrupt(cause error) error {
	return fmt.Errorf("%w: %s (%w); put a backup in its place (%s.*.bak is one, if it exists), "+
		"or move it away to begin with an empty database", store.ErrCorrupt, d.path, cause, d.path)
}

// stablePlans keeps SQLite from planning a prepared statement anew for each new value of a parameter, which it does
// where an index holds only some of the rows, and which takes longer than the statement. Whether such an index serves
// is for the text to say.
func stablePlans(c *sqlite3.Conn) error {
	_, err := c.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true)
	return err
}

// open makes a pool of at most conns connections to a file that is there: a connection made later must not put an empty
// one in the place of one that was deleted. Nothing is opened before the first use.
func (d sqlite) open(conns int, readOnly bool) (*sql.DB, error) {
	return d.openWith(conns, readOnly,
		func(c *sqlite3.Conn) error { return errors.Join(stablePlans(c), fts5.Register(c)) })
}

// openWith is open with another preparation of each connection. Without the tables that find words they are not
// examined.
func (d sqlite) openWith(conns int, readOnly bool, prepare func(*sqlite3.Conn) error) (*sql.DB, error) {
	pragmas := []string{"busy_timeout(10000)", fmt.Sprintf("page_size(%d)", pageSize), "journal_mode(wal)",
		"synchronous(full)", "foreign_keys(on)", "cache_size(-16000)", "journal_size_limit(67108864)",
		"temp_store(memory)"}
	if readOnly {
		pragmas = []string{"busy_timeout(10000)", "cache_size(-16000)", "query_only(on)"}
	}
	query := url.Values{"_pragma": pragmas, "mode": {"rw"}}
	if d.vfs != "" {
		query.Set("vfs", d.vfs)
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(d.path), RawQuery: query.Encode()}
	db, err := driver.Open(u.String(), prepare)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}
