package filehistory

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// kills is what `make crash` asks for more of.
var kills = flag.Int("kills", 12, "how many `times` to kill an undo")

const crashEnv = "FILEHISTORY_UNDO_IN"

// TestMain is also the process that undoes a run, and is killed.
func TestMain(m *testing.M) {
	if data := os.Getenv(crashEnv); data != "" {
		place, err := userdata.New(data).User(access.FromRow("ann")).Thread("t")
		if err == nil {
			_, err = New(Config{}).Of(place).Undo(context.Background(), Undo{Run: "run", ID: "back"})
		}
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// TestKillInAnUndo: a process that undoes a run of 400 changes is killed at moments all over it. The next one to use the files finds
// it done, or not begun.
func TestKillInAnUndo(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`cd workspace; mkdir a b; for i in $(seq 150); do echo "old $i" >a/f$i; echo "gone $i" >b/g$i; done; ln -s a l`)
	before := k.all()
	k.bash("run", `cd workspace; for i in $(seq 150); do echo "new $i" >a/f$i; echo "new" >n$i; done; rm -r b; ln -sfn b l; chmod 700 a`)
	k.finish("run")
	after := k.all()
	data := strings.TrimSuffix(k.dir, "/users/ann/threads/t/user-data")
	spare := filepath.Join(t.TempDir(), "spare")
	copyTree(t, filepath.Dir(k.dir), spare)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	undo := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), crashEnv+"="+data)
		return cmd
	}
	if out, err := undo().CombinedOutput(); err != nil || k.all() != before {
		t.Fatalf("%v: %s", err, out)
	}
	whole := time.Since(start)
	var done, not, half int
	for i := range *kills {
		if err := os.RemoveAll(filepath.Dir(k.dir)); err != nil {
			t.Fatal(err)
		}
		copyTree(t, spare, filepath.Dir(k.dir))
		cmd := undo()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(whole*time.Duration(i+1)/time.Duration(*kills), func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		if all := k.all(); all != before && all != after {
			half++ // which the next one mends
		}
		k.Thread = New(Config{}).Of(k.place)
		if err := k.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		switch k.all() {
		case before:
			done++
		case after:
			not++
		default:
			t.Fatalf("kill %d left something between:\n%s", i, k.all())
		}
		if Unfinished(k.place.Folder) {
			t.Fatal("the journal is still there")
		}
	}
	t.Log(strconv.Itoa(*kills) + " kills: " + strconv.Itoa(done) + " done, " + strconv.Itoa(not) + " not begun, " + strconv.Itoa(half) + " were cut off in the middle")
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
