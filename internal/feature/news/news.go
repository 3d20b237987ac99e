// Package news tells users what is new on their threads: made, renamed, running, waiting for an answer, failed,
// answered, deleted. A store that is opened with it keeps one row for each thread, written in the transactions that
// change threads, with a number that grows; a reader who has seen all up to a number asks for what comes behind it.
// [Hub] wakes the readers, in this process and by the bus in others; what it loses they find when they look by
// themselves.
//
//	transaction -> row of the thread -> Changed of the store -> Hub, bus -> Mine.Follow -> one stream for all tabs of a user
package news

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// States of a thread, as a list of threads shows them.
const (
	Read     = ""         // nothing that the user has not seen
	Running  = "running"  // a run works on it, or waits to
	Waiting  = "waiting"  // for the user: it asked, or a tool call wants an approval
	Failed   = "failed"   // its last run did
	Answered = "answered" // and the user has not read that yet
)

// Change is a thread as it is after its last change.
type Change struct {
	// Number grows with each change of the user's threads.
	Number int64
	Thread string
	// Gone says that the thread was deleted; the other fields are empty then.
	Gone      bool
	State     string // one of the constants
	Title     string
	Metadata  json.RawMessage
	CreatedAt time.Time
	UpdatedAt time.Time
	ReadAt    time.Time // zero if the user never said so
	Marks     store.Marks
}

// Counts is how many of a user's threads are in the states that ask for a look.
type Counts struct{ Running, Waiting, Failed, Answered int }

// Mine are the news of one user.
type Mine struct {
	hub  *Hub
	user access.User
	db   database.Bound
}

// changes returns at most limit changes after a number, the oldest first.
func (m *Mine) changes(ctx context.Context, after int64, limit int) ([]Change, error) {
	return m.list(ctx, "changes", after, limit)
}

// In returns the threads in a state that asks for a look, at most limit, the last changed first.
func (m *Mine) In(ctx context.Context, state string, limit int) ([]Change, error) {
	return m.list(ctx, "state", state, limit)
}

func (m *Mine) list(ctx context.Context, statement string, args ...any) (list []Change, err error) {
	err = m.db.Read(ctx, statement, func(r database.Row) (bool, error) {
		var c Change
		var created, updated, read, gone int64
		err := r.Scan(&c.Number, &c.Thread, &c.State, &read, &gone, &c.Title, &created, &updated,
			(*[]byte)(&c.Metadata), &c.Marks)
		if c.Gone = gone > 0 || created == 0; !c.Gone {
			c.CreatedAt, c.UpdatedAt = database.TimeOf(created), database.TimeOf(updated)
		}
		if read > 0 {
			c.ReadAt = database.TimeOf(read)
		}
		list = append(list, c)
		return true, err
	}, args...)
	return list, err
}

// Newest returns the last changes, at most limit, the oldest of them first. Threads that are gone are among them.
func (m *Mine) Newest(ctx context.Context, limit int) ([]Change, error) {
	before, err := m.nth(ctx, limit)
	if err != nil {
		return nil, err
	}
	return m.changes(ctx, before, limit)
}

// nth is the number of the change before the last n; 0 if there are no more.
func (m *Mine) nth(ctx context.Context, n int) (number int64, err error) {
	err = m.db.Read(ctx, "newest", func(r database.Row) (bool, error) { return false, r.Scan(&number) }, n)
	return number, err
}

// Counts counts the threads by their states.
func (m *Mine) Counts(ctx context.Context) (c Counts, err error) {
	of := map[string]*int{Running: &c.Running, Waiting: &c.Waiting, Failed: &c.Failed, Answered: &c.Answered}
	err = m.db.Read(ctx, "counts", func(r database.Row) (bool, error) {
		var state string
		var n int
		err := r.Scan(&state, &n)
		if field := of[state]; field != nil {
			*field = n
		}
		return true, err
	})
	return c, err
}

// MarkRead says that the user has seen what there is of a thread; [store.ErrNotFound] if it is not there.
func (m *Mine) MarkRead(ctx context.Context, thread string, now time.Time) error {
	err := m.db.Write(ctx, 0, func(tx database.Tx) error {
		n, err := tx.Exec("read", thread, database.Micros(now))
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("mark thread %q as read: %w", thread, err)
	}
	m.hub.tell(m.user)
	return nil
}

// Touch tells readers of a thread anew: something about it has changed that is no part of it, such as the folder that
// it is in.
func (m *Mine) Touch(ctx context.Context, thread string, now time.Time) error {
	err := m.db.Write(ctx, 0, func(tx database.Tx) error {
		_, err := tx.Exec("touch", thread, database.Micros(now))
		return err
	})
	if err != nil {
		return fmt.Errorf("tell of thread %q anew: %w", thread, err)
	}
	m.hub.tell(m.user)
	return nil
}

// Notice shows the user's readers of this process a notice: it is not kept.
func (m *Mine) Notice(what string) {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	for r := range m.hub.readers[m.user] {
		signal(r.notice, what)
	}
}
