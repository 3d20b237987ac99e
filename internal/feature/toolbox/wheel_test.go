package toolbox

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHostileWheels(t *testing.T) {
	py := entry{name: "a.py", text: "a = 1\n"}
	zeros := strings.Repeat("\x00", 1<<20)
	for name, entries := range map[string][]entry{
		"up":                {{name: "../a.py", text: "x"}},
		"up inside":         {{name: "a/../../b.py", text: "x"}},
		"absolute":          {{name: "/tmp/a.py", text: "x"}},
		"backslash":         {{name: `..\a.py`, text: "x"}},
		"drive":             {{name: "c:a.py", text: "x"}},
		"dot":               {{name: "./a.py", text: "x"}},
		"double slash":      {{name: "a//b.py", text: "x"}},
		"control character": {{name: "a\n.py", text: "x"}},
		"invalid UTF-8":     {{name: "a\xff.py", text: "x"}},
		"deep":              {{name: strings.Repeat("d/", 40) + "a.py", text: "x"}},
		"symbolic link":     {{name: "link", text: "/etc/passwd", mode: fs.ModeSymlink | 0o777}},
		"device":            {{name: "null", text: "", mode: fs.ModeDevice | 0o666}},
		"pipe":              {{name: "pipe", text: "", mode: fs.ModeNamedPipe | 0o666}},
		"twice":             {py, py},
		"file as folder":    {py, {name: "a.py/b.py", text: "x"}},
		"wrong hash":        {{name: "a.py", text: "a = 1\n", record: "a.py,sha256=AAAA,6"}},
		"wrong size": {{name: "a.py", text: "a = 1\n",
			record: strings.TrimSpace(strings.Replace(recordLine("a.py", "a = 1\n"), ",6", ",7", 1))}},
		"weak hash":     {{name: "a.py", text: "a = 1\n", record: "a.py,md5=AAAA,6"}},
		"no hash":       {{name: "a.py", text: "a = 1\n", record: "a.py,,"}},
		"not in RECORD": {{name: "a.py", text: "a = 1\n", record: "-"}},
		"only in RECORD": {{name: "a.py", text: "a = 1\n", record: strings.TrimSpace(recordLine("a.py", "a = 1\n")) +
			"\nb.py,sha256=AAAA,1"}},
		"twice in RECORD": {{name: "a.py", text: "a = 1\n", record: recordLine("a.py", "a = 1\n") +
			strings.TrimSpace(recordLine("a.py", "a = 1\n"))}},
		"bad RECORD":  {{name: "x-1.0.dist-info/RECORD", text: "a,b\n"}},
		"two RECORDs": {{name: "x-1.0.dist-info/RECORD", text: ""}, {name: "y-1.0.dist-info/RECORD", text: ""}},
		"no RECORD":   {{name: "x/RECORD", text: ""}},
		"data up":     {{name: "x-1.0.data/purelib/../../../a.py", text: "x"}},
		"bomb":        {{name: "x-1.0.dist-info/RECORD", text: strings.Repeat(zeros, 9)}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			into := filepath.Join(dir, "in")
			if err := os.Mkdir(into, 0o755); err != nil {
				t.Fatal(err)
			}
			_, err := unpackBytes(t, makeWheel(t, "x", entries...), into)
			if err == nil || !errors.Is(err, ErrBad) && name != "file as folder" {
				t.Errorf("got %v", err)
			}
			if got := names(t, dir); len(got) != 1 {
				t.Errorf("beside it there is %q", got)
			}
		})
	}
}

