package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestChooseDatabase(t *testing.T) {
	const file = "database: {backend: postgres, postgres_url: 'postgresql://u:secret@file/db', postgres_schema: s, pool_size: 7, pool_recycle: 300, command_timeout: 12}"
	env := map[string]string{"PUDU_DATABASE": "postgres://env/db"}
	for _, c := range []struct {
		name, text, flag string
		env              map[string]string
		want             string
	}{
		{"nothing", "", "", nil, ""},
		{"file", file, "", nil, "postgres://u:secret@file/db"},
		{"variable beats file", file, "", env, "postgres://env/db"},
		{"flag beats variable", file, " postgres://flag/db ", env, "postgres://flag/db"},
		{"sqlite by flag", file, "sqlite", env, ""},
		{"sqlite by variable", file, "", map[string]string{"PUDU_DATABASE": "sqlite"}, ""},
		{"variable in the file", "database: {backend: postgres, postgres_url: $DATABASE_URL}", "",
			map[string]string{"DATABASE_URL": "postgres://var/db"}, "postgres://var/db"},
		{"driver of another language", "database: {backend: postgres, postgres_url: 'postgresql+asyncpg://h/db?a=b'}",
			"", nil, "postgres://h/db?a=b"},
		{"sqlite in the file", "database: {backend: sqlite, postgres_url: $NOT_SET}", "", nil, ""},
		{"memory in the file", "database: {backend: memory}", "", nil, ""},
		{"checkpointer", "checkpointer: {type: postgres, connection_string: 'postgres://old/db'}", "", nil,
			"postgres://old/db"},
		{"database beats checkpointer", file +
			"\ncheckpointer: {type: postgres, connection_string: 'postgres://old/db'}", "", nil,
			"postgres://u:secret@file/db"},
		{"checkpointer of nothing", "checkpointer: null\ndatabase: null", "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _ := mustParse(t, c.text, c.env)
			b, err := cfg.ChooseDatabase(c.flag)
			if err != nil || b.URL.Reveal() != c.want {
				t.Errorf("%q, %v", b.URL.Reveal(), err)
			}
			if c.text == file && (b.Schema != "s" || b.PoolSize != 7 || b.PoolRecycle != 300 ||
				b.CommandTimeout != 12*time.Second) {
				t.Errorf("%+v", b)
			}
			if text := fmt.Sprintf("%+v", *cfg); strings.Contains(text, "secret@") {
				t.Errorf("the configuration prints its password: %s", text)
			}
		})
	}
}

func TestChooseDatabaseErrors(t *testing.T) {
	for _, c := range []struct {
		name, text, flag string
		env              map[string]string
		want             string
	}{
		{"other database", "", "mysql://u:secret@h/db", nil,
			`--database: databases of kind "mysql" are not supported: write postgres://`},
		{"no URL", "", "secret", nil, "--database: is no address of a database"},
		{"odd scheme", "", "a b secret://x", nil, "--database: is no address"},
		{"variable", "", "", map[string]string{"PUDU_DATABASE": "sqlserver://u:secret@h"},
			`PUDU_DATABASE: databases of kind "sqlserver"`},
		{"file", "\ndatabase:\n  backend: postgres\n  postgres_url: 'http://u:secret@h'", "", nil,
			`config.yaml:3: database.postgres_url: databases of kind "http"`},
		{"variable that is not set", "database:\n  backend: postgres\n  postgres_url: $NOPE", "", nil,
			"config.yaml:3: database.postgres_url: the variable NOPE is not set"},
		{"old variable that is not set", "checkpointer:\n  type: postgres\n  connection_string: $NOPE", "", nil,
			"config.yaml:3: checkpointer.connection_string: the variable NOPE is not set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, _ := mustParse(t, c.text, c.env)
			_, err := cfg.ChooseDatabase(c.flag)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

func TestDatabaseProblemsAndWarnings(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"database: {backend: postgres}", "config.yaml:1: database: backend: postgres needs postgres_url"},
		{"database: {backend: mysql}", `"mysql" is not allowed: one of memory, sqlite, postgres`},
		{"database: {pool_size: 0}", "database.pool_size: must be from 1 to 1000"},
		{"database: {command_timeout: 0}", "database.command_timeout: must be above 0"},
		{"checkpointer: {type: postgres}", "checkpointer: type: postgres needs connection_string"},
	} {
		if _, _, err := parsed(t, c.text, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"database: {backend: memory}", "config.yaml:1: database.backend: memory becomes sqlite"},
		{"database: {postgres_url: 'postgres://h/d'}", "database.postgres_url: has no effect without"},
		{"database: {sqlite_dir: x}", "database.sqlite_dir: has no effect: the database is in the data folder"},
		{"database: {echo_sql: true}", "database.echo_sql: has no effect"},
		{"database:\n  checkpoint_cache: {type: redis}", "without effect: database.checkpoint_cache (line 2)"},
		{"database: {pol_size: 3}", `database.pol_size: unknown key, left as it is; did you mean "pool_size"?`},
		{"checkpointer: {type: sqlite, connection_string: x.db}", "checkpointer: has no effect"},
		{"checkpointer: {type: postgres, connection_string: 'postgres://h/d'}", "checkpointer: keeps everything"},
		{"checkpointer: {type: postgres, connection_string: a}\ndatabase: {backend: postgres, postgres_url: 'postgres://h/d'}", "checkpointer: has no effect beside database"},
	} {
		if _, warnings := mustParse(t, c.text, nil); !strings.Contains(lines(warnings), c.want) {
			t.Errorf("%s:\n%s", c.text, lines(warnings))
		}
	}
	for _, quiet := range []string{"database: {backend: sqlite}", "database: {echo_sql: false}", "checkpointer: null",
		"database: {backend: postgres, postgres_url: 'postgres://h/d', pool_recycle: -1}"} {
		if _, warnings := mustParse(t, quiet, nil); len(warnings) > 0 {
			t.Errorf("%s: %v", quiet, warnings)
		}
	}
}

func FuzzPostgresURL(f *testing.F) {
	for _, s := range []string{"sqlite", "postgres://a:b@c/d", "postgresql+x://", "mysql://u:p@h", "://", "",
		"a+b+c://p"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		url, err := postgresURL(s)
		if err == nil && url != "" && !strings.HasPrefix(url, "postgres://") {
			t.Errorf("%q became %q", s, url)
		}
		if _, rest, ok := strings.Cut(s, "://"); err != nil && ok && len(rest) > 60 &&
			strings.Contains(err.Error(), rest) {
			t.Errorf("the error shows the address: %v", err)
		}
	})
}
