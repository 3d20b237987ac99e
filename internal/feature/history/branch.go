package history

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/state"
)

// mark is a row at which another branch begins, or with which the messages begin anew.
type mark struct {
	seq   int64
	reset bool
	// Of a branch: the row that it stands on, and what is shown last there, with the turn that this is in.
	base, prev, turn int64
}

// span are rows that follow one another.
type span struct{ from, to int64 }

// branch are the rows that lead to one of them.
type branch struct {
	thread string
	marks  []mark
	spans  []span // the newest first
	end    int64  // the last row of the thread
}

// branch finds the branch that ends at a checkpoint; an empty one means the thread's.
func (m *Mine) branch(ctx context.Context, thread, checkpoint string) (branch, error) {
	h, err := m.sync(ctx, thread)
	if err != nil {
		return branch{}, err
	}
	b := branch{thread: thread, end: h.seq}
	if b.marks, err = m.marks(ctx, thread); err != nil {
		return b, err
	}
	at := h.seq
	if checkpoint != "" {
		if at, err = m.at(ctx, thread, checkpoint); err != nil {
			return b, err
		}
	}
	b.spans = chain(b.marks, at)
	return b, nil
}

// at is the last row that a checkpoint has on its branch.
func (m *Mine) at(ctx context.Context, thread, checkpoint string) (seq int64, err error) {
	for want := checkpoint; ; {
		found, parent := "", ""
		err = m.one(ctx, "place", []any{&seq, &found}, thread, want)
		if err != nil || found == want {
			return seq, err
		}
		known := false
		err = m.db.Read(ctx, "checkpoint", func(r database.Row) (bool, error) {
			known = true
			return false, r.Scan(&parent)
		}, thread, want)
		switch {
		case err != nil:
			return 0, err
		case !known:
			return 0, store.ErrNotFound
		case parent == "":
			return 0, nil
		}
		want = parent // it has no rows of its own
	}
}

// one reads one row into dest, which stays as it is if there is none.
func (m *Mine) one(ctx context.Context, statement string, dest []any, args ...any) error {
	return m.db.Read(ctx, statement, func(r database.Row) (bool, error) { return false, r.Scan(dest...) }, args...)
}

func (m *Mine) marks(ctx context.Context, thread string) (list []mark, err error) {
	err = m.db.Read(ctx, "marks", func(r database.Row) (bool, error) {
		var k mark
		var op string
		err := r.Scan(&k.seq, &op, &k.base, &k.prev, &k.turn)
		k.reset = op == string(state.OpReset)
		list = append(list, k)
		return true, err
	}, thread)
	slices.SortFunc(list, func(a, b mark) int { return cmp.Compare(a.seq, b.seq) })
	return list, err
}

// chain are the rows that lead to a row, back to where the messages began.
func chain(marks []mark, at int64) (out []span) {
	for at > 0 {
		i := sort.Search(len(marks), func(i int) bool { return marks[i].seq > at }) - 1
		s := span{1, at}
		if i >= 0 {
			s.from = marks[i].seq
		}
		out = append(out, s)
		switch {
		case i < 0 || marks[i].reset:
			return out
		default:
			at = marks[i].base
		}
	}
	return out
}

// has reports whether a row is on the branch.
func (b *branch) has(seq int64) bool {
	return slices.ContainsFunc(b.spans, func(s span) bool { return s.from <= seq && seq <= s.to })
}

// segment are the rows without another branch among them in which a row is.
func (b *branch) segment(seq int64) span {
	i := sort.Search(len(b.marks), func(i int) bool { return b.marks[i].seq > seq }) - 1
	s := span{1, b.end}
	for ; i >= 0; i-- {
		if !b.marks[i].reset {
			s.from = b.marks[i].seq
			break
		}
	}
	for _, k := range b.marks {
		if k.seq > seq && !k.reset {
			s.to = k.seq - 1
			break
		}
	}
	return s
}
