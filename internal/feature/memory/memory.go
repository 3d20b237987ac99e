// Package memory keeps what Pudu knows about a user beyond one thread: short summaries, and facts, each with where it
// comes from and for whom it is. [Memory] is everybody's, [Mine] one user's.
//
//	people -> Add, Change, Forget, Accept, Undo, Search, Import, Document -> facts and their history, one transaction
//	runs   -> Note, and Why <- the messages of the thread; Hand, as tools
//	ended runs -> Reader, a job -> a model -> what code lets through -> facts, proposed facts, their sources
//
// Every write raises the revision of the user's memory and is refused if another has written meanwhile, so each is
// decided by what is there. Nothing that decides what a run may do reads from here.
package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// Config is what the memory works with.
type Config struct {
	Store database.Store
	// Settings are those of the configuration as it is now; nil means its defaults.
	Settings func() config.Memory
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// NewID makes the id of a fact; nil means random ones.
	NewID func() string
}

// Memory is everybody's.
type Memory struct {
	cfg Config
	db  database.DB
}

// New makes the memory of a store.
func New(c Config) *Memory {
	if c.Settings == nil {
		c.Settings = func() config.Memory { return config.Default().Memory }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = newID
	}
	return &Memory{c, c.Store.Feature(name)}
}

func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // which never fails
	return "fact_" + hex.EncodeToString(b[:])
}

// Settings are those of the configuration as it is now.
func (m *Memory) Settings() config.Memory { return m.cfg.Settings() }

// For is one user's memory.
func (m *Memory) For(u access.User) *Mine { return &Mine{m, u, m.db.For(u)} }

// Mine is one user's memory.
type Mine struct {
	all  *Memory
	user access.User
	db   database.Bound
}

// UserID is whose it is.
func (m *Mine) UserID() string { return m.user.ID() }

// Section is a summary.
type Section struct {
	Summary   string `json:"summary"`
	UpdatedAt string `json:"updatedAt"`
}

// Sections are all summaries.
type Sections struct {
	User    UserSections    `json:"user"`
	History HistorySections `json:"history"`
}

// UserSections tell of the user as he is now.
type UserSections struct {
	Work     Section `json:"workContext"`
	Personal Section `json:"personalContext"`
	Top      Section `json:"topOfMind"`
}

// HistorySections tell of what was.
type HistorySections struct {
	Recent     Section `json:"recentMonths"`
	Earlier    Section `json:"earlierContext"`
	Background Section `json:"longTermBackground"`
}

// maxSummary bounds a summary, in bytes.
const maxSummary = 8000

// each calls do for every summary, by its name in documents.
func (s *Sections) each(do func(name string, s *Section)) {
	do("workContext", &s.User.Work)
	do("personalContext", &s.User.Personal)
	do("topOfMind", &s.User.Top)
	do("recentMonths", &s.History.Recent)
	do("earlierContext", &s.History.Earlier)
	do("longTermBackground", &s.History.Background)
}

// record is the row of a user's memory.
type record struct {
	Revision  int
	UpdatedAt time.Time
	Sections
}

// record reads it; before the first write it is empty.
func (m *Mine) record(ctx context.Context) (r record, err error) {
	err = m.db.Read(ctx, "doc", func(row database.Row) (bool, error) {
		var updated int64
		var body string
		if err := row.Scan(&r.Revision, &updated, &body); err != nil {
			return false, err
		}
		r.UpdatedAt = timeOf(updated)
		return false, json.Unmarshal([]byte(body), &r.Sections)
	})
	return r, err
}

// read collects the facts that a statement finds.
func (m *Mine) read(ctx context.Context, statement string, args ...any) (list []Fact, err error) {
	err = m.db.Read(ctx, statement, func(r database.Row) (bool, error) {
		f, err := scanFact(r)
		list = append(list, f)
		return true, err
	}, args...)
	return list, err
}

// Facts lists facts of a status by id, all for an empty one, behind the id after; limit is 1 to 20,000.
func (m *Mine) Facts(ctx context.Context, status, after string, limit int) ([]Fact, error) {
	err := database.CheckLimit(limit, maxRows)
	var list []Fact
	if err == nil {
		list, err = m.read(ctx, "facts", status, after, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("list facts: %w", err)
	}
	return list, nil
}

// Fact returns a fact; [store.ErrNotFound] if there is none, or it is gone for good.
func (m *Mine) Fact(ctx context.Context, id string) (Fact, error) {
	list, err := m.read(ctx, "fact", id)
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return Fact{}, fmt.Errorf("read fact %.40q: %w", id, err)
	}
	return list[0], nil
}

// begin begins an edit of what is there now: what is written because of it is refused if another has written meanwhile.
func (m *Mine) begin(ctx context.Context) (*edit, error) {
	e := &edit{
		all: m.all, now: m.all.cfg.Now().UTC().Truncate(time.Microsecond), facts: make(map[string]*Fact),
		stored: make(map[string]*Fact),
		find: func(statement string, scan func(database.Row) (bool, error), args ...any) error {
			return m.db.Read(ctx, statement, scan, args...)
		},
	}
	e.was, e.err = m.record(ctx)
	e.sections = e.was.Sections
	e.read("latest", func(r database.Row) (bool, error) { return false, r.Scan(&e.entries) })
	e.read("lastfact", func(r database.Row) (bool, error) { return false, r.Scan(&e.seq) })
	return e, e.err
}

// tries is how often a write is decided anew that others were faster than.
const tries = 8

// change does a write. do decides by what is there; if it changes nothing, nothing is written.
func (m *Mine) change(ctx context.Context, what string, do func(e *edit) error) error {
	var err error
	for range tries {
		var e *edit
		if e, err = m.begin(ctx); err == nil {
			err = cmp.Or(do(e), e.err)
		}
		if err != nil || e.empty() {
			break
		}
		if err = m.db.Write(ctx, 0, e.write); errors.Is(err, store.ErrConflict) {
			err = ErrChanged // two that wrote at once, on PostgreSQL
		}
		if !errors.Is(err, ErrChanged) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
