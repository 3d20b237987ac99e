package filehistory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pudu-ai/pudu/sandbox"
)

// TestWhoMadeIt: a tool's call, an upload, what was found later, a call beside others.
func TestWhoMadeIt(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`echo 1 >uploads/in; mkdir -p outputs/d; echo 1 >outputs/d/edit`)
	err := k.Note(t.Context(), ByUpload, "/mnt/user-data/uploads/in")
	k.shell(`echo 2 >outputs/d/edit`)
	if err := errors.Join(err, k.Note(t.Context(), ByEdit, "/mnt/user-data/outputs/d/edit")); err != nil {
		t.Fatal(err)
	}
	k.bash("run", `echo 1 >workspace/tool`)
	one, err := k.Call(t.Context(), "run", "a", "bash")
	two, err2 := k.Call(t.Context(), "run", "b", "bash")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	k.shell(`echo 1 >workspace/beside`)
	if err := errors.Join(one(t.Context()), two(t.Context())); err != nil {
		t.Fatal(err)
	}
	k.shell(`echo 1 >workspace/background`)
	k.finish("run")
	k.shell(`echo 1 >workspace/nobody`)
	k.bash("next", `rm workspace/nobody; echo 2 >workspace/tool`)
	got, err := k.Origins(t.Context())
	want := map[string]Origin{
		"uploads/in": {By: ByUpload}, "outputs/d/edit": {By: ByEdit},
		"workspace/tool":   {Run: "next", By: ByTool, Call: "call-2", Tool: "bash"},
		"workspace/beside": {Run: "run", By: ByRun}, "workspace/background": {Run: "run", By: ByRun},
	}
	for p, o := range want {
		if got[sandbox.UserData+"/"+p] != o {
			t.Errorf("%s: %+v", p, got[sandbox.UserData+"/"+p])
		}
	}
	if _, there := got["/mnt/user-data/workspace/nobody"]; there || err != nil {
		t.Error(got, err)
	}
	if err := k.Note(t.Context(), ByUpload, "/etc/passwd"); !errors.Is(err, sandbox.ErrOutside) {
		t.Error(err)
	}
	for _, run := range []string{"", "../x", "a/b", between, strings.Repeat("x", 65)} {
		if _, err := k.Call(t.Context(), run, "c", "bash"); err == nil {
			t.Errorf("run %q was taken", run)
		}
	}
}

