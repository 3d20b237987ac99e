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

// answered is what stands in not_before of a steer that waits until the thread's question is answered: never, and yet a
// date that a dump can tell.
var answered = database.Micros(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))

// isSteer is the condition that a row of runs is a steer and no run: one that waits, or was taken.
func isSteer(row string) string { return "(" + row + ".steers <> '' AND " + row + ".attempt = 0)" }

// keptBack is the condition that a steer, pending, waits for an answer to the thread's question.
func keptBack(row string) string {
	return "(" + isSteer(row) + " AND " + row + fmt.Sprintf(".not_before >= %d)", answered)
}

// notItsTurn is the condition that a pending run is a steer which another run will take: the one that it was said to
// waits itself, or that one's question does.
func notItsTurn(row string) string {
	return "(" + isSteer(row) + " AND (" + row + fmt.Sprintf(".not_before >= %d", answered) +
		" OR EXISTS (SELECT 1 FROM runs p " +
		"WHERE p.id = " + row + ".steers AND p.status = 'pending')))"
}

// inLine is where a pending run stands in its thread's queue: what was said to the run before comes first.
func inLine(row string) string {
	return "(CASE WHEN " + isSteer(row) + " THEN 0 ELSE 1 END, " + row + ".created_at, " + row + ".id)"
}

// lockRunning locks the run that works on a thread, if there is one, before the thread is, as commits do. Its end comes
// before what follows in the transaction, or after it.
func (d *userData) lockRunning(tx *tx, thread string) error {
	var id string
	err := tx.scan("SELECT id FROM runs WHERE thread_id = $1 AND user_id = $2 AND status = 'running'"+
		tx.k.dialect.locking(),
		[]any{thread, d.user.ID()}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// steer finds the run that a message on a thread, which is locked, is said to: the one that works, the first that
// waits, or the one that has asked. Without one steers stays empty, and the message begins a run; none begins on a
// hidden thread.
func (d *userData) steer(tx *tx, a *store.Admission) error {
	var to string
	var asks bool
	err := tx.scan("SELECT r.id, CASE WHEN r.status = 'interrupted' THEN 1 ELSE 0 END FROM runs r WHERE r.thread_id "+
		"= $1 AND "+
		"r.user_id = $2 AND (r.status IN ('running', 'pending') AND NOT "+keptBack("r")+
		" OR r.status = 'interrupted' AND "+
		"r.stop_reason = '' AND r.id = (SELECT l.id FROM runs l WHERE l.thread_id = $1 AND l.attempt > 0 "+
		"ORDER BY l.created_at DESC, l.id DESC LIMIT 1)) ORDER BY CASE r.status WHEN 'running' THEN 0 WHEN 'pending' "+
		"THEN 1 ELSE 2 END, "+
		"CASE WHEN "+isSteer("r")+" THEN 1 ELSE 0 END, r.created_at, r.id LIMIT 1",
		[]any{a.Run.ThreadID, d.user.ID()}, &to, &asks)
	if errors.Is(err, sql.ErrNoRows) {
		var root string
		err = tx.scan("SELECT root_id FROM threads WHERE id = $1", []any{a.Run.ThreadID}, &root)
		if err == nil && root != "" {
			err = errHidden(root)
		}
		return err
	}
	if err == nil && len(a.Run.Request) > store.MaxSteer {
		err = fmt.Errorf("%w: %d bytes are said to the run at work at once, %d are the most", store.ErrTooLarge,
			len(a.Run.Request),
			store.MaxSteer)
	}
	var n int
	if err == nil {
		err = tx.scan("SELECT count(*) FROM runs r WHERE r.thread_id = $1 AND r.status = 'pending' AND "+isSteer("r"),
			[]any{a.Run.ThreadID}, &n)
	}
	if err == nil && n >= store.MaxSteers {
		err = fmt.Errorf("%w: %d wait already", store.ErrSteers, n)
	}
	a.Run.Steers, a.Run.Owner, a.Run.NotBefore, a.Begin = to, "", time.Time{}, nil
	if asks {
		a.Run.NotBefore = database.TimeOf(answered)
	}
	return err
}

// steersTo has the steers that wait said to a run that is to come before them.
func steersTo(tx *tx, r store.Run) error {
	return tx.exec("UPDATE runs SET steers = $2 WHERE thread_id = $1 AND status = 'pending' AND attempt = 0 AND "+
		"steers <> '' AND id <> $2",
		r.ThreadID, r.ID)
}

// take makes what was said to the run, and stands in the step, a part of it.
func (c *commit) take(t *tx) error {
	for _, id := range c.step.Takes {
		n, err := t.change("UPDATE runs SET status = 'success', stop_reason = $3, steers = $2, updated_at = $4, "+
			"notify = 0 "+
			"WHERE id = $1 AND thread_id = $5 AND status = 'pending' AND attempt = 0 AND steers <> ''",
			id, c.fence.RunID, store.Taken, database.Micros(c.step.Now), c.thread)
		if err == nil && n == 0 {
			err = fmt.Errorf("%w: %q", store.ErrTakenBack, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepBack has the steers of a thread wait for the answer to what its run asks at its end, or for nothing any more if
// it asks nothing. Those of a run below another come to their end with it: no other one follows there.
func keepBack(t *tx, last *commit) error {
	until := int64(0)
	if r := last.step.Run; r.Asks || r.Status == event.StatusInterrupted && r.StopReason == "" {
		until = answered
	} else if last.above != "" {
		_, err := t.endSome("UPDATE runs SET status = 'error', error = $2, updated_at = $3, notify = 0 WHERE "+
			"thread_id = $1 AND "+
			"status = 'pending' AND attempt = 0 AND steers <> ''", last.thread, store.Unread,
			database.Micros(last.step.Now))
		return err
	}
	return t.exec("UPDATE runs SET not_before = $2 WHERE thread_id = $1 AND status = 'pending' AND attempt = 0 AND "+
		"steers <> '' "+
		"AND not_before <> $2", last.thread, until)
}

// Steers implements [store.Runs].
func (d *userData) Steers(ctx context.Context, threadID string) ([]store.Run, error) {
	list, err := readRuns(ctx, d, "SELECT "+runColumns+
		" FROM runs WHERE thread_id = $1 AND user_id = $2 AND status = 'pending' AND "+
		isSteer("runs")+" ORDER BY created_at, id LIMIT $3", threadID, d.user.ID(), store.MaxSteers)
	if err != nil {
		return nil, fmt.Errorf("list what waits to be said on thread %q: %w", threadID, err)
	}
	return list, nil
}

// TakeBack implements [store.Runs].
func (d *userData) TakeBack(ctx context.Context, threadID, id string) error {
	err := d.writeRun(ctx, id, 0, func(tx *tx) error {
		n, err := tx.change("DELETE FROM runs WHERE id = $1 AND thread_id = $2 AND user_id = $3 AND status = "+
			"'pending' AND "+
			isSteer("runs"), id, threadID, d.user.ID())
		if err != nil || n > 0 {
			return err
		}
		var r runRow
		err = found(tx.scan("SELECT "+runColumns+
			" FROM runs WHERE id = $1 AND thread_id = $2 AND user_id = $3 AND steers <> ''",
			[]any{id, threadID, d.user.ID()}, r.cells()...))
		if err == nil {
			err = fmt.Errorf("%w: it is taken already", store.ErrConflict)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("take back %q: %w", id, err)
	}
	return nil
}
