package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesMendTheFoldersOfAThread(t *testing.T) {
	f, host := threadFolders(t)
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		lock(t, filepath.Join(host, name))
		if err := f.WriteFile(UserData+"/"+name+"/a", nil, false); err != nil {
			t.Error(err)
		}
		if got := mode(t, filepath.Join(host, name)); got != 0o700 {
			t.Errorf("%s has the mode %o", name, got)
		}
	}
	lock(t, filepath.Join(host, "workspace", "a"))
	if _, err := f.ReadDir(Workspace); err != nil || mode(t, filepath.Join(host, "workspace", "a")) != 0 {
		t.Error("the mode of a file has changed", err)
	}
}

// TestMendOfASpec mends all its mounts.
func TestMendOfASpec(t *testing.T) {
	_, host := threadFolders(t)
	var s Spec
	for _, name := range []string{"workspace", "outputs"} {
		s.Mounts = append(s.Mounts, Mount{Host: filepath.Join(host, name), Path: UserData + "/" + name})
		lock(t, filepath.Join(host, name))
	}
	s.Mend()
	for _, m := range s.Mounts {
		if got := mode(t, m.Host); got != 0o700 {
			t.Errorf("%s has the mode %o", m.Path, got)
		}
	}
}

func TestMendLeavesOthersAlone(t *testing.T) {
	host := t.TempDir()
	file := filepath.Join(host, "file")
	put(t, host, "file", "")
	for _, m := range []Mount{
		{Host: host, Path: "/mnt/project"}, {Host: host, Path: Workspace, ReadOnly: true},
		{Host: file, Path: Workspace}, {Host: filepath.Join(host, "none"), Path: Workspace},
	} {
		before := mode(t, file)
		lock(t, host)
		m.Mend()
		if got := mode(t, host); got != 0 {
			t.Errorf("%+v: now the mode is %o", m, got)
		}
		if err := os.Chmod(host, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := mode(t, file); got != before {
			t.Errorf("%+v: now the mode of the file is %o", m, got)
		}
	}
}

func lock(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
