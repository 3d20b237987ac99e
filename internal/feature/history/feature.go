package history

import (
	"embed"
	"errors"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

// Feature describes what is kept: nothing that does not follow from the log.
func Feature() database.Feature {
	text, number, instant := database.Text, database.Number, database.Instant
	return database.Feature{
		Name: "history",
		Tables: []database.Table{
			{
				Name: "history", Kind: "history", Thread: "thread_id", Key: []string{"thread_id", "seq"},
				Columns: []database.Column{
					text.Column("thread_id"), number.Column("seq"), text.Column("op"), text.Column("message_id"),
					text.Column("kind"), text.Column("run_id"), text.Column("checkpoint_id"), number.Column("n"),
					number.Column("base"), number.Column("prev"), number.Column("turn"), number.Column("call"),
					number.Column("millis"), number.Column("tokens"), instant.Column("created_at"),
					text.Column("model"),
				},
			},
			{
				Name: "history_heads", Kind: "history_head", Thread: "thread_id", Key: []string{"thread_id"},
				Columns: []database.Column{
					text.Column("thread_id"), text.Column("checkpoint_id"), text.Column("run_id"), number.Column("seq"),
					number.Column("prev"), number.Column("turn"), number.Column("turns"), number.Column("calls"),
					instant.Column("read_at"),
				},
			},
		},
		Files: files,
		Checks: []database.Check{{Query: "strays", Row: func(row database.Row) (thread string, fault, err error) {
			err = row.Scan(&thread)
			return thread, errors.New("the pages of its history are of checkpoints that it does not have"), err
		}}},
	}
}
