//go:build linux

package cluster

import (
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/pudu-ai/pudu/test/server"
)

// psqlOnly are the lines of a dump that psql alone understands.
var psqlOnly = regexp.MustCompile(`(?m)^\\.*\n`)

// dump writes a PostgreSQL database as one SQL text.
func dump(t *testing.T, url, file string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--inserts", "--no-owner", "--no-privileges", url).Output()
	server.Must(t, err)
	server.Must(t, os.WriteFile(file, psqlOnly.ReplaceAll(out, nil), 0o600))
}

// pack writes what an upgrade finds: the data folder as kill -9 leaves it, what the server answered, and the dump.
func pack(t *testing.T, base, file string) {
	t.Helper()
	server.Must(t, os.MkdirAll("testdata", 0o755))
	out, err := exec.CommandContext(t.Context(), "tar", "-czf", file, "-C", base, "--numeric-owner", "--exclude=*.sock",
		"--exclude=config.yaml", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
