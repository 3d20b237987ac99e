package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/tool"
)

// Grant is an approval of calls to come. It is a row of the user who gave it, and goes with its thread.
type Grant struct {
	ID      string
	Tool    string
	Pattern Pattern
	// ThreadID is the thread that it is for, with the runs below those of it; empty is everywhere.
	ThreadID string
	// Via is how came in who gave it, as access.Principal says it.
	Via     string
	GivenAt time.Time
	// UsedAt is when it was used last, zero for never, and Uses how often.
	UsedAt time.Time
	Uses   int64
	// RevokedAt is when it was taken back; zero if it was not.
	RevokedAt time.Time
}

// Scope is Thread or Always.
func (g Grant) Scope() Scope {
	if g.ThreadID != "" {
		return Thread
	}
	return Always
}

// revokedKept is how many grants of a user are kept that were revoked.
const revokedKept = 200

// Check says what is wrong with a grant that somebody gives without a question.
func (g Grant) Check() error {
	err := errors.Join(tool.CheckName(g.Tool), checkText(g.Pattern.Text), database.CheckID("grant", g.ID))
	if err == nil && !g.Pattern.Exact {
		_, err = ParsePattern(g.Tool, g.Pattern.Text)
	}
	return err
}

// Give are the statements that store a grant in the transaction of the answer that it was given with. One that is there
// already is not there twice.
func (g Grant) Give() []store.Statement {
	name := Feature().Name
	return []store.Statement{
		{Feature: name, Name: "give", Args: g.values()}, {Feature: name, Name: "trim", Args: []any{revokedKept}},
	}
}

func (g Grant) values() []any {
	exact := 0
	if g.Pattern.Exact {
		exact = 1
	}
	return []any{g.ID, g.Tool, g.Pattern.Text, exact, g.ThreadID, database.Plain(g.Via), database.Micros(g.GivenAt)}
}

// Grants are those of all users.
type Grants struct{ db database.DB }

// NewGrants makes the grants of a store.
func NewGrants(st database.Store) *Grants { return &Grants{st.Feature(Feature().Name)} }

// For is what one user has given.
func (s *Grants) For(u access.User) *Mine { return &Mine{s.db.For(u)} }

// Mine are the grants of one user. Each call asks the database: what was revoked a moment ago, by whichever server,
// counts.
type Mine struct{ db database.Bound }

// Add gives a grant, or finds the one that says the same. [store.ErrNotFound] if there is no such thread,
// [database.ErrQuota] if there are as many as may be.
func (m *Mine) Add(ctx context.Context, g Grant) (Grant, error) {
	var row stored
	err := g.Check()
	if err == nil {
		err = m.db.Write(ctx, 0, func(tx database.Tx) error {
			for _, s := range g.Give() {
				if _, err := tx.Exec(s.Name, s.Args...); err != nil {
					return err
				}
			}
			return tx.Scan("same", row.dest(), g.values()[1:5]...)
		})
	}
	if err != nil {
		return Grant{}, fmt.Errorf("give grant for %.40q: %w", g.Tool, err)
	}
	return row.grant(), nil
}

// List returns grants, the newest first; those that were revoked if revoked says so. limit is 1 to 1001.
func (m *Mine) List(ctx context.Context, revoked bool, limit, offset int) (list []Grant, err error) {
	all := 0
	if revoked {
		all = 1
	}
	if err = database.CheckPage(limit, 1001, offset); err == nil {
		list, err = m.read(ctx, "list", all, limit, offset)
	}
	if err != nil {
		return nil, fmt.Errorf("list grants: %w", err)
	}
	return list, nil
}

// Revoke takes a grant back: from now on it covers no call. [store.ErrNotFound] if there is none, or none any more.
func (m *Mine) Revoke(ctx context.Context, id string, now time.Time) error {
	n, err := m.change(ctx, "revoke", id, database.Micros(now))
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("revoke grant %.40q: %w", id, err)
	}
	return nil
}

// Use finds a grant that covers a call on a thread, and counts the use. That it was not revoked is true of the moment
// in which it is counted.
func (m *Mine) Use(ctx context.Context, thread, name string, args json.RawMessage,
	now time.Time) (g Grant, found bool, err error) {
	own, err := PatternOf(name, args)
	if err != nil { // nobody can have given a grant for that
		return g, false, nil //nolint:nilerr // see above
	}
	list, err := m.read(ctx, "find", name, thread, own.Text)
	for i := 0; i < len(list) && err == nil; i++ {
		if !list[i].Pattern.Covers(name, args) {
			continue
		}
		var n int64
		if n, err = m.change(ctx, "use", list[i].ID, database.Micros(now)); n == 1 && err == nil {
			return list[i], true, nil
		}
	}
	if err != nil {
		return g, false, fmt.Errorf("look for a grant for %.40q: %w", name, err)
	}
	return g, false, nil
}

func (m *Mine) change(ctx context.Context, statement string, args ...any) (n int64, err error) {
	err = m.db.Write(ctx, 0, func(tx database.Tx) (err error) {
		n, err = tx.Exec(statement, args...)
		return err
	})
	return n, err
}

func (m *Mine) read(ctx context.Context, statement string, args ...any) (list []Grant, err error) {
	err = m.db.Read(ctx, statement, func(r database.Row) (bool, error) {
		var row stored
		err := r.Scan(row.dest()...)
		list = append(list, row.grant())
		return true, err
	}, args...)
	return list, err
}

// stored is a row.
type stored struct {
	Grant

	thread               *string
	exact                int64
	given, used, revoked int64
}

// dest are the columns as each statement selects them.
func (s *stored) dest() []any {
	return []any{
		&s.ID, &s.Tool, &s.Pattern.Text, &s.exact, &s.thread, &s.Via, &s.given, &s.used, &s.Uses, &s.revoked,
	}
}

func (s *stored) grant() Grant {
	g := s.Grant
	g.Pattern.Exact = s.exact != 0
	if s.thread != nil {
		g.ThreadID = *s.thread
	}
	g.GivenAt, g.UsedAt, g.RevokedAt = database.TimeOf(s.given), timeOf(s.used), timeOf(s.revoked)
	return g
}

// timeOf is the zero time for 0.
func timeOf(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return database.TimeOf(us)
}
