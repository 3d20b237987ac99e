package sqlstore

import (
	"cmp"
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

// Admit implements [store.Runs].
func (d *userData) Admit(ctx context.Context, a store.Admission) (store.Run, error) {
	if a.MustExist && a.Thread.ID == "" {
		a.Thread.ID = a.Run.ThreadID
	}
	a.Run.UserID, a.Thread.UserID, a.Thread.Root = d.user.ID(), d.user.ID(), ""
	a.Run.Parent, a.Run.Root, a.Run.Depth = "", "", 0
	a.Strategy = cmp.Or(a.Strategy, store.Reject)
	r, err := a.Run, checkAdmission(a)
	if err == nil {
		r, err = d.admitOnce(ctx, a)
	}
	if err != nil {
		return store.Run{}, fmt.Errorf("admit run %q on thread %q: %w", a.Run.ID, a.Run.ThreadID, err)
	}
	return r, nil
}

// admitOnce looks for the run of the key before and, when the new one is refused, after: what refused it may be that
// run, admitted by another process in between. The unique index on keys lets only one of them in.
func (d *userData) admitOnce(ctx context.Context, a store.Admission) (store.Run, error) {
	if r, found, err := d.runOfKey(ctx, a.Run.Key); found || err != nil {
		return r, err
	}
	var r store.Run
	err := d.write(ctx, len(a.Thread.Metadata)+len(a.Run.Request), func(tx *tx) (err error) {
		r, err = d.admit(tx, a)
		return err
	})
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrFull) {
		if first, found, errKey := d.runOfKey(ctx, a.Run.Key); found || errKey != nil {
			return first, errKey
		}
	}
	return r, err
}

// runOfKey is the run that the user has under a key, unless that is empty.
func (d *userData) runOfKey(ctx context.Context, key string) (first store.Run, found bool, err error) {
	if key == "" {
		return first, false, nil
	}
	rs, err := readRuns(ctx, d, "SELECT "+runColumns+" FROM runs WHERE user_id = $1 AND key = $2 AND key <> '' "+
		"AND parent_id = ''", d.user.ID(), key)
	if err != nil || len(rs) == 0 {
		return first, false, err
	}
	return rs[0], true, nil
}

func checkAdmission(a store.Admission) error {
	r, t := a.Run, a.Thread
	err := errors.Join(checkNewThread(t), database.CheckID("run", r.ID), database.CheckText("owner", r.Owner),
		database.CheckText("key", r.Key),
		checkJSON("request", r.Request), checkJSON("usage", r.Usage))
	if st := cmp.Or(r.Status, event.StatusPending); st != event.StatusPending || r.Attempt != 0 || r.Stop != "" {
		err = errors.Join(err, fmt.Errorf("a new run is pending, has attempt 0 and no stop, not %q, %d and %q", st,
			r.Attempt, r.Stop))
	}
	if t.ID != r.ThreadID {
		err = errors.Join(err, errors.New("the thread is not the run's"))
	}
	switch a.Strategy {
	case store.Reject, store.Enqueue, store.Interrupt, store.Rollback, store.Steer:
		return err
	}
	return errors.Join(err, fmt.Errorf("strategy %q is unknown", a.Strategy))
}

