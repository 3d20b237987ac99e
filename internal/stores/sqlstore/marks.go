package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// DoomThreads implements [store.Threads].
func (d *userData) DoomThreads(ctx context.Context, now time.Time, after store.NewJob) (int, error) {
	var n int64
	err := d.write(ctx, 0, func(tx *tx) (err error) {
		n, err = tx.change("UPDATE threads SET marks = marks + 8 WHERE user_id = $1 AND root_id = '' AND marks "+
			"BETWEEN 4 AND 7",
			d.user.ID())
		if n > 0 {
			tx.follow(d.user.ID(), "", now, after)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("empty the bin of user %q: %w", d.user.ID(), err)
	}
	return int(n), nil
}

// Outlived implements [store.System].
func (s *Store) Outlived(ctx context.Context, o store.Outlived, limit int) ([]store.Thread, error) {
	err := database.CheckLimit(limit, 1000)
	var list []store.Thread
	if err == nil {
		list, err = readThreads(ctx, s, "SELECT "+threadFields+" FROM threads t WHERE t.marks > 1 AND "+own+
			" AND (t.marks > 7 OR "+
			"NOT "+busy("t.id")+
			" AND (t.marks > 3 AND t.trashed_at < $1 OR t.marks IN (2, 3, 6, 7) AND t.updated_at < $2)) LIMIT $3",
			microsOrNone(o.Trashed), microsOrNone(o.Temporary), limit)
	}
	if err != nil {
		return nil, fmt.Errorf("list threads that have had their time: %w", err)
	}
	return list, nil
}
