package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Version is one of the messages that stand, or stood, in the same place.
type Version struct {
	Message
	// Checkpoint is where the branch that has it was left: its pages show the conversation with this version, and a run
	// that begins there goes on with it.
	Checkpoint string
	// Current says that it is the one on the thread's branch.
	Current bool
}

// Versions are those of a message, the oldest first: of a human's all that were said in that place, of an answer all
// that were given to the same words. A message that was never answered or changed otherwise has itself alone.
// [store.ErrNotFound] if the thread has no such message.
func (m *Mine) Versions(ctx context.Context, thread, id string) ([]Version, error) {
	list, err := m.versions(ctx, thread, id)
	if err != nil {
		return nil, fmt.Errorf("read the versions of message %.40q of thread %.40q: %w", id, thread, err)
	}
	return list, nil
}

func (m *Mine) versions(ctx context.Context, thread, id string) ([]Version, error) {
	b, err := m.branch(ctx, thread, "")
	if err != nil {
		return nil, err
	}
	f := finder{Mine: m, b: &b, ctx: ctx}
	at, err := f.find(id)
	if err != nil || at.seq == 0 {
		return nil, orMissing(err)
	}
	points, err := f.of(at)
	if err != nil {
		return nil, err
	}
	out := []Version{}
	for _, p := range points {
		v, ok, err := f.version(p)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, v)
		}
	}
	return out, nil
}

// find is where a message was added: on the thread's branch, else where it was last; the zero point if that was
// nowhere.
func (f *finder) find(id string) (at point, err error) {
	err = f.db.Read(f.ctx, "appends", func(r database.Row) (bool, error) {
		p, err := scanPoint(r)
		if f.b.has(p.seq) || !f.b.has(at.seq) {
			at = p
		}
		return true, err
	}, f.b.thread, keyOf(id))
	return at, err
}

func orMissing(err error) error {
	if err == nil {
		return store.ErrNotFound
	}
	return err
}

// point is a message where it was added: prev is the one before it, turn the human one that it answers.
type point struct {
	seq, prev, turn, turns       int64
	id, kind, checkpoint, status string
}

func scanPoint(r database.Row) (p point, err error) {
	err = r.Scan(&p.seq, &p.id, &p.kind, &p.prev, &p.turn, &p.turns, &p.checkpoint, &p.status)
	return p, err
}

// point reads one; the zero point if there is none.
func (m *Mine) point(ctx context.Context, statement string, args ...any) (p point, err error) {
	err = m.db.Read(ctx, statement, func(r database.Row) (bool, error) {
		p, err = scanPoint(r)
		return false, err
	}, args...)
	return p, err
}

// finder looks for versions on all branches of a thread.
type finder struct {
	*Mine

	b   *branch
	ctx context.Context //nolint:containedctx // it lives for one question
}

// of are the versions of the message at a point, by age, but for what runs left that failed.
func (f *finder) of(at point) ([]point, error) {
	list, err := f.all(at)
	return slices.DeleteFunc(list, func(p point) bool {
		return p.status == event.StatusError && p.id != at.id && !f.b.has(p.seq)
	}), err
}

func (f *finder) all(at point) ([]point, error) {
	if at.kind == string(message.Human) {
		return f.said(at)
	}
	if at.turn == 0 {
		return []point{at}, nil
	}
	human, err := f.point(f.ctx, "point", f.b.thread, at.turn)
	if err != nil {
		return nil, err
	}
	same, err := f.instances(human)
	var out []point
	for _, h := range same {
		if err == nil && h.id == human.id {
			out, err = f.answers(out, h)
		}
	}
	slices.SortFunc(out, func(a, b point) int { return int(a.seq - b.seq) })
	return out, err
}

// first is the first message that is shown in a segment from a row on; the zero point if there is none.
func (f *finder) first(from int64, kind message.Role) (point, error) {
	return f.point(f.ctx, "first", f.b.thread, from, f.b.segment(from).to, string(kind))
}

