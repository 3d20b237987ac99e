package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// Events implements [store.Log].
func (d *userData) Events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	evs, err := d.events(ctx, runID, after, limit)
	if err == nil && len(evs) == 0 {
		var found bool
		if found, err = d.hasRun(ctx, runID); err == nil && !found {
			err = store.ErrNotFound
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read events of run %q: %w", runID, err)
	}
	return evs, nil
}

func (d *userData) events(ctx context.Context, runID string, after event.ID, limit int) ([]event.Event, error) {
	if err := database.CheckLimit(limit, 10_000); err != nil {
		return nil, err
	}
	var out []event.Event
	// A row is wanted if its last event is: the ids of a run's rows do not overlap.
	err := d.read(ctx, "SELECT checkpoint_id, next, updates, events FROM log WHERE run_id = $1 AND last_n > 0 "+
		"AND (attempt, last_n) > ($2, $3) AND "+runOf("$1", "$5")+" ORDER BY attempt, last_n LIMIT $4",
		[]any{runID, after.Attempt, after.N, limit, d.user.ID()}, func(r *sql.Rows) (bool, error) {
			var checkpoint sql.NullString
			var next string
			var updates, events []byte
			if err := r.Scan(&checkpoint, &next, &updates, &events); err != nil {
				return false, err
			}
			evs, err := decodeEvents(events, updates, checkpoint.String, next)
			for _, e := range evs {
				if e.ID.Compare(after) > 0 && len(out) < limit {
					out = append(out, e)
				}
			}
			return len(out) < limit, err
		})
	return out, err
}
