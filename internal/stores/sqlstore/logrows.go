package sqlstore

import (
	"slices"
	"strconv"

	"github.com/pudu-ai/pudu/internal/database"
)

// rowsAtOnce is how many rows of the log one statement adds at most: a round trip to a server costs more than a row,
// and SQLite begins each statement by opening three trees.
const rowsAtOnce = 16

// logTexts are the texts that add one row to the log, two rows, and so on.
var logTexts = func() (texts [rowsAtOnce]string) {
	text := "INSERT INTO log (thread_id, checkpoint_id, parent_id, run_id, attempt, first_n, last_n, step, since, " +
		"snap, " +
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
	kept := slices.DeleteFunc(slices.Clone(all),
		func(c *commit) bool { return len(c.body.updates) == 0 && len(c.body.events) == 0 })
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
	return append(args, c.thread, nullIfEmpty(c.id), from, c.fence.RunID, c.fence.Attempt, c.body.first, c.body.last,
		base.step,
		base.since, base.snap, database.Micros(c.step.Now), database.Plain(c.step.Next), c.body.updates, c.body.events)
}

// insertSnapshot adds the snapshot, if there is one to keep. The one before it is dropped if the state has only grown
// since: then the deltas up to any checkpoint before are no more than the state that they make, and replaying them
// costs no more than loading it.
func (c *commit) insertSnapshot(t *tx) error {
	if !c.keep {
		return nil
	}
	err := t.exec("DELETE FROM snapshots WHERE thread_id = $1 AND bytes * 3 <= CAST($2 AS BIGINT) * 2 AND "+
		"checkpoint_id = "+
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
