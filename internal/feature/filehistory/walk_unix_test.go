//go:build unix

package filehistory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// walked are the entries that a walk finds where nothing was known, by their paths; kept the paths that it takes over.
func walked(t *testing.T, k *kit, before tree) (found tree, kept []string) {
	t.Helper()
	files, err := os.OpenRoot(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	w := walk{ctx: t.Context(), before: before, sure: 1 << 62}
	if err := w.lookIn(files); err != nil {
		t.Fatal(err)
	}
	found = make(tree)
	for _, e := range w.found {
		if found[e.Path].Kind != 0 {
			t.Errorf("%s was found twice", e.Path)
		}
		found[e.Path] = e
	}
	slices.Sort(w.as)
	return found, w.as
}

// TestWalk finds each name once, in flat and in deep folders, and tells of it what a stat of its path does.
func TestWalk(t *testing.T) {
	k := newKit(t, Config{})
	k.fill(300, 3)
	k.shell(`cd workspace; mkdir flat; cd flat; for i in $(seq 700); do echo $i >f$i; done; cd ..
		d=deep; for i in $(seq 30); do mkdir $d; echo >$d/f; d=$d/d; done
		mkfifo pipe; ln -s /etc/passwd link; ln -s . around; mkdir -m 1777 sticky; echo >all; chmod 6755 all
		printf x >$'new\nline \xff"'; mkdir -p node_modules/x; mkdir $'\xfe'; echo >$'\xfe/-'; echo >../uploads/u; mkdir -p ../outputs/o/p`)
	if err := syscall.Mknod(filepath.Join(k.dir, "workspace/socket"), syscall.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	want := make(tree)
	err := filepath.WalkDir(k.dir, func(p string, d fs.DirEntry, err error) error {
		at, _ := filepath.Rel(k.dir, p)
		if err != nil || !inside(at) {
			return err
		}
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		want[at] = entryOf(info, at)
		if notFollowed(d.Name()) {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	found, as := walked(t, k, nil)
	for p, e := range want {
		if found[p] != e {
			t.Errorf("%q: %+v, want %+v", p, found[p], e)
		}
	}
	if len(found) != len(want) || len(as) != 0 {
		t.Errorf("%d found and %d as they were, want %d", len(found), len(as), len(want))
	}
	if found, as = walked(t, k, want); len(found) != 0 || len(as) != len(want) {
		t.Errorf("then %d found and %d as they were", len(found), len(as))
	}
}

// TestWalkOfWhatCannotBeListed: it is taken for what it was; a folder that is gone is not.
func TestWalkOfWhatCannotBeListed(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`mkdir -p workspace/a/b; echo >workspace/a/b/f; echo >workspace/ab`)
	before, _ := walked(t, k, nil)
	k.shell(`mv uploads old; echo >uploads`)
	before["uploads/x"] = Entry{Path: "uploads/x", Kind: File}
	if found, as := walked(t, k, before); len(found) != 0 || len(as) != 5 || as[0] != "uploads/x" {
		t.Errorf("%v, %q", found, as)
	}
	k.shell(`rm -r workspace/a uploads`)
	if found, as := walked(t, k, before); len(found) != 0 || !slices.Equal(as, []string{"workspace/ab"}) {
		t.Errorf("%v, %q", found, as)
	}
	w := walk{ctx: t.Context(), before: tree{"workspace/a/b": {}, "workspace/ab": {}, "workspace/a/c/d": {}}}
	as := w.below("workspace/a", nil)
	if slices.Sort(as); !slices.Equal(as, []string{"workspace/a/b", "workspace/a/c/d"}) {
		t.Errorf("%q", as)
	}
}

// TestWalkEnds with its context, and where there is more than is followed.
func TestWalkEnds(t *testing.T) {
	k := newKit(t, Config{})
	k.fill(100, 1)
	files, err := os.OpenRoot(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	w := walk{ctx: t.Context(), as: make([]string, maxEntries-101)}
	if err := w.lookIn(files); !errors.Is(err, ErrTooMany) {
		t.Errorf("%d names and 102 more: %v", maxEntries-101, err)
	}
	w = walk{ctx: t.Context(), as: make([]string, maxEntries-102)}
	if err := w.lookIn(files); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w = walk{ctx: ctx}
	if err := w.lookIn(files); !errors.Is(err, context.Canceled) || len(w.found) > 2 {
		t.Errorf("%v, %d found", err, len(w.found))
	}
}

// TestFoldersThatBecomeLinks while they are looked at lead nowhere: what is outside is neither named nor copied, and
// not opened.
func TestFoldersThatBecomeLinks(t *testing.T) {
	k := newKit(t, Config{})
	outside := filepath.Join(k.dir, "..", "outside")
	k.shell(`mkdir ../outside; echo secret >../outside/secret; mkfifo ../outside/pipe
		cd workspace; for i in 1 2 3 4; do mkdir -p d$i/e; echo $i >d$i/e/f; ln -s "` + outside + `" l$i; ln -s ../../outside r$i; done`)
	files, err := os.OpenRoot(k.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	in, err := openFolder(files, "workspace")
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	for _, link := range []string{"l1", "r1"} {
		if f, err := in.open(link); err == nil {
			f.close()
			t.Errorf("%s was opened as a folder", link)
		}
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() { // a folder is now itself, now a link
		at := func(name string, i int) string { return filepath.Join(k.dir, "workspace", fmt.Sprint(name, i)) }
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			i, link := n%4+1, "l"
			if n%3 == 0 {
				link = "r"
			}
			err := errors.Join(os.Rename(at("d", i), at("x", i)), os.Rename(at(link, i), at("d", i)),
				os.Rename(at("d", i), at(link, i)), os.Rename(at("x", i), at("d", i)))
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer swapping.Wait()
	defer close(stop)
	begun := time.Now()
	for calls := 0; calls < 30 || time.Since(begun) < time.Second; calls++ {
		k.bash("run", "true")
		for p := range k.last.tree {
			if strings.Contains(p, "secret") || strings.Contains(p, "pipe") {
				t.Fatalf("%s was found", p)
			}
		}
	}
	for _, name := range mustGlob(t, filepath.Join(k.dir, "../history/objects/*/*")) {
		if raw, err := os.ReadFile(name); err != nil || strings.Contains(string(raw), "secret") {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
}

// TestAllFilesThatAreGone with the folder that they were in are deleted, and the run that did it is known.
func TestAllFilesThatAreGone(t *testing.T) {
	k := newKit(t, Config{})
	k.shell(`echo 1 >workspace/a; echo 2 >outputs/b`)
	k.bash("run", `rm -r ../user-data`)
	k.Thread = New(Config{}).Of(k.place) // and so it is on the disk
	if c := k.changes("run"); c.Deleted != 2 || len(c.Files) != 2 {
		t.Errorf("%+v", c)
	}
}
