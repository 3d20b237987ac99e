package archive

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// taken is how many bytes a file takes on the disk.
func taken(t *testing.T, name string) (size, onDisk int64) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size(), info.Sys().(*syscall.Stat_t).Blocks * 512
}

// TestHolesStayHoles: a file of holes is backed up as what it takes on the disk, and takes as much when it is restored
// into hardly more room than that.
func TestHolesStayHoles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("this system does not tell where a file has holes; the file comes back whole")
	}
	s, dir := filledStore(t)
	const length = 1 << 30
	name := filepath.Join(dir, work, "holes")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 1 << 20, length/2 + 12345} {
		if _, err := f.WriteAt([]byte("what is no hole"), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(length); err != nil {
		t.Fatal(err)
	}
	f.Close()
	all := filepath.Join(dir, work, "nothing")
	if err := os.WriteFile(all, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(all, length); err != nil {
		t.Fatal(err)
	}
	raw, wrote := backup(t, s, dir)
	if wrote.Files != 5 || wrote.Bytes > 1<<20 {
		t.Errorf("wrote %+v", wrote)
	}
	to := t.TempDir()
	read, err := Read(t.Context(), bytes.NewReader(raw), open(t, to), to, 4<<20)
	if err != nil || read.Bytes != wrote.Bytes {
		t.Fatalf("%+v, %v", read, err)
	}
	for _, file := range []string{"holes", "nothing"} {
		size, onDisk := taken(t, filepath.Join(to, work, file))
		_, before := taken(t, filepath.Join(dir, work, file))
		if size != length || onDisk > before+64<<10 {
			t.Errorf("%s has %d bytes and takes %d, before %d", file, size, onDisk, before)
		}
	}
	got, err := os.Open(filepath.Join(to, work, "holes"))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	for at, want := range map[int64]string{0: "what", 1<<20 - 1: "\x00wha", length/2 + 12345: "what",
		length - 4: "\x00\x00\x00\x00"} {
		b := make([]byte, 4)
		if _, err := got.ReadAt(b, at); err != nil || string(b) != want {
			t.Errorf("at %d: %q, %v", at, b, err)
		}
	}
}

// TestExtentsOfAHeader: what nobody may believe is refused.
func TestExtentsOfAHeader(t *testing.T) {
	for name, c := range map[string]struct {
		size    int64
		records map[string]string
		ok      bool
	}{
		"no holes":       {5, nil, true},
		"two":            {5, map[string]string{recordSize: "100", recordExtents: "0+2,97+3"}, true},
		"a hole alone":   {0, map[string]string{recordSize: "100", recordExtents: ""}, true},
		"beyond the end": {5, map[string]string{recordSize: "100", recordExtents: "96+5"}, false},
		"overflow": {5, map[string]string{recordSize: "9223372036854775807",
			recordExtents: "9223372036854775806+5"}, false},
		"overlapping":     {5, map[string]string{recordSize: "100", recordExtents: "0+3,2+2"}, false},
		"backwards":       {5, map[string]string{recordSize: "100", recordExtents: "50+3,0+2"}, false},
		"negative":        {5, map[string]string{recordSize: "100", recordExtents: "-1+5"}, false},
		"negative length": {5, map[string]string{recordSize: "100", recordExtents: "0+6,6+-1"}, false},
		"too few":         {5, map[string]string{recordSize: "100", recordExtents: "0+4"}, false},
		"no numbers":      {5, map[string]string{recordSize: "100", recordExtents: "x"}, false},
		"no size":         {5, map[string]string{recordSize: "x", recordExtents: "0+5"}, false},
		"a negative size": {0, map[string]string{recordSize: "-1", recordExtents: ""}, false},
	} {
		if _, _, err := readExtents(&tar.Header{Size: c.size, PAXRecords: c.records}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyHoles: pieces beyond the bound are one with what is between them.
func TestManyHoles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "many"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const many, step = maxExtents + 100, 64 << 10
	for i := range int64(many) {
		if _, err := f.WriteAt([]byte{1}, i*step); err != nil {
			t.Fatal(err)
		}
	}
	list := extentsOf(f, many*step)
	ones := 0
	for _, p := range list {
		raw, err := io.ReadAll(io.NewSectionReader(f, p.at, p.size))
		if err != nil {
			t.Fatal(err)
		}
		ones += bytes.Count(raw, []byte{1})
	}
	if len(list) > maxExtents || ones != many {
		t.Errorf("%d pieces hold %d of %d", len(list), ones, many)
	}
}
