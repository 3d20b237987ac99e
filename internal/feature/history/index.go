package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

const (
	// readAtOnce is how many rows of the log are read together, and readBytes about how many bytes.
	readAtOnce, readBytes = 400, 8 << 20
	// gap is the room behind a run's rows: what is told of its end has a place there.
	gap = 2
)

// head is how far a thread was read, and what is known there.
type head struct {
	checkpoint, run  string
	seq, prev, turn  int64
	turns            int64 // on the branch
	calls            int
	at               int64
	newest, untilNow string // the thread's newest checkpoint; where the row in the database stands
}

// entry is a row of the log.
type entry struct {
	checkpoint, parent, run string
	at                      int64
	changes                 []change
}

// row is a row of the table, as the migration describes it.
type row struct {
	seq                  int64
	op, id, kind, run    string
	checkpoint           string // with the change numbered n
	n                    int
	base, prev, turn, at int64
	call                 int
	millis, tokens       int64
	model                string
}

// sync notes what was added to the log since somebody looked last.
func (m *Mine) sync(ctx context.Context, thread string) (head, error) {
	for {
		h, err := m.head(ctx, thread)
		if err != nil || h.checkpoint == h.newest {
			return h, err
		}
		if err := m.advance(ctx, thread, &h); err != nil {
			return h, fmt.Errorf("note what its log says: %w", err)
		}
	}
}

func (m *Mine) head(ctx context.Context, thread string) (h head, err error) {
	found := false
	err = m.db.Read(ctx, "head", func(r database.Row) (bool, error) {
		found = true
		return false, r.Scan(&h.newest, &h.checkpoint, &h.run, &h.seq, &h.prev, &h.turn, &h.turns, &h.calls, &h.at)
	}, thread)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	h.untilNow = h.checkpoint
	return h, err
}

// advance reads on in the log, up to the next branch.
func (m *Mine) advance(ctx context.Context, thread string, h *head) error {
	entries, err := m.entries(ctx, thread, h.checkpoint)
	if err != nil || len(entries) == 0 {
		return err
	}
	marks, err := m.marks(ctx, thread)
	if err != nil {
		return err
	}
	r := reading{head: h, live: make(map[string]bool)}
	if entries[0].parent != h.checkpoint {
		if err := m.turnOff(ctx, thread, &r, marks, entries[0]); err != nil {
			return err
		}
	}
	if err := m.known(ctx, thread, r.live, chain(marks, r.base(h.seq)), entries); err != nil {
		return err
	}
	for _, e := range entries {
		r.entry(e)
	}
	return m.write(ctx, thread, h, r.rows)
}

// entries are the next rows of the log, up to one that stands on another than the one before it.
func (m *Mine) entries(ctx context.Context, thread, after string) (out []entry, err error) {
	size := 0
	err = m.db.Read(ctx, "log", func(r database.Row) (bool, error) {
		var e entry
		var updates []byte
		if err := r.Scan(&e.checkpoint, &e.parent, &e.run, &e.at, &updates); err != nil {
			return false, err
		}
		if len(out) > 0 && e.parent != out[len(out)-1].checkpoint {
			return false, nil
		}
		var err error
		if e.changes, err = changesOf(updates); err != nil {
			return false, fmt.Errorf("checkpoint %s: %w", e.checkpoint, err)
		}
		out, size = append(out, e), size+len(updates)
		return size < readBytes, nil
	}, thread, after, readAtOnce)
	return out, err
}

// known finds which of the messages that are changed are there.
func (m *Mine) known(ctx context.Context, thread string, live map[string]bool, spans []span, entries []entry) error {
	ids := []string{}
	for _, e := range entries {
		for _, c := range e.changes {
			if c.id != "" {
				ids = append(ids, c.id)
			}
		}
	}
	if len(ids) == 0 || len(spans) == 0 {
		return nil
	}
	on, done := branch{spans: spans}, []row{}
	err := m.db.Read(ctx, "known", func(r database.Row) (bool, error) {
		var w row
		err := r.Scan(&w.id, &w.seq, &w.op)
		if on.has(w.seq) {
			done = append(done, w)
		}
		return true, err
	}, thread, list(ids))
	slices.SortFunc(done, func(a, b row) int { return cmp.Compare(a.seq, b.seq) })
	for _, w := range done {
		live[w.id] = w.op != string(state.OpRemove)
	}
	return err
}

