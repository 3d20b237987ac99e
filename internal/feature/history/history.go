// Package history gives the messages of a thread by pages, without its state: those of the branch that the thread is
// on, or of any other, and the versions of each. What the log says of a thread's messages is noted in rows when
// somebody looks at it, from where the last look ended, so that a run pays nothing for it and threads older than this
// have pages too.
//
//	history.New(store).For(user) -> Page, Versions, OfRun, Turn, Spent
//	   log -> index.go: a row for each thing that a checkpoint did to a message -> branch.go: which rows a branch has
//	       -> page.go: the messages that are left of them, with their content out of the log
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/message"
)

// Bounds of one page: messages, and about how many bytes of them. A page of fewer has more behind it.
const (
	MaxPage  = 200
	maxBytes = 16 << 20
)

// Message is one message as people see it.
type Message struct {
	// Seq is its place among all that ever happened on the thread; it grows along each branch.
	Seq int64
	// RunID is the run that it is of; empty for one that was written from outside.
	RunID string
	// Content is the message as it is now.
	Content json.RawMessage
	Kind    message.Role
	At      time.Time
	// Turn counts the human messages of its branch up to this.
	Turn int
	// Call counts the answers of its run up to this, and Took is how long the step took that made it.
	Call int
	Took time.Duration
	// Status is that of its run, Began and Ended are its times; empty if there is no such run any more.
	Status       string
	Began, Ended time.Time
	// Versions are the versions that there are of it, if it has more than one.
	Versions *Place

	key        string // its id, as rows have it
	addedIn    string // the checkpoint that added it
	checkpoint string // the one whose change numbered n has the content
	n          int
	prev, turn int64 // as in its row
}

// Place is one version among all.
type Place struct {
	// Index is which one this is, from 0.
	Index int
	// All are the ids of the versions, the oldest first.
	All []string
}

// Page is a part of a branch's messages, the oldest first.
type Page struct {
	Messages []Message
	// More says that there are older ones, or, if they were asked for, newer ones.
	More bool
}

// Histories are everybody's.
type Histories struct{ db database.DB }

// New makes the histories of a store.
func New(st database.Store) *Histories { return &Histories{st.Feature(Feature().Name)} }

// For is what one user has.
func (h *Histories) For(u access.User) *Mine { return &Mine{h.db.For(u)} }

// Mine are one user's histories.
type Mine struct{ db database.Bound }

// Ask says which page is wanted.
type Ask struct {
	Thread string
	// Checkpoint is the newest one of the branch; empty means that of the thread.
	Checkpoint string
	// Before is a Seq that comes right behind the page; 0 means the end of the branch. After, if it is not 0, is one
	// that comes right before it: then the page is the oldest behind that.
	Before, After int64
	Limit         int // 1 to [MaxPage]
}

// Page returns the newest messages of a branch before a place. [store.ErrNotFound] if there is no such thread or
// checkpoint.
func (m *Mine) Page(ctx context.Context, ask Ask) (Page, error) {
	p, err := m.page(ctx, ask)
	if err != nil {
		return Page{}, fmt.Errorf("read a page of thread %.40q: %w", ask.Thread, err)
	}
	return p, nil
}

func (m *Mine) page(ctx context.Context, ask Ask) (p Page, err error) {
	if err = database.CheckLimit(ask.Limit, MaxPage); err != nil {
		return p, err
	}
	b, err := m.branch(ctx, ask.Thread, ask.Checkpoint)
	if err != nil {
		return p, err
	}
	if p, err = m.read(ctx, b, reach{ask.After, ask.Before, ask.Limit}); err != nil {
		return p, err
	}
	return p, m.place(ctx, b, p.Messages)
}

// atOnce is how many messages [Mine.All] holds at most.
const atOnce = 50

// All are the messages of the branch that the thread is on, the oldest first, read by pages. What is added meanwhile is
// not among them. An error is the last that comes; [store.ErrNotFound] if there is no such thread.
func (m *Mine) All(ctx context.Context, thread string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		b, err := m.branch(ctx, thread, "")
		const first = 1 // a row that is no message
		for p := (Page{More: true}); err == nil && p.More; {
			after := int64(first)
			if n := len(p.Messages); n > 0 {
				after = p.Messages[n-1].Seq
			}
			if p, err = m.read(ctx, b, reach{after: after, limit: atOnce}); err != nil {
				break
			}
			for _, msg := range p.Messages {
				if !yield(msg, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(Message{}, fmt.Errorf("read the messages of thread %.40q: %w", thread, err))
		}
	}
}

// OfRun is a page of a run's messages, be they on the branch of the thread or not. An unknown run has none.
func (m *Mine) OfRun(ctx context.Context, run string, ask Ask) (p Page, err error) {
	if err = database.CheckLimit(ask.Limit, MaxPage); err != nil {
		return p, err
	}
	b, err := m.ofRun(ctx, ask.Thread, run)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(b.spans) == 0 {
		return Page{}, nil
	}
	if err == nil {
		p, err = m.read(ctx, b, reach{ask.After, ask.Before, ask.Limit})
	}
	if err != nil {
		return Page{}, fmt.Errorf("read the messages of run %.40q: %w", run, err)
	}
	return p, nil
}
