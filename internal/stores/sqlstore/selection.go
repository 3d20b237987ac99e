package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// selection is what a filter becomes: a condition for the database. Its texts are few, whatever the values are, so that
// each can stay prepared.
type selection struct {
	where []string
	args  []any
	// open says that the condition lets too many through: each row is then looked at when it comes.
	open bool
}

// param adds a parameter and returns its name.
func (s *selection) param(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

func (s *selection) add(condition string) { s.where = append(s.where, condition) }

// with is the selection with one more condition.
func (s selection) with(condition string) selection {
	s.where = append(slices.Clip(s.where), condition)
	return s
}

// text is the WHERE clause.
func (s selection) text() string {
	if len(s.where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(s.where, " AND ")
}

// page is a part of what is found: so many rows are passed over, so many taken.
type page struct{ skip, left int }

// count counts the rows of tables, a text which has the selection in it. Of an open one it reads the fields and has
// scan say which are meant.
func count(ctx context.Context, from reader, fields, tables string, sel selection,
	scan func(*sql.Rows) (bool, error)) (n int, err error) {
	if !sel.open {
		err = from.read(ctx, "SELECT count(*) FROM "+tables, sel.args,
			func(r *sql.Rows) (bool, error) { return false, r.Scan(&n) })
		return n, err
	}
	err = from.read(ctx, "SELECT "+fields+" FROM "+tables, sel.args, func(r *sql.Rows) (bool, error) {
		meant, err := scan(r)
		if meant && err == nil {
			n++
		}
		return true, err
	})
	return n, err
}
