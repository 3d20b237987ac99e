package filehistory

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// kit is a thread with files, and its history.
type kit struct {
	*Thread

	t    testing.TB
	h    *History
	dir  string // the folder of its files
	made int
}

func newKit(t testing.TB, c Config) *kit {
	t.Helper()
	data := t.TempDir()
	place, err := userdata.New(data).User(access.FromRow("ann")).Thread("t")
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, h: New(c), dir: filepath.Join(data, "users/ann/threads/t/user-data")}
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		if err := os.MkdirAll(filepath.Join(k.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k.Thread = k.h.Of(place)
	return k
}

// bash is a call of a run that does what the script says.
func (k *kit) bash(run, script string) {
	k.t.Helper()
	k.made++
	done, err := k.Call(k.t.Context(), run, fmt.Sprintf("call-%d", k.made), "bash")
	if err != nil {
		k.t.Fatal(err)
	}
	k.shell(script)
	if err := done(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// shell does what nobody is told of.
func (k *kit) shell(script string) {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), "bash", "-ec", script)
	cmd.Dir = k.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		k.t.Fatalf("%v: %s", err, out)
	}
}

func (k *kit) finish(run string) {
	k.t.Helper()
	if err := k.Finish(k.t.Context(), run); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) changes(run string) Changes {
	k.t.Helper()
	c, err := k.Changes(k.t.Context(), run)
	if err != nil {
		k.t.Fatal(err)
	}
	return c
}

// undo undoes, and wants that to be done.
func (k *kit) undo(u Undo) Undone {
	k.t.Helper()
	k.made++
	if u.ID == "" {
		u.ID = fmt.Sprintf("undo-%d", k.made)
	}
	out, err := k.Undo(k.t.Context(), u)
	if err != nil {
		k.t.Fatal(err)
	}
	return out
}

// all is everything that there is: a line for each name with its kind, mode, and content or target.
func (k *kit) all() string {
	k.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(k.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := ""
		switch {
		case info.Mode().IsRegular():
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			what = string(raw)
		case info.Mode()&fs.ModeSymlink != 0:
			what, err = os.Readlink(p)
		}
		rel, _ := filepath.Rel(k.dir, p)
		if rel != "." {
			fmt.Fprintf(&b, "%q %v %q\n", rel, info.Mode(), what)
		}
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return b.String()
}

// fill writes n files of size bytes into the workspace, fifty a folder.
func (k *kit) fill(n, size int) {
	k.t.Helper()
	for i := range n {
		name := filepath.Join(k.dir, "workspace", fmt.Sprintf("d%d", i/50), fmt.Sprintf("f%d", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			k.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Repeat(fmt.Sprint(i, " "), size)[:size]), 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
}
