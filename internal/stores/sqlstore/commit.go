package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/store"
)

const (
	// snapshotFloor is how many bytes of deltas a load may always have to apply: less is not worth a snapshot.
	snapshotFloor = 32 << 10
	// maxStepBytes bounds one step's updates and events.
	maxStepBytes = 64 << 20
)

// errSnapshotDue sends the caller of Commit back to encode its state: the writer itself only runs SQL.
var errSnapshotDue = errors.New("a snapshot is due")

// errHeadMoved has the step made again on the thread's new head.
var errHeadMoved = errors.New("the head of the thread was moved at the same time")

// commit is one step on its way into the database.
type commit struct {
	fence    store.Fence
	step     store.Step
	body     body
	snapshot []byte
	random   [8]byte

	// What run finds and makes.
	thread  string
	head    string
	touched int64 // when the thread was last used, in microseconds
	lastN   int64 // the number of the last event of the attempt
	base    parent
	id      string // of the new checkpoint
	from    string // the checkpoint that it stands on
}

// parent is what a new checkpoint needs to know of the one it stands on.
type parent struct{ step, since, snap int64 }

// Commit implements [store.Log].
func (s *Store) Commit(ctx context.Context, f store.Fence, step store.Step) (string, error) {
	ids, err := s.CommitAll(ctx, f, []store.Step{step})
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// CommitAll implements [store.Log].
func (s *Store) CommitAll(ctx context.Context, f store.Fence, steps []store.Step) ([]string, error) {
	all := make([]*commit, len(steps))
	for i, step := range steps {
		all[i] = &commit{fence: f, step: step}
	}
	if err := s.commit(ctx, checkFence, all...); err != nil {
		return nil, fmt.Errorf("commit step of run %q: %w", f.RunID, err)
	}
	ids := make([]string, len(all))
	for i, c := range all {
		ids[i] = cmp.Or(c.id, c.head)
	}
	return ids, nil
}

// Write implements [store.Log]. Its row in the log is of no run and no attempt.
func (s *Store) Write(ctx context.Context, threadID string, step store.Step) (string, error) {
	c := &commit{step: step, thread: threadID}
	var err error
	if len(step.Updates) == 0 || len(step.Events) > 0 || step.Run != nil {
		err = errors.New("a step outside of a run has updates, no events, and changes no run")
	}
	if err == nil {
		err = s.commit(ctx, checkIdle, c)
	}
	if err != nil {
		return "", fmt.Errorf("write checkpoint of thread %q: %w", threadID, err)
	}
	return c.id, nil
}

// cacheHead keeps the last new state, and drops the one that the first grew out of: they share most of their memory, which
// must not be counted twice.
func (s *Store) cacheHead(all []*commit) {
	var last *commit
	for _, c := range all {
		if c.id == "" {
			continue
		}
		if last == nil {
			s.cache.forget(c.from)
		}
		last = c
	}
	if last != nil {
		s.cache.put(&cached{thread: last.thread, id: last.id, state: last.step.State, bytes: last.base.snap + last.base.since})
	}
}

// check is the first statement of steps: it makes sure that they may be written, and that this stays so until they are. It
// finds where the first of them stands.
type check func(t *tx, all []*commit) error

// commit writes steps in one transaction. It tries again with a snapshot as often as one is due.
func (s *Store) commit(ctx context.Context, may check, all ...*commit) error {
	for i, c := range all {
		var err error
		if i > 0 && len(c.step.Updates) > 0 && c.step.Parent != "" {
			if slices.ContainsFunc(all[:i], func(c *commit) bool { return len(c.step.Updates) > 0 }) {
				return errors.New("only the first of several steps may name its parent; the others follow it")
			}
		}
		if c.body, err = encodeStep(c.fence, c.step); err != nil {
			return err
		}
		if _, err := rand.Read(c.random[:]); err != nil {
			return err
		}
	}
	for moved := 0; ; {
		size := 0
		for _, c := range all {
			size += c.size()
		}
		var due *commit
		err := s.writeRun(ctx, all[0].fence.RunID, size, func(t *tx) (err error) {
			due, err = writeSteps(t, may, all)
			return err
		})
		if errors.Is(err, errHeadMoved) && moved < attempts {
			moved++
			continue
		}
		if err == nil {
			s.cacheHead(all)
		}
		if !errors.Is(err, errSnapshotDue) {
			return err
		}
		if due.snapshot, err = due.step.State.AppendSnapshot(nil); err != nil {
			return err
		}
	}
}

func (c *commit) size() int { return len(c.body.updates) + len(c.body.events) + len(c.snapshot) }

// writeSteps writes steps of one run, each on the one before, behind one check of the fence and with one move of the
// head. It can be called again after a rollback. With an error comes the step that it is about.
func writeSteps(t *tx, may check, all []*commit) (*commit, error) {
	first := all[0]
	if err := may(t, all); err != nil {
		return first, err
	}
	for i, c := range all {
		if i > 0 {
			c.follow(all[i-1]) //nolint:gosec // i is above 0
		}
		if err := c.place(t); err != nil {
			return c, err
		}
	}
	if err := insertLog(t, all); err != nil {
		return first, err
	}
	for _, c := range all {
		if err := c.insertSnapshot(t); err != nil {
			return c, err
		}
	}
	return first, moveHead(t, all)
}

// follow takes over what the step before knows of the thread.
func (c *commit) follow(before *commit) {
	c.thread, c.touched, c.base = before.thread, before.touched, before.base
	c.head, c.lastN = cmp.Or(before.id, before.head), max(before.lastN, before.body.last)
}

// place finds where the step belongs: its checkpoint, if it makes one, behind its parent and its events behind those that
// are there.
func (c *commit) place(t *tx) error {
	if c.body.first > 0 && c.body.first <= c.lastN {
		return fmt.Errorf("%w: event %d-%d comes after a later one, or is there already", store.ErrConflict, c.fence.Attempt, c.body.first)
	}
	if len(c.body.updates) == 0 {
		return nil
	}
	if err := c.findParent(t); err != nil {
		return err
	}
	return c.newCheckpoint()
}

// touchEvery is how exact the time is at which a thread was last used. Each change of it costs a page of an index.
const touchEvery = time.Second

// moveHead is the last statement of steps that change their thread. It finds no row if another transaction has moved
// the head since findParent, or removed the thread.
func moveHead(t *tx, all []*commit) error {
	first, last := all[0], all[len(all)-1]
	head := cmp.Or(last.id, last.head)
	var title any
	ended := false
	for _, c := range all {
		if c.step.Title != nil {
			title = plain(*c.step.Title)
		}
		ended = ended || c.ends()
	}
	touch := title != nil || ended || last.step.Now.Sub(timeOf(first.touched)).Abs() >= touchEvery
	if head == first.head && !touch {
		return nil
	}
	text, args := "UPDATE threads SET head = $2", []any{first.thread, head, first.head}
	if touch {
		text += ", title = COALESCE($4, title), updated_at = $5"
		args = append(args, title, micros(last.step.Now))
	}
	n, err := t.change(text+" WHERE id = $1 AND head = $3", args...)
	if err == nil && n == 0 {
		err = errHeadMoved
	}
	return err
}

// ends reports whether the run does not go on after the step.
func (c *commit) ends() bool { return c.step.Run != nil && c.step.Run.Status != event.StatusRunning }

// checkFence is the first statement of steps. It finds no row if the run is gone, at its end or another's; else it locks
// the row until the steps are committed, and makes the run's change if there is one. Most steps have none: the time of
// the last change is as exact as that of the thread's.
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
	if !ahead && usage == nil && !last.ends() && last.step.Now.Sub(timeOf(updated)).Abs() < touchEvery {
		return nil
	}
	return changeRun(t, last, stalled, usage)
}

