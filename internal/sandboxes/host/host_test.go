package host

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) { sandboxtest.Run(t, &Provider{}) }

func TestOrphans(t *testing.T) {
	sandboxtest.RunOrphans(t, &Provider{},
		func(ctx context.Context, p sandbox.Provider, spec sandbox.Spec) (sandbox.Sandbox, error) {
			return p.Open(ctx, spec)
		})
}

var pairs = []pair{{"/mnt/user-data/workspace", "/srv/t1/ws"}, {"/mnt/user-data", "/srv/t1"},
	{"/mnt/skills", "/srv/skills"}}

func TestTranslate(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"alone", "/mnt/skills", "/srv/skills"},
		{"below", "cat /mnt/skills/a/b.md", "cat /srv/skills/a/b.md"},
		{"the longest", "ls /mnt/user-data/workspace /mnt/user-data/uploads", "ls /srv/t1/ws /srv/t1/uploads"},
		{"another name", "/mnt/user-data-backup /mnt/skills2 /mnt/skills.bak",
			"/mnt/user-data-backup /mnt/skills2 /mnt/skills.bak"},
		{"part of another path", "/x/mnt/skills /mnt/skills/mnt/skills", "/x/mnt/skills /srv/skills/mnt/skills"},
		{"quotes", `"/mnt/skills" '/mnt/skills/x';(/mnt/skills)`, `"/srv/skills" '/srv/skills/x';(/srv/skills)`},
		{"assignment", "A=/mnt/skills:/mnt/user-data", "A=/srv/skills:/srv/t1"},
		{"trailing slash", "/mnt/skills/", "/srv/skills/"},
		{"end of line", "cd /mnt/skills\nls", "cd /srv/skills\nls"},
		{"beginning only", "/mnt", "/mnt"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := translate(tt.in, pairs); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMaskAcrossCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"/mnt/user-data", "/mnt/skills", "/workspace",
			"/", "-", " ", "x", "\n", "/mnt", "\xff"})).Draw(t, "text"), "")
		var out bytes.Buffer
		m := &masker{to: &out, pairs: pairs}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			io.WriteString(m, rest[:n])
			rest = rest[n:]
		}
		m.flush()
		if want := translate(text, pairs); out.String() != want {
			t.Fatalf("%q: got %q, want %q", text, out.String(), want)
		}
	})
}

func TestMaskHoldsBackNoMoreThanNeeded(t *testing.T) {
	var out bytes.Buffer
	m := &masker{to: &out, pairs: pairs}
	for _, step := range []struct{ write, seen string }{
		{"prompt> ", "prompt> "}, {"/bin/ls ", "prompt> /bin/ls "}, {"/mnt/sk", "prompt> /bin/ls "},
		{"y", "prompt> /bin/ls /mnt/sky"},
	} {
		io.WriteString(m, step.write)
		if out.String() != step.seen {
			t.Errorf("after %q: %q", step.write, out.String())
		}
	}
}

func FuzzTranslate(f *testing.F) {
	for _, s := range []string{"/mnt/skills", "/mnt/user-data-backup", "//mnt/skills/", "a/mnt/skills",
		"/mnt/skills/../x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := translate(s, pairs)
		if translate(s, nil) != s {
			t.Fatal("changed without pairs")
		}
		if strings.Count(s, "/mnt/") == 0 && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func TestScrub(t *testing.T) {
	secret := []string{"OPENAI_API_KEY", "my_secret", "PGPASSFILE", "MYSQL_PWD", "REDISCLI_AUTH", "DB_PASS",
		"DATABASE_URL", "GH_TOKEN",
		"GITHUB_PAT", "SENTRY_DSN", "MAVEN_OPTS", "GLIBC_TUNABLES", "LD_PRELOAD", "BASH_ENV", "BASH_FUNC_ls%%",
		"NODE_OPTIONS", "AWS_CREDENTIAL_FILE", "REDIS_URL"}
	fine := []string{"PATH", "HOME", "LANG", "USER", "PWD", "TERM", "MONITOR"}
	var environ []string
	for _, name := range append(secret, fine...) {
		environ = append(environ, name+"=x")
	}
	got := scrub(environ)
	if want := strings.Join(fine, "=x ") + "=x"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutputIsMasked(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	box, err := (&Provider{}).
		Open(t.Context(), sandbox.Spec{ID: "t", Mounts: []sandbox.Mount{{Host: link, Path: sandbox.Workspace}}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	var out bytes.Buffer
	_, err = box.Run(context.Background(), sandbox.Command{Script: "pwd; pwd -P; echo x >" + sandbox.Workspace +
		"/f; ls $PWD/f /none; echo " + sandbox.Workspace + "-2", Stdout: &out, Stderr: &out})
	if err != nil || strings.Contains(out.String(), dir) || strings.Contains(out.String(), link) ||
		strings.Count(out.String(), sandbox.Workspace) != 4 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestOpenRefusesFoldersWithAMeaningForTheShell(t *testing.T) {
	for _, name := range []string{"a b", "a'b", "a$(x)", "a;b"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Provider{}).
			Open(t.Context(),
				sandbox.Spec{ID: "t", Mounts: []sandbox.Mount{{Host: dir, Path: sandbox.Workspace}}}); err == nil {
			t.Errorf("%q: opened", name)
		}
	}
}
