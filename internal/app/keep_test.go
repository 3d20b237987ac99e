package app_test

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/rogpeppe/go-internal/testscript"
)

// runSQL runs a statement on the database of a data folder, behind the program's back: sql FOLDER STATEMENT.
func runSQL(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FOLDER STATEMENT")
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(ts.MkAbs(filepath.Join(args[0], "pudu.db"))))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}

// TestKilledKeeping kills what looks after the store at random moments. Done again, it has its whole effect, and no
// moment leaves anything that the doctor would call damage.
func TestKilledKeeping(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("m.yaml", "dialogues: [{turns: [{tool_calls: [{name: bash, args: {description: d, command: "+
		"for i in $(seq 60); do head -c 20000 /dev/urandom > /mnt/user-data/outputs/$i; done}}]}, {text: done}]}]")
	config := write("config.yaml", "models: [{name: m, provider: scripted, model: m, script: m.yaml}]\n"+
		"retention: {chunks: 1, logs: 1, snapshots: 1}\n")
	pudu := func(data string, args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "pudu",
			append(args, "--config", config, "--data", filepath.Join(dir, data))...)
	}
	must := func(cmd *exec.Cmd) string {
		t.Helper()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", cmd.Args[1:], err, out)
		}
		return string(out)
	}
	killed := func(cmd *exec.Cmd, after time.Duration) {
		t.Helper()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after) // the moment is what is tried
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	archive := filepath.Join(dir, "all.tar.gz")
	must(pudu("data", "run", "--thread", "one", "go"))
	must(pudu("data", "run", "--thread", "two", "go"))
	time.Sleep(time.Second + 10*time.Millisecond) // until the chunks are old
	must(pudu("data", "backup", archive))
	want := must(pudu("data", "export", "one"))
	for i := range 8 {
		data := fmt.Sprint("restored", i)
		killed(pudu(data, "restore", archive), time.Duration(i*20)*time.Millisecond)
		if out, err := pudu(data, "restore", archive).CombinedOutput(); err != nil &&
			!strings.Contains(string(out), "empty place only") {
			t.Fatalf("after %d ms: %v\n%s", i*20, err, out)
		}
		if got := must(pudu(data, "export", "one")); got != want {
			t.Errorf("after %d ms the thread is another", i*20)
		}
		if files, err := os.ReadDir(filepath.Join(dir, data,
			"users/default/threads/one/user-data/outputs")); err != nil || len(files) != 60 {
			t.Errorf("after %d ms there are %d files, %v", i*20, len(files), err)
		}
		killed(pudu(data, "gc"), time.Duration(i*8)*time.Millisecond)
		must(pudu(data, "gc"))
		if out := must(pudu(data, "gc")); !strings.Contains(out, "chunks of 0 messages, 0 snapshots") {
			t.Errorf("after %d ms: %s", i*8, out)
		}
		killed(pudu(data, "threads", "delete", "one"), time.Duration(i*8)*time.Millisecond)
		if out, err := pudu(data, "threads", "delete", "one").CombinedOutput(); err != nil &&
			!strings.Contains(string(out), "no thread") {
			t.Fatalf("after %d ms: %v\n%s", i*8, err, out)
		}
		if out := must(pudu(data, "doctor")); !strings.Contains(out, "✓ store      1 thread replayed") {
			t.Errorf("after %d ms:\n%s", i*8, out)
		}
	}
}
