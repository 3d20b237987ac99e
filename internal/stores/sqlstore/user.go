package sqlstore

import (
	"context"
	"database/sql"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// For implements [store.Store].
func (s *Store) For(u access.User) store.UserData { return &userData{s, u} }

// userData is what one user has. It reaches the database through read and write alone, which do nothing for nobody, and
// each statement that begins with an id given from outside names the user, or stands behind one of its transaction that
// locks the row of that id and does.
type userData struct {
	s    *Store
	user access.User
}

// System implements [store.Store].
func (s *Store) System() store.System { return s }

// check refuses nobody, and what can be no user's id.
func (d *userData) check() error {
	if err := d.user.Check(); err != nil {
		return err
	}
	return database.CheckText("user id", d.user.ID())
}

// reader reads rows, as [Store.read] says.
type reader interface {
	read(ctx context.Context, query string, args []any, scan func(*sql.Rows) (more bool, err error)) error
}

var (
	_ reader = (*Store)(nil)
	_ reader = (*userData)(nil)
)

func (d *userData) read(ctx context.Context, query string, args []any,
	scan func(*sql.Rows) (more bool, err error)) error {
	if err := d.check(); err != nil {
		return err
	}
	return d.s.read(ctx, query, args, scan)
}

// write is that of the store.
func (d *userData) write(ctx context.Context, size int, run func(*tx) error) error {
	return d.writeRun(ctx, "", size, run)
}

// writeRun is that of the store.
func (d *userData) writeRun(ctx context.Context, runID string, size int, run func(*tx) error) error {
	if err := d.check(); err != nil {
		return err
	}
	return d.s.writeRun(ctx, runID, size, run)
}

// threadOf and runOf are the conditions that a thread, or a run, is the user's; each is looked at once, not for each
// row.
func threadOf(user string) string {
	return "EXISTS (SELECT 1 FROM threads o WHERE o.id = $1 AND o.user_id = " + user + ")"
}

func runOf(id, user string) string {
	return "EXISTS (SELECT 1 FROM runs o WHERE o.id = " + id + " AND o.user_id = " + user + ")"
}

func (d *userData) hasRun(ctx context.Context, id string) (bool, error) {
	return exists(ctx, d, "SELECT 1 WHERE "+runOf("$1", "$2"), id, d.user.ID())
}

// mine begins a selection with the rows that are the user's.
func (d *userData) mine() (sel selection) {
	sel.add("user_id = " + sel.param(d.user.ID()))
	return sel
}
