//go:build linux

package packaging

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/test/server"
)

const repository = "../.."

// run runs a program in the repository and returns what it prints. It must succeed.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Minute) // of a cleanup, too
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = repository, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestInstall puts everything below the prefix, and systemd finds nothing wrong with the unit.
func TestInstall(t *testing.T) {
	base := t.TempDir()
	dest := filepath.Join(base, "root")
	run(t, nil, "make", "install", "OUT="+filepath.Join(base, "pudu"), "DESTDIR="+dest, "PREFIX=/usr")
	program := filepath.Join(dest, "usr/bin/pudu")
	if out := run(t, nil, program, "version"); !strings.HasPrefix(out, "pudu ") {
		t.Errorf("it says %q", out)
	}
	for _, name := range []string{"Caddyfile", "nginx.conf"} {
		if _, err := os.Stat(filepath.Join(dest, "usr/share/doc/pudu", name)); err != nil {
			t.Error(err)
		}
	}
	unit, err := os.ReadFile(filepath.Join(dest, "usr/lib/systemd/system/pudu.service"))
	server.Must(t, err)
	if !strings.Contains(string(unit), "ExecStart=/usr/bin/pudu serve ") {
		t.Fatalf("the unit does not start what was installed:\n%s", unit)
	}
	// The program is not at its place on this machine.
	moved := filepath.Join(base, "pudu.service")
	server.Must(t, os.WriteFile(moved, []byte(strings.Replace(string(unit), "/usr/bin/pudu", program, 1)), 0o600))
	if out := run(t, nil, "systemd-analyze", "verify", moved); strings.Contains(out, "pudu.service") {
		t.Errorf("systemd says %s", out)
	}
}
