package assistants

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
)

// Versions lists the versions, the newest first. limit is 1 to 1000.
func (m *Mine) Versions(ctx context.Context, id string, limit, offset int) (as []Assistant, err error) {
	err = errors.Join(database.CheckID("assistant", id), database.CheckPage(limit, 1000, offset))
	if err == nil {
		err = m.db.Read(ctx, "versions", func(r database.Row) (bool, error) {
			a, err := scan(r)
			as = append(as, a)
			return true, err
		}, id, limit, offset)
	}
	if err == nil && len(as) == 0 {
		_, err = m.Assistant(ctx, id)
	}
	if err != nil {
		return nil, fmt.Errorf("list versions of assistant %.40q: %w", id, err)
	}
	return as, nil
}

// Search returns assistants by the version in force.
func (m *Mine) Search(ctx context.Context, f Filter) (as []Assistant, err error) {
	f.Limit = cmp.Or(f.Limit, 10)
	if err = database.CheckPage(f.Limit, 1001, f.Offset); err == nil {
		err = m.each(ctx, f, func(a Assistant) bool {
			as = append(as, a)
			return len(as) < f.Limit
		})
	}
	if err != nil {
		return nil, fmt.Errorf("search assistants: %w", err)
	}
	return as, nil
}

// Count counts assistants, whatever Limit and Offset are.
func (m *Mine) Count(ctx context.Context, f Filter) (n int, err error) {
	f.Offset, f.Limit = 0, math.MaxInt32
	if f.Name == "" && len(f.Metadata) == 0 {
		err = m.db.Read(ctx, "count", func(r database.Row) (bool, error) { return false, r.Scan(&n) },
			database.Plain(f.GraphID))
	} else {
		err = m.each(ctx, f, func(Assistant) bool { n++; return true })
	}
	if err != nil {
		return 0, fmt.Errorf("count assistants: %w", err)
	}
	return n, nil
}

// each hands over the filter's page, until take has enough. Names are compared here: not every database knows the small
// letters of all languages. Where that, or metadata, decides, the database cannot count the rows.
func (m *Mine) each(ctx context.Context, f Filter, take func(Assistant) bool) error {
	w, err := database.NewWanted(f.Metadata, false)
	if err != nil {
		return err
	}
	f.Sort = cmp.Or(f.Sort, "created_at")
	if !slices.Contains([]string{"created_at", "updated_at", "name", "assistant_id"}, f.Sort) {
		return fmt.Errorf("sort by %.40q is unknown", f.Sort)
	}
	statement, name := "search_down", strings.ToLower(database.Plain(f.Name))
	if f.Ascending {
		statement = "search_up"
	}
	skip := 0
	if name != "" || len(w) > 0 {
		skip, f.Offset, f.Limit = f.Offset, 0, math.MaxInt32
	}
	return m.db.Read(ctx, statement, func(r database.Row) (bool, error) {
		a, err := scan(r)
		switch {
		case err != nil:
			return false, err
		case !strings.Contains(strings.ToLower(a.Name), name) || !w.Matches(a.Metadata):
			return true, nil
		case skip > 0:
			skip--
			return true, nil
		}
		return take(a), nil
	}, database.Plain(f.GraphID), f.Sort, f.Limit, f.Offset)
}
