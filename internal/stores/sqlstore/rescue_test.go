//go:build linux

package sqlstore

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/fsynctest"
)

// TestRescuedDatabaseIsSynced, and so is the name that it gets.
func TestRescuedDatabaseIsSynced(t *testing.T) {
	fsynctest.Check(t, func(dir string) error {
		s := open(t, t.TempDir())
		defer s.Close()
		r := rescue{writer: s.writer.workers[0], dialect: sqlite{path: filepath.Join(dir, FileName)}, now: time.Now,
			log: discard}
		saved, err := r.copy(t.Context())
		if err != nil {
			return err
		}
		return r.replace(saved)
	}, "pudu.db.saved-*T*Z.bak", ".")
}