// TestBombOfManyFiles: sizes in the head of an archive count, and lies about them are noticed.
func TestBombOfManyFiles(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for range maxEntries + 1 {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: "a.py"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := unpackBytes(t, b.Bytes(), t.TempDir()); !errors.Is(err, ErrBad) ||
		!strings.Contains(err.Error(), "entries") {
		t.Errorf("got %v", err)
	}
	b.Reset()
	z = zip.NewWriter(&b)
	if _, err := z.CreateRaw(&zip.FileHeader{Name: "folder/", UncompressedSize64: 1}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := unpackBytes(t, b.Bytes(), t.TempDir()); !errors.Is(err, ErrBad) ||
		!strings.Contains(err.Error(), "has content") {
		t.Errorf("got %v", err)
	}
	b.Reset()
	z = zip.NewWriter(&b)
	for _, name := range []string{"a.py", "b.py"} {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: name, UncompressedSize64: maxUnpacked - 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := unpackBytes(t, b.Bytes(), t.TempDir()); !errors.Is(err, ErrBad) ||
		!strings.Contains(err.Error(), "unpacks") {
		t.Errorf("got %v", err)
	}
}

// TestWheelsDoNotOverwriteEachOther: the second that brings the same file is refused.
func TestWheelsDoNotOverwriteEachOther(t *testing.T) {
	dir := t.TempDir()
	if _, err := unpackBytes(t, makeWheel(t, "one", entry{name: "a.py", text: "1"}), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := unpackBytes(t, makeWheel(t, "two", entry{name: "a.py", text: "2"}), dir); !errors.Is(err,
		fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if text := read(t, dir+"/a.py"); text != "1" {
		t.Errorf("the file is %q", text)
	}
}

func unpackBytes(t testing.TB, wheel []byte, into string) (int64, error) {
	t.Helper()
	root, err := os.OpenRoot(into)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return unpack(bytes.NewReader(wheel), int64(len(wheel)), root)
}

func FuzzUnpack(f *testing.F) {
	f.Add(makeWheel(f, "x", entry{name: "a.py", text: "a = 1\n"}, entry{name: "x-1.0.data/platlib/b/c.py", text: "c"}))
	f.Add(makeWheel(f, "x", entry{name: "../a.py", text: "x"}))
	f.Add(makeWheel(f, "x", entry{name: "link", text: "/etc", mode: fs.ModeSymlink | 0o777}))
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, wheel []byte) {
		dir := t.TempDir()
		into := filepath.Join(dir, "in")
		if err := os.Mkdir(into, 0o755); err != nil {
			t.Fatal(err)
		}
		if n, err := unpackBytes(t, wheel, into); err == nil && n < 0 {
			t.Error("fewer bytes than none")
		}
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("beside it there is %q", got)
		}
		_ = filepath.WalkDir(into, func(name string, e fs.DirEntry, _ error) error {
			if e != nil && !e.IsDir() && !e.Type().IsRegular() {
				t.Errorf("%s is %s", name, e.Type())
			}
			return nil
		})
	})
}

func FuzzRecord(f *testing.F) {
	f.Add("a.py,sha256=AAAA,6\nx-1.0.dist-info/RECORD,,\n")
	f.Add(`"a,b",sha256=AAAA,` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		facts, err := parseRecord(strings.NewReader(text))
		for name, fact := range facts {
			if err == nil && !isRecord(name) && hashes[fact.kind] == nil {
				t.Errorf("%q has the hash %q", name, fact.kind)
			}
		}
	})
}

func FuzzFindLink(f *testing.F) {
	f.Add(`<a href="../../a-1.0.whl#sha256=00">a</a>`, "text/html")
	f.Add(`{"files": [{"url": "https://x/a-1.0.whl"}]}`, "application/vnd.pypi.simple.v1+json")
	f.Add(`<a href="file:///etc/a-1.0.whl">`, "text/html")
	f.Fuzz(func(t *testing.T, page, kind string) {
		base := &url.URL{Scheme: "https", Host: "index", Path: "/simple/a/"}
		link, err := findLink([]byte(page), kind, base, "a-1.0.whl")
		if err != nil {
			return
		}
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			t.Errorf("the link is %q: %v", link, err)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"name": "cpython", "python": "3.12", "machine": "aarch64", "bits": 64, "libc": "glibc 2.36", "free": false}`)
	f.Fuzz(func(t *testing.T, out string) {
		if target, err := ParseAnswer(out); err == nil && target.check() != nil {
			t.Errorf("%q is %+v", out, target)
		}
	})
}
