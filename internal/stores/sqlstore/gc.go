package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/rawjson"
	"github.com/pudu-ai/pudu/internal/store"
)

// trimBytes and trimRows bound what is rewritten in one transaction.
const (
	trimBytes = 4 << 20
	trimRows  = 256
)

// Collect implements [store.Keeper]. Each part is a row of small transactions, between which runs go on.
func (s *Store) Collect(ctx context.Context, r store.Retention) (c store.Collected, err error) {
	if !r.Chunks.IsZero() {
		err = s.trimAll(ctx, r, &c)
	}
	if err == nil && !r.Snapshots.IsZero() {
		err = s.dropSnapshots(ctx, r, &c)
	}
	if err == nil && !r.Rows.IsZero() {
		err = s.dropAged(ctx, r, &c)
	}
	if d, ok := s.dialect.(shrinker); ok && err == nil && r.Shrink && !r.DryRun {
		c.Shrunk, err = d.shrink(ctx)
		err = s.readError(err)
	}
	if err != nil {
		return c, fmt.Errorf("collect what is too old: %w", err)
	}
	return c, nil
}

// trimmed is a log row without the chunk boundaries of its messages.
type trimmed struct {
	seq, last, attempt int64
	run                string
	events             []byte
}

func (s *Store) trimAll(ctx context.Context, r store.Retention, c *store.Collected) error {
	for at := int64(math.MinInt64); ; {
		rows, last, err := s.findChunks(ctx, at, r.Chunks, c)
		if err != nil {
			return err
		}
		if len(rows) > 0 && !r.DryRun {
			if err := s.write(ctx, trimBytes, func(t *tx) error { return trim(t, rows) }); err != nil {
				return err
			}
		}
		if last == at {
			return nil
		}
		at = last
	}
}

// findChunks collects rows behind the one with number at, as many as go into one transaction, and returns the number of
// the last row that it looked at.
func (s *Store) findChunks(ctx context.Context, at int64, before time.Time, c *store.Collected) (found []trimmed,
	last int64, err error) {
	last = at
	size := 0
	err = s.read(ctx,
		"SELECT seq, last_n, attempt, run_id, events FROM log WHERE seq > $1 AND last_n > 0 AND created_at < $2 "+
			"ORDER BY seq",
		[]any{at, database.Micros(before)}, func(rows *sql.Rows) (bool, error) {
			var t trimmed
			var events []byte
			if err := rows.Scan(&t.seq, &t.last, &t.attempt, &t.run, &events); err != nil {
				return false, err
			}
			last = t.seq
			var messages int64
			if t.events, messages = trimChunks(events); messages > 0 {
				found = append(found, t)
				size += len(t.events)
				c.Messages += messages
				c.Bytes += int64(len(events) - len(t.events))
			}
			return size < trimBytes && len(found) < trimRows, nil
		})
	return found, last, err
}

// trim rewrites rows. The number alone does not name a row: that of a deleted one may have been given away again.
func trim(t *tx, rows []trimmed) error {
	for _, r := range rows {
		err := t.exec("UPDATE log SET events = $2 WHERE seq = $1 AND run_id = $3 AND attempt = $4 AND last_n = $5",
			r.seq, r.events, r.run, r.attempt, r.last)
		if err != nil {
			return err
		}
	}
	return nil
}

// trimChunks takes the chunk boundaries out of a row's message events and returns how many had some. Nothing else is
// touched; bytes that are not as they were written stay as they are.
func trimChunks(events []byte) ([]byte, int64) {
	mark := []byte(`,"chunks":[`)
	if !bytes.Contains(events, mark) || !json.Valid(events) {
		return events, 0
	}
	list, _ := rawjson.Elements(events)
	out := []byte{'['}
	n := int64(0)
	for i, raw := range list {
		if i > 0 {
			out = append(out, ',')
		}
		members, _ := rawjson.Members(raw)
		if at := bytes.Index(raw, mark); at >= 0 && string(members["kind"]) == `"message"` {
			_, rest := rawjson.Value(raw[at+len(mark)-1:])
			out = append(append(out, raw[:at]...), rest...)
			n++
			continue
		}
		out = append(out, raw...)
	}
	out = append(out, ']')
	if n == 0 || !json.Valid(out) {
		return events, 0
	}
	return out, n
}

// dropSnapshots drops those that no head and no checkpoint within the retention is read from. What remains loads from
// the snapshot before it, or from the beginning.
func (s *Store) dropSnapshots(ctx context.Context, r store.Retention, c *store.Collected) error {
	for after := ""; ; {
		var threads []string
		err := s.read(ctx, "SELECT thread_id FROM snapshots WHERE thread_id > $1 GROUP BY thread_id HAVING count(*) "+
			"> 1 ORDER BY thread_id LIMIT 100",
			[]any{after}, func(rows *sql.Rows) (bool, error) {
				threads = append(threads, "")
				return true, rows.Scan(&threads[len(threads)-1])
			})
		if err != nil || len(threads) == 0 {
			return err
		}
		for _, id := range threads {
			after = id
			if err := s.dropSnapshotsOf(ctx, id, r, c); err != nil {
				return err
			}
		}
	}
}

