package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
)

// DeleteUser implements [store.Keeper]. It goes from thread to thread and from table to table, as their descriptions
// say, in small transactions.
func (s *Store) DeleteUser(ctx context.Context, u access.User) (store.Forgotten, error) {
	f, err := s.deleteUser(ctx, &userData{s, u})
	if err != nil {
		return f, fmt.Errorf("delete the rows of user %q: %w", u.ID(), err)
	}
	return f, nil
}

func (s *Store) deleteUser(ctx context.Context, d *userData) (f store.Forgotten, err error) {
	for {
		ids, err := s.someThreads(ctx, d)
		if err != nil || len(ids) == 0 {
			if err == nil {
				f.Rows, err = s.emptyTables(ctx, d)
			}
			return f, err
		}
		for _, id := range ids {
			if err := d.write(ctx, 0, func(tx *tx) error { return d.dropThread(tx, id) }); err != nil {
				return f, err
			}
			s.cache.forgetThread(id)
			f.Threads++
		}
	}
}

func (*Store) someThreads(ctx context.Context, d *userData) (ids []string, err error) {
	err = d.read(ctx, "SELECT id FROM threads WHERE user_id = $1 AND root_id = '' LIMIT 100", []any{d.user.ID()},
		func(r *sql.Rows) (bool, error) {
			ids = append(ids, "")
			return true, r.Scan(&ids[len(ids)-1])
		})
	return ids, err
}

// dropThread removes a thread with all that is its own, whatever its runs do: their owners are fenced off.
func (d *userData) dropThread(tx *tx, id string) error {
	if err := d.lockThread(tx, id); err != nil { // no child comes in from here on
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return err
	}
	if err := d.emptyThread(tx, id); err != nil {
		return err
	}
	return tx.exec("DELETE FROM threads WHERE (id = $1 OR root_id = $1) AND user_id = $2", id, d.user.ID())
}

// emptyThread removes what features have of a thread of the user's, and of the hidden ones that work on its files.
func (d *userData) emptyThread(tx *tx, id string) error {
	for _, t := range d.s.beside() {
		if err := tx.exec("DELETE FROM "+t.Name+" WHERE "+t.Thread+" IN (SELECT id FROM threads WHERE (id = $1 OR "+
			"root_id = $1) AND user_id = $2)",
			id, d.user.ID()); err != nil {
			return err
		}
	}
	return nil
}

// emptyTables removes what is left of a user, table by table, and returns how many rows of features that were.
func (s *Store) emptyTables(ctx context.Context, d *userData) (rows int64, err error) {
	for _, table := range slices.Backward(s.tables) {
		for dropped := int64(trimRows); table.User != "" && dropped == trimRows; rows += dropped {
			if err := d.write(ctx, 0, func(tx *tx) (err error) {
				dropped, err = tx.change(some(table, table.User+" = $1", ""), d.user.ID(), trimRows)
				return err
			}); err != nil {
				return rows, err
			}
		}
	}
	return rows, nil
}
