package filehistory

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/userdata"
)

// TestChangesAsDeerFlowTellsThem: the two runs of the recording of its route.
func TestChangesAsDeerFlowTellsThem(t *testing.T) {
	k := newKit(t, Config{})
	k.bash("one", `cd workspace; printf 'a\nb\nc\n' >new.txt; printf '\0\1\2\3\4' >blob.bin; ln -s new.txt link; printf '# Report\n' >../outputs/report.md`)
	k.finish("one")
	k.bash("two", `cd workspace; printf 'a\nB\nc\nd\n' >new.txt; rm blob.bin; printf 'SECRET=1' >.env`)
	k.finish("two")
	one, two := k.changes("one"), k.changes("two")
	if one.Created != 3 || one.Modified != 0 || one.Deleted != 0 || one.Symlinks != 1 || one.Additions != 4 ||
		one.Deletions != 0 || len(one.Files) != 4 {
		t.Errorf("%+v", one)
	}
	report := one.Files[0]
	if report.Virtual() != "/mnt/user-data/outputs/report.md" ||
		report.After.Sum != "497b7725a00101d6cf82489ef502fb0918962b10aaa7279962ab5ec3edc62533" ||
		report.Diff != "--- a/mnt/user-data/outputs/report.md\n+++ b/mnt/user-data/outputs/report.md\n@@ -0,0 +1 @@\n+# Report" || report.Additions != 1 {
		t.Errorf("%+v", report)
	}
	if blob, link := one.Files[1], one.Files[2]; blob.Without != Binary || !blob.Binary || link.Without != Symlink ||
		link.After.Target != "new.txt" || link.After.Size != 7 {
		t.Errorf("%+v, %+v", blob, link)
	}
	if two.Created != 1 || two.Modified != 1 || two.Deleted != 1 || two.Additions != 2 || two.Deletions != 1 ||
		len(two.Files) != 3 {
		t.Fatalf("%+v", two)
	}
	if env, blob, text := two.Files[0], two.Files[1], two.Files[2]; !env.Sensitive || env.Without != Sensitive ||
		env.Diff != "" ||
		blob.Status != "deleted" || !blob.Binary ||
		text.Diff != "--- a/mnt/user-data/workspace/new.txt\n+++ b/mnt/user-data/workspace/new.txt\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d" {
		t.Errorf("%+v\n%+v\n%+v", env, blob, text)
	}
	if none := k.changes("three"); len(none.Files) != 0 || none.Truncated {
		t.Errorf("%+v", none)
	}
}

// TestUndoOfAThousandFiles that bash has written, overwritten, renamed and deleted: every byte, mode and link is as it
// was.
func TestUndoOfAThousandFiles(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`cd workspace; mkdir -p a/b c 'with space'
for i in $(seq 250); do echo "old $i" >a/f$i; echo "move $i" >a/b/m$i; echo "delete $i" >c/d$i; echo "mode $i" >"with space/x$i"; done; chmod 640 a/f*
ln -s a/f1 link; ln -s nowhere gone; ln -s ../outputs odd; mkdir closed; echo x >closed/x; chmod 500 closed; chmod 2755 c
printf 'bad \377 name' >$'n\377\n'; : >empty; echo big >../outputs/big; truncate -s 3000000 ../outputs/big`)
	before := k.all()
	k.bash("run", `cd workspace
for i in $(seq 250); do echo "new $i" >>a/f$i; echo new >new$i; done
for i in $(seq 250); do mv a/b/m$i a/b/n$i; done; rm c/*; chmod 755 "with space"/*`)
	k.bash("run", `cd workspace; rm -r c; echo now a file >c; rm link; mkdir link; echo in >link/in; ln -sf elsewhere gone; chmod 700 closed; rm -r closed
rm odd; echo odd >odd; rm $'n\377\n'; mkdir -p deep/er/est; echo deep >deep/er/est/f; echo more >>../outputs/big; echo full >empty; mkfifo pipe`)
	k.finish("run")
	after := k.all()
	out := k.undo(Undo{Run: "run", ID: "back"})
	if diff := cmp.Diff(before, k.all()); diff != "" || !out.Done || len(out.Conflicts)+len(out.NotRestorable)+
		len(out.Left) > 0 {
		t.Fatalf("%v\n%+v", diff, out)
	}
	k.undo(Undo{Run: "back"}) // and back again
	if diff := cmp.Diff(strings.ReplaceAll(after, "\"workspace/pipe\" prw-r--r-- \"\"\n", ""), k.all()); diff != "" {
		t.Error(diff)
	}
}

