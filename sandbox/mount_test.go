package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// lazyFiles are the files of a thread whose folder is not there yet.
func lazyFiles(t *testing.T) (*Files, string) {
	t.Helper()
	host := filepath.Join(t.TempDir(), "thread", "workspace")
	f, err := NewFiles([]Mount{{Host: host, Path: Workspace}}, FilesOptions{Make: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, host
}

func TestLookingMakesNoFolder(t *testing.T) {
	f, host := lazyFiles(t)
	if entries, err := f.ReadDir(Workspace); err != nil || len(entries) != 0 {
		t.Errorf("list: %v, %v", entries, err)
	}
	if info, err := f.Stat(Workspace); err != nil || !info.IsDir() {
		t.Errorf("stat: %v, %v", info, err)
	}
	for what, err := range map[string]error{
		"stat":   second(f.Stat(Workspace + "/a")),
		"open":   second(f.Open(Workspace + "/a")),
		"list":   second(f.ReadDir(Workspace + "/a")),
		"remove": f.Remove(Workspace + "/a"),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s what is not there: %v", what, err)
		}
	}
	if _, err := f.Open(Workspace); !errors.Is(err, ErrIsDir) {
		t.Errorf("open the folder: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(host)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking has made %s: %v", host, err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestWritingMakesTheFolder(t *testing.T) {
	f, _ := lazyFiles(t)
	var writers sync.WaitGroup
	for _, name := range []string{"a", "b", "c/d"} {
		writers.Go(func() {
			if err := f.WriteFile(Workspace+"/"+name, []byte("x"), false); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if b, err := f.ReadFile(Workspace+"/c/d", 10); err != nil || string(b) != "x" {
		t.Errorf("read %q, %v", b, err)
	}
}

func TestMakeMakesTheFolders(t *testing.T) {
	f, host := lazyFiles(t)
	if err := f.Make(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(host); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Make(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after closing: %v", err)
	}
}

// TestFilesKeepTheirFolders: they stay those that were opened, also when something else gets their names on the host.
func TestFilesKeepTheirFolders(t *testing.T) {
	f, host := threadFolders(t)
	if err := f.WriteFile("a", []byte("x"), false); err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(host, "workspace")
	if err := errors.Join(os.Rename(workspace, workspace+"-moved"), os.Mkdir(workspace, 0o700)); err != nil {
		t.Fatal(err)
	}
	if got, err := f.ReadFile("a", 10); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestOnlyTheThreadsFoldersAreMade, and only if that is asked for.
func TestOnlyTheThreadsFoldersAreMade(t *testing.T) {
	for _, c := range []struct {
		path string
		make bool
		want error
	}{{Workspace, true, nil}, {Workspace, false, fs.ErrNotExist}, {"/mnt/project", true, fs.ErrNotExist},
		{"/mnt/project", false, fs.ErrNotExist}} {
		f, err := NewFiles([]Mount{{Host: filepath.Join(t.TempDir(), "none"), Path: c.path}},
			FilesOptions{Make: c.make})
		if !errors.Is(err, c.want) {
			t.Errorf("%s, make %t: %v, want %v", c.path, c.make, err, c.want)
		}
		if err == nil {
			f.Close()
		}
	}
}

// TestMountsComeByLength: the longest first, those of one length as they were given.
func TestMountsComeByLength(t *testing.T) {
	host := t.TempDir()
	var mounts []Mount
	for _, path := range []string{"/mnt/b", "/mnt/a", "/mnt/longer", "/mnt/c"} {
		mounts = append(mounts, Mount{Host: host, Path: path, ReadOnly: true})
	}
	f, err := NewFiles(mounts, FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, want := f.Mounts(), []Mount{mounts[2], mounts[0], mounts[1], mounts[3]}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAFolderThatCannotBeMade is told of by what needs it.
func TestAFolderThatCannotBeMade(t *testing.T) {
	host := t.TempDir()
	put(t, host, "file", "")
	f, err := NewFiles([]Mount{{Host: filepath.Join(host, "file/workspace"), Path: Workspace}},
		FilesOptions{Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for what, err := range map[string]error{
		"make": f.Make(), "write": f.WriteFile("a", nil, false), "mkdir": f.MkdirAll("a"), "stat": second(f.Stat("a")),
		"list": second(f.ReadDir(".")), "remove": f.Remove("a"), "open": second(f.Open("a")),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
