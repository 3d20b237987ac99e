package folders

import (
	"context"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/lib/fail"
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
	return fail.To(err, "list the folders of all users")
}