// findRun reads the run, if it is the fence's, where its thread stands and how far its events go. Where others write too,
// the run is locked first: what is read in one statement with the lock may be older than the lock.
func (c *commit) findRun(t *tx) (stalled int, updated int64, err error) {
	args := []any{c.fence.RunID, c.fence.Attempt}
	if lock := t.k.dialect.locking(); lock != "" {
		err = t.scan("SELECT thread_id FROM runs WHERE id = $1 AND attempt = $2 AND status = 'running'"+lock, args, &c.thread)
	}
	if err == nil {
		err = t.scan("SELECT r.thread_id, r.stalled, r.updated_at, "+
			"COALESCE((SELECT max(last_n) FROM log WHERE run_id = $1 AND attempt = $2 AND last_n > 0), 0), "+headColumns+
			" FROM runs r JOIN threads t ON t.id = r.thread_id"+joinHead+" WHERE r.id = $1 AND r.attempt = $2 AND r.status = 'running'",
			args, append([]any{&c.thread, &stalled, &updated, &c.lastN}, c.headCells()...)...)
	}
	if err == nil {
		err = c.checkHead()
	}
	return stalled, updated, err
}

// changeRun changes the run behind its fence. The status, which indexes hold, is named only when it changes.
func changeRun(t *tx, last *commit, stalled int, usage json.RawMessage) error {
	text := "UPDATE runs SET updated_at = $2, stalled = $3, usage = COALESCE($4, usage)"
	args := []any{last.fence.RunID, micros(last.step.Now), stalled, jsonText(usage)}
	if last.ends() {
		text += ", status = $5, error = $6, stop_reason = $7"
		args = append(args, last.step.Run.Status, plain(last.step.Run.Error), plain(last.step.Run.StopReason))
	}
	return t.exec(text+" WHERE id = $1", args...)
}