// admit is the transaction of an admission. Two admissions to one thread come one after the other, since both lock it.
func (d *userData) admit(tx *tx, a store.Admission) (store.Run, error) {
	stop := a.Strategy == store.Interrupt || a.Strategy == store.Rollback
	if stop { // before the thread is locked, as commits lock the run before the thread
		if err := d.stopRuns(tx, runsOfThread, a.Run.ThreadID, string(a.Strategy), a.Run.CreatedAt); err != nil {
			return a.Run, err
		}
	}
	if a.Strategy == store.Steer {
		if err := d.lockRunning(tx, a.Run.ThreadID); err != nil {
			return a.Run, err
		}
	}
	fresh, head, err := d.enterThread(tx, a)
	if err == nil && a.Strategy == store.Steer && !fresh {
		err = d.steer(tx, &a)
	}
	if err == nil && stop && !fresh { // one that came in meanwhile
		err = d.stopRuns(tx, runsOfThread, a.Run.ThreadID, string(a.Strategy), a.Run.CreatedAt)
	}
	if err != nil {
		return a.Run, err
	}
	if a.Run.Steers == "" {
		tx.isNew(d.user.ID(), a.Run.ThreadID, news.Running)
	}
	r, err := insertRun(tx, a, fresh)
	if err == nil && stop {
		err = steersTo(tx, r)
	}
	if err == nil && a.Begin != nil && r.Status == event.StatusRunning {
		r.Begun, r.Head, err = true, head, insertBegin(tx, r, *a.Begin)
	}
	if err == nil && r.Status == event.StatusPending && a.MaxPending > 0 {
		err = checkRoom(tx, a.MaxPending)
	}
	if err == nil {
		err = d.also(tx, a.Also)
	}
	return r, err
}

// also does what features do with an admission.
func (d *userData) also(tx *tx, list []store.Statement) error {
	j := &joint{s: d.s, tx: tx}
	for _, st := range list {
		if _, err := j.For(st.Feature, d.user).Exec(st.Name, st.Args...); err != nil {
			return fmt.Errorf("%s of %s: %w", st.Name, st.Feature, err)
		}
	}
	return j.check()
}

// enterThread locks the thread of the admission and reads its head. It creates it, if it may, when there is none.
func (d *userData) enterThread(tx *tx, a store.Admission) (fresh bool, head string, err error) {
	for range attempts {
		if !a.MustExist {
			n, err := tx.change(insertThread+" ON CONFLICT (id) DO NOTHING", threadValues(a.Thread)...)
			if err != nil || n > 0 {
				return true, "", err
			}
		}
		var title, root string
		var metadata []byte
		var marks store.Marks
		err := tx.scan("SELECT title, head, metadata, root_id, marks FROM threads WHERE id = $1 AND user_id = "+
			"$2"+tx.k.dialect.locking(),
			[]any{a.Thread.ID, d.user.ID()}, &title, &head, &metadata, &root, &marks)
		switch {
		case err == nil && root != "" && a.Strategy != store.Steer:
			return false, "", errHidden(root)
		case err == nil && marks&store.Trashed != 0:
			return false, "", store.ErrTrashed
		case err == nil && root != "": // its title and its metadata are those of its task
			return false, head, nil
		case err == nil:
			return false, head, d.introduce(tx, a.Thread, title, metadata)
		case !errors.Is(err, sql.ErrNoRows):
			return false, "", err
		case a.MustExist:
			return false, "", store.ErrNotFound
		}
	}
	return false, "", fmt.Errorf("it is another user's, or is being deleted: %w", store.ErrNotFound)
}

// introduce gives a thread that is there the title and the metadata of its run, as far as it has none.
func (d *userData) introduce(tx *tx, t store.Thread, title string, metadata json.RawMessage) error {
	more := lacks(metadata, t.Metadata)
	if !more && (title != "" || t.Title == "") {
		return nil
	}
	if merged, err := merge(t.Metadata, metadata); more && err == nil {
		metadata = merged
	}
	return tx.exec("UPDATE threads SET title = $2, metadata = $3, signature = $4 WHERE id = $1 AND user_id = $5",
		t.ID, cmp.Or(title, database.Plain(t.Title)), string(metadata), database.Signature(metadata), d.user.ID())
}

// lacks reports whether metadata misses a member of more.
func lacks(metadata, more json.RawMessage) bool {
	known, _ := rawjson.Members(metadata)
	members, _ := rawjson.Members(more)
	for name := range members {
		if known[name] == nil {
			return true
		}
	}
	return false
}

// busy is the condition that a run of the thread is active, or about to be. The indexes of both halves hold only such
// runs.
func busy(thread string) string {
	return "(EXISTS (SELECT 1 FROM runs a WHERE a.thread_id = " + thread + " AND a.status = 'running') OR " +
		"EXISTS (SELECT 1 FROM runs a WHERE a.thread_id = " + thread + " AND a.status = 'pending' AND NOT " +
		keptBack("a") + "))"
}

