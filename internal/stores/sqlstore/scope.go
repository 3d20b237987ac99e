package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

var _ database.Store = (*Store)(nil)

// Feature implements [database.Store].
func (s *Store) Feature(name string) database.DB {
	return tables{s, name, s.features[name]}
}

// tables is a feature in this store; of one that the store does not know f is nil.
type tables struct {
	s    *Store
	name string
	f    *known
}

// For implements [database.DB].
func (t tables) For(u access.User) database.Bound { return t.of(u) }

func (t tables) of(u access.User) *scope {
	b := &scope{tables: t, user: u, err: (&userData{s: t.s, user: u}).check(), given: []any{u.ID()}}
	if t.f != nil {
		b.statements = t.f.queries
	}
	return b
}

// System implements [database.DB].
func (t tables) System() database.Bound { return t.all() }

func (t tables) all() *scope {
	b := &scope{tables: t}
	if t.f != nil {
		b.statements = t.f.system
	}
	return b
}

// scope is what a feature has of one user, or for the system.
type scope struct {
	tables

	user       access.User // nobody for the system
	err        error       // refuses everything
	statements map[string]statement
	given      []any // go before the arguments of the caller
}

func (b *scope) find(name string) (statement, error) {
	st, ok := b.statements[name]
	switch {
	case b.err != nil:
		return st, b.err
	case b.f == nil:
		return st, fmt.Errorf("the store was opened without the feature %q", b.name)
	case !ok:
		return st, fmt.Errorf("the feature %q has no statement %q here", b.name, name)
	}
	return st, nil
}

func (b *scope) args(more []any) []any { return append(slices.Clip(b.given), more...) }

// Read implements [database.Bound].
func (b *scope) Read(ctx context.Context, name string, scan func(database.Row) (bool, error), args ...any) error {
	st, err := b.find(name)
	if err != nil {
		return err
	}
	return b.s.read(ctx, st.text, b.args(args), func(r *sql.Rows) (bool, error) { return scan(r) })
}

// Write implements [database.Bound]. A write that may add more than what the user is known to have left is measured.
func (b *scope) Write(ctx context.Context, size int, do func(database.Tx) error) error {
	if b.err != nil {
		return b.err
	}
	if b.f == nil {
		_, err := b.find("")
		return err
	}
	measured := func(t *tx) error { return b.measured(t, do) }
	if !b.s.rooms.know(b) {
		return b.s.write(ctx, size, measured)
	}
	var taken map[string]room
	err := b.s.write(ctx, size, func(t *tx) error {
		b.s.rooms.give(b.user, taken) // by a transaction that was lost
		x := &featureTx{scope: b, tx: t, grown: make(map[string]room)}
		taken = nil
		if err := do(x); err != nil || t.failed != nil {
			return errors.Join(err, t.failed)
		}
		if !b.s.rooms.take(b.user, x.grown) {
			return errTight
		}
		taken = x.grown
		return nil
	})
	if errors.Is(err, errTight) {
		return b.s.write(ctx, size, measured)
	}
	if err != nil && !errors.Is(err, store.ErrUnknown) {
		b.s.rooms.give(b.user, taken)
	}
	return err
}

// featureTx is a transaction as a feature sees it.
type featureTx struct {
	*scope

	tx    *tx
	grown map[string]room // by table: at most so much was added
}

var _ database.Tx = (*featureTx)(nil)

// Exec implements [database.Tx].
func (x *featureTx) Exec(name string, args ...any) (int64, error) {
	st, err := x.find(name)
	if err != nil {
		return 0, err
	}
	n, err := x.tx.change(st.text, x.args(args)...)
	if err == nil {
		x.grow(st, n, args)
	}
	return n, err
}

// Scan implements [database.Tx].
func (x *featureTx) Scan(name string, dest []any, args ...any) error {
	st, err := x.find(name)
	if err != nil {
		return err
	}
	if err = found(x.tx.scan(st.text, x.args(args), dest...)); err == nil {
		x.grow(st, 1, args) // of a statement that returns what it wrote
	}
	return err
}

// Across implements [database.Store].
func (s *Store) Across(ctx context.Context, do func(database.Joint) error) error {
	return s.write(ctx, 0, func(t *tx) error {
		j := &joint{s: s, tx: t}
		err := do(j)
		if err = errors.Join(err, t.failed); err != nil {
			return err
		}
		return j.check()
	})
}

// joint is a transaction of several features. What they write for users is measured against the quotas.
type joint struct {
	s        *Store
	tx       *tx
	measured []measured
}

// check refuses what is more than the quotas.
func (j *joint) check() error {
	for _, m := range j.measured {
		if err := m.check(j.tx); err != nil {
			return err
		}
	}
	return nil
}

// For implements [database.Joint].
func (j *joint) For(feature string, u access.User) database.Tx {
	b := tables{j.s, feature, j.s.features[feature]}.of(u)
	if b.err == nil && b.f != nil {
		m := measured{scope: b}
		if m.before, b.err = b.measure(j.tx); b.err == nil {
			j.measured = append(j.measured, m)
		}
	}
	return &featureTx{scope: b, tx: j.tx, grown: make(map[string]room)}
}

// System implements [database.Joint].
func (j *joint) System(feature string) database.Tx {
	return &featureTx{scope: tables{j.s, feature, j.s.features[feature]}.all(), tx: j.tx, grown: make(map[string]room)}
}
