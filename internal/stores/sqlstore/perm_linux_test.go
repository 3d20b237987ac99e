package sqlstore

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody runs f on a thread that may not pass over file permissions, as root's may.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setfsuid(0)
	f()
}

func TestOpenWithoutPermission(t *testing.T) {
	dir, file := written(t)
	asNobody(t, func() { wantOpen(t, Config{Dir: filepath.Join(dir, "new")}, os.ErrPermission, "new") })

	tests := []struct {
		name            string
		dir, file, lock os.FileMode
	}{
		{"folder not readable", 0o700, 0o666, 0o666},
		{"lock not writable", 0o755, 0o666, 0o444},
		{"folder not writable", 0o555, 0o444, 0o666},
		{"database not readable", 0o777, 0o600, 0o666},
		{"database not writable", 0o777, 0o444, 0o666},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for path, mode := range map[string]os.FileMode{dir: tt.dir, file: tt.file,
				filepath.Join(dir, LockName): tt.lock} {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
			defer os.Chmod(dir, 0o755)
			if os.Geteuid() != 0 { // the owner's bits count, not the others'
				os.Chmod(filepath.Join(dir, LockName), tt.lock&0o444)
			}
			asNobody(t, func() { wantOpen(t, Config{Dir: dir}, nil, dir, "check that this user may") })
		})
	}
}

// TestDiskFull fills a real file system, where this process may mount one.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Logf("no file system of its own (%v): TestDatabaseFull covers the rest", err)
		return
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	s := open(t, dir)
	tk := newTalk(t, s, 1)
	tk.begin("hello")
	said := 0
	for ; ; said++ {
		before := tk.state
		_, err := s.Commit(t.Context(), tk.fence,
			tk.step("model", "model", chats.Append(chat{ID: tk.uuid(), Content: tk.text(9000)})))
		if err != nil {
			if !strings.Contains(err.Error(), filepath.Join(dir, FileName)) ||
				!strings.Contains(err.Error(), "free some space") {
				t.Errorf("Commit: %v", err)
			}
			tk.state = before
			break
		}
	}
	if said == 0 || said > 200 {
		t.Errorf("%d commits before the disk was full", said)
	}
	if c, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, ""); err != nil ||
		len(chats.Get(c.State)) != said {
		t.Errorf("%d messages, %v, want %d", len(chats.Get(c.State)), err, said)
	}
	s.Close() // may not find the room to tidy up
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	if c, err := s.For(ann()).Checkpoint(t.Context(), schema, tk.thread, ""); err != nil ||
		len(chats.Get(c.State)) != said {
		t.Errorf("after more room: %d messages, %v, want %d", len(chats.Get(c.State)), err, said)
	}
}
