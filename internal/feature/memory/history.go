package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// Entry is what became of a fact, or of the summaries if it names none.
type Entry struct {
	Seq   int64
	At    time.Time
	Fact  string
	Batch string // of the reading that did it; empty if people did
	Act   string
	Why   string
	changed
}

// Source is what a human said that a fact was learned from.
type Source struct {
	Thread, Title string
	Message       string
	At            time.Time
	Words         string

	fact string
}

// Use is a thread that was told of a fact.
type Use struct {
	Thread, Title string
	At            time.Time
}

// Story is all that is known of a fact: why it is known, where it was used, and what became of it.
type Story struct {
	Fact    Fact
	Sources []Source
	Uses    []Use
	History []Entry
}

// MaxEntries bounds a list of entries.
const MaxEntries = 200

func scanEntry(r database.Row) (e Entry, err error) {
	var at int64
	var body string
	if err = r.Scan(&e.Seq, &at, &e.Fact, &e.Batch, &e.Act, &e.Why, &body); err == nil {
		e.At = timeOf(at)
		err = json.Unmarshal([]byte(body), &e.changed)
	}
	return e, err
}

func (m *Mine) entries(ctx context.Context, statement string, args ...any) (list []Entry, err error) {
	err = m.db.Read(ctx, statement, func(r database.Row) (bool, error) {
		e, err := scanEntry(r)
		list = append(list, e)
		return true, err
	}, args...)
	return list, err
}

// History lists what became of a fact, or of all for an empty id, the newest first, before the number; 0 is from the
// end.
func (m *Mine) History(ctx context.Context, fact string, before int64, limit int) ([]Entry, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	err := database.CheckLimit(limit, MaxEntries)
	var list []Entry
	if err == nil {
		list, err = m.entries(ctx, "history", fact, before, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read the history of the memory: %w", err)
	}
	return list, nil
}

// Story tells all of a fact.
func (m *Mine) Story(ctx context.Context, id string) (s Story, err error) {
	if s.Fact, err = m.Fact(ctx, id); err != nil {
		return s, err
	}
	err = m.db.Read(ctx, "sources", func(r database.Row) (bool, error) {
		var x Source
		var at int64
		err := r.Scan(&x.Thread, &x.Title, &x.Message, &at, &x.Words)
		x.At = timeOf(at)
		s.Sources = append(s.Sources, x)
		return true, err
	}, id)
	if err == nil {
		err = m.db.Read(ctx, "uses", func(r database.Row) (bool, error) {
			var x Use
			var at int64
			err := r.Scan(&x.Thread, &x.Title, &at)
			x.At = timeOf(at)
			s.Uses = append(s.Uses, x)
			return true, err
		}, id)
	}
	if err == nil {
		s.History, err = m.entries(ctx, "history", id, int64(math.MaxInt64), 50)
	}
	if err != nil {
		return Story{}, fmt.Errorf("tell of fact %.40q: %w", id, err)
	}
	return s, nil
}

// Undo takes back what the last reading of a conversation changed and nobody has changed since. It returns how many
// facts that were; [store.ErrNotFound] if there is nothing to take back. The conversation is not read again.
func (m *Mine) Undo(ctx context.Context) (n int, err error) {
	err = m.change(ctx, "undo the last reading", func(e *edit) error {
		n = 0
		batch := ""
		err := m.db.Read(ctx, "last", func(r database.Row) (bool, error) { return false, r.Scan(&batch) })
		if err != nil {
			return err
		}
		if batch == "" {
			return store.ErrNotFound
		}
		list, err := m.entries(ctx, "batch", batch)
		for _, x := range list {
			n += e.undo(x)
		}
		e.notes = append(e.notes, note{batch: batch, act: ActUndone})
		return err
	})
	return n, err
}

// undo takes back an entry, and returns how many facts that changed.
func (e *edit) undo(x Entry) int {
	if x.Fact == "" {
		if x.Sections != nil {
			e.sections = *x.Sections
		}
		return 0
	}
	now := e.get(x.Fact)
	if now == nil || x.After == nil || now.Status != x.After.Status || now.Content != x.After.Content {
		return 0
	}
	f := *now
	if x.Before == nil {
		f.Status, f.GoneAt = Gone, e.now
	} else {
		seq, uses, used := f.seq, f.Uses, f.UsedAt
		f = *x.Before
		f.seq, f.Uses, f.UsedAt = seq, uses, used
	}
	if f.Status == Active && now.Status != Active && e.twin(&f) { // it is known by now
		return 0
	}
	f.Revision, f.UpdatedAt = now.Revision+1, e.now
	e.put(f, ActUndone, x.Batch, "")
	return 1
}
