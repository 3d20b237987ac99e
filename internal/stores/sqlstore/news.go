package sqlstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/feature/news"
	"github.com/pudu-ai/pudu/internal/store"
)

// newsroom is how news of threads come into the database: at the end of the transaction that makes them.
type newsroom struct {
	change, gone string // empty without the feature
	changed      chan access.User
	now          func() time.Time
}

func newNewsroom(features map[string]*known, now func() time.Time) *newsroom {
	// As many users can have news before somebody looks; who is left out finds them a little later.
	r := &newsroom{changed: make(chan access.User, 1024), now: now}
	if f := features[news.Feature().Name]; f != nil {
		r.change, r.gone = f.system["change"].text, f.system["gone"].text
	}
	return r
}

// Changed implements [database.Store].
func (s *Store) Changed() <-chan access.User { return s.newsroom.changed }

// piece is what is new on a thread.
type piece struct {
	user, thread string
	state        any // a string, or nil for the state that it has
	gone         bool
}

// isNew has it told that something is new on a thread: its state, unless that is nil.
func (t *tx) isNew(user, thread string, state any) {
	t.news = append(t.news, piece{user: user, thread: thread, state: state})
}

// isGone has it told that a thread was deleted.
func (t *tx) isGone(user, thread string) {
	t.news = append(t.news, piece{user: user, thread: thread, gone: true})
}

// afterRun is what a thread is after a run.
func afterRun(r store.Run) string {
	switch {
	case r.StopReason == store.Cancelled:
		return news.Read
	case r.Status == event.StatusInterrupted:
		return news.Waiting
	case r.Status == event.StatusError:
		return news.Failed
	}
	return news.Answered
}

// announce stores the news of the transaction, in one order, so that no two transactions wait for each other. Of one
// thread the last state counts.
func (t *tx) announce() error {
	if t.k.newsroom.change == "" {
		t.news = nil
	}
	slices.SortStableFunc(t.news,
		func(a, b piece) int { return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.thread, b.thread)) })
	for i, p := range t.news {
		if i+1 < len(t.news) && t.news[i+1].user == p.user && t.news[i+1].thread == p.thread {
			if next := &t.news[i+1]; next.state == nil {
				next.state = p.state
			}
			continue
		}
		text, args := t.k.newsroom.change, []any{p.user, p.thread, database.Micros(t.k.newsroom.now()), p.state}
		if p.gone {
			text, args = t.k.newsroom.gone, args[:3]
		}
		if err := t.exec(text, args...); err != nil {
			return err
		}
	}
	return nil
}

// told wakes who shows news to their users.
func (r *newsroom) told(list []piece) {
	for i, p := range list {
		if i > 0 && list[i-1].user == p.user {
			continue
		}
		select {
		case r.changed <- access.FromRow(p.user):
		default:
		}
	}
}
