package sqlstore

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/pudu-ai/pudu/internal/store"
)

// syncCounter is a layer between SQLite and its files that counts the syncs of write-ahead logs.
type syncCounter struct {
	vfs.VFSFilename
	syncs *atomic.Int64
}

type countedFile struct {
	vfs.File
	syncs *atomic.Int64
}

var (
	_ vfs.FileSharedMemory = countedFile{}
	_ vfs.FileUnwrap       = countedFile{}
)

func (c syncCounter) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, flags, err := c.VFSFilename.OpenFilename(name, flags)
	if err == nil && strings.HasSuffix(name.String(), "-wal") {
		file = countedFile{file, c.syncs}
	}
	return file, flags, err
}

func (f countedFile) Unwrap() vfs.File { return f.File }
func (f countedFile) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}
func (f countedFile) Sync(flags vfs.SyncFlag) error {
	f.syncs.Add(1)
	return f.File.Sync(flags)
}

// TestEachCommitIsSynced: what was acknowledged outlives the machine's power: each transaction ends with a sync of the
// log.
func TestEachCommitIsSynced(t *testing.T) {
	var syncs atomic.Int64
	vfs.Register("sync-counter", syncCounter{vfs.Find("").(vfs.VFSFilename), &syncs})
	defer vfs.Unregister("sync-counter")
	s := openWith(t, Config{Dir: t.TempDir(), VFS: "sync-counter"})
	defer s.Close()
	for i := range 5 {
		before := syncs.Load()
		if err := s.For(ann()).CreateThread(t.Context(), store.Thread{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if n := syncs.Load() - before; n < 1 {
			t.Errorf("thread %d was acknowledged after %d syncs", i, n)
		}
	}
}