// The texts that add a run, which is running if $4 says so. On a thread that there was it is pending if others are in
// its way or it steers, and refused unless $16 says that it may wait; its time is made later than that of the thread's
// other runs, which are queued by it. notify tells a program without jobs, which shares the database for a while, that
// something follows the run's end.
var (
	firstRun = "INSERT INTO runs (" + runColumns +
		", notify) VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, '', " +
		"$12, $13, $14, $16, $17, $18, '', $15, $11)"
	laterRun = "INSERT INTO runs (" + runColumns +
		", notify) SELECT $1, $2, $3, CASE WHEN b.busy THEN 'pending' ELSE $4 END, " +
		"CASE WHEN b.busy THEN 0 ELSE $5 END, CASE WHEN b.busy THEN 0 ELSE $5 END, " +
		"COALESCE((SELECT max(created_at) + 1 FROM runs WHERE thread_id = $2 AND created_at >= $6), $6), $7, $8, " +
		"CASE WHEN b.busy THEN '' ELSE $9 END, $10, '', $12, $13, $14, '', '', 0, $17, $15, $11 " +
		"FROM (SELECT " + busy("$2") +
		" OR $17 <> '' AS busy) b WHERE $16 OR NOT b.busy RETURNING status, attempt, stalled, owner, created_at"
)

// insertRun adds the run to its thread, which is locked and may have been made just now.
func insertRun(tx *tx, a store.Admission, fresh bool) (store.Run, error) {
	row := runRow{Run: a.Run, created: database.Micros(a.Run.CreatedAt), updated: database.Micros(a.Run.UpdatedAt)}
	row.Status, row.Attempt, row.Owner = event.StatusPending, 0, ""
	if !a.Run.NotBefore.IsZero() {
		row.notBefore = database.Micros(a.Run.NotBefore)
	}
	if a.Run.Owner != "" && !a.Run.NotBefore.After(a.Run.CreatedAt) {
		row.Status, row.Attempt, row.Owner = event.StatusRunning, 1, a.Run.Owner
	}
	row.Stalled, row.Error, row.StopReason = row.Attempt, database.Plain(row.Error), database.Plain(row.StopReason)
	args := []any{row.ID, row.ThreadID, row.UserID, row.Status, row.Attempt, row.created, row.updated, row.notBefore,
		row.Owner, row.Key, number01(tx.k.backlog.followed(row.Run)), row.Error, row.StopReason, jsonText(row.Usage),
		jsonText(row.Request)}
	if fresh {
		return row.run(), tx.exec(firstRun, append(args, row.Parent, row.Root, row.Depth)...)
	}
	err := tx.scan(laterRun, append(args, a.Strategy != store.Reject, row.Steers), &row.Status, &row.Attempt,
		&row.Stalled, &row.Owner, &row.created)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: the thread has an active run", store.ErrConflict)
	}
	return row.run(), err
}

// insertBegin adds the first event of a run that admission has claimed.
func insertBegin(tx *tx, r store.Run, begin event.Event) error {
	begin.Time = r.CreatedAt // which may be later than that of the admission
	c := &commit{fence: store.Fence{RunID: r.ID, Attempt: r.Attempt},
		step: store.Step{Events: []event.Event{begin}, Now: r.CreatedAt}, thread: r.ThreadID}
	var err error
	if c.body, err = encodeStep(c.fence, c.step); err != nil {
		return err
	}
	return insertLog(tx, []*commit{c})
}

// checkRoom fails if more runs wait than may, the new one included.
func checkRoom(tx *tx, most int) error {
	var n int
	err := tx.scan("SELECT count(*) FROM (SELECT 1 FROM runs WHERE status = 'pending' LIMIT $1) w", []any{most + 1}, &n)
	if err == nil && n > most {
		err = fmt.Errorf("%w: %d wait already", store.ErrFull, most)
	}
	return err
}

// number01 is how a column keeps a truth value.
func number01(b bool) int {
	if b {
		return 1
	}
	return 0
}
