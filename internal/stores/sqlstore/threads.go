package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/store"
)

const threadColumns = "id, user_id, title, head, created_at, updated_at, metadata"

// insertThread takes the columns of a thread in their order.
const insertThread = "INSERT INTO threads (" + threadColumns + ") VALUES ($1, $2, $3, '', $4, $5, $6)"

func threadValues(t store.Thread) []any {
	return []any{t.ID, t.UserID, plain(t.Title), micros(t.CreatedAt), micros(t.UpdatedAt), objectText(t.Metadata)}
}

func checkNewThread(t store.Thread) error {
	return errors.Join(checkID("thread", t.ID), checkText("user id", t.UserID), checkObject("metadata", t.Metadata))
}

// CreateThread implements [store.Threads].
func (s *Store) CreateThread(ctx context.Context, t store.Thread) error {
	err := checkNewThread(t)
	if err == nil {
		err = s.write(ctx, len(t.Metadata), func(tx *tx) error { return tx.exec(insertThread, threadValues(t)...) })
	}
	if err != nil {
		return fmt.Errorf("create thread %q: %w", t.ID, err)
	}
	return nil
}

// ensureThread creates the thread unless its user has it already.
func ensureThread(tx *tx, t store.Thread) error {
	for range attempts {
		n, err := tx.change(insertThread+" ON CONFLICT (id) DO NOTHING", threadValues(t)...)
		if err != nil || n > 0 {
			return err
		}
		var user string
		err = tx.scan("SELECT user_id FROM threads WHERE id = $1"+tx.k.dialect.locking(), []any{t.ID}, &user)
		switch {
		case errors.Is(err, sql.ErrNoRows): // deleted by another process just now
		case err == nil && user != t.UserID:
			return fmt.Errorf("thread of another user: %w", store.ErrNotFound)
		default:
			return err
		}
	}
	return fmt.Errorf("%w: the thread is being deleted", store.ErrConflict)
}

// Thread implements [store.Threads].
func (s *Store) Thread(ctx context.Context, id string) (store.Thread, error) {
	ts, err := s.threads(ctx, "SELECT "+threadColumns+" FROM threads WHERE id = $1", id)
	if err == nil && len(ts) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Thread{}, fmt.Errorf("read thread %q: %w", id, err)
	}
	return ts[0], nil
}

// ListThreads implements [store.Threads].
func (s *Store) ListThreads(ctx context.Context, userID string, limit, offset int) ([]store.Thread, error) {
	err := checkLimit(limit, 1000)
	if offset < 0 {
		err = errors.Join(err, fmt.Errorf("offset %d is negative", offset))
	}
	var ts []store.Thread
	if err == nil {
		ts, err = s.threads(ctx, "SELECT "+threadColumns+" FROM threads WHERE user_id = $1 "+
			"ORDER BY updated_at DESC, id DESC LIMIT $2 OFFSET $3", userID, limit, offset)
	}
	if err != nil {
		return nil, fmt.Errorf("list threads of user %q: %w", userID, err)
	}
	return ts, nil
}

func (s *Store) threads(ctx context.Context, query string, args ...any) ([]store.Thread, error) {
	var out []store.Thread
	err := s.read(ctx, query, args, func(r *sql.Rows) (bool, error) {
		var t store.Thread
		var created, updated int64
		err := r.Scan(&t.ID, &t.UserID, &t.Title, &t.Head, &created, &updated, (*[]byte)(&t.Metadata))
		t.CreatedAt, t.UpdatedAt = timeOf(created), timeOf(updated)
		out = append(out, t)
		return true, err
	})
	return out, err
}

// DeleteThread implements [store.Threads].
func (s *Store) DeleteThread(ctx context.Context, id string) error {
	err := s.write(ctx, 0, func(tx *tx) error {
		// A run that is being admitted at this moment is waited for here, and seen by the next statement.
		var n int64
		err := tx.scan("SELECT 1 FROM threads WHERE id = $1"+tx.k.dialect.locking(), []any{id}, &n)
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		n, err = tx.change("DELETE FROM threads WHERE id = $1 AND NOT EXISTS "+
			"(SELECT 1 FROM runs WHERE thread_id = $1 AND status IN ('pending', 'running'))", id)
		if err == nil && n == 0 {
			err = fmt.Errorf("%w: it has an active run; cancel that first", store.ErrConflict)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("delete thread %q: %w", id, err)
	}
	s.cache.forgetThread(id)
	return nil
}

// checkID refuses what cannot be a key in every database.
func checkID(what, id string) error {
	if id == "" {
		return fmt.Errorf("%s id is empty", what)
	}
	return checkText(what+" id", id)
}

// checkText refuses what is no text in every database, or no short one.
func checkText(what, s string) error {
	if len(s) > 256 || strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return fmt.Errorf("%s %.40q is not of at most 256 bytes of UTF-8 without NUL", what, s)
	}
	return nil
}

// plain makes free text into what is text in every database: what cannot be kept becomes U+FFFD.
func plain(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

func checkLimit(limit, most int) error {
	if limit < 1 || limit > most {
		return fmt.Errorf("limit %d is not between 1 and %d", limit, most)
	}
	return nil
}

// checkObject accepts a JSON object or nil.
func checkObject(what string, raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return fmt.Errorf("%s is not a JSON object: %.40s", what, raw)
	}
	return nil
}

// checkJSON accepts any JSON value or nil.
func checkJSON(what string, raw json.RawMessage) error {
	if raw != nil && !json.Valid(raw) {
		return fmt.Errorf("%s is not JSON: %.40s", what, raw)
	}
	return nil
}

func objectText(raw json.RawMessage) string {
	if raw == nil {
		return "{}"
	}
	return plain(string(raw))
}

// jsonText is what stands in a column for JSON that may be missing.
func jsonText(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return plain(string(raw))
}

// micros and timeOf turn times into what is stored and back: microseconds, UTC.
func micros(t time.Time) int64  { return t.UnixMicro() }
func timeOf(us int64) time.Time { return time.UnixMicro(us).UTC() }
