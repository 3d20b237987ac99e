package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestCleanPath(t *testing.T) {
	long := func(bytes int) string { // a path of so many bytes
		return strings.Repeat("/abcdefghi", bytes/10) + strings.Repeat("/", bytes%10)
	}
	name := strings.Repeat("n", 255)
	for path, want := range map[string]error{
		"a:": ErrOutside, "A:": ErrOutside, "z:": ErrOutside, "Z:": ErrOutside, `b:\`: ErrOutside, "b:/": ErrOutside,
		`\`: ErrOutside, `\\server\share`: ErrOutside, "b:x": nil, "@:": nil, "`:/": nil, "[:": nil, "{:/": nil,
		"1:": nil, "ab:/": nil, "b": nil, "/b:/": nil, `x\..\y`: ErrOutside, "x/..y": nil, "...": nil,
		name: nil, name + "n": ErrInvalidPath, "/" + name: nil, "/" + name + "n": ErrInvalidPath,
		long(4096): nil, long(4097): ErrInvalidPath, "/" + long(4096): ErrInvalidPath, // also of slashes that go
		// 4096 and 4097 with the workspace
		strings.Repeat("y/", 2035) + "y": nil, strings.Repeat("y/", 2035) + "yy": ErrInvalidPath,
	} {
		if clean, err := CleanPath(path); !errors.Is(err, want) || (err == nil) == (clean == "") {
			t.Errorf("%.40q of %d bytes: %.40q, %v; want %v", path, len(path), clean, err, want)
		}
	}
}

// TestCauseHasOurNames for errors of the system.
func TestCauseHasOurNames(t *testing.T) {
	other := errors.New("other")
	for err, want := range map[error]error{
		syscall.EISDIR: ErrIsDir, syscall.ENXIO: ErrNotRegular, syscall.ENODEV: ErrNotRegular, other: other,
		errors.New("path escapes from parent"): ErrOutside,
	} {
		if got := cause(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
	if cause(nil) == nil {
		t.Error("a failure without an error is none")
	}
}

// TestPathsInErrors: they are cut to what is fit to show.
func TestPathsInErrors(t *testing.T) {
	for path, want := range map[string]string{
		strings.Repeat("x", 300): strings.Repeat("x", 300), strings.Repeat("x", 301): strings.Repeat("x", 300) + "...",
		"a\x00b": `a\x00b`, "a\xffb": "a\uFFFDb",
	} {
		if got := pathError("open", path, fs.ErrNotExist).Error(); got != fmt.Sprintf("open %s: file does not exist",
			want) {
			t.Errorf("%q", got)
		}
	}
}
