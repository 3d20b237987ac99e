package history

import (
	"context"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Turn is a human message with what was answered to it, on the branch of the thread.
type Turn struct {
	Human Message
	// Answers are the messages behind it, the oldest first, and Last says that no other human message comes behind
	// them.
	Answers []Message
	Last    bool
	// Base is the checkpoint that the human message was said on, [store.Origin] for the first one of a thread; End is
	// the last one before the next human message.
	Base, End string
}

// Branch is a thread that goes on from an answer of another one, as lists tell of it.
type Branch struct {
	Thread, Title string
	// Message is the answer, and Made when the branch was begun.
	Message string
	Made    time.Time
}

// Turn returns the turn that a message is in, the zero Turn if no human has said anything before it.
// [store.ErrNotFound] if the branch of the thread shows no such message.
func (m *Mine) Turn(ctx context.Context, thread, id string) (Turn, error) {
	t, err := m.turn(ctx, thread, id)
	if err != nil {
		return Turn{}, fmt.Errorf("read the turn of message %.40q of thread %.40q: %w", id, thread, err)
	}
	return t, nil
}

func (m *Mine) turn(ctx context.Context, thread, id string) (t Turn, err error) {
	b, err := m.branch(ctx, thread, "")
	if err != nil {
		return t, err
	}
	f := finder{Mine: m, b: &b, ctx: ctx}
	at, err := f.find(id)
	if err != nil || at.seq == 0 || !b.has(at.seq) {
		return t, orMissing(err)
	}
	human := at.seq
	if at.kind != string(message.Human) {
		human = at.turn
	}
	if human == 0 {
		return t, nil
	}
	next, err := f.nextHuman(human)
	if err != nil {
		return t, err
	}
	list, err := m.some(ctx, b, reach{after: max(human-1, 1), before: next.seq, limit: MaxTurn})
	if err == nil {
		_, err = m.fill(ctx, thread, list)
	}
	if err != nil || len(list) == 0 || list[0].Seq != human {
		return t, orMissing(err)
	}
	t.Human, t.Answers, t.Last, t.End = list[0], list[1:], next.seq == 0, ""
	if t.Base, err = m.parent(ctx, thread, list[0].addedIn); err == nil && next.seq > 0 {
		t.End, err = m.parent(ctx, thread, next.checkpoint)
	}
	return t, err
}

// MaxTurn is how many messages of a turn are read.
const MaxTurn = 2000

// nextHuman is the first human message behind a row on the thread's branch; the zero point if there is none.
func (f *finder) nextHuman(after int64) (p point, err error) {
	for i := len(f.b.spans) - 1; i >= 0 && err == nil && p.seq == 0; i-- {
		s := f.b.spans[i]
		if s.to > after {
			p, err = f.point(f.ctx, "first", f.b.thread, max(s.from, after+1), s.to, string(message.Human))
		}
	}
	return p, err
}

// parent is the checkpoint that another one stands on.
func (m *Mine) parent(ctx context.Context, thread, checkpoint string) (parent string, err error) {
	err = m.one(ctx, "checkpoint", []any{&parent}, thread, checkpoint)
	if err == nil && parent == "" {
		parent = store.Origin
	}
	return parent, err
}
