package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/state"
)

// reach says which messages of a branch are meant: the oldest behind a place, or, if after is 0, the newest before one.
type reach struct {
	after, before int64
	limit         int
}

// some are messages of a branch without their content, in the order in which they are looked for.
func (m *Mine) some(ctx context.Context, b branch, r reach) (out []Message, err error) {
	spans := b.spans
	if r.after > 0 {
		spans = slices.Clone(spans)
		slices.Reverse(spans)
	}
	for _, s := range spans {
		s.from = max(s.from, r.after+1)
		if r.before > 0 {
			s.to = min(s.to, r.before-1)
		}
		for s.from <= s.to && len(out) < r.limit {
			found, last, err := m.window(ctx, b, s, r.limit-len(out), r.after > 0)
			if err != nil {
				return nil, err
			}
			out = append(out, found[:min(len(found), r.limit-len(out))]...)
			switch {
			case last == 0:
				s.to = 0
			case r.after > 0:
				s.from = last + 1
			default:
				s.to = last - 1
			}
		}
	}
	return out, nil
}

// read is a page of a branch.
func (m *Mine) read(ctx context.Context, b branch, r reach) (p Page, err error) {
	limit := r.limit
	r.limit++
	list, err := m.some(ctx, b, r)
	if err != nil {
		return p, err
	}
	if p.More = len(list) > limit; p.More {
		list = list[:limit]
	}
	n, err := m.fill(ctx, b.thread, list)
	if err != nil {
		return p, err
	}
	p.More = p.More || n < len(list)
	p.Messages = list[:n]
	if r.after == 0 {
		slices.Reverse(p.Messages)
	}
	return p, nil
}

// window reads about as many messages out of some rows as are wanted, the newest first, or the oldest. last is the last
// row that was looked at, 0 if that was all.
func (m *Mine) window(ctx context.Context, b branch, s span, wanted int,
	up bool) (out []Message, last int64, err error) {
	statement := "window"
	if up {
		statement = "windowup"
	}
	most := wanted + wanted/4 + 4 // some are not shown
	n := 0
	var msg Message
	there := false // the message was not removed
	keep := func() {
		if there && msg.Kind != "" {
			out = append(out, msg)
		}
	}
	err = m.db.Read(ctx, statement, func(r database.Row) (bool, error) {
		var next Message
		var op, kind string
		var seq, took, at, began, ended int64
		err := r.Scan(&next.Seq, &next.key, &next.RunID, &next.prev, &next.turn, &next.Turn, &next.Call, &took, &at,
			&seq, &op, &kind,
			&next.checkpoint, &next.n, &next.Status, &began, &ended)
		if err != nil {
			return false, err
		}
		if next.Seq != last {
			keep()
			n, last, there = n+1, next.Seq, false
		}
		switch {
		case !b.has(seq):
		case op == string(state.OpRemove):
			there = false
		case seq == next.Seq || op == string(state.OpReplace) && there:
			next.Kind, next.At, next.Took = message.Role(kind), database.TimeOf(at),
				time.Duration(took)*time.Millisecond
			next.Began, next.Ended = database.TimeOf(began), database.TimeOf(ended)
			if next.addedIn = msg.addedIn; seq == next.Seq {
				next.addedIn = next.checkpoint
			}
			msg, there = next, true
		}
		return true, nil
	}, b.thread, s.from, s.to, most)
	keep()
	if n < most {
		last = 0
	}
	return out, last, err
}

// filled is how many messages are given their content with one statement.
const filled = 50

// fill gives messages their content, those that come first as many as a page may hold, and returns how many.
func (m *Mine) fill(ctx context.Context, thread string, msgs []Message) (n int, err error) {
	size := 0
	for n < len(msgs) && (n == 0 || size < maxBytes) {
		some := msgs[n:min(n+filled, len(msgs))]
		if err := m.contents(ctx, thread, some); err != nil {
			return 0, err
		}
		for _, msg := range some {
			if n > 0 && size+len(msg.Content) > maxBytes {
				return n, nil
			}
			n, size = n+1, size+len(msg.Content)
		}
	}
	return n, nil
}

func (m *Mine) contents(ctx context.Context, thread string, msgs []Message) error {
	in := make(map[string][]int, len(msgs)) // the messages whose content a checkpoint has
	names := []string{}
	for i, msg := range msgs {
		if in[msg.checkpoint] == nil {
			names = append(names, msg.checkpoint)
		}
		in[msg.checkpoint] = append(in[msg.checkpoint], i)
	}
	found := 0
	err := m.db.Read(ctx, "updates", func(r database.Row) (bool, error) {
		var name string
		var updates []byte
		if err := r.Scan(&name, &updates); err != nil {
			return false, err
		}
		changes, err := changesOf(updates)
		for _, i := range in[name] {
			if n := msgs[i].n; err == nil && n < len(changes) {
				msgs[i].Content = append(json.RawMessage(nil), changes[n].raw...)
				found++
			}
		}
		return true, err
	}, thread, list(names))
	if err == nil && found < len(msgs) {
		err = fmt.Errorf("%w: the log lacks %d messages", store.ErrCorrupt, len(msgs)-found)
	}
	return err
}

// ofRun is the branch that has the rows of a run alone.
func (m *Mine) ofRun(ctx context.Context, thread, run string) (b branch, err error) {
	h, err := m.sync(ctx, thread)
	if err != nil || run == "" {
		return b, err
	}
	var s span
	if err = m.one(ctx, "ofrun", []any{&s.from, &s.to}, thread, run); err != nil || s.from == 0 {
		return b, err
	}
	s.to = cmp.Or(s.to, h.seq+1) - 1
	return branch{thread: thread, spans: []span{s}, end: h.seq}, nil
}
