package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// TestOldResultsArePruned: the outputs of commands and the results of tools, and nothing else that lies beside them.
func TestOldResultsArePruned(t *testing.T) {
	host, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{
		"workspace/.tool-results/bash-1.log":                   2 * time.Hour,
		"workspace/.tool-results/bash-2-3.log":                 3 * time.Hour,
		"workspace/.tool-results/bash-new.log":                 time.Minute,
		"workspace/.tool-results/notes.log":                    3 * time.Hour,
		"workspace/.tool-results/bash-dir.log/x":               0,
		"outputs/.tool-results/web_fetch-0123456789ab.txt":     2 * time.Hour,
		"outputs/.tool-results/web_fetch-ba9876543210.txt":     time.Minute,
		"outputs/.tool-results/the-agents-own.txt":             3 * time.Hour,
		"outputs/.results/ls-0123456789ab.log":                 2 * time.Hour,
		"outputs/.viewed-images/0123456789ab-0123456789ab.png": 3 * time.Hour,
		"outputs/report-0123456789ab.md":                       3 * time.Hour,
	} {
		p, at := filepath.Join(host, name), now.Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte("12345"), 0o600),
			os.Chtimes(p, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := sandbox.NewFiles([]sandbox.Mount{
		{Host: host + "/workspace", Path: sandbox.Workspace}, {Host: host + "/outputs", Path: sandbox.Outputs},
	}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	count, bytes := 0, int64(0)
	for _, k := range append(leavings(config.ToolOutput{StorageSubdir: ".results"}),
		kind{sandbox.Outputs + "/nowhere", "*"}) {
		n, size, err := k.prune(files, now.Add(-time.Hour))
		if count, bytes = count+n, bytes+size; err != nil {
			t.Error(err)
		}
	}
	if count != 4 || bytes != 20 {
		t.Errorf("removed %d files of %d bytes", count, bytes)
	}
	var left []string
	err = filepath.WalkDir(host, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			left = append(left, strings.TrimPrefix(p, host+"/"))
		}
		return err
	})
	want := []string{
		"outputs/.tool-results/the-agents-own.txt", "outputs/.tool-results/web_fetch-ba9876543210.txt",
		"outputs/.viewed-images/0123456789ab-0123456789ab.png", "outputs/report-0123456789ab.md",
		"workspace/.tool-results/bash-dir.log/x", "workspace/.tool-results/bash-new.log",
		"workspace/.tool-results/notes.log",
	}
	if diff := cmp.Diff(want, left); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if n := len(leavings(config.Default().ToolOutput)); n != 2 {
		t.Errorf("%d kinds by default", n)
	}
}

// TestPruneThreadWithoutFolders: a thread has the folders that it has used, and gc finds nothing in the others.
func TestPruneThreadWithoutFolders(t *testing.T) {
	for _, used := range []string{"workspace", "uploads", "outputs"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "users/ada/threads/one/user-data", used), 0o755); err != nil {
			t.Fatal(err)
		}
		folders, err := userdata.New(dir).Threads()
		if err != nil || len(folders) != 1 {
			t.Fatal(folders, err)
		}
		files, err := folders[0].Open(false)
		if err != nil {
			t.Fatal(err)
		}
		defer files.Close()
		for _, k := range leavings(config.Default().ToolOutput) {
			if n, _, err := k.prune(files, time.Now()); n != 0 || err != nil {
				t.Errorf("a thread with %s alone: %d files, %v", used, n, err)
			}
		}
	}
}
