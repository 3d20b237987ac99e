package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// examiner is a dialect whose database lies in files that it can examine.
type examiner interface {
	// examine reads every page and returns what is wrong.
	examine(ctx context.Context, db *sql.DB) ([]string, error)
}

var _ examiner = sqlite{}

func (sqlite) examine(ctx context.Context, db *sql.DB) (faults []string, err error) {
	rows, err := db.QueryContext(ctx, "PRAGMA integrity_check(20)")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var fault string
		if err := rows.Scan(&fault); err != nil {
			return nil, err
		}
		if fault != "ok" {
			faults = append(faults, fault)
		}
	}
	return faults, rows.Err()
}

// checkup is one call of Verify.
type checkup struct {
	*Store
	schema state.Schema
	visit  store.Visitor
}

// Verify implements [store.Keeper]. It looks at the database's pages, at what rows say of other rows, at every row by
// itself, and at the states that the rows make. A server may go on writing: each part looks at one moment.
func (s *Store) Verify(ctx context.Context, schema state.Schema, v store.Visitor) error {
	c := &checkup{s, schema, v}
	for _, part := range []func(context.Context) error{c.pages, c.links, c.documents, c.log, c.states} {
		if err := part(ctx); err != nil {
			return fmt.Errorf("verify store: %w", err)
		}
	}
	return nil
}

func (c *checkup) reportf(thread, row, format string, args ...any) {
	c.tell(store.Problem{ThreadID: thread, Row: row, Text: fmt.Sprintf(format, args...)})
}

func (c *checkup) tell(p store.Problem) {
	if c.visit.Problem != nil {
		c.visit.Problem(p)
	}
}

func (c *checkup) pages(ctx context.Context) error {
	d, ok := c.dialect.(examiner)
	if !ok {
		return nil
	}
	faults, err := d.examine(ctx, c.readers)
	for _, f := range faults {
		c.reportf("", "", "the database file is damaged: %s", f)
	}
	return c.readError(err)
}

// links are faults between rows: each query finds the thread and the row of those that have it.
var links = []struct {
	query, text string
	slow        bool
}{
	{text: "the thread's newest checkpoint is not in the log",
		query: "SELECT t.id, t.head FROM threads t WHERE t.head <> '' AND NOT EXISTS " +
			"(SELECT 1 FROM log l WHERE l.thread_id = t.id AND l.checkpoint_id = t.head)"},
	{text: "the thread has checkpoints but does not know its newest one",
		query: "SELECT t.id, '' FROM threads t WHERE t.head = '' AND EXISTS " +
			"(SELECT 1 FROM log l WHERE l.thread_id = t.id AND l.checkpoint_id IS NOT NULL)"},
	{text: "the checkpoint before it is not in the log",
		query: "SELECT l.thread_id, l.checkpoint_id FROM log l WHERE l.checkpoint_id IS NOT NULL AND l.parent_id <> " +
			"'' AND NOT EXISTS " +
			"(SELECT 1 FROM log p WHERE p.thread_id = l.thread_id AND p.checkpoint_id = l.parent_id)"},
	{text: "it does not follow on the checkpoint before it",
		query: "SELECT l.thread_id, l.checkpoint_id FROM log l JOIN log p ON p.thread_id = l.thread_id AND " +
			"p.checkpoint_id = l.parent_id " +
			"WHERE l.checkpoint_id <= p.checkpoint_id OR l.step <> p.step + 1"},
	{text: "the run belongs to no thread",
		query: "SELECT r.thread_id, r.id FROM runs r WHERE NOT EXISTS (SELECT 1 FROM threads t WHERE t.id = " +
			"r.thread_id)"},
	{text: "the hidden thread works on the files of no thread of its user",
		query: "SELECT t.id, '' FROM threads t WHERE t.root_id <> '' AND NOT EXISTS " +
			"(SELECT 1 FROM threads o WHERE o.id = t.root_id AND o.root_id = '' AND o.user_id = t.user_id)"},
	{text: "the run is in no tree: its parent or its root is missing, of another user or at another depth",
		query: "SELECT r.thread_id, r.id FROM runs r LEFT JOIN runs p ON p.id = r.parent_id LEFT JOIN runs o ON " +
			"o.id = r.root_id " +
			"WHERE (r.parent_id <> '' OR r.root_id <> '' OR r.depth <> 0) AND (p.id IS NULL OR o.id IS NULL OR " +
			"o.parent_id <> '' OR " +
			"p.user_id <> r.user_id OR o.user_id <> r.user_id OR p.depth + 1 <> r.depth)"},
	{text: "a run at its end has children that are not",
		query: "SELECT r.thread_id, r.id FROM runs r JOIN runs p ON p.id = r.parent_id " +
			"WHERE r.parent_id <> '' AND r.status IN ('pending', 'running') AND p.status NOT IN ('pending', " +
			"'running')"},
	{text: "the log row belongs to no thread",
		query: "SELECT l.thread_id, CAST(l.seq AS TEXT) FROM log l WHERE NOT EXISTS (SELECT 1 FROM threads t WHERE " +
			"t.id = l.thread_id)"},
	{text: "the log row belongs to no run of the thread, or to an attempt that never was",
		query: "SELECT l.thread_id, CAST(l.seq AS TEXT) FROM log l LEFT JOIN runs r ON r.id = l.run_id AND " +
			"r.thread_id = l.thread_id " +
			"WHERE (r.id IS NULL OR l.attempt > r.attempt) AND (l.run_id <> '' OR l.attempt <> 0 OR l.last_n > 0)"},
	{text: "its events do not come after those before them",
		query: "SELECT e.thread_id, CAST(e.seq AS TEXT) FROM (SELECT thread_id, seq, attempt, first_n, " +
			"LAG(attempt) OVER w AS attempt_before, LAG(last_n) OVER w AS last_before FROM log WHERE last_n > 0 " +
			"WINDOW w AS (PARTITION BY run_id ORDER BY seq)) e " +
			"WHERE e.attempt < e.attempt_before OR e.attempt = e.attempt_before AND e.first_n <= e.last_before"},
	{text: "a snapshot belongs to a checkpoint that is not in the log",
		query: "SELECT s.thread_id, s.checkpoint_id FROM snapshots s WHERE NOT EXISTS " +
			"(SELECT 1 FROM log l WHERE l.thread_id = s.thread_id AND l.checkpoint_id = s.checkpoint_id)"},
	{text: "its snapshot, the thread's newest, is missing", slow: true,
		query: "SELECT n.thread_id, n.id FROM (SELECT thread_id, max(checkpoint_id) AS id FROM log " +
			"WHERE checkpoint_id IS NOT NULL AND since = 0 AND snap > 0 GROUP BY thread_id) n WHERE NOT EXISTS " +
			"(SELECT 1 FROM snapshots s WHERE s.thread_id = n.thread_id AND s.checkpoint_id = n.id)"},
}

