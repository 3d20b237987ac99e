package sqlstore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/store"
)

// check is the first statement of steps: it makes sure that they may be written, and that this stays so until they are.
// It finds where the first of them stands.
type check func(t *tx, all []*commit) error

// checkFence is the first statement of steps. It finds no row if the run is gone, at its end or another's; else it
// locks the row until the steps are committed, and makes the run's change if there is one. Most steps have none: the
// time of the last change is as exact as that of the thread's.
func checkFence(t *tx, all []*commit) error {
	first, last := all[0], all[len(all)-1]
	stalled, updated, err := first.findRun(t)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("attempt %d: %w", first.fence.Attempt, store.ErrFenced)
	}
	if err != nil {
		return err
	}
	usage, ahead := json.RawMessage(nil), false
	for _, c := range all {
		ahead = ahead || c.getsAhead()
		if r := c.step.Run; r != nil && r.Usage != nil {
			usage = r.Usage
		}
		if c.ends() && c != last {
			return fmt.Errorf("a step after the run's end: %w", store.ErrFenced)
		}
	}
	if ahead {
		stalled, ahead = 0, stalled > 0
	}
	if !ahead && usage == nil && !last.ends() && last.step.Now.Sub(database.TimeOf(updated)).Abs() < touchEvery {
		return nil
	}
	last.user, last.thread, last.above = first.user, first.thread, first.above // which were read for the first alone
	return changeRun(t, last, stalled, usage)
}

// findRun reads the run, if it is the fence's, where its thread stands and how far its events go. Where others write
// too, the run is locked first: what is read in one statement with the lock may be older than the lock.
func (c *commit) findRun(t *tx) (stalled int, updated int64, err error) {
	args := []any{c.fence.RunID, c.fence.Attempt}
	if lock := t.k.dialect.locking(); lock != "" {
		err = t.scan("SELECT thread_id FROM runs WHERE id = $1 AND attempt = $2 AND status = 'running'"+lock, args,
			&c.thread)
	}
	if err == nil {
		err = t.scan("SELECT r.thread_id, r.user_id, r.parent_id, r.stalled, r.updated_at, "+
			"COALESCE((SELECT max(last_n) FROM log WHERE run_id = $1 AND attempt = $2 AND last_n > 0), 0), "+
			headColumns+
			" FROM runs r JOIN threads t ON t.id = r.thread_id"+joinHead+
			" WHERE r.id = $1 AND r.attempt = $2 AND r.status = 'running'",
			args, append([]any{&c.thread, &c.user, &c.above, &stalled, &updated, &c.lastN}, c.headCells()...)...)
	}
	if err == nil {
		err = c.checkHead()
	}
	return stalled, updated, err
}

// changeRun changes the run behind its fence. The status, which indexes hold, is named only when it changes.
func changeRun(t *tx, last *commit, stalled int, usage json.RawMessage) error {
	text := "UPDATE runs SET updated_at = $2, stalled = $3, usage = COALESCE($4, usage)"
	args := []any{last.fence.RunID, database.Micros(last.step.Now), stalled, jsonText(usage)}
	const which = " WHERE id = $1"
	if !last.ends() {
		return t.exec(text+which, args...)
	}
	text += ", status = $5, error = $6, stop_reason = $7, notify = 0"
	args = append(args, last.step.Run.Status, database.Plain(last.step.Run.Error),
		database.Plain(last.step.Run.StopReason))
	n, err := t.endOne(last.fence.RunID, text+which+" AND NOT EXISTS (SELECT 1 FROM runs c WHERE c.parent_id = $1 AND "+
		"c.parent_id <> '' "+
		"AND c.status IN ('pending', 'running'))", args...)
	if err == nil && n == 0 {
		return fmt.Errorf("%w: the run has active children", store.ErrConflict)
	}
	if err == nil {
		err = keepBack(t, last)
	}
	if last.step.Run.Asks {
		t.isNew(last.user, last.thread, news.Waiting)
	}
	if err == nil && last.step.Run.Error == store.RolledBack {
		err = dropBelow(t, last.fence.RunID)
	}
	return err
}

// getsAhead reports whether the run is further with the step: with it the attempts before no longer count.
func (c *commit) getsAhead() bool {
	return len(c.step.Updates) > 0 || slices.ContainsFunc(c.step.Events, func(e event.Event) bool {
		return e.Data.Kind() == event.KindToolEnd || e.Data.Kind() == event.KindChild
	})
}

// checkIdle is the first statement of a step outside of a run. It locks the thread: no run is admitted meanwhile, and
// one that could be claimed is active already.
func (d *userData) checkIdle(t *tx, all []*commit) error {
	thread := all[0].thread
	var active, trashed bool
	err := d.lockThread(t, thread)
	if err == nil {
		err = t.scan("SELECT marks > 3 FROM threads WHERE id = $1", []any{thread}, &trashed)
	}
	if err == nil && trashed {
		err = store.ErrTrashed
	}
	if err == nil {
		err = t.scan("SELECT "+busy("$1"), []any{thread}, &active)
	}
	if err == nil && active {
		err = fmt.Errorf("%w: it has an active run", store.ErrConflict)
	}
	if err == nil {
		err = all[0].findHead(t)
	}
	return err
}

// ends reports whether the run does not go on after the step.
func (c *commit) ends() bool { return c.step.Run != nil && c.step.Run.Status != event.StatusRunning }