// getsAhead reports whether the run is further with the step: with it the attempts before no longer count.
func (c *commit) getsAhead() bool {
	return len(c.step.Updates) > 0 || slices.ContainsFunc(c.step.Events, func(e event.Event) bool { return e.Data.Kind() == event.KindToolEnd })
}

// checkIdle is the first statement of a step outside of a run. It locks the thread: no run is admitted meanwhile, and one
// that could be claimed is active already.
func checkIdle(t *tx, all []*commit) error {
	thread := all[0].thread
	var active bool
	err := found(t.scan("SELECT id FROM threads WHERE id = $1"+t.k.dialect.locking(), []any{thread}, &thread))
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

// What a step needs to know of its thread t.
const (
	headColumns = "t.head, t.updated_at, COALESCE(l.step, -1), COALESCE(l.since, 0), COALESCE(l.snap, 0)"
	joinHead    = " LEFT JOIN log l ON l.thread_id = t.id AND l.checkpoint_id = t.head"
)

// headCells are where headColumns are read to.
func (c *commit) headCells() []any {
	return []any{&c.head, &c.touched, &c.base.step, &c.base.since, &c.base.snap}
}

// findHead reads where the thread stands.
func (c *commit) findHead(t *tx) error {
	err := t.scan("SELECT "+headColumns+" FROM threads t"+joinHead+" WHERE t.id = $1", []any{c.thread}, c.headCells()...)
	if err != nil {
		return fmt.Errorf("read head of thread %q: %w", c.thread, err)
	}
	return c.checkHead()
}

// checkHead makes sure of what was read of the head.
func (c *commit) checkHead() error {
	switch {
	case c.head == "":
		c.base = parent{}
	case c.base.step < 0:
		return fmt.Errorf("checkpoint %q, the head of thread %q, is missing: %w", c.head, c.thread, store.ErrCorrupt)
	}
	return nil
}

// findParent puts the step on its parent, if that is not the head.
func (c *commit) findParent(t *tx) error {
	if c.step.OnHead && c.step.Parent != cmp.Or(c.head, store.Origin) {
		return fmt.Errorf("%w: the head of the thread has moved", store.ErrConflict)
	}
	c.from = c.head
	switch c.step.Parent {
	case "", c.head:
		return nil
	case store.Origin:
		c.from, c.base = "", parent{}
		return nil
	}
	c.from = c.step.Parent
	err := t.scan("SELECT step, since, snap FROM log WHERE thread_id = $1 AND checkpoint_id = $2",
		[]any{c.thread, c.from}, &c.base.step, &c.base.since, &c.base.snap)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("checkpoint %q: %w", c.from, store.ErrNotFound)
	}
	return err
}