func (c *checkup) links(ctx context.Context) error {
	for _, link := range links {
		err := c.read(ctx, link.query, nil, func(r *sql.Rows) (bool, error) {
			p := store.Problem{Text: link.text, Slow: link.slow}
			err := r.Scan(&p.ThreadID, &p.Row)
			if err == nil {
				c.tell(p)
			}
			return true, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// logRow is a row of the log with what must agree in it.
type logRow struct {
	seq             int64
	thread          string
	checkpoint      sql.NullString
	attempt         int
	first, last     int64
	updates, events []byte
}

// log decodes every row.
func (c *checkup) log(ctx context.Context) error {
	const query = "SELECT seq, thread_id, checkpoint_id, attempt, first_n, last_n, updates, events FROM log ORDER BY " +
		"seq"
	return c.read(ctx, query, nil, func(r *sql.Rows) (bool, error) {
		var l logRow
		if err := r.Scan(&l.seq, &l.thread, &l.checkpoint, &l.attempt, &l.first, &l.last, &l.updates,
			&l.events); err != nil {
			return false, err
		}
		for _, fault := range []error{c.checkUpdates(l), checkEvents(l)} {
			if fault != nil {
				c.reportf(l.thread, l.name(), "%v", fault)
			}
		}
		return true, nil
	})
}

func (l logRow) name() string {
	if l.checkpoint.Valid {
		return l.checkpoint.String
	}
	return strconv.FormatInt(l.seq, 10)
}

func (c *checkup) checkUpdates(l logRow) error {
	if l.checkpoint.Valid != (len(l.updates) > 0) {
		return errors.New("it has a checkpoint without updates, or updates without a checkpoint")
	}
	us, err := decodeUpdates(l.updates)
	for _, u := range us {
		if err == nil {
			_, err = c.schema.DecodeUpdate(u.Writes)
		}
	}
	return err
}

func checkEvents(l logRow) error {
	if len(l.events) == 0 {
		if l.first != 0 || l.last != 0 {
			return fmt.Errorf("its events %d to %d are missing", l.first, l.last)
		}
		return nil
	}
	evs, err := decodeEvents(l.events, l.updates, l.checkpoint.String, "")
	if err != nil {
		return err
	}
	before := int64(0)
	for _, e := range evs {
		if e.ID.Attempt != l.attempt || e.ID.N <= before {
			return fmt.Errorf("event %s does not belong behind %d-%d", e.ID, l.attempt, before)
		}
		before = e.ID.N
	}
	if len(evs) == 0 || evs[0].ID.N != l.first || before != l.last {
		return fmt.Errorf("its events are not those from %d to %d", l.first, l.last)
	}
	return nil
}

// states replays the head of each thread and compares each snapshot with what the log makes.
func (c *checkup) states(ctx context.Context) error {
	for after := ""; ; {
		ts, err := readThreads(ctx, c, "SELECT "+threadFields+" FROM threads t WHERE t.id > $1 ORDER BY t.id LIMIT 100",
			after)
		if err != nil || len(ts) == 0 {
			return err
		}
		for _, t := range ts {
			after = t.ID
			if err := c.head(ctx, t); err != nil {
				return err
			}
			if err := c.snapshots(ctx, t); err != nil {
				return err
			}
		}
	}
}

func (c *checkup) head(ctx context.Context, t store.Thread) error {
	if t.Head == "" {
		return nil
	}
	h, err := readHistory(ctx, c, t.UserID, t.ID, t.Head)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was told as a fault between rows, or the thread was deleted meanwhile
	}
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	var st state.State
	if err == nil {
		if st, err = h.replay(c.schema); err == nil {
			err = st.Check()
		}
	}
	if err != nil {
		c.reportf(t.ID, t.Head, "the thread cannot be continued: %v", err)
		return nil
	}
	if c.visit.Head == nil {
		return nil
	}
	return c.visit.Head(t, st)
}

func (c *checkup) snapshots(ctx context.Context, t store.Thread) error {
	var ids []string
	err := c.read(ctx, "SELECT checkpoint_id FROM snapshots WHERE thread_id = $1 ORDER BY checkpoint_id", []any{t.ID},
		func(r *sql.Rows) (bool, error) {
			ids = append(ids, "")
			return true, r.Scan(&ids[len(ids)-1])
		})
	if err != nil {
		return err
	}
	for _, id := range ids {
		h, stored, err := c.without(ctx, t, id)
		if errors.Is(err, store.ErrNotFound) {
			continue // as in head
		}
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			return err
		}
		if err == nil {
			err = c.compare(h, stored)
		}
		if err != nil {
			c.reportf(t.ID, id, "its snapshot: %v", err)
		}
	}
	return nil
}

// compare compares a snapshot with the state that the log makes without it.
func (c *checkup) compare(h history, stored []byte) error {
	if _, err := c.schema.LoadSnapshot(stored); err != nil {
		return err
	}
	made, err := h.replay(c.schema)
	if err != nil {
		return err
	}
	want, err := made.AppendSnapshot(nil)
	if err != nil || bytes.Equal(want, stored) {
		return err
	}
	return differ(want, stored)
}

// without is the history of a checkpoint that has a snapshot, up to the snapshot before that one.
func (c *checkup) without(ctx context.Context, t store.Thread, id string) (h history, snapshot []byte, err error) {
	var parent string
	var updates []byte
	err = c.read(ctx,
		"SELECT l.parent_id, l.updates, s.state FROM log l JOIN snapshots s ON s.thread_id = l.thread_id "+
			"AND s.checkpoint_id = l.checkpoint_id WHERE l.thread_id = $1 AND l.checkpoint_id = $2", []any{t.ID, id},
		func(r *sql.Rows) (bool, error) { return false, r.Scan(&parent, &updates, &snapshot) })
	if err == nil && snapshot == nil {
		err = store.ErrNotFound
	}
	if err == nil && parent != "" {
		h, err = readHistory(ctx, c, t.UserID, t.ID, parent)
	}
	h.deltas = slices.Insert(h.deltas, 0, updates)
	return h, snapshot, err
}

// differ names the channels in which two snapshots differ; nil if it is in how they are written alone.
func differ(a, b []byte) error {
	var values [2]map[string]json.RawMessage
	for i, raw := range [][]byte{a, b} {
		st, err := state.Schema{}.LoadSnapshot(raw) // without declarations no channel is private
		if err == nil {
			values[i], err = st.Values()
		}
		if err != nil {
			return err
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(values[0])) {
		if !equalJSON(values[0][name], values[1][name]) {
			names = append(names, name)
		}
	}
	for name := range values[1] {
		if values[0][name] == nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("it and the log differ in %s: one of them was changed", strings.Join(names, ", "))
}

func equalJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var values [2]any
	for i, raw := range [][]byte{a, b} {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}
