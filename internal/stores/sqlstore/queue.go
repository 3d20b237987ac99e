package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// endsAtOnce is the condition that an active run which is asked for $2 is ended there and then: nobody runs it, and it
// has nothing that its next owner would have to take back.
const endsAtOnce = "status = 'pending' AND (attempt = 0 OR $2 = 'interrupt' AND stop <> 'rollback')"

// Which runs are stopped: a condition with $1.
const theRun, allOfThread = "id = $1", "thread_id = $1"

// runsOfThread leaves out what is said to them, which is then said to the run that comes.
var runsOfThread = allOfThread + " AND NOT " + isSteer("runs")

// stopRuns asks the user's active runs that the condition is true of for the action, and those below them. It is one
// statement for each depth, so that a run which is claimed, given back or ended at this moment is seen before or after
// that, and never missed; no child comes in below a run that was asked.
func (d *userData) stopRuns(tx *tx, which, id, action string, now time.Time) error {
	status, failure, reason := event.StatusInterrupted, "", store.Cancelled
	if action == store.StopRollback {
		status, failure = event.StatusError, store.RolledBack
	}
	set := func(column, value string) string {
		return column + " = CASE WHEN " + endsAtOnce + " THEN " + value + " ELSE " + column + " END"
	}
	text := "UPDATE runs SET stop = CASE WHEN stop = 'rollback' THEN stop ELSE $2 END, " + set("status", "$3") + ", " +
		set("error", "$4") + ", " + set("stop_reason", "$5") + ", " + set("updated_at", "$6") + ", " +
		set("notify", "0") + " WHERE "
	those := which + " AND user_id = $7"
	for range store.MaxDepth + 1 {
		n, err := tx.endSome(text+those+" AND status IN ('pending', 'running')", id, action, status, failure, reason,
			database.Micros(now), d.user.ID())
		if err != nil || n == 0 {
			return err
		}
		those = "parent_id <> '' AND parent_id IN (SELECT id FROM runs WHERE " + those + " AND status = 'running')"
	}
	return nil
}

// StopRun implements [store.Runs].
func (d *userData) StopRun(ctx context.Context, id, action string, now time.Time) (store.Run, error) {
	var r runRow
	var err error
	if action != store.StopInterrupt && action != store.StopRollback {
		err = fmt.Errorf("action %q is unknown", action)
	}
	if err == nil {
		err = d.writeRun(ctx, id, 0, func(tx *tx) error {
			if err := d.stopRuns(tx, theRun, id, action, now); err != nil {
				return err
			}
			r = runRow{}
			return found(tx.scan("SELECT "+runColumns+" FROM runs WHERE id = $1 AND user_id = $2",
				[]any{id, d.user.ID()}, r.cells()...))
		})
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("stop run %q: %w", id, err)
	}
	return r.run(), nil
}

// found turns the driver's word for no row into the store's.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}

// Stopping implements [store.Work].
func (s *Store) Stopping(ctx context.Context, owner string, limit int) ([]store.Run, error) {
	return s.limited(ctx, "list runs to stop", limit,
		" WHERE owner = $2 AND status = 'running' AND stop <> '' ORDER BY created_at, id LIMIT $1", owner)
}

// waiting is the condition that a run may start at $2.
var waiting = "status = 'pending' AND not_before <= $2 AND NOT " + notItsTurn("runs") + " " +
	"AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.thread_id = runs.thread_id AND o.status = 'running') " +
	"AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.thread_id = runs.thread_id AND o.status = 'pending' AND " +
	inLine("o") + " < " + inLine("runs") + " AND NOT " + notItsTurn("o") + ")"

// Waiting implements [store.Work].
func (s *Store) Waiting(ctx context.Context, now time.Time, limit int) ([]store.Run, error) {
	return s.limited(ctx, "list runs that wait", limit, " WHERE "+waiting+" ORDER BY created_at, id LIMIT $1",
		database.Micros(now))
}

// limited reads the runs of a condition, in which $1 is the limit.
func (s *Store) limited(ctx context.Context, what string, limit int, rest string, args ...any) ([]store.Run, error) {
	err := database.CheckLimit(limit, 1000)
	var rs []store.Run
	if err == nil {
		rs, err = readRuns(ctx, s, "SELECT "+runColumns+" FROM runs"+rest, append([]any{limit}, args...)...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return rs, nil
}

// Position implements [store.Runs].
func (d *userData) Position(ctx context.Context, id string) (int, error) {
	n := -1
	err := d.read(ctx,
		"SELECT CASE WHEN r.status = 'pending' THEN (SELECT count(*) FROM runs w WHERE w.status = 'pending' "+
			"AND (w.created_at, w.id) <= (r.created_at, r.id)) ELSE 0 END FROM runs r "+
			"WHERE r.id = $1 AND r.user_id = $2", []any{id, d.user.ID()},
		func(r *sql.Rows) (bool, error) { return false, r.Scan(&n) })
	if err == nil && n < 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("read the place of run %q: %w", id, err)
	}
	return n, nil
}

// DeleteRun implements [store.Runs]. Rows with checkpoints stay, as those that no run has made.
func (d *userData) DeleteRun(ctx context.Context, id string) error {
	err := d.writeRun(ctx, id, 0, func(tx *tx) error { return d.deleteRun(tx, id) })
	if err != nil {
		return fmt.Errorf("delete run %q: %w", id, err)
	}
	return nil
}

func (d *userData) deleteRun(tx *tx, id string) error {
	var thread, status string
	err := tx.scan("SELECT thread_id, status FROM runs WHERE id = $1 AND user_id = $2"+tx.k.dialect.locking(),
		[]any{id, d.user.ID()}, &thread, &status)
	if err != nil {
		return found(err)
	}
	if (store.Run{Status: status}).Active() {
		return fmt.Errorf("%w: it is %s; cancel it first", store.ErrConflict, status)
	}
	for _, query := range []string{
		"DELETE FROM log WHERE thread_id = $1 AND run_id = $2 AND checkpoint_id IS NULL",
		"UPDATE log SET run_id = '', attempt = 0, first_n = 0, last_n = 0, events = NULL WHERE thread_id = $1 AND " +
			"run_id = $2",
	} {
		if err := tx.exec(query, thread, id); err != nil {
			return err
		}
	}
	if err := dropBelow(tx, id); err != nil {
		return err
	}
	return tx.exec("DELETE FROM runs WHERE id = $1 AND user_id = $2", id, d.user.ID())
}
