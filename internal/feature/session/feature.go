package session

import (
	"embed"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

// Feature describes what sessions keep.
func Feature() database.Feature {
	text, instant := database.Text, database.Instant
	return database.Feature{
		Name: "session",
		Tables: []database.Table{{
			Name: "sessions", Kind: "session", User: "user_id", Key: []string{"id"},
			Columns: []database.Column{
				text.Column("id"), text.Column("user_id"), text.Column("token"), database.Secret.Column("seal"),
				instant.Column("created_at"), instant.Column("ends_at"), text.Column("agent"),
			},
			Age: database.Age{Column: "ends_at"},
		}},
		Files: files,
	}
}
