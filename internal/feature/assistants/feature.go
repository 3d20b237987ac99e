package assistants

import (
	"embed"
	"errors"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql
var files embed.FS

// Feature describes what assistants keep. Their table was made by migrations of the core.
func Feature() database.Feature {
	text, number, instant, doc := database.Text, database.Number, database.Instant, database.Doc
	return database.Feature{
		Name: "assistants",
		Tables: []database.Table{{
			Name: "assistants", Kind: "assistant", User: "user_id", Key: []string{"id", "version"},
			Columns: []database.Column{
				text.Column("id"), number.Column("version"), number.Column("in_force"), text.Column("user_id"),
				text.Column("graph_id"), text.Column("name"), instant.Column("created_at"),
				instant.Column("updated_at"), text.Column("description"), doc.Column("config"), doc.Column("context"),
				doc.Column("metadata"),
			},
			Quota: database.Quota{Rows: 100_000, Bytes: 1 << 30},
		}},
		Files: files,
		Checks: []database.Check{
			{Query: "all", Row: checkStored},
			{Query: "uneven", Row: func(row database.Row) (id string, fault, err error) {
				err = row.Scan(&id)
				return id, errors.New("a version of the assistant is missing, or not one version is in force"), err
			}},
		},
	}
}

// checkStored looks at a version of an assistant as it is stored.
func checkStored(row database.Row) (id string, fault, err error) {
	var config, context, metadata []byte
	err = row.Scan(&id, &config, &context, &metadata)
	return id, errors.Join(database.CheckObject("config", config), database.CheckObject("context", context),
		database.CheckObject("metadata", metadata)), err
}
