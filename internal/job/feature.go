package job

import (
	"embed"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed system/*.sql migrations/*/*.sql
var files embed.FS

const (
	// MaxWaiting is how many jobs of a kind a user may have that are not dead; several processes that let them in at
	// once may go past it by a sixteenth each. What is more is left out, and said.
	MaxWaiting = 5000
	// maxDead is how many dead jobs of a kind are kept, keepDead for how long.
	maxDead  = 1000
	keepDead = 7 * 24 * time.Hour
)

// Feature describes what jobs keep. A user's jobs go with the user, those of a thread with that.
func Feature() database.Feature {
	text, number, instant := database.Text, database.Number, database.Instant
	return database.Feature{
		Name: "jobs",
		Tables: []database.Table{{
			Name: "jobs", Kind: "job", User: "user_id", Thread: "thread_id",
			Key: []string{"user_id", "job_kind", "key"},
			Columns: []database.Column{
				text.Column("user_id"), text.Column("job_kind"), text.Column("key"), text.Column("thread_id"),
				number.Column("generation"), number.Column("taken"), number.Column("attempts"), number.Column("fence"),
				text.Column("owner"), instant.Column("not_before"), instant.Column("latest"),
				instant.Column("created_at"), instant.Column("updated_at"), instant.Column("dead_at"),
				text.Column("error"), database.Doc.Column("body"),
			},
			Age: database.Age{Column: "dead_at", Keep: keepDead},
		}},
		Files: files,
	}
}
