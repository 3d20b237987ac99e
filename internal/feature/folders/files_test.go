package folders_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/folders"
	"github.com/pudu-ai/pudu/internal/userdata"
	"github.com/pudu-ai/pudu/sandbox"
)

// TestRoom: what is there counts, links and folders as files without bytes, and what is more than may be is said.
func TestRoom(t *testing.T) {
	at, err := userdata.New(t.TempDir()).User(access.FromRow("ann")).Shared("f")
	if err != nil {
		t.Fatal(err)
	}
	files, err := at.Files()
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	want := func(n int, bytes int64, over bool) {
		t.Helper()
		gotN, gotBytes, gotOver, err := folders.Room(t.Context(), files, 10)
		if gotN != n || gotBytes != bytes || gotOver != over || err != nil {
			t.Errorf("room for %d files of %d bytes, over %v, %v", gotN, gotBytes, gotOver, err)
		}
	}
	want(folders.MaxFiles, 10, false)
	for name, text := range map[string]string{"a.txt": "12345", "b/鹿.txt": "123"} {
		if err := files.WriteFile(sandbox.Folder+"/"+name, []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	want(folders.MaxFiles-3, 2, false)
	mounts, err := at.Mount(false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(mounts[0].Host, "link")); err != nil {
		t.Fatal(err)
	}
	want(folders.MaxFiles-4, 2, false)
	for most, names := range map[int][]string{1: {"a.txt (5 B)"}, 5: {"a.txt (5 B)", "b/鹿.txt (3 B)"}} {
		got, more, err := folders.Names(t.Context(), files, most)
		if !slices.Equal(got, names) || more != 2-len(names) || err != nil {
			t.Errorf("%q and %d more, %v", got, more, err)
		}
	}
	if err := files.WriteFile(sandbox.Folder+"/c", []byte("123"), false); err != nil {
		t.Fatal(err)
	}
	want(folders.MaxFiles-5, 0, true)
	for i := range folders.MaxFiles {
		if err := os.Mkdir(filepath.Join(mounts[0].Host, fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	want(0, 0, true)
	if err := folders.Full(10); !errors.Is(err, folders.ErrFull) {
		t.Error(err)
	}
}