// TestWhatWasChangedLaterIsNotOverwritten in silence.
func TestWhatWasChangedLaterIsNotOverwritten(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`echo 1 >workspace/a; echo 1 >workspace/b`)
	k.bash("one", `echo 2 >workspace/a; echo 2 >workspace/b; mkdir workspace/d; echo 2 >workspace/d/x`)
	k.finish("one")
	k.shell(`echo 3 >workspace/a; echo mine >workspace/d/y`)
	before := k.all()
	out := k.undo(Undo{Run: "one"})
	if diff := cmp.Diff(before, k.all()); diff != "" || out.Done || out.ID != "" || len(out.Conflicts) != 1 ||
		out.Conflicts[0].Path != "/mnt/user-data/workspace/a" {
		t.Fatalf("%s %+v", diff, out)
	}
	if out = k.undo(Undo{Run: "one", Paths: []string{"/mnt/user-data/workspace/b"}}); !out.Done ||
		len(out.Restored) != 1 {
		t.Errorf("%+v", out)
	}
	if out = k.undo(Undo{Run: "one", Force: true, Dry: true}); out.Done || len(out.Restored) != 1 ||
		len(out.Removed) != 1 {
		t.Errorf("%+v", out)
	}
	out = k.undo(Undo{Run: "one", Force: true})
	if all := k.all(); !out.Done || len(out.Left) != 1 || strings.Contains(all, "d/x") ||
		!strings.Contains(all, "mine") || !strings.Contains(all, `a" -rw-r--r-- "1`) {
		t.Errorf("%+v\n%s", out, all)
	}
	v, content, err := k.Version(t.Context(), "/mnt/user-data/workspace/a", 2) // what was overwritten is still there
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if raw, err := io.ReadAll(content); string(raw) != "3\n" || err != nil || v.Run != "" {
		t.Errorf("%q %v %+v", raw, err, v)
	}
}

// TestOutputs are the files that a run has made there, or changed, and left: no links, nothing that is kept for the
// model alone.
func TestOutputs(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`echo 1 >outputs/old; echo 1 >outputs/same; echo 1 >outputs/gone`)
	k.bash("run", `cd outputs; echo 2 >old; rm gone; mkdir -p sub .tool-results .hidden; echo 1 >sub/new; echo 1 >.tool-results/x; echo 1 >.hidden/x
ln -s old link; echo 1 >brief; echo 1 >../workspace/w; echo 1 >../uploads/u`)
	k.bash("run", `rm outputs/brief`)
	made, err := k.Outputs(t.Context(), "run")
	want := []string{"/mnt/user-data/outputs/old", "/mnt/user-data/outputs/sub/new"}
	if diff := cmp.Diff(want, made); diff != "" || err != nil {
		t.Error(err, diff)
	}
	report := k.changes("run").Report(true, false)
	if diff := cmp.Diff(want, report.Outputs()); diff != "" || report.String() != "6 files changed +4 -2" {
		t.Error(diff, report.String())
	}
	for _, run := range []string{"none", "", "../x"} {
		if made, err := k.Outputs(t.Context(), run); len(made) > 0 || err != nil {
			t.Error(run, made, err)
		}
	}
}

