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

// ofItsRoot ends a condition on the table runs: it has no parent, or $2 owns the root of its tree.
const ofItsRoot = " AND (root_id = '' OR EXISTS (SELECT 1 FROM runs o WHERE o.id = runs.root_id AND o.status = " +
	"'running' AND o.owner = $2))"

// below are the ids of the runs below the run $1, to any depth.
const below = "WITH RECURSIVE tree (id) AS (SELECT id FROM runs WHERE parent_id <> '' AND parent_id = $1 " +
	"UNION ALL SELECT r.id FROM runs r JOIN tree p ON r.parent_id = p.id WHERE r.parent_id <> '') SELECT id FROM tree"

// claimBelow makes the owner of a run that of all active ones below it. They are not claimed by themselves, and so
// nobody else does this at the same time.
func claimBelow(tx *tx, id, owner string, now time.Time) error {
	return tx.exec("UPDATE runs SET owner = $2, attempt = attempt + 1, stalled = stalled + CASE WHEN owner = $2 "+
		"THEN 0 ELSE 1 END, "+
		"status = 'running', updated_at = $3 WHERE status IN ('pending', 'running') AND id IN ("+below+")", id, owner,
		database.Micros(now))
}

// dropBelow removes the runs below a run, with their hidden threads.
func dropBelow(tx *tx, id string) error {
	const hidden = "(SELECT thread_id FROM runs WHERE id IN (" + below + "))"
	var n int
	err := tx.scan("SELECT 1 FROM runs WHERE parent_id <> '' AND parent_id = $1 LIMIT 1", []any{id}, &n)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	for _, t := range tx.k.beside {
		if err == nil {
			err = tx.exec("DELETE FROM "+t.Name+" WHERE "+t.Thread+" IN "+hidden, id)
		}
	}
	if err == nil {
		err = tx.exec("DELETE FROM threads WHERE root_id <> '' AND id IN "+hidden, id)
	}
	return err
}

// AdmitChild implements [store.Work].
func (s *Store) AdmitChild(ctx context.Context, parent store.Fence, a store.Admission) (store.Run, error) {
	a.Run.Status, a.Run.Attempt, a.Run.Stop, a.Run.Owner, a.Run.NotBefore = "", 0, "", "", time.Time{}
	a.Thread.ID, a.Strategy = a.Run.ThreadID, store.Reject
	err := checkAdmission(a)
	if a.Run.Key == "" || a.Begin == nil {
		err = errors.Join(err, errors.New("a child has a key and a first event"))
	}
	var r store.Run
	if err == nil {
		err = s.writeRun(ctx, parent.RunID, len(a.Run.Request), func(tx *tx) (err error) {
			r, err = admitChild(tx, parent, a)
			return err
		})
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("admit run %q below run %q: %w", a.Run.ID, parent.RunID, err)
	}
	return r, nil
}

// admitChild locks the parent, as who asks it to stop does: of the two the second knows of the first.
func admitChild(tx *tx, parent store.Fence, a store.Admission) (store.Run, error) {
	var above runRow
	err := tx.scan("SELECT "+runColumns+" FROM runs WHERE id = $1 AND attempt = $2 AND status = "+
		"'running'"+tx.k.dialect.locking(),
		[]any{parent.RunID, parent.Attempt}, above.cells()...)
	if errors.Is(err, sql.ErrNoRows) {
		return a.Run, fmt.Errorf("attempt %d: %w", parent.Attempt, store.ErrFenced)
	}
	if err != nil {
		return a.Run, err
	}
	var known runRow
	err = tx.scan("SELECT "+runColumns+" FROM runs WHERE parent_id <> '' AND parent_id = $1 AND key = $2",
		[]any{parent.RunID, a.Run.Key}, known.cells()...)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		r := known.run()
		r.Begun = r.Attempt == 1 // its first event was written with it
		return r, err
	}
	if err := roomBelow(tx, above.Run); err != nil {
		return a.Run, err
	}
	a.Run.UserID, a.Run.Owner, a.Run.Parent, a.Run.Depth = above.UserID, above.Owner, above.ID, above.Depth+1
	a.Run.Root, a.Thread.UserID = above.Root, above.UserID
	if above.Root == "" {
		a.Run.Root = above.ID
	}
	if a.Thread.Root, err = lockFilesOf(tx, above.ThreadID); err != nil {
		return a.Run, err
	}
	head, err := hiddenThread(tx, a)
	if err != nil {
		return a.Run, err
	}
	r, err := insertRun(tx, a, true)
	if err == nil {
		r.Begun, r.Head, err = true, head, insertBegin(tx, r, *a.Begin)
	}
	return r, err
}

