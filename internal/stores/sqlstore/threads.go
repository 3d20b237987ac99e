package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

const threadColumns = "id, user_id, title, head, created_at, updated_at, metadata, pinned, signature, root_id, " +
	"marks, " +
	"trashed_at"

// insertThread takes the columns of a thread in their order.
const insertThread = "INSERT INTO threads (" + threadColumns +
	") VALUES ($1, $2, $3, '', $4, $5, $6, $7, $8, $9, $10, 0)"

// threadFields are what a store.Thread is read from, of the table threads as t.
var threadFields = "t.id, t.user_id, t.title, t.head, t.created_at, t.updated_at, t.metadata, t.root_id, " +
	"t.marks, t.trashed_at, " + threadStatus + " AS status"

// threadStatus is the status of a thread: busy if it has an active run, else what the newest says. Each part is one
// step into an index.
var threadStatus = "CASE WHEN " + busy("t.id") + " THEN '" + store.ThreadBusy +
	"' ELSE COALESCE((SELECT CASE r.status WHEN '" +
	event.StatusError + "' THEN '" + store.ThreadError + "' WHEN '" + event.StatusInterrupted + "' THEN '" +
	store.ThreadInterrupted +
	"' ELSE '" + store.ThreadIdle + "' END FROM runs r WHERE r.thread_id = t.id AND NOT " + isSteer("r") +
	" ORDER BY r.created_at DESC, r.id DESC LIMIT 1), '" +
	store.ThreadIdle + "') END"

// own is the condition on the table threads as t that a thread is not hidden. The indexes of a user's threads have only
// these. shown are those of them that people look through, see [store.Marks].
const (
	own   = "t.root_id = ''"
	shown = own + " AND t.marks = 0"
)

// maxMetadata bounds the metadata of a thread, in bytes.
const maxMetadata = 64 << 10

func threadValues(t store.Thread) []any {
	metadata := []byte(database.ObjectText(t.Metadata))
	return []any{t.ID, t.UserID, database.Plain(t.Title), database.Micros(t.CreatedAt), database.Micros(t.UpdatedAt),
		string(metadata), pinned(metadata), database.Signature(metadata), t.Root,
		int(t.Marks & store.Temporary)}
}

func checkNewThread(t store.Thread) error {
	return errors.Join(database.CheckID("thread", t.ID), database.CheckObject("metadata", t.Metadata),
		database.CheckSize("metadata", len(t.Metadata), maxMetadata))
}

// pinned is what the column of that name has for a thread with this metadata.
func pinned(metadata json.RawMessage) int {
	members, _ := rawjson.Members(metadata)
	if string(members["deerflow_pinned"]) == "true" {
		return 1
	}
	return 0
}

// CreateThread implements [store.Threads].
func (d *userData) CreateThread(ctx context.Context, t store.Thread) error {
	t.UserID, t.Root = d.user.ID(), ""
	err := checkNewThread(t)
	if err == nil {
		err = d.write(ctx, len(t.Metadata), func(tx *tx) error {
			tx.changed(t.UserID, t.ID, news.Read)
			return tx.exec(insertThread, threadValues(t)...)
		})
	}
	if err != nil {
		return fmt.Errorf("create thread %q: %w", t.ID, err)
	}
	return nil
}

// Thread implements [store.Threads].
func (d *userData) Thread(ctx context.Context, id string) (store.Thread, error) {
	return oneThread(ctx, d, id, " AND t.user_id = $2", d.user.ID())
}

// Thread implements [store.System].
func (s *Store) Thread(ctx context.Context, id string) (store.Thread, error) {
	return oneThread(ctx, s, id, "")
}

func oneThread(ctx context.Context, from reader, id, whose string, args ...any) (store.Thread, error) {
	ts, err := readThreads(ctx, from, "SELECT "+threadFields+" FROM threads t WHERE t.id = $1"+whose,
		append([]any{id}, args...)...)
	if err == nil && len(ts) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Thread{}, fmt.Errorf("read thread %q: %w", id, err)
	}
	return ts[0], nil
}

// Taken implements [store.Threads].
func (d *userData) Taken(ctx context.Context, id string) (bool, error) {
	taken, err := exists(ctx, d, "SELECT 1 FROM threads WHERE id = $1 AND user_id <> $2", id, d.user.ID())
	if err != nil {
		return false, fmt.Errorf("look for thread %q: %w", id, err)
	}
	return taken, nil
}

func readThreads(ctx context.Context, from reader, query string, args ...any) ([]store.Thread, error) {
	var out []store.Thread
	err := from.read(ctx, query, args, func(r *sql.Rows) (bool, error) {
		t, err := scanThread(r.Scan)
		out = append(out, t)
		return true, err
	})
	return out, err
}

// scanThread reads threadFields.
func scanThread(scan func(dest ...any) error) (t store.Thread, err error) {
	var created, updated, trashed int64
	err = scan(&t.ID, &t.UserID, &t.Title, &t.Head, &created, &updated, (*[]byte)(&t.Metadata), &t.Root, &t.Marks,
		&trashed,
		&t.Status)
	if trashed > 0 {
		t.TrashedAt = database.TimeOf(trashed)
	}
	t.CreatedAt, t.UpdatedAt = database.TimeOf(created), database.TimeOf(updated)
	return t, err
}

// DeleteThread implements [store.Threads].
func (d *userData) DeleteThread(ctx context.Context, id string) error {
	return d.DropThread(ctx, id, func(store.Thread) bool { return true })
}

// DropThread implements [store.Threads].
func (d *userData) DropThread(ctx context.Context, id string, still func(store.Thread) bool) error {
	err := d.write(ctx, 0, func(tx *tx) error {
		// A run that is being admitted at this moment is waited for here, and seen by the next statement.
		t, err := d.lockedThread(tx, id)
		switch {
		case err != nil:
			return err
		case t.Root != "":
			return errHidden(t.Root)
		case !still(t):
			return fmt.Errorf("%w: it was changed meanwhile", store.ErrConflict)
		}
		if err := d.emptyThread(tx, id); err != nil {
			return err
		}
		n, err := tx.change("DELETE FROM threads WHERE (id = $1 OR root_id = $1) AND user_id = $2 AND NOT "+
			""+busy("$1"), id, d.user.ID())
		if err == nil && n == 0 {
			err = fmt.Errorf("%w: it has an active run; cancel that first", store.ErrConflict)
		}
		tx.isGone(d.user.ID(), id)
		return err
	})
	if err != nil {
		return fmt.Errorf("delete thread %q: %w", id, err)
	}
	d.s.cache.forgetThread(id)
	return nil
}

// errHidden refuses what would take a hidden thread out of its tree.
func errHidden(root string) error {
	return fmt.Errorf("%w: a run below those of thread %q works on it alone; delete or use that thread",
		store.ErrConflict, root)
}

// lockThread locks a thread: nobody else changes or removes it until the transaction ends.
func (d *userData) lockThread(tx *tx, id string) error {
	var n int64
	return found(tx.scan("SELECT 1 FROM threads WHERE id = $1 AND user_id = $2"+tx.k.dialect.locking(),
		[]any{id, d.user.ID()}, &n))
}

// checkJSON accepts any JSON value or nil.
func checkJSON(what string, raw json.RawMessage) error {
	if raw != nil && !json.Valid(raw) {
		return fmt.Errorf("%s is not JSON: %.40s", what, raw)
	}
	return nil
}

// jsonText is what stands in a column for JSON that may be missing.
func jsonText(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return database.Plain(string(raw))
}
