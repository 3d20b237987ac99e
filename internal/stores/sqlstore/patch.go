package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// PatchThread implements [store.Threads].
func (d *userData) PatchThread(ctx context.Context, id string, p store.ThreadPatch) (t store.Thread, err error) {
	if err = errors.Join(database.CheckID("thread", id), database.CheckObject("metadata", p.Metadata)); err == nil {
		err = d.write(ctx, len(p.Metadata), func(tx *tx) (err error) {
			t, err = d.patchThread(tx, id, p)
			return err
		})
	}
	if err != nil {
		return store.Thread{}, fmt.Errorf("change thread %q: %w", id, err)
	}
	return t, nil
}

func (d *userData) patchThread(tx *tx, id string, p store.ThreadPatch) (store.Thread, error) {
	bin := p.Set&store.Trashed != 0
	if bin { // before the thread is locked, as commits lock the run before the thread
		if err := d.stopRuns(tx, allOfThread, id, store.StopInterrupt, p.TrashedAt); err != nil {
			return store.Thread{}, err
		}
	}
	t, err := d.lockedThread(tx, id)
	if err == nil && (t.Marks&store.Doomed != 0 || bin && t.Root != "") {
		err = store.ErrNotFound
	}
	if err == nil && bin { // what came in meanwhile
		err = d.stopRuns(tx, allOfThread, id, store.StopInterrupt, p.TrashedAt)
	}
	if err != nil {
		return t, err
	}
	t.Marks, t.TrashedAt = marked(t, p)
	if t.Metadata, err = merge(t.Metadata, p.Metadata); err != nil {
		return t, err
	}
	if p.Title != nil {
		t.Title = database.Plain(*p.Title)
	}
	if !p.UpdatedAt.IsZero() {
		t.UpdatedAt = database.TimeOf(database.Micros(p.UpdatedAt))
	}
	// in the bin it asks for no look, and out of it for the one that it asked for before
	tx.changed(t.UserID, t.ID, nil)
	return t, tx.exec("UPDATE threads SET title = $2, updated_at = $3, metadata = $4, pinned = $5, signature = $6, "+
		"marks = $8, trashed_at = $9 WHERE id = $1 AND user_id = $7",
		id, t.Title, database.Micros(t.UpdatedAt), string(t.Metadata), pinned(t.Metadata),
		database.Signature(t.Metadata), d.user.ID(),
		int(t.Marks), microsOrNone(t.TrashedAt))
}

// marked are the marks of a thread and its time in the bin, after a patch.
func marked(t store.Thread, p store.ThreadPatch) (store.Marks, time.Time) {
	const changeable = store.Archived | store.Temporary | store.Trashed
	marks, at := (t.Marks|p.Set&changeable)&^(p.Clear&changeable), t.TrashedAt
	if p.Set&store.Archived != 0 { // whoever puts it away wants to keep it
		marks &^= store.Temporary
	}
	switch {
	case marks&store.Trashed == 0:
		at = time.Time{}
	case !t.Trashed():
		at = database.TimeOf(database.Micros(p.TrashedAt))
	}
	return marks, at
}

// microsOrNone is how a column keeps a time that may be none.
func microsOrNone(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return database.Micros(t)
}

// lockedThread locks a thread and reads it, in a statement of its own, since that sees what was committed while the
// lock was waited for.
func (d *userData) lockedThread(tx *tx, id string) (store.Thread, error) {
	if err := d.lockThread(tx, id); err != nil {
		return store.Thread{}, err
	}
	t, err := scanThread(func(dest ...any) error {
		return tx.scan("SELECT "+threadFields+" FROM threads t WHERE t.id = $1 AND t.user_id = $2",
			[]any{id, d.user.ID()}, dest...)
	})
	return t, found(err)
}

// merge replaces members of metadata by those of patch, byte for byte.
func merge(metadata, patch json.RawMessage) (json.RawMessage, error) {
	if patch == nil {
		return metadata, nil
	}
	members, _ := rawjson.Members(metadata)
	changed, _ := rawjson.Members([]byte(database.Plain(string(patch))))
	if members == nil {
		members = changed
	}
	maps.Copy(members, changed)
	o := rawjson.Begin(nil)
	o.Members(members)
	merged, err := o.End()
	if err == nil {
		err = database.CheckSize("metadata", len(merged), maxMetadata)
	}
	return merged, err
}

// CopyThread implements [store.Threads].
func (d *userData) CopyThread(ctx context.Context, from, at string, to store.Thread) error {
	to.UserID, to.Root = d.user.ID(), ""
	err := errors.Join(database.CheckID("thread", from), checkNewThread(to))
	if err == nil {
		err = d.write(ctx, len(to.Metadata), func(tx *tx) error { return d.copyThread(tx, from, at, to) })
	}
	if err != nil {
		return fmt.Errorf("copy thread %q to %q: %w", from, to.ID, err)
	}
	return nil
}

// copyThread copies the checkpoints as ones that no run has made: a run belongs to one thread. The lock keeps steps of
// the old thread's runs from moving its head meanwhile.
func (d *userData) copyThread(tx *tx, from, at string, to store.Thread) error {
	if err := d.lockThread(tx, from); err != nil {
		return err
	}
	if at != "" {
		if err := tx.scan("SELECT 1 FROM log WHERE thread_id = $1 AND checkpoint_id = $2", []any{from, at},
			new(int)); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				err = store.ErrNotFound
			}
			return fmt.Errorf("checkpoint %q: %w", at, err)
		}
	}
	if err := tx.exec(insertThread, threadValues(to)...); err != nil {
		return err
	}
	tx.changed(to.UserID, to.ID, news.Read)
	for _, query := range []string{
		"INSERT INTO log (thread_id, checkpoint_id, parent_id, run_id, attempt, first_n, last_n, step, since, snap, " +
			"created_at, next, updates) " +
			"SELECT CAST($2 AS TEXT), checkpoint_id, parent_id, '', 0, 0, 0, step, since, snap, created_at, next, " +
			"updates FROM log " +
			"WHERE thread_id = $1 AND checkpoint_id IS NOT NULL AND (checkpoint_id <= $3 OR $3 = '') ORDER BY seq",
		"INSERT INTO snapshots (thread_id, checkpoint_id, bytes, state) " +
			"SELECT CAST($2 AS TEXT), checkpoint_id, bytes, state FROM snapshots WHERE thread_id = $1 AND " +
			"(checkpoint_id <= $3 OR $3 = '')",
		"UPDATE threads SET head = COALESCE((SELECT checkpoint_id FROM log WHERE thread_id = $1 AND checkpoint_id = " +
			"$3), " +
			"(SELECT head FROM threads WHERE id = $1)) WHERE id = $2",
	} {
		if err := tx.exec(query, from, to.ID, at); err != nil {
			return err
		}
	}
	return nil
}
