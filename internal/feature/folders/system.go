package folders

import (
	"context"
	"fmt"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
)

// Each calls do with each folder of all users, for who cleans up behind them.
func (s *Folders) Each(ctx context.Context, do func(u access.User, id string)) error {
	err := s.db.System().Read(ctx, "all", func(r database.Row) (bool, error) {
		var user, id string
		err := r.Scan(&user, &id)
		if err == nil {
			do(access.FromRow(user), id)
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("list the folders of all users: %w", err)
	}
	return nil
}
