package filehistory

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/testkit/killtest"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// TestKillInAnUndo: a process that undoes a run of 400 changes is killed at moments all over it. The next one to use
// the files finds it done, or not begun.
func TestKillInAnUndo(t *testing.T) {
	k := newKit(t, Config{})
	var spare, before, after string
	if !killtest.Child() {
		k.shell(`cd workspace; mkdir a b; for i in $(seq 150); do echo "old $i" >a/f$i; echo "gone $i" >b/g$i; done; ln -s a l`)
		before = k.all()
		k.bash("run",
			`cd workspace; for i in $(seq 150); do echo "new $i" >a/f$i; echo "new" >n$i; done; rm -r b; ln -sfn b l; chmod 700 a`)
		k.finish("run")
		after = k.all()
		spare = filepath.Join(t.TempDir(), "spare")
		copyTree(t, filepath.Dir(k.dir), spare)
	}
	var done, not, half int
	killtest.Site{
		Before: func(int) string {
			if err := os.RemoveAll(filepath.Dir(k.dir)); err != nil {
				t.Fatal(err)
			}
			copyTree(t, spare, filepath.Dir(k.dir))
			return strings.TrimSuffix(k.dir, "/users/ann/threads/t/user-data")
		},
		Work: func(ctx context.Context, data string, begin func(), _ func(string)) error {
			place, err := userdata.New(data).User(access.FromRow("ann")).Thread("t")
			if err == nil {
				begin()
				_, err = New(Config{}).Of(place).Undo(ctx, Undo{Run: "run", ID: "back"})
			}
			return err
		},
		After: func(kill int, _ []string, whole bool) {
			all := k.all()
			if whole && all != before {
				t.Fatal("it was not undone")
			}
			if all != before && all != after {
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
				t.Fatalf("kill %d left something between:\n%s", kill, k.all())
			}
			if Unfinished(k.place.Folder) {
				t.Fatal("the journal is still there")
			}
		},
	}.Run(t)
	t.Logf("%d done, %d not begun, %d were cut off in the middle", done, not, half)
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
