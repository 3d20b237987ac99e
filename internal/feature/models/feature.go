package models

import (
	"embed"
	"errors"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed system/*.sql migrations/*/*.sql
var files embed.FS

// Feature describes what is kept of models. They are the installation's and not a user's. A dump has them without their
// keys.
func Feature() database.Feature {
	text, number, instant := database.Text, database.Number, database.Instant
	return database.Feature{
		Name: "models",
		Tables: []database.Table{{
			Name: "model_entries", Kind: "model", Key: []string{"name"},
			Columns: []database.Column{
				text.Column("name"), text.Column("provider"), text.Column("model"), text.Column("base_url"),
				database.Secret.Column("seal"), number.Column("keyed"), database.Doc.Column("settings"),
				instant.Column("created_at"), instant.Column("updated_at"),
			},
		}, {
			Name: "model_state", Kind: "model_state", Key: []string{"id"},
			Columns: []database.Column{text.Column("id"), number.Column("version"), text.Column("standard")},
		}},
		Files:  files,
		Checks: []database.Check{{Query: "list", Row: checkStored}},
	}
}

// checkStored looks at an entry as it is stored, but for its key.
func checkStored(row database.Row) (name string, fault, err error) {
	s, err := scan(row)
	if err != nil {
		return "", nil, err
	}
	_, fault = s.entry.Given.Model(config.Env{})
	return s.entry.Name, errors.Join(fault, database.CheckObject("settings", s.entry.Settings)), nil
}
