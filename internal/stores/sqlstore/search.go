package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
	"github.com/pudu-ai/pudu/internal/store"
)

// maxIDs bounds the ids of a filter.
const maxIDs = 1000

// SearchThreads implements [store.Threads].
func (d *userData) SearchThreads(ctx context.Context, f store.ThreadFilter) ([]store.Thread, error) {
	ts, err := d.searchThreads(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("search threads: %w", err)
	}
	return ts, nil
}

func (d *userData) searchThreads(ctx context.Context, f store.ThreadFilter) ([]store.Thread, error) {
	p := &page{f.Offset, cmp.Or(f.Limit, 100)}
	if err := database.CheckPage(p.left, 1001, p.skip); err != nil {
		return nil, err
	}
	order, err := sorting(f.Sort, f.Ascending, "t.id", map[string]string{
		"": "t.updated_at", "updated_at": "t.updated_at", "created_at": "t.created_at", "thread_id": "t.id",
		"status":     "status",
		"trashed_at": "t.trashed_at"})
	if err != nil {
		return nil, err
	}
	sel, w, err := d.selectThreads(f)
	if err != nil {
		return nil, err
	}
	if !f.Pinned {
		return d.listThreads(ctx, sel, w, order, p)
	}
	// Each part comes in the order of an index. A thread that is pinned between the two may be missed this once.
	first := sel.with("t.pinned = 1")
	ts, err := d.listThreads(ctx, first, w, order, p)
	if err == nil && p.skip > 0 && !sel.open {
		var n int
		n, err = d.countThreads(ctx, first, w)
		p.skip = max(p.skip-n, 0)
	}
	if err != nil || p.left == 0 {
		return ts, err
	}
	rest, err := d.listThreads(ctx, sel.with("t.pinned <> 1"), w, order, p)
	return append(ts, rest...), err
}

// listThreads reads a page in an order. The rows of the page are chosen by what indexes hold, and the rest is read of
// these alone. Of an open selection a few more are read than are needed, and many more if that was not enough.
func (d *userData) listThreads(ctx context.Context, sel selection, w database.Wanted, order string,
	p *page) (ts []store.Thread, err error) {
	limit, offset := p.left, p.skip
	if sel.open {
		limit, offset = p.skip+p.left+p.left/8+8, 0
	}
	query := "SELECT " + threadFields + " FROM (" + chooseThreads(sel, order) +
		") c JOIN threads t ON t.id = c.id ORDER BY " + order
	for ; ; limit *= 4 {
		at, read := *p, 0
		ts = nil
		err = d.read(ctx, query, append(slices.Clip(sel.args), limit, offset), func(r *sql.Rows) (bool, error) {
			read++
			t, err := scanThread(r.Scan)
			switch {
			case err != nil || !w.Matches(t.Metadata):
				return true, err
			case !sel.open:
				at.skip = 0
			case at.skip > 0:
				at.skip--
				return true, nil
			}
			ts = append(ts, t)
			at.left--
			return at.left > 0, nil
		})
		if err != nil || !sel.open || at.left == 0 || read < limit {
			*p = at
			return ts, err
		}
	}
}

// chooseThreads is a query for ids, with the limit and the offset as its last parameters.
func chooseThreads(sel selection, order string) string {
	fields := "t.id"
	if strings.HasPrefix(order, "status ") {
		fields += ", " + threadStatus + " AS status"
	}
	return fmt.Sprintf("SELECT %s FROM threads t%s ORDER BY %s LIMIT $%d OFFSET $%d", fields, sel.text(), order,
		len(sel.args)+1, len(sel.args)+2)
}

// CountThreads implements [store.Threads].
func (d *userData) CountThreads(ctx context.Context, f store.ThreadFilter) (n int, err error) {
	sel, w, err := d.selectThreads(f)
	if err == nil {
		n, err = d.countThreads(ctx, sel, w)
	}
	if err != nil {
		return 0, fmt.Errorf("count threads: %w", err)
	}
	return n, nil
}

func (d *userData) countThreads(ctx context.Context, sel selection, w database.Wanted) (int, error) {
	from := "threads t" + sel.text()
	if sel.open { // as in listThreads, the rest is read of those alone that an index has chosen
		from = "(SELECT t.id FROM " + from + ") c JOIN threads t ON t.id = c.id"
	}
	return count(ctx, d, "t.metadata", from, sel, func(r *sql.Rows) (bool, error) {
		var metadata sql.RawBytes
		err := r.Scan(&metadata)
		return w.Matches(metadata), err
	})
}

// selectThreads makes the condition of a filter on the table threads as t.
func (d *userData) selectThreads(f store.ThreadFilter) (sel selection, w database.Wanted, err error) {
	sel.add("t.user_id = " + sel.param(d.user.ID()))
	sel.add(own + onShelf(f))
	if len(f.IDs) > maxIDs {
		return sel, nil, fmt.Errorf("filter has %d ids, more than %d", len(f.IDs), maxIDs)
	}
	if len(f.IDs) > 0 {
		ids, err := idList(f.IDs)
		if err != nil {
			return sel, nil, err
		}
		sel.add("t.id" + d.s.dialect.among(sel.param(ids)))
	}
	switch f.Status {
	case "":
	case store.ThreadIdle:
		sel.add(threadStatus + " = " + sel.param(f.Status))
	case store.ThreadBusy: // the few active runs lead to these
		sel.add("t.id IN (SELECT r.thread_id FROM runs r WHERE r.status IN ('pending', 'running') AND NOT " +
			keptBack("r") + ")")
	case store.ThreadInterrupted, store.ThreadError: // the runs that ended so lead to these
		status := sel.param(f.Status)
		sel.add("t.id IN (SELECT r.thread_id FROM runs r WHERE r.status = " + status + ") AND " + threadStatus + " = " +
			status)
	default:
		return sel, nil, fmt.Errorf("thread status %.40q is unknown", f.Status)
	}
	w, err = database.NewWanted(f.Metadata, false)
	if sel.open = len(w) > 0; sel.open {
		sel.add("(~t.signature & " + sel.param(w.Signature()) + ") < 1")
	}
	return sel, w, err
}

// onShelf is the condition that a thread is where the filter looks.
func onShelf(f store.ThreadFilter) string {
	switch {
	case f.Shelf == store.InArchive:
		return " AND t.marks = 1"
	case f.Shelf == store.InBin:
		return " AND t.marks BETWEEN 4 AND 7"
	case f.Shelf == store.Everywhere:
		return ""
	case len(f.IDs) > 0:
		return " AND t.marks < 4"
	}
	return " AND t.marks = 0"
}

// idList is a list of ids as a JSON array. What can be no id is left out: nothing has it.
func idList(ids []string) (string, error) {
	possible := make([]string, 0, len(ids))
	for _, id := range ids {
		if database.CheckID("thread", id) == nil {
			possible = append(possible, id)
		}
	}
	raw, err := json.Marshal(possible)
	return string(raw), err
}

// sorting is the order of a listing by one of the columns, and then by id.
func sorting(by string, ascending bool, id string, columns map[string]string) (string, error) {
	column, ok := columns[by]
	if !ok {
		return "", fmt.Errorf("sort by %.40q is unknown", by)
	}
	direction := " DESC"
	if ascending {
		direction = " ASC"
	}
	if column == id {
		return id + direction, nil
	}
	return column + direction + ", " + id + direction, nil
}