// instances are the human messages that were said in a place, one for each branch that begins there.
func (f *finder) instances(at point) (out []point, err error) {
	var starts []int64
	if next := at.prev + 1; f.b.segment(max(at.prev, 1)).to >= next { // the branch that goes on there
		starts = append(starts, next)
	}
	for _, k := range f.b.marks {
		if !k.reset && k.prev == at.prev {
			starts = append(starts, k.seq)
		}
	}
	for _, start := range starts {
		p, err := f.first(start, "")
		if err != nil {
			return nil, err
		}
		if p.kind == string(message.Human) && p.prev == at.prev {
			out = append(out, p)
		}
	}
	if !slices.ContainsFunc(out, func(p point) bool { return p.seq == at.seq }) {
		out = append(out, at) // several that were said together
	}
	return out, nil
}

// said are the different messages among the instances: the one of the thread's branch for its kind, else the last.
func (f *finder) said(at point) (out []point, err error) {
	all, err := f.instances(at)
	for _, p := range all {
		i := slices.IndexFunc(out, func(o point) bool { return o.id == p.id })
		switch {
		case i < 0:
			out = append(out, p)
		case !f.b.has(out[i].seq):
			out[i] = p
		}
	}
	return out, err
}

// answers adds the last messages of each branch of a turn.
func (f *finder) answers(out []point, human point) ([]point, error) {
	starts := []int64{human.seq}
	for _, k := range f.b.marks {
		if !k.reset && k.turn == human.seq {
			starts = append(starts, k.seq)
		}
	}
	var ends []point
	for _, start := range starts {
		p, err := f.end(human, start)
		if err != nil {
			return nil, err
		}
		if p.turn == human.seq {
			ends = append(ends, p)
		}
	}
	for _, p := range ends {
		if !slices.ContainsFunc(f.b.marks, func(k mark) bool {
			return !k.reset && k.prev == p.seq &&
				slices.ContainsFunc(ends, func(e point) bool { return f.b.segment(e.seq).from == k.seq })
		}) {
			out = append(out, p)
		}
	}
	return out, nil
}

// end is the last message of a turn in the segment of a row.
func (f *finder) end(human point, start int64) (point, error) {
	to := f.b.segment(start).to
	next, err := f.first(max(start, human.seq+1), message.Human)
	if err != nil {
		return next, err
	}
	if next.seq > 0 {
		to = next.seq - 1
	}
	return f.point(f.ctx, "last", f.b.thread, start, to)
}

// version reads one; false if the message was removed from its branch.
func (f *finder) version(p point) (v Version, ok bool, err error) {
	s := f.b.segment(p.seq)
	own := *f.b
	if !f.b.has(p.seq) {
		own.spans = chain(f.b.marks, s.to)
	}
	list, _, err := f.window(f.ctx, own, span{p.seq, p.seq}, 1, false)
	if err != nil || len(list) == 0 {
		return v, false, err
	}
	if err = f.contents(f.ctx, f.b.thread, list); err != nil {
		return v, false, err
	}
	v = Version{Message: list[0], Current: f.b.has(p.seq)}
	tip := own.spans[0].to
	return v, true, f.one(f.ctx, "tip", []any{&v.Checkpoint}, f.b.thread, tip)
}

// place notes in the messages of a page which versions there are of each. An answer is what a turn ends with.
func (m *Mine) place(ctx context.Context, b branch, msgs []Message) error {
	if !slices.ContainsFunc(b.marks, func(k mark) bool { return !k.reset }) {
		return nil
	}
	f := finder{Mine: m, b: &b, ctx: ctx}
	for i := range msgs {
		msg := &msgs[i]
		at := point{seq: msg.Seq, prev: msg.prev, turn: msg.turn, id: msg.key, kind: string(msg.Kind)}
		if at.kind != string(message.Human) && i+1 < len(msgs) && msgs[i+1].Kind != message.Human {
			continue
		}
		points, err := f.of(at)
		if err != nil {
			return err
		}
		n := slices.IndexFunc(points, func(p point) bool { return p.id == at.id })
		if len(points) < 2 || n < 0 {
			continue
		}
		msg.Versions = &Place{Index: n}
		for _, p := range points {
			msg.Versions.All = append(msg.Versions.All, p.id)
		}
	}
	return nil
}