// TestCallsSideBySide of a run find each file once, whoever looks first.
func TestCallsSideBySide(t *testing.T) {
	k := newKit(t, Config{})
	var working sync.WaitGroup
	for i := range 8 {
		working.Go(func() {
			done, err := k.Call(t.Context(), "run", fmt.Sprint(i), "bash")
			if err == nil && i%4 == 0 { // the others change nothing
				err = os.WriteFile(filepath.Join(k.dir, "workspace", fmt.Sprint(i)), []byte("x"), 0o600)
			}
			if err == nil {
				err = done(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	working.Wait()
	k.finish("run")
	changes, err := k.Changes(t.Context(), "run")
	if err != nil || len(changes.Files) != 2 {
		t.Errorf("%+v, %v", changes, err)
	}
}

// TestARunThatWasCutOff: what its last call had changed is the run's, whoever looks next.
func TestARunThatWasCutOff(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`echo 1 >workspace/a`)
	if _, err := k.Call(t.Context(), "cut", "c", "bash"); err != nil {
		t.Fatal(err)
	}
	k.shell(`echo 2 >workspace/a`)
	k.Thread = New(Config{}).Of(k.place) // another process
	k.bash("next", `echo 3 >workspace/b`)
	if c := k.changes("cut"); c.Modified != 1 || len(c.Files) != 1 {
		t.Errorf("%+v", c)
	}
	if out := k.undo(Undo{Run: "cut"}); !out.Done || !strings.Contains(k.all(), `a" -rw-r--r-- "1`) {
		t.Errorf("%+v\n%s", out, k.all())
	}
}

// TestAChangeThatLeavesSizeAndTimes as they were is noticed, and so is one within a tick of the clock.
func TestAChangeThatLeavesSizeAndTimes(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`echo 1 >workspace/a; touch -d 2020-01-01 workspace/a`)
	k.bash("run", `echo 2 >workspace/a; touch -d 2020-01-01 workspace/a`)
	for i := range 20 {
		k.bash("run", "true")
		if err := os.WriteFile(filepath.Join(k.dir, "workspace/b"), []byte{byte('a' + i)}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k.bash("run", "true")
	if c := k.changes("run"); c.Modified != 1 || c.Created != 1 || !strings.Contains(c.Files[1].Diff, "+t") {
		t.Errorf("%+v", c)
	}
	if list, err := k.Versions(t.Context(), "/mnt/user-data/workspace/b"); len(list) != 20 || err != nil {
		t.Errorf("%d versions, %v", len(list), err)
	}
}

// TestWhatIsNotKeptIsNamed: files over the bound, and the oldest contents when there are too many. What is there now
// stays kept.
func TestWhatIsNotKeptIsNamed(t *testing.T) {
	k := newKit(t, Config{Bounds: Bounds{Bytes: 100_000, File: 20_000}})
	k.shell(`head -c 30000 /dev/zero >workspace/large; echo small >workspace/small`)
	k.bash("one", `rm workspace/large; echo other >workspace/small`)
	k.finish("one")
	out := k.undo(Undo{Run: "one", Dry: true})
	if len(out.NotRestorable) != 1 || out.NotRestorable[0].Path != "/mnt/user-data/workspace/large" ||
		len(out.Restored) != 1 ||
		!strings.Contains(out.NotRestorable[0].Reason, "more than 20000") {
		t.Errorf("%+v", out)
	}
	for i := range 20 {
		k.bash("many", `head -c 10000 /dev/urandom >workspace/turns; echo `+string(rune('a'+i))+` >>workspace/turns`)
	}
	k.finish("many")
	list, err := k.Versions(t.Context(), "/mnt/user-data/workspace/turns")
	if err != nil || len(list) != 20 || !list[0].Kept || !list[0].Current || !list[3].Kept || list[19].Kept {
		t.Errorf("%+v, %v", list, err)
	}
	if _, _, err := k.Version(t.Context(), "/mnt/user-data/workspace/turns", list[19].Number); !errors.Is(err,
		ErrNotKept) {
		t.Error(err)
	}
	var size int64
	for _, e := range mustGlob(t, filepath.Join(k.dir, "../history/objects/*/*")) {
		if info, err := os.Stat(e); err == nil {
			size += info.Size()
		}
	}
	if size > 100_000 {
		t.Errorf("%d bytes are kept", size)
	}
}

func mustGlob(t *testing.T, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFilesAndCopiesShareAQuota.
func TestFilesAndCopiesShareAQuota(t *testing.T) {
	k := newKit(t, Config{Quota: 50_000})
	k.shell(`head -c 40000 /dev/urandom >workspace/a`)
	k.bash("run", `head -c 40000 /dev/urandom >workspace/a`)
	if n := len(mustGlob(t, filepath.Join(k.dir, "../history/objects/*/*"))); n != 0 {
		t.Errorf("%d copies beside files that leave no room", n)
	}
	if out := k.undo(Undo{Run: "run"}); len(out.NotRestorable) != 1 {
		t.Errorf("%+v", out)
	}
}

// TestWhatASandboxMayLay: FIFOs, sockets, devices and links to the host are never opened; a state or log that a power
// cut has spoilt is passed over.
func TestWhatASandboxMayLay(t *testing.T) {
	k := newKit(t, Config{})
	k.bash("run", `mkfifo workspace/pipe; ln -s /etc/passwd workspace/passwd; ln -s / outputs/root; mkdir -p workspace/node_modules/x; echo x >workspace/node_modules/x/y; chmod 000 workspace/node_modules`)
	k.finish("run")
	if c := k.changes("run"); c.Symlinks != 2 || len(c.Files) != 2 {
		t.Errorf("%+v", c)
	}
	for _, name := range mustGlob(t, filepath.Join(k.dir, "../history/objects/*/*")) {
		t.Error("kept", name)
	}
	history := filepath.Join(k.dir, "../history")
	for _, name := range []string{"now", "runs/run.jsonl"} {
		raw, err := os.ReadFile(filepath.Join(history, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(history, name), raw[:len(raw)*2/3], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	k.Thread = New(Config{}).Of(k.place)
	k.bash("run", `echo 1 >workspace/a`)
	if c := k.changes("run"); c.Created != 1 {
		t.Errorf("%+v", c)
	}
	if _, err := k.Versions(t.Context(), "/mnt/user-data/workspace/../../x"); !errors.Is(err, sandbox.ErrOutside) {
		t.Error(err)
	}
}

// TestAnUndoThatFails is taken back: here a copy is damaged after it was looked at.
func TestAnUndoThatFails(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`for i in 1 2 3; do echo "old $i" >workspace/f$i; done`)
	k.bash("run", `for i in 1 2 3; do echo "new $i" >workspace/f$i; done; echo 4 >workspace/f4`)
	k.finish("run")
	before := k.all()
	err := k.with(t.Context(), func(s *session) error {
		list, _, err := s.net("run")
		if err != nil {
			return err
		}
		var steps []Change
		for _, c := range list {
			steps = append(steps, Change{c.After, c.Before})
		}
		steps[1].After.Sum = strings.Repeat("0", 64) // of which there is no copy
		return s.carryOut(journal{ID: "back", Undoes: "run", Steps: steps})
	})
	if !errors.Is(err, ErrNotKept) || k.all() != before || Unfinished(k.place.Folder) {
		t.Errorf("%v\n%s", err, k.all())
	}
	busy := errors.New("a run is at work")
	if _, err := k.Undo(t.Context(),
		Undo{Run: "run", ID: "x", Idle: func(context.Context) error { return busy }}); !errors.Is(err, busy) ||
		k.all() != before {
		t.Error(err)
	}
}

// FuzzEntry: what is read is what was written, whatever the names are; and nothing that is read leads out of the
// thread's folders.
func FuzzEntry(f *testing.F) {
	f.Add("workspace/a", "x", "f 1 2 3 4 5 + \"workspace/a\" \"\"")
	f.Add("outputs/\xff\n\" ", "../..", "-")
	f.Add("workspace/../../etc", "", "l 0 0 0 0 0 - \"workspace/..\" \"x\"")
	f.Fuzz(func(t *testing.T, path, target, line string) {
		e := Entry{Path: path, Kind: Link, Mode: 0o777, Size: int64(len(target)), Target: target, modified: -1,
			changed: 1 << 60, inode: 1 << 63}
		raw, err := e.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Entry
		if err := back.UnmarshalText(raw); (err == nil) != inside(path) || err == nil && back != e {
			t.Fatalf("%q: %+v, %v", raw, back, err)
		}
		if e, err := parseEntry(line); err == nil && e.Kind != 0 && !inside(e.Path) {
			t.Fatalf("%q leads to %q", line, e.Path)
		}
	})
}

// figures are what a history tells.
type figures struct {
	copies, notKept, restored int
	bytes                     int64
}

func (f *figures) FileCopied(bytes int64)  { f.copies++; f.bytes += bytes }
func (f *figures) FileNotKept()            { f.notKept++ }
func (f *figures) FilesRestored(paths int) { f.restored += paths }

// TestWhatIsTold of copies: one for each content, none of what is over the bound; and of what an undo has changed.
func TestWhatIsTold(t *testing.T) {
	var f figures
	k := newKit(t, Config{Bounds: Bounds{File: 100, Files: 3}, Watch: &f})
	k.shell(`echo 1 >workspace/a; echo 1 >workspace/same; head -c 200 /dev/zero >workspace/large`)
	k.bash("run", `echo 22 >workspace/a; echo 3 >workspace/new`)
	k.undo(Undo{Run: "run"})
	if want := (figures{copies: 3, bytes: 7, notKept: 1, restored: 2}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
	k.bash("more", `for i in 1 2 3; do echo "more $i" >workspace/m$i; done`)
	if f.notKept < 2 {
		t.Errorf("%+v", f)
	}
}
