package items

import (
	"embed"
	"errors"
	"strings"

	"github.com/pudu-ai/pudu/internal/database"
)

//go:embed queries/*.sql system/*.sql
var files embed.FS

// Feature describes what items keep. Their table was made by migrations of the core.
func Feature() database.Feature {
	text, number, instant := database.Text, database.Number, database.Instant
	return database.Feature{
		Name: "items",
		Tables: []database.Table{{
			Name: "items", Kind: "item", User: "user_id", Key: []string{"user_id", "namespace", "key"},
			Columns: []database.Column{
				text.Column("user_id"), text.Column("namespace"), text.Column("key"), instant.Column("created_at"),
				instant.Column("updated_at"), number.Column("ttl"), instant.Column("expires_at"),
				database.Doc.Column("value"),
			},
			Age:   database.Age{Column: "expires_at"},
			Quota: database.Quota{Rows: 1_000_000, Bytes: 4 << 30},
		}},
		Files:  files,
		Checks: []database.Check{{Query: "all", Row: checkStored}},
	}
}

// checkStored looks at an item as it is stored.
func checkStored(row database.Row) (name string, fault, err error) {
	var user, namespace, key string
	var value []byte
	if err = row.Scan(&user, &namespace, &key, &value); err != nil {
		return "", nil, err
	}
	labels := splitLabels(namespace)
	fault = errors.Join(database.CheckText("user id", user), checkItem(labels, key),
		database.CheckObject("value", value))
	if fault == nil && joinLabels(labels) != namespace {
		fault = errors.New("its namespace is not one as it is stored")
	}
	return strings.Join(append(labels, key), "."), fault, nil
}
