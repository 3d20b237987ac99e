package memory

import (
	"embed"
	"time"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql migrations/*/*.sql
var files embed.FS

const (
	name = "memory"
	// keepGone is how long a fact that was replaced can come back, keepHistory how long is known what became of facts.
	keepGone, keepHistory = 90 * 24 * time.Hour, 365 * 24 * time.Hour
	// maxHistory is how many entries of a user's history are kept.
	maxHistory = 5000
)

// Feature describes what the memory keeps.
func Feature() database.Feature {
	text, key, number, instant, doc := database.Text, database.Key, database.Number, database.Instant, database.Doc
	return database.Feature{
		Name: name,
		Tables: []database.Table{
			{
				Name: "memory_docs", Kind: "memory", User: "user_id", Key: []string{"user_id"},
				Columns: []database.Column{
					text.Column("user_id"), number.Column("revision"), instant.Column("updated_at"), doc.Column("body"),
				},
			},
			{
				Name: "memory_facts", Kind: "memory_fact", User: "user_id", Key: []string{"user_id", "id"},
				Columns: []database.Column{
					text.Column("user_id"), text.Column("id"), number.Column("seq"), text.Column("status"),
					text.Column("agent"), key.Column("folder_id"), text.Column("thread_id"), text.Column("category"),
					number.Column("confidence"), number.Column("revision"), instant.Column("created_at"),
					instant.Column("updated_at"), instant.Column("gone_at"), instant.Column("used_at"),
					number.Column("uses"), doc.Column("body"), text.Column("content"),
				},
				Age:   database.Age{Column: "gone_at", Keep: keepGone},
				Quota: database.Quota{Rows: maxRows, Bytes: 32 << 20},
			},
			{
				Name: "memory_terms", Kind: "memory_term", User: "user_id", Key: []string{"user_id", "term", "seq"},
				Columns: []database.Column{text.Column("user_id"), text.Column("term"), number.Column("seq")},
			},
			{
				Name: "memory_sources", Kind: "memory_source", User: "user_id", Thread: "thread_id",
				Key: []string{"user_id", "fact_id", "message_id"},
				Columns: []database.Column{
					text.Column("user_id"), text.Column("fact_id"), text.Column("message_id"), text.Column("thread_id"),
					instant.Column("at"), text.Column("words"),
				},
			},
			{
				Name: "memory_uses", Kind: "memory_use", User: "user_id", Thread: "thread_id",
				Key: []string{"user_id", "fact_id", "thread_id"},
				Columns: []database.Column{
					text.Column("user_id"), text.Column("fact_id"), text.Column("thread_id"), instant.Column("at"),
				},
			},
			{
				Name: "memory_reads", Kind: "memory_read", User: "user_id", Thread: "thread_id",
				Key: []string{"thread_id"},
				Columns: []database.Column{
					text.Column("user_id"), text.Column("thread_id"), instant.Column("at"), doc.Column("body"),
				},
			},
			{
				Name: "memory_history", Kind: "memory_change", User: "user_id", Key: []string{"user_id", "seq"},
				Columns: []database.Column{
					text.Column("user_id"), number.Column("seq"), instant.Column("at"), text.Column("fact_id"),
					key.Column("folder_id"), text.Column("batch"), text.Column("act"), text.Column("why"),
					doc.Column("body"),
				},
				Age: database.Age{Column: "at", Keep: keepHistory},
			},
		},
		Files: files,
	}
}
