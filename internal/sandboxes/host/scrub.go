package host

import (
	"path"
	"slices"
	"strings"
)

// secretNames are patterns of variables that commands do not inherit: what looks like a secret, and what makes a
// loader, a shell or an interpreter do something.
var secretNames = []string{
	"*KEY*", "*SECRET*", "*TOKEN*", "*PASS*", "*CREDENTIAL*", "*DSN*", "*_AUTH", "*_PWD", "*_PAT",
	"DATABASE_UR[IL]", "REDIS_URL", "MONGODB_URI", "MONGO_URL", "AMQP_URL", "RABBITMQ_URL", "POSTGRES_URL",
	"POSTGRESQL_URL", "MYSQL_URL", "CLICKHOUSE_URL", "CONNECTION_STRING", "CONN_STR", "PGSERVICEFILE",
	"LD_*", "DYLD_*", "GLIBC_TUNABLES", "*_OPTS", "*_OPTIONS", "BASH_*", "ENV", "SHELLOPTS", "BASHOPTS", "PS4",
	"PROMPT_COMMAND", "PYTHONSTARTUP", "PYTHONINSPECT", "PERL5OPT", "RUBYOPT", "GIT_*", "SSH_*",
}

// scrub removes those variables from an environment.
func scrub(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(secretNames, func(p string) bool {
			hit, _ := path.Match(p, strings.ToUpper(name))
			return hit
		})
	})
}
