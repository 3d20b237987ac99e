package runsecrets

import (
	"embed"
	"errors"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql migrations/*/*.sql
var files embed.FS

const feature = "runsecrets"

// Feature describes what is kept until the ends of runs. No dump has the rows: a trigger of the database drops them
// with the ends.
func Feature() database.Feature {
	return database.Feature{
		Name: feature,
		Tables: []database.Table{{
			Name: "run_secrets", Kind: "run_secret", User: "user_id", Thread: "thread_id", Key: []string{"run_id"},
			Columns: []database.Column{
				database.Text.Column("run_id"), database.Text.Column("user_id"), database.Text.Column("thread_id"),
				database.Secret.Column("sealed"),
			},
			Derived: true,
		}},
		Files: files,
		Checks: []database.Check{{Query: "strays", Row: func(row database.Row) (run string, fault, err error) {
			err = row.Scan(&run)
			return run, errors.New("there are secrets of a run that is at its end, gone, or another user's"), err
		}}},
	}
}