// hiddenThread is the head of the thread of a child: a new one, or, if it must exist, one on which another child has
// stopped to ask. That one works on the same files, and nobody works on it.
func hiddenThread(tx *tx, a store.Admission) (head string, err error) {
	if !a.MustExist {
		return "", tx.exec(insertThread, threadValues(a.Thread)...)
	}
	err = tx.scan("SELECT head FROM threads WHERE id = $1 AND user_id = $2 AND root_id = $3"+tx.k.dialect.locking(),
		[]any{a.Thread.ID, a.Thread.UserID, a.Thread.Root}, &head)
	if err != nil {
		return "", found(err)
	}
	var n int
	err = tx.scan("SELECT count(*) FROM runs WHERE thread_id = $1 AND status IN ('pending', 'running')",
		[]any{a.Thread.ID}, &n)
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: the thread has an active run", store.ErrConflict)
	}
	return head, err
}

// lockFilesOf is the thread on whose files a thread works: its own, or, if it is hidden, another's. That one is locked,
// so that nobody removes it, and with it the hidden ones, before the transaction ends.
func lockFilesOf(tx *tx, thread string) (string, error) {
	var root string
	err := tx.scan("SELECT CASE root_id WHEN '' THEN id ELSE root_id END FROM threads WHERE id = $1", []any{thread},
		&root)
	if err == nil {
		err = tx.scan("SELECT id FROM threads WHERE id = $1"+tx.k.dialect.locking(), []any{root}, &root)
	}
	return root, found(err)
}

// roomBelow fails if the run may have no more children.
func roomBelow(tx *tx, r store.Run) error {
	if r.Stop != "" {
		return fmt.Errorf("%w: the run is asked to stop", store.ErrConflict)
	}
	if r.Depth >= store.MaxDepth {
		return fmt.Errorf("%w: the run stands %d deep, and no deeper one may be", store.ErrConflict, r.Depth)
	}
	var n int
	err := tx.scan("SELECT count(*) FROM runs WHERE parent_id <> '' AND parent_id = $1", []any{r.ID}, &n)
	if err == nil && n >= store.MaxChildren {
		err = fmt.Errorf("%w: the run has %d children, as many as it may", store.ErrFull, n)
	}
	return err
}

// CommitChild implements [store.Work]. The root is locked first, as by who claims a tree or asks it to stop.
func (s *Store) CommitChild(ctx context.Context, root store.Fence, events []event.Event, f store.Fence,
	steps []store.Step) ([]string, error) {
	above := &commit{fence: root, step: store.Step{Events: events}}
	if len(steps) > 0 {
		above.step.Now = steps[0].Now
	}
	body, err := encodeStep(root, above.step)
	if err != nil {
		return nil, fmt.Errorf("commit step of run %q: %w", f.RunID, err)
	}
	return s.commitAll(ctx, func(t *tx, all []*commit) error {
		again := *above // what a lost transaction has found counts no more
		again.body = body
		if _, err := writeSteps(t, checkFence, []*commit{&again}); err != nil {
			return fmt.Errorf("in the log of run %q: %w", root.RunID, err)
		}
		return checkFence(t, all)
	}, f, steps)
}