// TestRewind: the files are what they were before a run, or at a time, once for the run that asks for it; that is
// undone as any change.
func TestRewind(t *testing.T) {
	at := time.UnixMilli(1_000_000)
	k := newKit(t, Config{Now: func() time.Time { at = at.Add(time.Second); return at }})
	k.shell(`echo 0 >workspace/a; echo 0 >workspace/gone; ln -s a workspace/l`)
	k.bash("one", `echo 1 >workspace/a`)
	k.finish("one")
	k.shell(`echo nobody >workspace/between`) // which the next run finds, and which was there before it
	before := k.all()
	moment := at
	k.bash("two",
		`echo 2 >workspace/a; rm workspace/gone; ln -sfn b workspace/l; chmod 600 workspace/between; mkdir workspace/d; echo >workspace/d/x`)
	k.finish("two")
	k.bash("three", `echo 3 >workspace/a; echo 3 >outputs/new`)
	k.finish("three")
	k.shell(`echo later >workspace/edit`)
	last := k.all()
	rewind := func(run string, to Moment) Undone {
		t.Helper()
		out, err := k.Rewind(t.Context(), run, to)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := rewind("four", Moment{Run: "two", At: at})
	if diff := cmp.Diff(before, k.all()); diff != "" || !out.Done || out.ID != "four-files" {
		t.Fatalf("%s %+v", diff, out)
	}
	k.bash("four", `echo 4 >workspace/a; rm workspace/between`)
	now := k.all()
	k.Thread = New(Config{}).Of(k.place) // who takes the run over
	if out := rewind("four", Moment{Run: "two", At: at}); out.ID != "" || k.all() != now {
		t.Errorf("%+v\n%s", out, k.all())
	}
	k.finish("four")
	k.undo(Undo{Run: "four"})
	k.undo(Undo{Run: RewindID("four")})
	if diff := cmp.Diff(last, k.all()); diff != "" {
		t.Error(diff)
	}
	if out := rewind("five", Moment{Run: "nothing was changed by it", At: moment}); out.ID != "five-files" ||
		strings.Contains(k.all(), "outputs/new") ||
		!strings.Contains(k.all(), `workspace/a" -rw-r--r-- "1`) {
		t.Errorf("%+v\n%s", out, k.all())
	}
	for _, run := range []string{"", "../x", strings.Repeat("x", 60)} {
		if _, err := k.Rewind(t.Context(), run, Moment{}); err == nil {
			t.Errorf("run %q was taken", run)
		}
	}
}

// TestThen: the files as they were at any time are those that one would have seen then, each as a version that can be
// read.
func TestThen(t *testing.T) {
	at := time.UnixMilli(1_000_000)
	k := newKit(t, Config{Now: func() time.Time { at = at.Add(time.Second); return at }})
	seen := func() (names []string) {
		list, more, err := k.Then(t.Context(), at)
		if err != nil || more {
			t.Fatal(err, more)
		}
		for _, v := range list {
			names = append(names, fmt.Sprint(v.Entry.Path, " ", v.Entry.Size, " ", v.Number, " ", v.Kept, " ",
				v.Current))
		}
		return names
	}
	if got := seen(); len(got) > 0 {
		t.Error("before anything was looked at:", got)
	}
	k.shell(`echo 0 >workspace/a; echo 0 >uploads/u; mkdir -p workspace/node_modules/x; echo >workspace/node_modules/x/y`)
	k.bash("one", `echo 11 >workspace/a; echo 1 >outputs/b`)
	first, moment := seen(), at
	k.bash("two", `rm workspace/a; echo 222 >outputs/b; ln -s b outputs/l`)
	want := []string{"outputs/b 2 1 true true", "uploads/u 2 0 true true", "workspace/a 3 1 true true"}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"outputs/b 4 2 true true", "outputs/l 1 2 true true", "uploads/u 2 0 true true"},
		seen()); diff != "" {
		t.Error(diff)
	}
	at = moment
	want = []string{"outputs/b 2 1 true false", "uploads/u 2 0 true true", "workspace/a 3 1 true false"}
	if diff := cmp.Diff(want, seen()); diff != "" {
		t.Error("looked at later:", diff)
	}
	v, content, err := k.Version(t.Context(), "/mnt/user-data/workspace/a", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if raw, err := io.ReadAll(content); string(raw) != "11\n" || err != nil || v.Run != "one" {
		t.Errorf("%q %v %+v", raw, err, v)
	}
}

// TestCopyTo: a copy of the files has the past of the original, and can be rewound by itself.
func TestCopyTo(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`echo 0 >workspace/a; mkdir workspace/d; echo 0 >workspace/d/x`)
	before := k.all()
	k.bash("one", `echo 1 >workspace/a; rm -r workspace/d; echo 1 >outputs/new`)
	k.finish("one")
	last := k.all()
	place, err := userdata.New(strings.TrimSuffix(k.dir, "/users/ann/threads/t/user-data")).User(access.FromRow("ann")).
		Thread("copy")
	if err != nil {
		t.Fatal(err)
	}
	there := &kit{t: t, h: k.h, dir: strings.Replace(k.dir, "/threads/t/", "/threads/copy/", 1), Thread: k.h.Of(place)}
	if err := os.MkdirAll(filepath.Dir(there.dir), 0o750); err != nil {
		t.Fatal(err)
	}
	copyTree(t, k.dir, there.dir)
	if err := k.CopyTo(t.Context(), there.Thread); err != nil {
		t.Fatal(err)
	}
	if out, err := there.Rewind(t.Context(), "copy", Moment{Run: "one"}); err != nil || !out.Done ||
		len(out.NotRestorable) > 0 {
		t.Fatalf("%+v %v", out, err)
	}
	if diff := cmp.Diff(before, there.all()); diff != "" || k.all() != last {
		t.Error(diff, k.all())
	}
	if err := k.CopyTo(t.Context(), there.Thread); err == nil {
		t.Error("a history was written over another one")
	}
}
