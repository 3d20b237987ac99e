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
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

const runColumns = "id, thread_id, user_id, status, attempt, stalled, created_at, updated_at, not_before, owner, " +
	"key, stop, " +
	"error, stop_reason, usage, parent_id, root_id, depth, steers, request"

// runRow is a run with what its columns hold in another form.
type runRow struct {
	store.Run
	created, updated, notBefore int64
}

// cells are where the columns are read to.
func (r *runRow) cells() []any {
	return []any{&r.ID, &r.ThreadID, &r.UserID, &r.Status, &r.Attempt, &r.Stalled, &r.created, &r.updated, &r.notBefore,
		&r.Owner,
		&r.Key, &r.Stop, &r.Error, &r.StopReason, (*[]byte)(&r.Usage),
		&r.Parent, &r.Root, &r.Depth, &r.Steers, (*[]byte)(&r.Request)}
}

// run is the run, when the cells are read.
func (r *runRow) run() store.Run {
	r.CreatedAt, r.UpdatedAt = database.TimeOf(r.created), database.TimeOf(r.updated)
	if r.notBefore != 0 {
		r.NotBefore = database.TimeOf(r.notBefore)
	}
	return r.Run
}

// Run implements [store.Runs].
func (d *userData) Run(ctx context.Context, id string) (store.Run, error) {
	return oneRun(ctx, d, id, " AND user_id = $2", d.user.ID())
}

// Run implements [store.System].
func (s *Store) Run(ctx context.Context, id string) (store.Run, error) { return oneRun(ctx, s, id, "") }

func oneRun(ctx context.Context, from reader, id, whose string, args ...any) (store.Run, error) {
	rs, err := readRuns(ctx, from, "SELECT "+runColumns+" FROM runs WHERE id = $1"+whose, append([]any{id}, args...)...)
	if err == nil && len(rs) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("read run %q: %w", id, err)
	}
	return rs[0], nil
}

// ListRuns implements [store.Runs].
func (d *userData) ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	return listRuns(ctx, d, d.mine(), f, d.s.dialect.among)
}

// ListRuns implements [store.System].
func (s *Store) ListRuns(ctx context.Context, f store.RunFilter) ([]store.Run, error) {
	return listRuns(ctx, s, selection{}, f, s.dialect.among)
}

func listRuns(ctx context.Context, from reader, sel selection, f store.RunFilter,
	among func(string) string) ([]store.Run, error) {
	query, args, err := selectRuns(sel, f, among)
	var rs []store.Run
	if err == nil {
		rs, err = readRuns(ctx, from, query, args...)
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return rs, nil
}

// selectRuns makes the text for a filter. There are few different ones, since a status counts once, so that each can
// stay prepared.
func selectRuns(sel selection, f store.RunFilter, among func(string) string) (query string, args []any, err error) {
	if !f.Steers {
		sel.add("NOT " + isSteer("runs"))
	}
	if f.ThreadID != "" {
		sel.add("thread_id = " + sel.param(f.ThreadID))
	}
	switch {
	case f.Parent != "":
		sel.add("parent_id <> '' AND parent_id = " + sel.param(f.Parent))
	case len(f.Parents) > 0:
		ids, err := idList(f.Parents)
		if err != nil {
			return "", nil, err
		}
		sel.add("parent_id <> '' AND parent_id" + among(sel.param(ids)))
	case f.ThreadID == "":
		sel.add("parent_id = ''")
	}
	if len(f.Statuses) > 0 {
		var in []string
		for _, st := range slices.Compact(slices.Sorted(slices.Values(f.Statuses))) {
			if !knownStatus(st) {
				return "", nil, fmt.Errorf("run status %q is unknown", st)
			}
			in = append(in, sel.param(st))
		}
		sel.add("status IN (" + strings.Join(in, ", ") + ")")
	}
	limit := cmp.Or(f.Limit, 100)
	query = "SELECT " + runColumns + " FROM runs" + sel.text() + " ORDER BY created_at DESC, id DESC LIMIT " +
		sel.param(limit) +
		" OFFSET " + sel.param(f.Offset)
	return query, sel.args, database.CheckPage(limit, 1000, f.Offset)
}

func knownStatus(s string) bool {
	switch s {
	case event.StatusPending, event.StatusRunning, event.StatusSuccess, event.StatusError, event.StatusInterrupted:
		return true
	}
	return false
}

func readRuns(ctx context.Context, from reader, query string, args ...any) ([]store.Run, error) {
	var out []store.Run
	err := from.read(ctx, query, args, func(rows *sql.Rows) (bool, error) {
		var r runRow
		err := rows.Scan(r.cells()...)
		out = append(out, r.run())
		return true, err
	})
	return out, err
}

// ClaimRun implements [store.Work].
func (s *Store) ClaimRun(ctx context.Context, id, owner string, attempt int, now time.Time) (store.Fence, error) {
	f := store.Fence{RunID: id}
	if err := database.CheckText("owner", owner); err != nil {
		return store.Fence{}, fmt.Errorf("claim run %q: %w", id, err)
	}
	err := s.writeRun(ctx, id, 0, func(tx *tx) error {
		err := tx.scan("UPDATE runs SET owner = $2, attempt = attempt + 1, stalled = stalled + CASE WHEN owner = $2 "+
			"THEN 0 ELSE 1 END, status = 'running', updated_at = $4 "+
			"WHERE id = $1 AND attempt = $3 AND status IN ('pending', 'running')"+ofItsRoot+s.dialect.unheld()+" "+
			"RETURNING attempt",
			[]any{id, owner, attempt, database.Micros(now)}, &f.Attempt)
		if err == nil && attempt > 0 { // one that nobody has owned has none below it
			return claimBelow(tx, id, owner, now)
		}
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
			err = fmt.Errorf("%w: it has status %s and attempt %d of %q, attempt %d was expected or that owner's "+
				"lease is valid",
				store.ErrConflict, status, at, holder, attempt)
		}
		return err
	})
	if err != nil {
		return store.Fence{}, fmt.Errorf("claim run %q: %w", id, err)
	}
	return f, nil
}
