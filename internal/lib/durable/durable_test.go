package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/lib/durable"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings")
	for _, content := range []string{"first", "second, longer", ""} {
		if err := durable.Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := durable.Replace(filepath.Join(dir, "nowhere", "settings"), nil); err == nil {
		t.Error("it wrote into a folder that is not there")
	}
	if err := durable.Replace(dir, nil); err == nil { // a folder cannot be replaced
		t.Error("it replaced a folder")
	}
	for _, where := range []string{dir, filepath.Dir(dir)} {
		left, err := filepath.Glob(filepath.Join(where, ".*-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("temporary files %q are left, %v", left, err)
		}
	}
}
