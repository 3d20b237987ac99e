package search

import (
	"embed"
	"errors"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

// Feature describes what the search keeps. All of it is made again from the threads, so that no backup has it.
func Feature() database.Feature {
	text, number, instant := database.Text, database.Number, database.Instant
	return database.Feature{
		Name: "search",
		Tables: []database.Table{
			{
				Name: "search_threads", Kind: "search_thread", User: "user_id", Thread: "thread_id",
				Key: []string{"thread_id"},
				Columns: []database.Column{
					text.Column("thread_id"), text.Column("user_id"), text.Column("head"), text.Column("title"),
				},
				Derived: true,
			},
			{
				Name: "search_docs", Kind: "search_doc", User: "user_id", Thread: "thread_id",
				Key: []string{"thread_id", "form", "ref", "part"},
				Columns: []database.Column{
					number.Column("seq"), text.Column("user_id"), text.Column("thread_id"), text.Column("form"),
					text.Column("ref"), number.Column("part"), text.Column("role"), instant.Column("at"),
					text.Column("digest"), text.Column("text"),
				},
				Derived: true,
			},
		},
		Index: "search_index",
		Files: files,
		Checks: []database.Check{{Query: "strays", Row: func(row database.Row) (thread string, fault, err error) {
			err = row.Scan(&thread)
			return thread, errors.New("another user finds what the thread says"), err
		}}},
	}
}
