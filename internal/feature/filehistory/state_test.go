package filehistory

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines are the entries of a tree, in order.
func (t tree) lines() (list []string) {
	for _, p := range slices.Sorted(maps.Keys(t)) {
		list = append(list, string(t[p].append(nil)))
	}
	return list
}

// TestAStateIsAppendedTo: a call that changes one file of many writes a line, not all of them; what was appended is
// written anew when it outweighs the rest; another process reads the same.
func TestAStateIsAppendedTo(t *testing.T) {
	k := newKit(t, Config{})
	k.fill(300, 10)
	k.bash("run", "true")
	now := filepath.Join(k.dir, "../history", stateName)
	size := func() int64 {
		info, err := os.Stat(now)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	first, most, rewrites := size(), int64(0), 0
	for i := range 12 {
		before := size()
		k.bash("run", fmt.Sprintf("echo %d >workspace/d0/f1; rm -f workspace/x%d; echo >workspace/x%d", i, i-1, i))
		if grown := size() - before; grown < 0 || grown > 1500 {
			t.Errorf("call %d added %d bytes to %d", i, grown, before)
		}
	}
	for i := range 8 {
		before := size()
		k.bash("run", fmt.Sprintf("for f in workspace/*/*; do echo %d >$f; done", i))
		if most = max(most, size()); size() < before {
			rewrites++
		}
	}
	if most > 3*first+2*maxAppended || rewrites == 0 {
		t.Errorf("%d bytes became %d, written anew %d times", first, most, rewrites)
	}
	k.bash("run", "rm -r workspace/d1; echo last >workspace/last")
	here := k.last.tree.lines()
	dir, err := os.OpenRoot(filepath.Dir(now))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	there, err := readState(dir)
	if err != nil || there.fresh || there.whole {
		t.Fatalf("%v %+v", err, there)
	}
	if diff := cmp.Diff(here, there.tree.lines()); diff != "" {
		t.Error(diff)
	}
}

// TestAStateThatWasCutOff at any byte is the one before or the one after; what was cut off is not in the way of what
// comes next.
func TestAStateThatWasCutOff(t *testing.T) {
	k := newKit(t, Config{})
	k.fill(5, 10)
	k.bash("run", "true")
	now := filepath.Join(k.dir, "../history", stateName)
	read := func() string {
		raw, err := os.ReadFile(now)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	before := read()
	k.bash("run", `echo new >workspace/d0/f1; rm workspace/d0/f2; echo 1 >workspace/x`)
	after := read()
	if !strings.HasPrefix(after, before) || after == before {
		t.Fatalf("nothing was appended to\n%s\n%s", before, after)
	}
	old, _ := parseState(before)
	whole, _ := parseState(after)
	for n := range len(after) {
		st, ok := parseState(after[:n])
		switch {
		case n < int(old.base) && ok:
			t.Fatalf("%d of %d bytes are taken for a state", n, old.base)
		case n < len(before): // an earlier one
		case !ok || !slices.Equal(st.tree.lines(), old.tree.lines()) || st.Seq != old.Seq ||
			st.whole != (n > len(before)):
			t.Fatalf("%d of %d bytes: %v\n%v\n%v", n, len(after), ok, st.tree.lines(), old.tree.lines())
		}
	}
	if st, ok := parseState(after); !ok || st.whole || st.Seq != whole.Seq {
		t.Fatal(ok, st)
	}
	if err := os.WriteFile(now, []byte(after[:len(after)-20]), 0o600); err != nil {
		t.Fatal(err)
	}
	k.Thread = New(Config{}).Of(k.place)
	k.bash("run", `echo 2 >workspace/x`)
	if st, ok := parseState(read()); !ok || st.whole || st.tree["workspace/x"].Size != 2 ||
		st.tree["workspace/d0/f2"].Kind != 0 {
		t.Errorf("%v %s", ok, read())
	}
	if c := k.changes("run"); c.Created != 1 || c.Modified != 1 || c.Deleted != 1 {
		t.Errorf("%+v", c)
	}
}

// FuzzState: whatever is in the file, what is read leads nowhere else, and is written as it is read.
func FuzzState(f *testing.F) {
	const line = `f 1 2 3 4 5 + "workspace/a" ""` + "\n"
	f.Add(`{"seq":1,"entries":1}` + "\n" + line)
	f.Add(`{"seq":1,"entries":1}` + "\n" + line + `={"seq":2,"entries":0,"lines":1}` + "\n" + `- "workspace/a"` + "\n")
	f.Add(`{"seq":1,"entries":0}` + "\n" + `={"seq":2,"entries":1,"lines":1}` + "\n" + line + `={"seq":3`)
	f.Add(`{"entries":0}` + "\n" + `={"lines":1,"entries":0}` + "\n" + `- "workspace/../../etc"` + "\n")
	f.Fuzz(func(t *testing.T, raw string) {
		st, ok := parseState(raw)
		if !ok {
			return
		}
		for p, e := range st.tree {
			if p != e.Path || !inside(p) || e.Kind == 0 {
				t.Fatalf("%q is %+v", p, e)
			}
		}
		if st.size > int64(len(raw)) || st.base > st.size || st.whole != (st.size < int64(len(raw))) {
			t.Fatalf("%d and %d of %d bytes, whole %v", st.base, st.size, len(raw), st.whole)
		}
		dir, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		st.whole = true
		again := func() *state {
			if err := st.write(dir); err != nil {
				t.Fatal(err)
			}
			back, err := readState(dir)
			if err != nil || back.fresh || back.whole || !slices.Equal(back.tree.lines(), st.tree.lines()) ||
				back.Seq != st.Seq {
				t.Fatalf("%v %+v, want %+v", err, back, st)
			}
			return back
		}
		st = again()
		for p := range st.tree { // and what is appended is read back
			st.drop(p)
			break
		}
		again()
	})
}
