package calls

import (
	"embed"
	"errors"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

// keptFor is how long a part stays that no call has used.
const keptFor = 400 * 24 * time.Hour

// Feature describes what is kept beside the log.
func Feature() database.Feature {
	return database.Feature{
		Name: "calls",
		Tables: []database.Table{{
			Name: "call_parts", Kind: "call_part", User: "user_id", Key: []string{"user_id", "digest"},
			Columns: []database.Column{
				database.Text.Column("user_id"), database.Text.Column("digest"), database.Instant.Column("used_at"),
				database.Blob.Column("body"),
			},
			Age:   database.Age{Column: "used_at", Keep: keptFor},
			Quota: database.Quota{Rows: 10_000, Bytes: 256 << 20},
		}},
		Files: files,
		Checks: []database.Check{{Query: "strays", Row: func(row database.Row) (name string, fault, err error) {
			var user string
			err = row.Scan(&user, &name)
			return user + "/" + name, errors.New("the part of a call has a name that no content has"), err
		}}},
	}
}
