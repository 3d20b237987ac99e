package ziptest

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
)

// TestArchive: what was put in comes out, and what lies about its size is found out by who reads it.
func TestArchive(t *testing.T) {
	b := Archive(t, Member{Name: "a/b.txt", Content: "words", Mode: 0o755}, Member{Name: "zero", Zeros: 3},
		Member{Name: "lie", Zeros: 2, Says: 10}, Member{Name: "last", Content: "end"})
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		size int
		bad  bool
	}{{5, false}, {3 << 20, false}, {0, true}, {3, false}} {
		r, err := z.File[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if bad := err != nil; bad != want.bad || !bad && len(got) != want.size {
			t.Errorf("%s: %d bytes, %v", z.File[i].Name, len(got), err)
		}
	}
	if m := z.File[0].Mode(); m.Perm() != 0o755 {
		t.Errorf("mode %v", m)
	}
}
