package audit_test

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
)

// memory is a store that hands on what is written, or fails.
type memory struct {
	database.Store

	write func(args []any)
	err   error
}

func (m memory) Feature(string) database.DB { return memoryDB{m} }
func (m memory) Exec(statement string, args ...any) (int64, error) {
	if statement == "insert" {
		m.write(args)
	}
	return 1, nil
}
func (memory) Scan(string, []any, ...any) error { return nil }

type memoryDB struct{ memory }

func (d memoryDB) For(access.User) database.Bound { return d }
func (d memoryDB) System() database.Bound         { return d }

func (memoryDB) Read(context.Context, string, func(database.Row) (bool, error), ...any) error {
	return nil
}

func (d memoryDB) Write(_ context.Context, _ int, do func(database.Tx) error) error {
	if d.err != nil {
		return d.err
	}
	return do(d.memory)
}
