package news

import (
	"embed"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

// Keep is how long is known that a thread was deleted. Who was away for longer is told to begin anew.
const Keep = 7 * 24 * time.Hour

// Feature describes what is kept of news. The column of the thread is not named as such: its row outlives it, to tell
// that it is gone.
func Feature() database.Feature {
	text, instant := database.Text, database.Instant
	return database.Feature{
		Name: "news",
		Tables: []database.Table{{
			Name: "news", Kind: "news", User: "user_id", Key: []string{"user_id", "thread_id"},
			Columns: []database.Column{
				text.Column("user_id"), text.Column("thread_id"), database.Number.Column("number"),
				text.Column("state"), instant.Column("read_at"), instant.Column("gone_at"),
			},
			Age: database.Age{Column: "gone_at", Keep: Keep}, Trace: "gone_at",
		}},
		Files: files,
	}
}
