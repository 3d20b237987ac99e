//go:build linux

package sandbox_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
	"github.com/pudu-ai/pudu/sandbox"
)

// TestFilesAreSynced: a file that was replaced, made or added to is on the disk, and so is its name.
func TestFilesAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		files, err := sandbox.NewFiles([]sandbox.Mount{{Host: dir, Path: sandbox.Workspace}}, sandbox.FilesOptions{})
		if err != nil {
			return err
		}
		defer files.Close()
		_, err = files.WriteFrom("sub/from", strings.NewReader("content"), 100)
		return errors.Join(err, files.WriteFile("written", []byte("content"), false),
			files.WriteFile("written", []byte("more"), true))
	}, "sub/.pudu-*.tmp", "sub", ".pudu-*.tmp", ".", "written")
}

// TestNewFilesAreSynced is the same for a file of the server's own.
func TestNewFilesAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		return sandbox.WriteNew(root, "new", []byte("content"))
	}, ".pudu-*.tmp", ".")
}
