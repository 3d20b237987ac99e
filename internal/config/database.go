package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pudu-ai/pudu/internal/lib/id"
)

// Database says where threads, runs and their log are kept: SQLite in the data folder, or PostgreSQL, which several
// machines can share.
type Database struct {
	// Backend is as written; what counts is the URL that [Config.ChooseDatabase] returns.
	Backend string `key:"backend" allow:"memory|sqlite|postgres"`
	// URL is the PostgreSQL. Empty means SQLite.
	URL Secret `key:"postgres_url"`
	// Schema is the PostgreSQL schema of the tables; empty means the user's default.
	Schema string `key:"postgres_schema"`
	// PoolSize is how many connections may be open; 0 means the store's own default.
	PoolSize int `key:"pool_size" allow:"[1,1000]"`
	// PoolRecycle is the greatest age of a connection in seconds; -1 and 0 mean any.
	PoolRecycle int `key:"pool_recycle" allow:"[-1,)"`
	// CommandTimeout bounds a statement; 0 means the store's own default.
	CommandTimeout time.Duration `key:"command_timeout" unit:"s" allow:"(0,)"`

	SQLiteDir string                     `key:"sqlite_dir"`
	EchoSQL   bool                       `key:"echo_sql"`
	Extra     map[string]json.RawMessage `key:"*" later:"checkpoint_channel_mode,checkpoint_delta,checkpoint_graph_cache,checkpoint_cache"`
	Line      int                        `key:"@line"`
	// Err says why the URL cannot be used (a variable that is not set); nil means usable.
	Err error
}

// Checkpointer is DeerFlow's older section for the same. It counts where "database" names no PostgreSQL.
type Checkpointer struct {
	Type   string `key:"type" allow:"memory|sqlite|postgres"`
	URL    Secret `key:"connection_string"`
	Schema string `key:"postgres_schema"`
	Line   int    `key:"@line"`
	Err    error
}

func (b *Database) disable(err error)     { b.Err = firstError(b.Err, err) }
func (c *Checkpointer) disable(err error) { c.Err = firstError(c.Err, err) }

// check names what does not fit together or has no effect.
func (b *Database) check(d *decoder) {
	const at = "database"
	if b.Backend == "postgres" && b.URL == "" && b.Err == nil {
		d.failf(b.Line, at,
			`backend: postgres needs postgres_url: postgres://USER:PASSWORD@HOST:5432/DATABASE, or a variable such `+
				`as $DATABASE_URL`)
	}
	if b.Backend == "memory" {
		d.warnf(b.Line, at+".backend", "memory becomes sqlite in the data folder: what was said outlives the program")
	}
	if b.Backend != "postgres" && b.URL != "" {
		d.warnf(b.Line, at+".postgres_url", `has no effect without "backend: postgres"`)
	}
	if b.SQLiteDir != "" {
		d.warnf(b.Line, at+".sqlite_dir",
			"has no effect: the database is in the data folder, which --data or PUDU_DATA names")
	}
	if b.EchoSQL {
		d.warnf(b.Line, at+".echo_sql", "has no effect: statements are not printed")
	}
}

func (c *Checkpointer) check(d *decoder, b *Database) {
	const at = "checkpointer"
	switch {
	case c.Type == "postgres" && b.Backend == "postgres":
		d.warnf(c.Line, at, "has no effect beside database: one database keeps everything")
	case c.Type == "postgres" && c.URL == "" && c.Err == nil:
		d.failf(c.Line, at, "type: postgres needs connection_string")
	case c.Type == "postgres":
		d.warnf(c.Line, at,
			`keeps everything, not only checkpoints; "database: {backend: postgres, postgres_url: ...}" says so`)
	case c.Type == "sqlite" || c.Type == "memory" || c.URL != "":
		d.warnf(c.Line, at, "has no effect: the database is in the data folder, which --data or PUDU_DATA names")
	}
}

// ChooseDatabase returns the database, whose URL is that of named (--database), else PUDU_DATABASE, else the file's;
// empty for SQLite, which both can also ask for with the word "sqlite".
func (c *Config) ChooseDatabase(named string) (Database, error) {
	b, by := c.Database, "--database"
	if named = strings.TrimSpace(named); named == "" {
		named, by = c.Env.Get("PUDU_DATABASE"), c.Env.describe("PUDU_DATABASE")
	}
	switch {
	case named != "":
		b.URL = Secret(named)
	case b.Backend == "postgres":
		by = place(c.Path, b.Line, "database.postgres_url")
		if b.Err != nil {
			return Database{}, b.Err
		}
	case c.Checkpointer.Type == "postgres":
		by = place(c.Path, c.Checkpointer.Line, "checkpointer.connection_string")
		if c.Checkpointer.Err != nil {
			return Database{}, c.Checkpointer.Err
		}
		b.URL, b.Schema = c.Checkpointer.URL, c.Checkpointer.Schema
	default:
		b.URL = "sqlite"
	}
	url, err := postgresURL(b.URL.Reveal())
	if err != nil {
		return Database{}, fmt.Errorf("%s: %w", strings.TrimSuffix(by, ": "), err)
	}
	b.URL = Secret(url)
	return b, nil
}

// postgresURL accepts the URLs of PostgreSQL, also as SQLAlchemy spells them with the name of a driver. An error does
// not show the text: there may be a password in it.
func postgresURL(s string) (string, error) {
	if s == "sqlite" {
		return "", nil
	}
	scheme, rest, ok := strings.Cut(s, "://")
	dialect, _, _ := strings.Cut(scheme, "+")
	if ok && (dialect == "postgres" || dialect == "postgresql") {
		return "postgres://" + rest, nil
	}
	const want = "write postgres://USER:PASSWORD@HOST:5432/DATABASE, or sqlite for the database in the data folder" //nolint:gosec // stands for one
	if ok && id.IsName(dialect, 20) {
		return "", fmt.Errorf("databases of kind %q are not supported: %s", dialect, want)
	}
	return "", fmt.Errorf("is no address of a database: %s", want)
}
