package toolbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/testkit/ziptest"
)

// entry is a file of a wheel that a test makes.
type entry struct {
	name, text string
	mode       os.FileMode
	record     string // the line of RECORD instead of the right one; "-" is none
}

func recordLine(name, text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
}

// makeWheel makes a wheel; without a RECORD among the entries it gets the right one.
func makeWheel(t testing.TB, name string, entries ...entry) []byte {
	t.Helper()
	record := ""
	has := slices.ContainsFunc(entries, func(e entry) bool { return strings.HasSuffix(e.name, "/RECORD") })
	info := name + "-1.0.dist-info/"
	if !has {
		entries = append(entries, entry{name: info + "METADATA", text: "Name: " + name + "\n"})
		for _, e := range entries {
			switch {
			case e.record == "-" || strings.HasSuffix(e.name, "/"):
			case e.record != "":
				record += e.record + "\n"
			default:
				record += recordLine(e.name, e.text)
			}
		}
		entries = append(entries, entry{name: info + "RECORD", text: record + info + "RECORD,,\n"})
	}
	members := make([]ziptest.Member, len(entries))
	for i, e := range entries {
		members[i] = ziptest.Member{Name: e.name, Content: e.text, Mode: max(e.mode, 0o644)}
	}
	return ziptest.Archive(t, members...)
}

// index is an index of packages, and what it was asked.
type index struct {
	*httptest.Server

	lock    *Lock
	files   map[string][]byte
	html    bool
	asked   []string // requests of files, with their ranges
	handler func(w http.ResponseWriter, r *http.Request, content []byte) bool
}

// wheels are those of a small toolbox: one with a module and data for elsewhere, one that is for a Python and a
// machine.
func wheels(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"alpha-1.0-py3-none-any.whl": makeWheel(t, "alpha",
			entry{name: "alpha/__init__.py", text: "value = 42\n"}, entry{name: "alpha/", mode: os.ModeDir | 0o755},
			entry{name: "alpha-1.0.data/purelib/alpha/pure.py", text: "x = 1\n"},
			entry{name: "alpha-1.0.data/scripts/alpha", text: "#!python\n"},
			entry{name: "alpha-1.0.data/data/etc/x", text: "x"}),
		"beta-1.0-cp311-cp311-manylinux_2_28_x86_64.whl": makeWheel(t, "beta",
			entry{name: "beta.py", text: "arch = 'amd64'\n" + strings.Repeat("# beta\n", 5000)}),
		"beta-1.0-cp311-cp311-manylinux_2_28_aarch64.whl": makeWheel(t, "beta",
			entry{name: "beta.py", text: "arch = 'arm64'\n"}),
	}
}

// lockOf is a lock of files named as wheels are.
func lockOf(t testing.TB, files map[string][]byte) *Lock {
	t.Helper()
	l := Lock{Pythons: []string{"3.11", "3.12", "3.13", "3.14"}}
	packages := map[string][]Wheel{}
	for name, content := range files {
		sum := sha256.Sum256(content)
		w := Wheel{File: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content))}
		switch {
		case strings.Contains(name, "x86_64"):
			w.Archs = []string{"amd64"}
		case strings.Contains(name, "aarch64"):
			w.Archs = []string{"arm64"}
		}
		pkg, _, _ := strings.Cut(name, "-")
		packages[pkg] = append(packages[pkg], w)
	}
	for name, wheels := range packages {
		l.Packages = append(l.Packages, lockedPackage{Package{name, "1.0", "MIT", name}, wheels})
	}
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	read, err := readLock(text)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// serve has an index serve files.
func serve(t testing.TB, files map[string][]byte) *index {
	t.Helper()
	ix := &index{lock: lockOf(t, files), files: files}
	ix.Server = httptest.NewServer(http.HandlerFunc(ix.answer))
	t.Cleanup(ix.Close)
	return ix
}

func (ix *index) answer(w http.ResponseWriter, r *http.Request) {
	if pkg, ok := strings.CutPrefix(r.URL.Path, "/simple/"); ok {
		ix.page(w, strings.Trim(pkg, "/"))
		return
	}
	content, ok := ix.files[filepath.Base(r.URL.Path)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	ix.asked = append(ix.asked, filepath.Base(r.URL.Path)+" "+r.Header.Get("Range"))
	if ix.handler != nil && ix.handler(w, r, content) {
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func (ix *index) page(w http.ResponseWriter, pkg string) {
	links, files := "", []map[string]string{}
	for name := range ix.files {
		if strings.HasPrefix(name, pkg+"-") {
			links += `<a class="x" href="../../files/` + name + `#sha256=0">` + name + "</a><br>\n"
			files = append(files, map[string]string{"url": "../../files/" + name, "filename": name})
		}
	}
	if ix.html {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><p>"+links)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
	_ = json.NewEncoder(w).Encode(map[string]any{"files": files})
}

var here = Target{"3.11", "amd64"}

// boxOf is a toolbox in a new folder that is installed from the index.
func boxOf(t testing.TB, ix *index) *Box {
	t.Helper()
	firstPause = time.Millisecond
	return New(Config{Dir: filepath.Join(t.TempDir(), "toolbox"), Index: ix.URL + "/simple/", HTTP: ix.Client(),
		lock: ix.lock, Log: slog.New(slog.DiscardHandler)})
}

func install(t testing.TB, b *Box) Version {
	t.Helper()
	v, err := b.Install(t.Context(), here, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names are those of a folder.
func names(t testing.TB, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
