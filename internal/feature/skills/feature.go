package skills

import (
	"embed"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

const (
	feature = "skills"
	// MaxInstalled is how many skills a user may install, maxStored how many bytes their archives may have together.
	MaxInstalled = 200
	maxStored    = 256 << 20
	// maxHistory is how many changes of a skill are kept, maxRefused how many refused installations, and for how long.
	maxHistory  = 100
	maxRefused  = 100
	keepRefused = 90 * 24 * time.Hour
)

// Feature describes what is kept of skills.
func Feature() database.Feature {
	text, number, instant, doc := database.Text, database.Number, database.Instant, database.Doc
	user := text.Column("user_id")
	return database.Feature{
		Name: feature,
		Tables: []database.Table{
			{
				Name: "skills", Kind: "skill", User: "user_id", Key: []string{"user_id", "name"},
				Columns: []database.Column{
					user, text.Column("name"), text.Column("digest"), instant.Column("created_at"),
					instant.Column("updated_at"), doc.Column("body"),
				},
				Quota: database.Quota{Rows: MaxInstalled},
			},
			{
				Name: "skill_parts", Kind: "skill_part", User: "user_id", Key: []string{"user_id", "digest", "n"},
				Columns: []database.Column{user, text.Column("digest"), number.Column("n"),
					database.Blob.Column("bytes")},
				Quota: database.Quota{Bytes: maxStored},
			},
			{
				Name: "skill_states", Kind: "skill_state", User: "user_id", Key: []string{"user_id", "name"},
				Columns: []database.Column{
					user, text.Column("name"), number.Column("enabled"), number.Column("uses"),
					instant.Column("used_at"),
				},
				Quota: database.Quota{Rows: 10 * MaxInstalled},
			},
			{
				Name: "skill_history", Kind: "skill_change", User: "user_id", Key: []string{"user_id", "name", "seq"},
				Columns: []database.Column{user, text.Column("name"), number.Column("seq"), instant.Column("at"),
					doc.Column("body")},
				Quota: database.Quota{Bytes: 64 << 20},
			},
			{
				Name: "skill_refusals", Kind: "skill_refusal", User: "user_id", Key: []string{"user_id", "seq"},
				Columns: []database.Column{user, number.Column("seq"), instant.Column("at"), doc.Column("body")},
				Age:     database.Age{Column: "at", Keep: keepRefused},
			},
			{
				Name: "skill_switches", Kind: "skill_switch", Key: []string{"name"},
				Columns: []database.Column{text.Column("name"), number.Column("enabled")},
			},
		},
		Files: files,
	}
}
