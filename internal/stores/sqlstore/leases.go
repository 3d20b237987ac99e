package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// forget removes the rows of processes that are long gone.
const forget = "DELETE FROM nodes WHERE renewed_at < clock_timestamp() - interval '1 day'"

// Renew implements [store.Leases]. With SQLite the lock on the data folder is the lease. It does not wait behind what
// is being written.
func (s *Store) Renew(ctx context.Context, owner string) (lapsed bool, err error) {
	if err := database.CheckID("owner", owner); err != nil {
		return false, fmt.Errorf("renew lease: %w", err)
	}
	d, ok := s.dialect.(*server)
	if !ok {
		return false, nil
	}
	var first bool
	err = s.lease(ctx, d, func(ctx context.Context) error {
		return s.leases.QueryRowContext(ctx, "WITH old AS (SELECT "+d.held()+" AS held FROM nodes WHERE owner = $1) "+
			"INSERT INTO nodes (owner, renewed_at) VALUES ($1, clock_timestamp()) "+
			"ON CONFLICT (owner) DO UPDATE SET renewed_at = clock_timestamp() "+
			"RETURNING NOT EXISTS (SELECT 1 FROM old), EXISTS (SELECT 1 FROM old WHERE NOT held)", owner).
			Scan(&first, &lapsed)
	})
	if err == nil && first {
		err = s.lease(ctx, d, func(ctx context.Context) error {
			_, err := s.leases.ExecContext(ctx, forget)
			return err
		})
	}
	if err != nil {
		return false, fmt.Errorf("renew lease of %q: %w", owner, err)
	}
	return lapsed, nil
}

// Release implements [store.Leases].
func (s *Store) Release(ctx context.Context, owner string) error {
	d, ok := s.dialect.(*server)
	if !ok {
		return nil
	}
	err := s.lease(ctx, d, func(ctx context.Context) error {
		_, err := s.leases.ExecContext(ctx, "DELETE FROM nodes WHERE owner = $1", owner)
		return err
	})
	if err != nil {
		return fmt.Errorf("release lease of %q: %w", owner, err)
	}
	return nil
}

// lease runs a statement about leases. One that takes as long as a lease is of no use.
func (s *Store) lease(ctx context.Context, d *server, run func(context.Context) error) error {
	if s.leases == nil {
		return errors.New("store is open for reading only")
	}
	bounded, cancel := context.WithTimeout(ctx, min(d.lease, d.timeout))
	defer cancel()
	if err := run(bounded); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.readError(err)
	}
	return nil
}

// Abandoned implements [store.Leases].
func (s *Store) Abandoned(ctx context.Context, owner string, limit int) ([]store.Run, error) {
	err := database.CheckLimit(limit, 1000)
	var rs []store.Run
	if err == nil {
		rs, err = readRuns(ctx, s, "SELECT "+runColumns+" FROM runs WHERE status = $1 AND owner <> $2 AND "+
			"parent_id = ''"+s.dialect.unheld()+
			" ORDER BY created_at, id LIMIT $3", event.StatusRunning, owner, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("list abandoned runs: %w", err)
	}
	return rs, nil
}
