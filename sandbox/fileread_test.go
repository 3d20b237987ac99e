//go:build linux

package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
)

// procFiles shows the kernel's folder of this process. Its files tell no size, like those that grow while they are
// read.
func procFiles(t *testing.T) *Files {
	t.Helper()
	f, err := NewFiles([]Mount{{Host: "/proc/self", Path: "/mnt/proc", ReadOnly: true}}, FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestReadFileThatGrows(t *testing.T) {
	f := procFiles(t)
	whole, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, less := range []int64{-1000, -1, 0, 1} {
		got, err := f.ReadFile("/mnt/proc/cgroup", int64(len(whole))-less)
		if less > 0 && !errors.Is(err, ErrTooLarge) || less <= 0 && (err != nil || string(got) != string(whole)) {
			t.Errorf("%d bytes with a limit %d below: %q, %v", len(whole), less, got, err)
		}
	}
}

// TestReadFileThatFails half-way.
func TestReadFileThatFails(t *testing.T) {
	if got, err := procFiles(t).ReadFile("/mnt/proc/mem", 100); !errors.Is(err, syscall.EIO) ||
		!strings.Contains(err.Error(), "/mnt/proc/mem") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestReadFileTellsTheSize of what is too large, without reading it.
func TestReadFileTellsTheSize(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "workspace/a", "1234567")
	if _, err := f.ReadFile("a", 6); !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(err.Error(), "7 bytes, the limit is 6") {
		t.Errorf("%v", err)
	}
}

// TestClosedFile: whatever is done with it fails, with its virtual path.
func TestClosedFile(t *testing.T) {
	f, _ := threadFolders(t)
	h, err := f.Create("sub/a")
	if err != nil {
		t.Fatal(err)
	}
	if h.Name() != Workspace+"/sub/a" {
		t.Errorf("its name is %q", h.Name())
	}
	if info, err := h.Stat(); err != nil || info.Name() != "a" {
		t.Errorf("%v, %v", info, err)
	}
	if err := errors.Join(h.Sync(), h.Close()); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"read": second(h.Read(make([]byte, 1))), "read at": second(h.ReadAt(make([]byte, 1), 0)),
		"seek": second(h.Seek(0, io.SeekStart)), "write": second(h.Write([]byte("x"))), "stat": second(h.Stat()),
		"sync": h.Sync(), "close": h.Close(),
	} {
		if !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), " "+Workspace+"/sub/a:") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestEndOfFile is io.EOF itself, as readers compare it.
func TestEndOfFile(t *testing.T) {
	f, host := threadFolders(t)
	put(t, host, "workspace/a", "x")
	h, err := f.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := h.ReadAt(make([]byte, 1), 1); err != io.EOF {
		t.Errorf("%v", err)
	}
	if got, err := io.ReadAll(h); err != nil || string(got) != "x" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPathsThatCannotBe are refused by whatever takes a path, and for what they are.
func TestPathsThatCannotBe(t *testing.T) {
	f, _ := threadFolders(t)
	for path, want := range map[string]error{"/etc/passwd": ErrOutside, "/mnt/user-data/other": ErrOutside,
		"": ErrInvalidPath} {
		all, writes := operations(f, path)
		maps.Copy(all, writes)
		all["lstat"] = func() error { return second(f.Lstat(path)) }
		all["host path"] = func() error { return second(f.HostPath(path)) }
		all["write from"] = func() error {
			n, err := f.WriteFrom(path, strings.NewReader("x"), 1)
			if n != 0 {
				t.Errorf("write %q: %d bytes", path, n)
			}
			return err
		}
		for name, do := range all {
			if err := do(); !errors.Is(err, want) {
				t.Errorf("%s %q: %v, want %v", name, path, err, want)
			}
		}
	}
}
