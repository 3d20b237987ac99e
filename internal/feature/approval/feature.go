package approval

import (
	"embed"
	"errors"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

// Feature describes what is kept of grants.
func Feature() database.Feature {
	text, number, instant := database.Text, database.Number, database.Instant
	return database.Feature{
		Name: "approval",
		Tables: []database.Table{{
			Name: "grants", Kind: "grant", User: "user_id", Thread: "thread_id", Key: []string{"user_id", "id"},
			Columns: []database.Column{
				text.Column("user_id"), text.Column("id"), text.Column("tool"), text.Column("pattern"),
				number.Column("exact"), database.Key.Column("thread_id"), text.Column("via"),
				instant.Column("given_at"), instant.Column("used_at"), number.Column("uses"),
				instant.Column("revoked_at"),
			},
			Age:   database.Age{Column: "revoked_at", Keep: 90 * 24 * time.Hour},
			Quota: database.Quota{Rows: 1000},
		}},
		Files: files,
		Checks: []database.Check{{Query: "strays", Row: func(row database.Row) (grant string, fault, err error) {
			err = row.Scan(&grant)
			return grant, errors.New("the grant is for a thread of another user"), err
		}}},
	}
}
