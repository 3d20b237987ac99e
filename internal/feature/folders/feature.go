package folders

import (
	"embed"
	"errors"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

// Feature describes what folders keep.
func Feature() database.Feature {
	text, instant := database.Text, database.Instant
	return database.Feature{
		Name: "folders",
		Tables: []database.Table{
			{
				Name: "folders", Kind: "folder", User: "user_id", Key: []string{"user_id", "id"},
				Columns: []database.Column{
					text.Column("user_id"), text.Column("id"), text.Column("name"), text.Column("colour"),
					instant.Column("created_at"), instant.Column("updated_at"), text.Column("instructions"),
				},
				Quota: database.Quota{Rows: 1000},
			},
			{
				Name: "folder_threads", Kind: "folder_thread", User: "user_id", Thread: "thread_id",
				Key: []string{"thread_id"},
				Columns: []database.Column{
					text.Column("user_id"), text.Column("thread_id"), text.Column("folder_id"),
					instant.Column("put_at"),
				},
			},
		},
		Files: files,
		Checks: []database.Check{{Query: "strays", Row: func(row database.Row) (thread string, fault, err error) {
			err = row.Scan(&thread)
			return thread, errors.New("the thread is in a folder of another user"), err
		}}},
	}
}
