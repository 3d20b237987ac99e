package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// Add keeps a fact that somebody has written himself. Its ID, status and times are set here. [ErrDuplicate] if there is
// one that says the same, [ErrEvicted] if there is no room for one of so little confidence.
func (m *Mine) Add(ctx context.Context, f Fact) (added Fact, err error) {
	err = m.change(ctx, "add fact", func(e *edit) error {
		n := f
		n.ID, n.Status, n.Revision, n.CreatedAt, n.UpdatedAt = e.fresh(), Active, 1, e.now, e.now
		if n.Source == "" {
			n.Source = Manual
		}
		if err := n.check(); err != nil {
			return err
		}
		if e.twin(&n) {
			return ErrDuplicate
		}
		if err := m.inFolder(ctx, n.Folder); err != nil {
			return err
		}
		e.put(n, ActAdded, "", "")
		added, err = e.room(&n)
		return err
	})
	return added, err
}

// room evicts what there is no room for beside a fact, and returns that, unless it is that itself.
func (e *edit) room(f *Fact) (Fact, error) {
	if e.evict(f, ""); e.err != nil {
		return Fact{}, e.err
	}
	if now := e.get(f.ID); now.Status != Gone {
		return *now, nil
	}
	return Fact{}, ErrEvicted
}

// inFolder reports that there is no such folder.
func (m *Mine) inFolder(ctx context.Context, folder string) error {
	there := folder == ""
	if there {
		return nil
	}
	err := m.db.Read(ctx, "folder", func(database.Row) (bool, error) { there = true; return false, nil }, folder)
	if err == nil && !there {
		err = store.ErrNotFound
	}
	return err
}

// Patch changes what is not nil.
type Patch struct {
	Content, Category *string
	Confidence        *float64
}

// Change changes a fact; without a difference nothing is written. [store.ErrNotFound] if it is not there, or gone.
func (m *Mine) Change(ctx context.Context, id string, p Patch) (Fact, error) {
	var out Fact
	err := m.change(ctx, "change fact", func(e *edit) error {
		old := e.get(id)
		if old == nil || old.Status == Gone {
			return cmp.Or(e.err, store.ErrNotFound)
		}
		f := *old
		if p.Content != nil {
			f.Content = *p.Content
		}
		if p.Category != nil {
			f.SetCategory(*p.Category)
		}
		if p.Confidence != nil {
			f.Confidence = *p.Confidence
		}
		if err := f.check(); err != nil {
			return err
		}
		out = *old
		if f.Content == old.Content && f.Category == old.Category && f.Extension == old.Extension &&
			f.Confidence == old.Confidence {
			return nil
		}
		if f.Status == Active && e.twin(&f) {
			return ErrDuplicate
		}
		f.Revision, f.UpdatedAt = f.Revision+1, e.now
		e.put(f, ActChanged, "", "")
		out = *e.get(id)
		return nil
	})
	return out, err
}

// Forget has a fact go for good, with all that was made of it, what was said, and what is written of them in the
// history. It returns how many facts went.
func (m *Mine) Forget(ctx context.Context, id string) (n int, err error) {
	err = m.change(ctx, "forget fact", func(e *edit) error {
		if e.get(id) == nil {
			return cmp.Or(e.err, store.ErrNotFound)
		}
		n = e.forget(id)
		return nil
	})
	return n, err
}

// forget drops facts and what was made of them.
func (e *edit) forget(ids ...string) int {
	gone := make(map[string]bool)
	made := e.those(func(f *Fact) bool { return len(f.From) > 0 || f.Replaces != "" }, "made")
	for len(ids) > 0 {
		id := ids[0]
		if ids = ids[1:]; gone[id] || e.get(id) == nil {
			continue
		}
		gone[id] = true
		for _, f := range made {
			if slices.Contains(f.From, id) || f.Replaces == id {
				ids = append(ids, f.ID)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		e.drop(id)
		e.notes = append(e.notes, note{fact: id, act: ActForgotten})
	}
	return len(gone)
}

// ForgetThread has go for good what was learned in a thread, whether that is still there or not. It returns how many
// facts that were.
func (m *Mine) ForgetThread(ctx context.Context, thread string) (n int, err error) {
	return m.forgetAll(ctx, "thread", thread, func(f *Fact) bool { return f.Thread == thread })
}

// ForgetAgent has go for good what is for an agent alone. It returns how many facts that were.
func (m *Mine) ForgetAgent(ctx context.Context, agent string) (n int, err error) {
	return m.forgetAll(ctx, "agent", agent, func(f *Fact) bool { return f.Agent == agent })
}

// forgetAll forgets the facts of a thread or an agent, and what was made of them.
func (m *Mine) forgetAll(ctx context.Context, what, of string, fit func(*Fact) bool) (n int, err error) {
	err = m.change(ctx, "forget the facts of the "+what, func(e *edit) error {
		if n = 0; of == "" {
			return nil
		}
		var ids []string
		for _, f := range e.those(fit, "of"+what, of) {
			ids = append(ids, f.ID)
		}
		if len(ids) > 0 {
			n = e.forget(ids...)
		}
		return nil
	})
	return n, err
}

// Clear forgets everything. The entry of the history says so, and makes that it is a write though nothing was there.
func (m *Mine) Clear(ctx context.Context) error {
	return m.change(ctx, "clear memory", func(e *edit) error {
		e.cleared, e.sections, e.notes = true, Sections{}, []note{{act: ActCleared}}
		return nil
	})
}

// Accept keeps a proposed fact.
func (m *Mine) Accept(ctx context.Context, id string) (Fact, error) {
	return m.decide(ctx, id, Proposed, func(e *edit, f *Fact) error {
		if e.twin(f) { // it is known by now
			e.set(f, Gone, ActRefused, "", "it is known already")
			return nil
		}
		e.replace(f.Replaces, "", "the user agreed to "+f.ID)
		e.set(f, Active, ActAccepted, "", "")
		e.evict(f, "")
		return nil
	})
}

// Refuse gives a proposed fact up. It is not proposed again.
func (m *Mine) Refuse(ctx context.Context, id string) (Fact, error) {
	return m.decide(ctx, id, Proposed, func(e *edit, f *Fact) error {
		c := *f
		c.Refused = true
		e.set(&c, Gone, ActRefused, "", "")
		return nil
	})
}

// Restore brings a fact back that was replaced or given up; what has replaced it stays. [ErrDuplicate] if another says
// the same by now. It stays even where that is one fact too many, until the next is added.
func (m *Mine) Restore(ctx context.Context, id string) (Fact, error) {
	return m.decide(ctx, id, Gone, func(e *edit, f *Fact) error {
		if e.twin(f) {
			return ErrDuplicate
		}
		e.set(f, Active, ActRestored, "", "")
		return nil
	})
}

// decide changes the status of a fact that has the one named; else it is [store.ErrNotFound].
func (m *Mine) decide(ctx context.Context, id, status string, do func(*edit, *Fact) error) (out Fact, err error) {
	err = m.change(ctx, "decide about fact", func(e *edit) error {
		f := e.get(id)
		if f == nil || f.Status != status {
			return cmp.Or(e.err, store.ErrNotFound)
		}
		err := do(e, f)
		out = *e.get(id)
		return err
	})
	return out, err
}

// replace has an active fact give way to another; both stay in the history.
func (e *edit) replace(id, batch, why string) {
	if f := e.get(id); f != nil && f.Status == Active {
		e.set(f, Gone, ActReplaced, batch, why)
	}
}

// days is a time in days.
func days(d time.Duration) float64 { return d.Hours() / 24 }

// oneLine is a text for a line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
