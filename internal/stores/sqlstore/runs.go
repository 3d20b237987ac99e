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

const runColumns = "id, thread_id, user_id, status, attempt, stalled, created_at, updated_at, not_before, owner, key, stop, notify, " +
	"error, stop_reason, usage, request"

// runRow is a run with what its columns hold in another form.
type runRow struct {
	store.Run
	created, updated, notBefore int64
}

// cells are where the columns are read to.
func (r *runRow) cells() []any {
	return []any{&r.ID, &r.ThreadID, &r.UserID, &r.Status, &r.Attempt, &r.Stalled, &r.created, &r.updated, &r.notBefore, &r.Owner,
		&r.Key, &r.Stop, &r.Notify, &r.Error, &r.StopReason, (*[]byte)(&r.Usage), (*[]byte)(&r.Request)}
}

// run is the run, when the cells are read.
func (r *runRow) run() store.Run {
	r.CreatedAt, r.UpdatedAt = timeOf(r.created), timeOf(r.updated)
	if r.notBefore != 0 {
		r.NotBefore = timeOf(r.notBefore)
	}
	return r.Run
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
	query += " ORDER BY created_at DESC, id DESC LIMIT " + param(limit) + " OFFSET " + param(f.Offset)
	if f.Offset < 0 {
		return "", nil, fmt.Errorf("offset %d is negative", f.Offset)
	}
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
		var r runRow
		err := rows.Scan(r.cells()...)
		out = append(out, r.run())
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
		if errors.Is(tx.k.dialect.explain(err), store.ErrConflict) {
			return fmt.Errorf("another run of its thread is running: %w", err)
		}
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
