package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/internal/database"
)

// Setting implements [store.Store].
func (s *Store) Setting(ctx context.Context, key, value string) (string, error) {
	err := errors.Join(database.CheckID("setting", key), database.CheckText("value", value))
	var kept string
	if err == nil {
		kept, err = s.setting(ctx, key, value)
	}
	if err != nil {
		return "", fmt.Errorf("read setting %.40q: %w", key, err)
	}
	return kept, nil
}

func (s *Store) setting(ctx context.Context, key, value string) (kept string, err error) {
	const query = "SELECT value FROM settings WHERE key = $1"
	found := false
	err = s.read(ctx, query, []any{key}, func(r *sql.Rows) (bool, error) {
		found = true
		return false, r.Scan(&kept)
	})
	if err != nil || found {
		return kept, err
	}
	err = s.write(ctx, 0, func(tx *tx) error {
		if err := tx.exec("INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING", key,
			value); err != nil {
			return err
		}
		return tx.scan(query, []any{key}, &kept)
	})
	return kept, err
}
