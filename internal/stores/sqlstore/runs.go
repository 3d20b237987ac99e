package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

const runColumns = "id, thread_id, user_id, status, attempt, stalled, created_at, updated_at, owner, error, stop_reason, usage, request"

// CreateRun implements [store.Runs].
func (s *Store) CreateRun(ctx context.Context, r store.Run) error {
	err := checkNewRun(r)
	if err == nil {
		err = s.write(ctx, len(r.Request), func(tx *tx) error { return insertRun(tx, r, event.StatusPending, 0) })
	}
	if err != nil {
		return fmt.Errorf("create run %q on thread %q: %w", r.ID, r.ThreadID, err)
	}
	return nil
}

// Admit implements [store.Runs].
func (s *Store) Admit(ctx context.Context, t store.Thread, r store.Run) error {
	err := errors.Join(checkNewThread(t), checkNewRun(r))
	if err == nil && (t.ID != r.ThreadID || t.UserID != r.UserID) {
		err = errors.New("the thread is not the run's")
	}
	if err == nil {
		err = s.write(ctx, len(t.Metadata)+len(r.Request), func(tx *tx) error {
			if err := ensureThread(tx, t); err != nil {
				return err
			}
			if r.Owner != "" {
				return insertRun(tx, r, event.StatusRunning, 1)
			}
			return insertRun(tx, r, event.StatusPending, 0)
		})
	}
	if err != nil {
		return fmt.Errorf("admit run %q on thread %q: %w", r.ID, r.ThreadID, err)
	}
	return nil
}

func checkNewRun(r store.Run) error {
	err := errors.Join(checkID("run", r.ID), checkText("owner", r.Owner), checkText("user id", r.UserID),
		checkJSON("request", r.Request), checkJSON("usage", r.Usage))
	if s := cmp.Or(r.Status, event.StatusPending); s != event.StatusPending || r.Attempt != 0 {
		err = errors.Join(err, fmt.Errorf("a new run is pending and has attempt 0, not %q and %d", s, r.Attempt))
	}
	return err
}

func insertRun(tx *tx, r store.Run, status string, attempt int) error {
	return tx.exec("INSERT INTO runs ("+runColumns+") VALUES ($1, $2, $3, $4, $12, $12, $5, $6, $7, $8, $9, $10, $11)",
		r.ID, r.ThreadID, r.UserID, status, micros(r.CreatedAt), micros(r.UpdatedAt),
		r.Owner, plain(r.Error), plain(r.StopReason), jsonText(r.Usage), jsonText(r.Request), attempt)
}

// Run implements [store.Runs].
func (s *Store) Run(ctx context.Context, id string) (store.Run, error) {
	rs, err := s.runs(ctx, "SELECT "+runColumns+" FROM runs WHERE id = $1", id)
	if err == nil && len(rs) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("read run %q: %w", id, err)
	}
	return rs[0], nil
}

// ListRuns implements [store.Runs].
func (s *Store) ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	query, args, err := listRuns(f)
	var rs []store.Run
	if err == nil {
		rs, err = s.runs(ctx, query, args...)
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return rs, nil
}

// listRuns makes the text for a filter. There are few different ones, since a status counts once, so that each can stay prepared.
func listRuns(f store.RunFilter) (query string, args []any, err error) {
	var where []string
	param := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	if f.ThreadID != "" {
		where = append(where, "thread_id = "+param(f.ThreadID))
	}
	if f.UserID != "" {
		where = append(where, "user_id = "+param(f.UserID))
	}
	if len(f.Statuses) > 0 {
		var in []string
		for _, st := range slices.Compact(slices.Sorted(slices.Values(f.Statuses))) {
			if !knownStatus(st) {
				return "", nil, fmt.Errorf("run status %q is unknown", st)
			}
			in = append(in, param(st))
		}
		where = append(where, "status IN ("+strings.Join(in, ", ")+")")
	}
	query = "SELECT " + runColumns + " FROM runs"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	limit := cmp.Or(f.Limit, 100)
	query += " ORDER BY created_at DESC, id DESC LIMIT " + param(limit)
	return query, args, checkLimit(limit, 1000)
}

func knownStatus(s string) bool {
	switch s {
	case event.StatusPending, event.StatusRunning, event.StatusSuccess, event.StatusError, event.StatusInterrupted:
		return true
	}
	return false
}

func (s *Store) runs(ctx context.Context, query string, args ...any) ([]store.Run, error) {
	var out []store.Run
	err := s.read(ctx, query, args, func(rows *sql.Rows) (bool, error) {
		var r store.Run
		var created, updated int64
		err := rows.Scan(&r.ID, &r.ThreadID, &r.UserID, &r.Status, &r.Attempt, &r.Stalled, &created, &updated,
			&r.Owner, &r.Error, &r.StopReason, (*[]byte)(&r.Usage), (*[]byte)(&r.Request))
		r.CreatedAt, r.UpdatedAt = timeOf(created), timeOf(updated)
		out = append(out, r)
		return true, err
	})
	return out, err
}

// ClaimRun implements [store.Runs].
func (s *Store) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	f := store.Fence{RunID: id}
	if err := checkText("owner", owner); err != nil {
		return store.Fence{}, fmt.Errorf("claim run %q: %w", id, err)
	}
	err := s.writeRun(ctx, id, 0, func(tx *tx) error {
		err := tx.scan("UPDATE runs SET owner = $2, attempt = attempt + 1, stalled = stalled + CASE WHEN owner = $2 THEN 0 ELSE 1 END, status = 'running', updated_at = $4 "+
			"WHERE id = $1 AND attempt = $3 AND status IN ('pending', 'running')"+s.dialect.unheld()+" RETURNING attempt",
			[]any{id, owner, attempt, micros(now)}, &f.Attempt)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var status, holder string
		var at int
		err = tx.scan("SELECT status, attempt, owner FROM runs WHERE id = $1", []any{id}, &status, &at, &holder)
		if errors.Is(err, sql.ErrNoRows) {
			return store.ErrNotFound
		}
		if err == nil {
			err = fmt.Errorf("%w: it has status %s and attempt %d of %q, attempt %d was expected or that owner's lease is valid",
				store.ErrConflict, status, at, holder, attempt)
		}
		return err
	})
	if err != nil {
		return store.Fence{}, fmt.Errorf("claim run %q: %w", id, err)
	}
	return f, nil
}
