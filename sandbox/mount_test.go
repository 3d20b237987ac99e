package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
