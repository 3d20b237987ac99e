//go:build linux

package cli

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
)

// TestWrittenFilesAreSynced: a backup or an export that is said to be written is on the disk, and so is its name.
func TestWrittenFilesAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		return writeNew(filepath.Join(dir, "backup"), nil, func(w io.Writer) error {
			_, err := io.WriteString(w, "content")
			return err
		})
	}, ".pudu-*.part", ".")
}

// TestRenamedFilesAreSynced is the same where the file system has no hard links.
func TestRenamedFilesAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		from := filepath.Join(t.TempDir(), "from")
		if err := writeNew(from, nil, func(io.Writer) error { return nil }); err != nil {
			return err
		}
		return renameNew(from, filepath.Join(dir, "to"))
	}, ".")
}
