package audit

import (
	"embed"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed system/*.sql migrations/*/*.sql
var files embed.FS

// Keep is how long a row stays.
const Keep = 365 * 24 * time.Hour

// Feature describes what the audit log keeps. The column with the user's id is not named as such: a row is the
// operator's, and stays when its user is deleted.
func Feature() database.Feature {
	text := database.Text
	return database.Feature{
		Name: "audit",
		Tables: []database.Table{{
			Name: "audit", Kind: "audit", Key: []string{"id"},
			Columns: []database.Column{
				text.Column("id"), database.Instant.Column("at"), text.Column("who"), text.Column("role"),
				text.Column("via"), text.Column("verb"), text.Column("what"), text.Column("object"),
				text.Column("refused"), database.Number.Column("times"), text.Column("request"),
			},
			Age: database.Age{Column: "at", Keep: Keep},
		}},
		Files: files,
	}
}