func (s *Store) dropSnapshotsOf(ctx context.Context, thread string, r store.Retention, c *store.Collected) error {
	tree, err := s.tree(ctx, thread)
	if err != nil {
		return err
	}
	drop := tree.superfluous(database.Micros(r.Snapshots))
	if len(drop) > 0 && !r.DryRun {
		err = s.write(ctx, 0, func(t *tx) error {
			for _, id := range drop {
				if err := t.exec("DELETE FROM snapshots WHERE thread_id = $1 AND checkpoint_id = $2", thread,
					id); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	for _, id := range drop {
		c.Snapshots++
		c.Bytes += tree.nodes[id].snapshot
	}
	return nil
}

// dropAged drops the rows of features that have outlived their use.
func (s *Store) dropAged(ctx context.Context, r store.Retention, c *store.Collected) error {
	for _, table := range s.tables {
		if table.Age.Column == "" {
			continue
		}
		n, err := s.dropAgedOf(ctx, table, r)
		c.Rows += n
		if err != nil {
			return fmt.Errorf("%s: %w", table.Name, err)
		}
	}
	return nil
}

func (s *Store) dropAgedOf(ctx context.Context, table database.Table, r store.Retention) (n int64, err error) {
	over := table.Age.Column + " > 0 AND " + table.Age.Column + " <= $1"
	before := database.Micros(r.Rows.Add(-table.Age.Keep))
	if r.DryRun {
		err = s.read(ctx, "SELECT count(*) FROM "+table.Name+" WHERE "+over, []any{before},
			func(rows *sql.Rows) (bool, error) {
				return false, rows.Scan(&n)
			})
		return n, err
	}
	for dropped := int64(trimRows); dropped == trimRows; n += dropped {
		err := s.write(ctx, 0, func(t *tx) (err error) {
			dropped, err = t.change(some(table, over, " ORDER BY "+table.Age.Column), before, trimRows)
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// tree is how a thread's checkpoints hang together.
type tree struct {
	head  string
	nodes map[string]node
}

// node is a checkpoint; snapshot is the size of its snapshot, 0 if it has none.
type node struct {
	parent            string
	created, snapshot int64
}

func (s *Store) tree(ctx context.Context, thread string) (tree, error) {
	t := tree{nodes: make(map[string]node)}
	err := s.read(ctx,
		"SELECT t.head, l.checkpoint_id, l.parent_id, l.created_at, COALESCE(s.bytes, 0) FROM threads t "+
			"JOIN log l ON l.thread_id = t.id LEFT JOIN snapshots s ON s.thread_id = l.thread_id AND s.checkpoint_id "+
			"= "+
			"l.checkpoint_id "+
			"WHERE t.id = $1 AND l.checkpoint_id IS NOT NULL", []any{thread}, func(rows *sql.Rows) (bool, error) {
			var id string
			var n node
			err := rows.Scan(&t.head, &id, &n.parent, &n.created, &n.snapshot)
			t.nodes[id] = n
			return true, err
		})
	return t, err
}

// base is the checkpoint whose snapshot the state of id is read from; empty if that is the beginning.
func (t tree) base(id string) string {
	for id != "" && t.nodes[id].snapshot == 0 {
		id = t.nodes[id].parent
	}
	return id
}

// superfluous are the checkpoints whose snapshots can go.
func (t tree) superfluous(before int64) (ids []string) {
	needed := map[string]bool{t.base(t.head): true}
	newest := ""
	for id, n := range t.nodes {
		if n.snapshot > 0 {
			newest = max(newest, id)
		}
		if n.created >= before && t.nodes[n.parent].created < before {
			needed[t.base(id)] = true // what comes behind it is read from here, or from a later snapshot
		}
	}
	needed[newest] = true // the log counts on from it
	for id, n := range t.nodes {
		if n.snapshot > 0 && n.created < before && !needed[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// shrinker is a dialect whose files keep their size when rows go.
type shrinker interface {
	// shrink gives back what is free, if it is much, and returns how many bytes.
	shrink(ctx context.Context) (int64, error)
}

var _ shrinker = sqlite{}

// worthShrinking is the least free room that is worth writing the whole file again, beside being a quarter of it.
const worthShrinking = 1 << 20

func (d sqlite) shrink(ctx context.Context) (int64, error) {
	db, err := d.open(1, false)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var size, free, pages int64
	for _, q := range []struct {
		pragma string
		value  *int64
	}{{"page_size", &size}, {"freelist_count", &free}, {"page_count", &pages}} {
		if err := db.QueryRowContext(ctx, "PRAGMA "+q.pragma).Scan(q.value); err != nil {
			return 0, err
		}
	}
	if free*size < worthShrinking || free*4 < pages {
		return 0, nil
	}
	for _, q := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return 0, err
		}
	}
	left := pages
	err = db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&left)
	return (pages - left) * size, err
}
