package models

import (
	"context"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// change writes in one transaction and raises the version.
func (m *Models) change(ctx context.Context, size int, do func(database.Tx) error) error {
	return m.db.Write(ctx, size, func(tx database.Tx) error {
		if _, err := tx.Exec("changed"); err != nil { // first: it also has changes wait for one another
			return err
		}
		return do(tx)
	})
}

// Add adds a model, and makes it the default if that is said.
func (m *Models) Add(ctx context.Context, g config.Given, standard bool, now time.Time) error {
	g.Name = g.FullName()
	seal, err := m.seal(g)
	if err != nil {
		return err
	}
	return m.change(ctx, len(seal)+len(g.Settings), func(tx database.Tx) error {
		var n int64
		if err := tx.Scan("count", []any{&n}); err != nil {
			return err
		}
		if n >= Max {
			return fmt.Errorf("%w: there are %d already; remove one first", ErrConflict, Max)
		}
		n, err := tx.Exec("insert", g.Name, g.Provider, g.ID, g.BaseURL, seal, number(seal != ""), settingsOf(g),
			database.Micros(now))
		if err == nil && n == 0 {
			return fmt.Errorf("%w: there is a model %q already; change that one, or give this one another name",
				ErrConflict, g.Name)
		}
		if err == nil && standard {
			_, err = tx.Exec("standard", g.Name)
		}
		return err
	})
}

// Put changes a model of that name. With keep one that is given no key keeps its own, if it has the provider and the
// address that it had. [store.ErrNotFound] if there is none.
func (m *Models) Put(ctx context.Context, g config.Given, keep bool, now time.Time) error {
	g.Name = g.FullName()
	fresh, err := m.seal(g)
	if err != nil {
		return err
	}
	return m.change(ctx, len(fresh)+len(g.Settings), func(tx database.Tx) error {
		seal, keyed := fresh, number(fresh != "")
		var was config.Given
		var old string
		var had int64
		if err := tx.Scan("key", []any{&was.Provider, &was.BaseURL, &old, &had}, g.Name); err != nil {
			return err
		}
		if keep && g.Key == "" && had != 0 {
			if was.Provider != g.Provider || was.BaseURL != g.BaseURL {
				return fmt.Errorf("%w: its key is for %s, and goes nowhere else; give the key again", ErrConflict,
					place(was))
			}
			seal, keyed = old, had
		}
		_, err := tx.Exec("update", g.Name, g.Provider, g.ID, g.BaseURL, seal, keyed, settingsOf(g),
			database.Micros(now))
		return err
	})
}

func place(g config.Given) string {
	if g.BaseURL == "" {
		return g.Provider
	}
	return g.Provider + " at " + config.ShownURL(g.BaseURL)
}

// Remove removes a model; if it was the default there is none. [store.ErrNotFound] if it is not there.
func (m *Models) Remove(ctx context.Context, name string) error {
	return m.change(ctx, 0, func(tx database.Tx) error {
		n, err := tx.Exec("delete", name)
		if err == nil && n == 0 {
			err = store.ErrNotFound
		}
		if err == nil {
			_, err = tx.Exec("forget", name)
		}
		return err
	})
}

// SetStandard makes a model the default, which may be one of the configuration; with an empty name there is none.
func (m *Models) SetStandard(ctx context.Context, name string) error {
	return m.change(ctx, 0, func(tx database.Tx) error {
		_, err := tx.Exec("standard", name)
		return err
	})
}

// seal seals the key of an entry; without one it is empty.
func (m *Models) seal(g config.Given) (string, error) {
	if g.Key == "" {
		return "", nil
	}
	return m.box.Seal(purpose(g), g.Key.Reveal())
}

func settingsOf(g config.Given) string {
	if len(g.Settings) == 0 {
		return "{}"
	}
	return string(g.Settings)
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