// list is a list of texts as statements take it.
func list(texts []string) string {
	raw, _ := json.Marshal(texts) // texts can be encoded
	return string(raw)
}

// reading makes rows of the log.
type reading struct {
	*head

	live   map[string]bool
	rows   []row
	branch *mark
}

// base is the row that what is read stands on.
func (r *reading) base(end int64) int64 {
	if r.branch != nil {
		return r.branch.base
	}
	return end
}

// turnOff begins a branch: it finds what the messages are where it begins.
func (m *Mine) turnOff(ctx context.Context, thread string, r *reading, marks []mark, first entry) (err error) {
	k := mark{}
	if first.parent != "" {
		if k.base, err = m.at(ctx, thread, first.parent); err != nil {
			return err
		}
	}
	spans := chain(marks, k.base)
	r.turns = 0
	for _, s := range spans {
		p, err := m.point(ctx, "last", thread, s.from, s.to)
		if err != nil {
			return err
		}
		if p.kind == string(message.Human) {
			p.turn = p.seq
		}
		if k.prev, k.turn, r.turns = p.seq, p.turn, p.turns; p.seq > 0 {
			break
		}
	}
	if k.prev == 0 && len(spans) > 0 {
		begin := spans[len(spans)-1].from
		if slices.ContainsFunc(marks, func(k mark) bool { return k.reset && k.seq == begin }) {
			k.prev = begin
		}
	}
	r.branch, r.prev, r.turn = &k, k.prev, k.turn
	return nil
}

// entry adds the rows of one row of the log.
func (r *reading) entry(e entry) {
	took := max(0, e.at-r.at) / 1000
	another := e.run != r.run || r.seq == 0
	if another && r.seq > 0 {
		r.seq += gap
	}
	if k := r.branch; k != nil {
		r.branch = nil
		r.add(e, row{op: opBranch, base: k.base, prev: k.prev, turn: k.turn})
	}
	if another {
		r.run, r.calls, took = e.run, 0, 0
		r.add(e, row{op: opRun})
	}
	for n, c := range e.changes {
		r.change(e, n, c, took)
	}
	r.checkpoint, r.at = e.checkpoint, e.at
}

func (r *reading) change(e entry, n int, c change, took int64) {
	w := row{op: c.op, id: c.id, n: n}
	switch state.Op(c.op) {
	case state.OpReset:
		clear(r.live)
		r.add(e, w)
		r.prev, r.turn, r.turns = r.seq, 0, 0
		return
	case state.OpRemove:
		delete(r.live, c.id)
	default:
		w.kind, w.model = shown(c.raw)
		if r.live[c.id] {
			w.op = string(state.OpReplace)
			break
		}
		w.op, r.live[c.id] = string(state.OpAppend), true
		if w.kind == string(message.AI) {
			r.calls++
			w.call, w.millis, w.tokens = r.calls, took, tokensOf(c.raw)
		}
	}
	if w.op != string(state.OpAppend) || w.kind == "" {
		r.add(e, w)
		return
	}
	if w.kind == string(message.Human) {
		r.turns++
	}
	w.prev, w.turn, w.base = r.prev, r.turn, r.turns
	r.add(e, w)
	r.prev = r.seq
	if w.kind == string(message.Human) {
		r.turn = r.seq
	}
}

func (r *reading) add(e entry, w row) {
	r.seq++
	w.seq, w.run, w.checkpoint, w.at = r.seq, e.run, e.checkpoint, e.at
	r.rows = append(r.rows, w)
}

// write keeps the rows, unless somebody else has done so.
func (m *Mine) write(ctx context.Context, thread string, h *head, rows []row) error {
	values := make([][]any, len(rows))
	for i, w := range rows {
		values[i] = []any{
			w.seq, w.op, w.id, w.kind, w.run, w.checkpoint, w.n, w.base, w.prev, w.turn, w.call, w.millis, w.tokens,
			w.at, w.model,
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return err
	}
	return m.db.Write(ctx, len(raw), func(tx database.Tx) error {
		if _, err := tx.Exec("begin", thread); err != nil {
			return err
		}
		n, err := tx.Exec("advance", thread, h.untilNow, h.checkpoint, h.run, h.seq, h.prev, h.turn, h.turns, h.calls,
			h.at)
		if err == nil && n > 0 && len(rows) > 0 {
			_, err = tx.Exec("add", thread, string(raw))
		}
		return err
	})
}