// newCheckpoint names the checkpoint and decides about a snapshot: one is due when the deltas since the last outweigh
// it, and on a fork, so that the deltas to be read for a state always stand side by side.
func (c *commit) newCheckpoint() (err error) {
	if c.id, err = nextCheckpointID(c.head, c.step.Now, c.random); err != nil {
		return err
	}
	c.base.step++
	c.base.since += int64(len(c.body.updates))
	due := c.base.since > max(c.base.snap, snapshotFloor) || c.from != c.head
	if due && c.snapshot == nil {
		return errSnapshotDue
	}
	if c.snapshot != nil {
		c.base.since, c.base.snap = 0, int64(len(c.snapshot))
	}
	return nil
}

// rowsAtOnce is how many rows of the log one statement adds at most: a round trip to a server costs more than a row, and
// SQLite begins each statement by opening three trees.
const rowsAtOnce = 16

// logTexts are the texts that add one row to the log, two rows, and so on.
var logTexts = func() (texts [rowsAtOnce]string) {
	text := "INSERT INTO log (thread_id, checkpoint_id, parent_id, run_id, attempt, first_n, last_n, step, since, snap, " +
		"created_at, next, updates, events) VALUES "
	for i := range texts {
		sep := "("
		for col := range 14 {
			text += sep + "$" + strconv.Itoa(14*i+col+1)
			sep = ", "
		}
		text += ")"
		texts[i] = text
		text += ", "
	}
	return texts
}()

// insertLog adds the rows of the steps that have something to keep.
func insertLog(t *tx, all []*commit) error {
	kept := slices.DeleteFunc(slices.Clone(all), func(c *commit) bool { return len(c.body.updates) == 0 && len(c.body.events) == 0 })
	for some := range slices.Chunk(kept, rowsAtOnce) {
		args := make([]any, 0, 14*len(some))
		for _, c := range some {
			args = c.appendRow(args)
		}
		if err := t.exec(logTexts[len(some)-1], args...); err != nil {
			return err
		}
	}
	return nil
}

// appendRow appends the row's values in the order of the columns.
func (c *commit) appendRow(args []any) []any {
	from, base := "", parent{}
	if c.id != "" {
		from, base = c.from, c.base
	}
	return append(args, c.thread, nullIfEmpty(c.id), from, c.fence.RunID, c.fence.Attempt, c.body.first, c.body.last, base.step,
		base.since, base.snap, micros(c.step.Now), plain(c.step.Next), c.body.updates, c.body.events)
}

// insertSnapshot adds the snapshot, if there is one. The one before it is dropped if the state has only grown since: then
// the deltas up to any checkpoint before are no more than the state that they make, and replaying them costs no more than
// loading it.
func (c *commit) insertSnapshot(t *tx) error {
	if c.snapshot == nil {
		return nil
	}
	err := t.exec("DELETE FROM snapshots WHERE thread_id = $1 AND bytes * 3 <= CAST($2 AS BIGINT) * 2 AND checkpoint_id = "+
		"(SELECT max(checkpoint_id) FROM snapshots WHERE thread_id = $1)", c.thread, len(c.snapshot))
	if err != nil {
		return err
	}
	return t.exec("INSERT INTO snapshots (thread_id, checkpoint_id, bytes, state) VALUES ($1, $2, $3, $4)",
		c.thread, c.id, len(c.snapshot), c.snapshot)
}

func nullIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}
