//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walked are the names below the workspace that a walk reports until fn says otherwise.
func walked(t *testing.T, f *Files, limit int, fn func(path string) error) ([]string, error) {
	t.Helper()
	var got []string
	err := f.Walk(t.Context(), Workspace, limit, func(path string, _ fs.DirEntry) error {
		path = strings.TrimPrefix(path, Workspace+"/")
		got = append(got, path)
		return fn(path)
	})
	return got, err
}

// TestWalkDoesWhatItIsTold: its function leaves out a folder or the rest of one, ends the walk, or fails it.
func TestWalkDoesWhatItIsTold(t *testing.T) {
	f, host := threadFolders(t)
	for _, name := range []string{"a/1", "a/2", "a/3", "b/1", "c"} {
		put(t, host, "workspace/"+name, "")
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		at   string
		say  error
		want string
	}{
		{"a", fs.SkipDir, "a b b/1 c"}, {"a/2", fs.SkipDir, "a a/1 a/2 b b/1 c"},
		{"c", fs.SkipDir, "a a/1 a/2 a/3 b b/1 c"}, {"a", fs.SkipAll, "a"}, {"a/2", fs.SkipAll, "a a/1 a/2"},
		{"a", broken, "a"}, {"a/2", broken, "a a/1 a/2"}, {"c", broken, "a a/1 a/2 a/3 b b/1 c"},
	} {
		got, err := walked(t, f, 100, func(path string) error {
			if path == c.at {
				return c.say
			}
			return nil
		})
		if c.say == broken && err != broken || c.say != broken && err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%v at %s: %q, %v; want %s", c.say, c.at, got, err, c.want)
		}
	}
}

// TestWalkGoesOn past a folder that is gone when it gets there, and past a name that no path can have.
func TestWalkGoesOn(t *testing.T) {
	f, host := threadFolders(t)
	for _, name := range []string{"a/1", `b\..\c/1`, "d"} {
		put(t, host, "workspace/"+name, "")
	}
	got, err := walked(t, f, 4, func(path string) error {
		if path == "a" {
			return os.RemoveAll(filepath.Join(host, "workspace/a"))
		}
		return nil
	})
	if want := []string{"a", `b\..\c`, "d"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestListsAreBounded: as many as the limit are all, one more is too many, in one folder and in several.
func TestListsAreBounded(t *testing.T) {
	f, host := threadFolders(t)
	for i := range 6 {
		put(t, host, fmt.Sprintf("workspace/%d", i), "")
	}
	for limit := range 8 {
		at, err := f.locate("list", Workspace)
		if err != nil {
			t.Fatal(err)
		}
		entries, all, err := at.list(limit)
		if err != nil || len(entries) != min(limit, 6) || all != (limit >= 6) {
			t.Errorf("limit %d: %d entries, all %t, %v", limit, len(entries), all, err)
		}
		if entries, err = f.readDir(".", limit); limit >= 6 && (err != nil || len(entries) != 6) ||
			limit < 6 && (!errors.Is(err, ErrTooMany) || len(entries) != 0) {
			t.Errorf("limit %d: %d entries, %v", limit, len(entries), err)
		}
	}
	for _, name := range []string{"a/b", "a/c", "+/b"} { // behind the files, and before them
		put(t, host, "workspace/"+name, "")
	}
	for limit := range 13 {
		got, err := walked(t, f, limit, func(string) error { return nil })
		if len(got) != min(limit, 11) || (err == nil) != (limit >= 11) || err != nil && !errors.Is(err, ErrTooMany) {
			t.Errorf("walk with limit %d: %q, %v", limit, got, err)
		}
	}
}

// TestLargeFolder is listed whole, although it is read in several parts.
func TestLargeFolder(t *testing.T) {
	f, host := threadFolders(t)
	const files = 1100
	for i := range files {
		put(t, host, fmt.Sprintf("workspace/%d", i), "")
	}
	if entries, err := f.ReadDir("."); err != nil || len(entries) != files {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// TestFoldersAreNoTemporaryFiles, whatever their names.
func TestFoldersAreNoTemporaryFiles(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "workspace/"+someTemp+"/a", "")
	if entries, err := f.ReadDir("."); err != nil || len(entries) != 1 || entries[0].Name() != someTemp {
		t.Errorf("%v, %v", entries, err)
	}
	if n, err := f.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
}

// TestFoldersAboveTheMounts: each name is listed once, however many mounts are below it, and one mount is enough.
func TestFoldersAboveTheMounts(t *testing.T) {
	host := t.TempDir()
	for _, c := range []struct {
		mounts []string
		want   string // of /mnt
	}{
		{nil, ""}, {[]string{Workspace}, "user-data"},
		{[]string{"/mnt/a/longest", "/mnt/b/longer", "/mnt/a/long", "/mnt/b/lon"}, "a b"},
	} {
		var mounts []Mount
		for _, path := range c.mounts {
			mounts = append(mounts, Mount{Host: host, Path: path})
		}
		f, err := NewFiles(mounts, FilesOptions{})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := f.ReadDir("/mnt")
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
			info, err := f.Stat("/mnt/" + e.Name())
			if err != nil || info.Name() != e.Name() || info.Mode() != fs.ModeDir|0o555 || info.Size() != 0 ||
				!info.IsDir() {
				t.Errorf("%s: %v, %v", e.Name(), info, err)
			}
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("with the mounts %q: %q, %v", c.mounts, got, err)
		}
		f.Close()
	}
}
