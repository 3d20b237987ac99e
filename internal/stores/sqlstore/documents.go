package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/pudu-ai/pudu/internal/database"
)

// documents checks what is kept as JSON beside the log, the columns that were made of it, and the rows of features.
func (c *checkup) documents(ctx context.Context) error {
	err := c.read(ctx, "SELECT id, metadata, pinned, signature FROM threads ORDER BY id", nil,
		func(r *sql.Rows) (bool, error) {
			thread, fault, err := checkMetadata(r)
			if err == nil && fault != nil {
				c.reportf(thread, "", "%v", fault)
			}
			return true, err
		})
	for _, name := range slices.Sorted(maps.Keys(c.features)) {
		for _, check := range c.features[name].Checks {
			if err == nil {
				err = c.rows(ctx, c.Feature(name).System(), check)
			}
		}
	}
	return err
}

// rows makes a feature's check.
func (c *checkup) rows(ctx context.Context, of database.Bound, check database.Check) error {
	return of.Read(ctx, check.Query, func(r database.Row) (bool, error) {
		name, fault, err := check.Row(r)
		if err == nil && fault != nil {
			c.reportf("", name, "%v", fault)
		}
		return true, err
	})
}

func checkMetadata(row *sql.Rows) (thread string, fault, err error) {
	var metadata []byte
	var isPinned int
	var bits int64
	if err = row.Scan(&thread, &metadata, &isPinned, &bits); err != nil {
		return thread, nil, err
	}
	fault = database.CheckObject("metadata", metadata)
	if fault == nil && (isPinned != pinned(metadata) || ^bits&database.Signature(metadata) != 0) {
		fault = errors.New("its metadata is not what searches take it for")
	}
	return thread, fault, nil
}
