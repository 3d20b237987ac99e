package sqlstore

import (
	"slices"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
)

// coreTables are those of threads and their runs, in the order in which a dump can be loaded.
func coreTables() []database.Table {
	const (
		text, key, number, instant = database.Text, database.Key, database.Number, database.Instant
		doc, blob                  = database.Doc, database.Blob
	)
	return []database.Table{
		{Name: "threads", Kind: "thread", User: "user_id", Thread: "id", Key: []string{"id"},
			Columns: []database.Column{
				text.Column("id"), text.Column("user_id"), text.Column("title"), text.Column("head"),
				instant.Column("created_at"), instant.Column("updated_at"), doc.Column("metadata"),
				number.Column("pinned"), number.Column("signature"), text.Column("root_id"),
				number.Column("marks"), instant.Column("trashed_at"),
			}},
		{Name: "runs", Kind: "run", User: "user_id", Thread: "thread_id", Key: []string{"id"},
			Columns: []database.Column{
				text.Column("id"), text.Column("thread_id"), text.Column("user_id"), text.Column("status"),
				number.Column("attempt"), number.Column("stalled"), instant.Column("created_at"),
				instant.Column("updated_at"), instant.Column("not_before"), text.Column("owner"), text.Column("key"),
				text.Column("stop"), number.Column("notify"), text.Column("error"), text.Column("stop_reason"),
				doc.Column("usage"), text.Column("parent_id"), text.Column("root_id"), number.Column("depth"),
				text.Column("steers"),
				database.Request.Column("request"),
			}},
		{Name: "log", Kind: "log", Thread: "thread_id", Key: []string{"seq"}, Columns: []database.Column{
			text.Column("thread_id"), key.Column("checkpoint_id"), text.Column("parent_id"), text.Column("run_id"),
			number.Column("attempt"), number.Column("first_n"), number.Column("last_n"), number.Column("step"),
			number.Column("since"), number.Column("snap"), instant.Column("created_at"), text.Column("next"),
			blob.Column("updates"), blob.Column("events"),
		}},
		{Name: "snapshots", Kind: "snapshot", Thread: "thread_id", Key: []string{"thread_id", "checkpoint_id"},
			Columns: []database.Column{
				text.Column("thread_id"), text.Column("checkpoint_id"), number.Column("bytes"), blob.Column("state"),
			}},
	}
}

// tablesOf are the tables of the core and of features.
func tablesOf(features []database.Feature) []database.Table {
	tables := coreTables()
	for _, f := range features {
		tables = append(tables, f.Tables...)
	}
	return tables
}

// names lists the columns of a table for a statement.
func names(t database.Table) string {
	var all []string
	for _, c := range t.Columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

// memberOf is the member of a record that has the value of a column; "kind" is the record's own.
func memberOf(t database.Table, c database.Column) string {
	if c.Name == "kind" {
		return t.Kind + "_kind"
	}
	return c.Name
}

// keyOf lists the columns of a table's key for a statement.
func keyOf(t database.Table) string { return strings.Join(t.Key, ", ") }

// some is a DELETE of at most $2 rows of a table for which a condition with $1 is true.
func some(t database.Table, condition, order string) string {
	return "DELETE FROM " + t.Name + " WHERE (" + keyOf(t) + ") IN (SELECT " + keyOf(t) + " FROM " + t.Name +
		" WHERE " + condition + order + " LIMIT $2)"
}

// beside are the tables of a thread's rows that no key of the database ties to the thread: those of features, in the
// order in which they can be emptied.
func (s *Store) beside() (tables []database.Table) {
	for _, t := range s.tables[len(coreTables()):] {
		if t.Thread != "" {
			tables = append(tables, t)
		}
	}
	slices.Reverse(tables)
	return tables
}
