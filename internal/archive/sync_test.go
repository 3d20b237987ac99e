//go:build linux

package archive

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
)

// TestRestoredFilesAreSynced before the records are committed that name them, and so is their place.
func TestRestoredFilesAreSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		from, to := t.TempDir(), filepath.Join(dir, "to")
		a, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: from})
		if err != nil {
			return err
		}
		defer a.Close()
		if err := a.For(access.FromRow("default")).
			CreateThread(t.Context(), store.Thread{ID: "t1", CreatedAt: now, UpdatedAt: now}); err != nil {
			return err
		}
		put(t, from, work+"/a", "content")
		raw, _ := backup(t, a, from)
		put(t, to, "here", "")
		b, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir()}) // whose own syncs are not looked at
		if err != nil {
			return err
		}
		defer b.Close()
		_, err = Read(t.Context(), bytes.NewReader(raw), b, to, room)
		return err
	}, "to/.restore/"+work+"/a", "to")
}
