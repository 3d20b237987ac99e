package sandboxtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/sandbox"
)

// patience bounds what should take milliseconds, on a busy machine.
const patience = 20 * time.Second

// prompt is what the end of processes may take that were killed: milliseconds, but more on a machine where many others
// compute. It is far below what they would go on for.
const prompt = 5 * time.Second

// bench is a sandbox under test with its folders on the host.
type bench struct {
	t       *testing.T
	box     sandbox.Sandbox
	folders map[string]string // virtual path to the host's
}

// folderPaths are the mounts of every test; the last is read-only.
var folderPaths = []string{sandbox.Workspace, sandbox.Uploads, sandbox.Outputs, "/mnt/skills"}

func open(t *testing.T, p sandbox.Provider, limits sandbox.Limits) *bench {
	t.Helper()
	b := &bench{t: t, folders: map[string]string{}}
	root := Folder(t)
	var mounts []sandbox.Mount
	for _, path := range folderPaths {
		host := filepath.Join(root, filepath.Base(path))
		must(t, os.Mkdir(host, 0o755))
		b.folders[path] = host
		mounts = append(mounts, sandbox.Mount{Host: host, Path: path, ReadOnly: path == "/mnt/skills"})
	}
	must(t, os.WriteFile(filepath.Join(b.folders["/mnt/skills"], "skill.md"), []byte("a skill\n"), 0o644))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	box, err := p.Open(ctx, sandbox.Spec{ID: "test", Mounts: mounts, Limits: limits})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	b.box = box
	t.Cleanup(func() { must(t, box.Close()) })
	return b
}

// Folder makes a folder for a mount that, unlike those of testing.T, all users can reach, as a data folder should be.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pudu-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// output is a writer for several goroutines.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// run runs a script that is expected to be run at all, and returns both outputs in one.
func (b *bench) run(script string) (string, sandbox.Result) {
	b.t.Helper()
	return b.do(sandbox.Command{Script: script, Timeout: patience})
}

func (b *bench) do(cmd sandbox.Command) (string, sandbox.Result) {
	b.t.Helper()
	var out output
	cmd.Stdout, cmd.Stderr = &out, &out
	res, err := b.box.Run(context.Background(), cmd)
	if err != nil {
		b.t.Fatalf("run %q: %v", cmd.Script, err)
	}
	return out.String(), res
}

// want runs a script and compares what it prints, and that it ends well.
func (b *bench) want(script, want string) {
	b.t.Helper()
	got, res := b.run(script)
	if got != want || res.Exit != 0 {
		b.t.Errorf("%s\ngot  %q, exit %d\nwant %q", script, got, res.Exit, want)
	}
}

// healthy checks that the sandbox still does its work.
func (b *bench) healthy() {
	b.t.Helper()
	until(b.t, "the sandbox works again", func() bool {
		var out output
		res, err := b.box.Run(context.Background(), sandbox.Command{Script: "echo fine", Stdout: &out,
			Timeout: patience})
		if err != nil {
			b.t.Fatalf("run after the attack: %v", err)
		}
		return res.Exit == 0 && out.String() == "fine\n"
	})
}

// until waits for a condition that has to come true.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain until %s", patience, what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hostProcesses counts processes of this machine whose command line contains the word.
func hostProcesses(word string) int {
	n := 0
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if data, err := os.ReadFile(f); err == nil && strings.Contains(string(data), word) {
			n++
		}
	}
	return n
}
