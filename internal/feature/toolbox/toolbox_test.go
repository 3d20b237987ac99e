package toolbox

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pudu-ai/pudu/internal/testkit/machinetest"
)

func TestInstall(t *testing.T) {
	for _, html := range []bool{false, true} {
		ix := serve(t, wheels(t))
		ix.html = html
		b := boxOf(t, ix)
		var steps []string
		v, err := b.Install(t.Context(), here, nil, func(p Progress) {
			if len(steps) == 0 || steps[len(steps)-1] != p.Step {
				steps = append(steps, p.Step)
			}
			if p.Done > p.Total || p.Total != b.must(t).size() {
				t.Errorf("progress %+v", p)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(steps, " "); got != "download unpack compile" {
			t.Errorf("steps %q", got)
		}
		if text := read(t, v.Host+"/python/beta.py"); !strings.HasPrefix(text, "arch = 'amd64'\n") {
			t.Errorf("beta is that of another machine: %.40q", text)
		}
		read(t, v.Host+"/python/alpha/pure.py")
		for _, name := range []string{"etc/x", "scripts", "alpha-1.0.data"} {
			if _, err := os.Stat(v.Host + "/python/" + name); err == nil {
				t.Errorf("%s is there", name)
			}
		}
		if got := names(t, b.cfg.Dir); !slices.Equal(got, []string{".lock", v.Name}) {
			t.Errorf("the folder has %q", got)
		}
		if got := v.Names(); !v.Current || !slices.Equal(got, []string{"alpha", "beta"}) || v.Bytes == 0 {
			t.Errorf("the version is %+v", v)
		}
		asked := len(ix.asked)
		if again := install(t, b); again.Name != v.Name || len(ix.asked) != asked {
			t.Errorf("the second time made %s and asked for %q", again.Name, ix.asked[asked:])
		}
		found, ok, err := b.Find(here)
		if err != nil || !ok || found.Name != v.Name {
			t.Errorf("found %+v, %t, %v", found, ok, err)
		}
		if _, ok, _ := b.Find(Target{"3.12", "amd64"}); ok {
			t.Error("found one for another Python")
		}
	}
}

func (b *Box) must(t *testing.T) *set {
	t.Helper()
	s, err := b.lock.For(here)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPythonImportsIt: also where it cannot write, and without translating anything itself.
func TestPythonImportsIt(t *testing.T) {
	if exec.Command(Python, "-c", "import sys; sys.exit(sys.version_info[:2] != (3, 11))").Run() != nil {
		machinetest.Cannot(t, "a Python 3.11")
	}
	b := boxOf(t, serve(t, wheels(t)))
	v := install(t, b)
	c := exec.Command(Python, "-B", "-c", "import alpha, beta; print(alpha.value, beta.arch, alpha.__cached__)")
	c.Env = []string{"PYTHONPATH=" + v.Host + "/python"}
	out, err := c.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "42 amd64 ") {
		t.Fatalf("%s %v", out, err)
	}
	cached := strings.Fields(string(out))[2]
	info, err := os.Stat(cached)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the compiled module: %v, %v", info, err)
	}
	if text := read(t, cached); !strings.Contains(text, Mount+"/python/alpha/__init__.py") ||
		strings.Contains(text, b.cfg.Dir) {
		t.Error("the compiled module does not name its place in the sandbox, or names the one outside")
	}
}

// TestEverybodyCanReadIt: the sandbox of a server that root runs is another user.
func TestEverybodyCanReadIt(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	v := install(t, boxOf(t, serve(t, wheels(t))))
	err := filepath.WalkDir(v.Host, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if want := map[bool]fs.FileMode{true: 0o755, false: 0o644}[e.IsDir()]; err == nil &&
			info.Mode().Perm() != want {
			t.Errorf("%s has the mode %s", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDownloadsGoOn: a connection that breaks, again and again, and each time brings a little.
func TestDownloadsGoOn(t *testing.T) {
	ix := serve(t, wheels(t))
	const part = 100
	ix.handler = func(w http.ResponseWriter, r *http.Request, content []byte) bool {
		from := 0
		if s, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
			from, _ = strconv.Atoi(strings.TrimSuffix(s, "-"))
			w.Header().Set("Content-Range", "bytes "+strconv.Itoa(from)+"-"+strconv.Itoa(len(content)-1)+"/"+
				strconv.Itoa(len(content)))
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(content)-from))
		if from > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(content[from:min(from+part, len(content))]) // and the connection is cut
		return true
	}
	b := boxOf(t, ix)
	install(t, b)
	if len(ix.asked) > 40 {
		t.Errorf("it was asked %d times: parts were brought again", len(ix.asked))
	}
}

func TestWhatComesIsComparedWithTheLock(t *testing.T) {
	for name, handler := range map[string]func(http.ResponseWriter, *http.Request, []byte) bool{
		"another file": func(w http.ResponseWriter, _ *http.Request, c []byte) bool {
			_, _ = w.Write(bytes.Repeat([]byte("x"), len(c)))
			return true
		},
		"too long": func(w http.ResponseWriter, _ *http.Request, c []byte) bool {
			_, _ = w.Write(append(slices.Clone(c), "and more"...))
			return true
		},
		"never ending": func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			for range 1000 {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return true
				}
			}
			return true
		},
		"no such file": func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			http.NotFound(w, r)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			ix := serve(t, wheels(t))
			ix.handler = handler
			b := boxOf(t, ix)
			if _, err := b.Install(t.Context(), here, nil, nil); err == nil || !strings.Contains(err.Error(), ".whl") {
				t.Errorf("got %v", err)
			}
			if list, err := b.List(); err != nil || len(list) != 0 {
				t.Errorf("installed %v, %v", list, err)
			}
			ix.handler = nil
			install(t, b)
		})
	}
}

func TestIndexWithoutTheFile(t *testing.T) {
	ix := serve(t, wheels(t))
	b := boxOf(t, ix)
	ix.files = map[string][]byte{}
	if _, err := b.Install(t.Context(), here, nil, nil); err == nil ||
		!strings.Contains(err.Error(), "the index does not have the file") {
		t.Errorf("got %v", err)
	}
}

// TestPackAndInstall: the archive of one machine is all that another needs.
func TestPackAndInstall(t *testing.T) {
	ix := serve(t, wheels(t))
	var file bytes.Buffer
	if err := boxOf(t, ix).Pack(t.Context(), here, &file, nil); err != nil {
		t.Fatal(err)
	}
	ix.Close()
	b := boxOf(t, ix)
	v, err := b.Install(t.Context(), here, bytes.NewReader(file.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	read(t, v.Host+"/python/alpha/__init__.py")
	for what, archive := range map[string][]byte{
		"cut off": file.Bytes()[:file.Len()/2],
		"text":    []byte("this is no archive, but a text that goes on for a while" + strings.Repeat(".", 600)),
		"nothing": nil,
	} {
		if _, err := boxOf(t, ix).Install(t.Context(), here, bytes.NewReader(archive), nil); !errors.Is(err, ErrBad) {
			t.Errorf("%s: %v", what, err)
		}
	}
	other := Target{"3.11", "arm64"}
	_, err = boxOf(t, ix).Install(t.Context(), other, bytes.NewReader(file.Bytes()), nil)
	if err == nil || !strings.Contains(err.Error(), "pudu toolbox pack --python 3.11 --arch arm64") {
		t.Errorf("for another machine: %v", err)
	}
}

// TestVersionsStandSideBySide: what a new program installs leaves the old one where it is, until it is removed.
func TestVersionsStandSideBySide(t *testing.T) {
	files := wheels(t)
	ix := serve(t, files)
	b := boxOf(t, ix)
	old := install(t, b)
	files["beta-1.0-cp311-cp311-manylinux_2_28_x86_64.whl"] = makeWheel(t, "beta",
		entry{name: "beta.py", text: "new = True\n"})
	next := New(Config{Dir: b.cfg.Dir, Index: b.cfg.Index, HTTP: ix.Client(), lock: lockOf(t, files)})
	if v, ok, err := next.Find(here); !ok || err != nil || v.Name != old.Name || v.Current {
		t.Errorf("before: %+v, %t, %v", v, ok, err)
	}
	v := install(t, next)
	if found, _, _ := next.Find(here); v.Name == old.Name || found.Name != v.Name || !found.Current {
		t.Errorf("after: %+v", found)
	}
	read(t, old.Host+"/python/beta.py")

	release, err := next.Hold(old)
	if err != nil {
		t.Fatal(err)
	}
	if gone, err := next.Remove(""); err == nil || len(gone) > 0 {
		t.Errorf("removed %q, which is held: %v", gone, err)
	}
	read(t, old.Host+"/python/beta.py")
	release()
	if gone, err := next.Remove(""); err != nil || !slices.Equal(gone, []string{old.Name}) {
		t.Errorf("removed %q: %v", gone, err)
	}
	if gone, err := next.Remove("nothing"); !errors.Is(err, fs.ErrNotExist) || len(gone) > 0 {
		t.Errorf("removed %q: %v", gone, err)
	}
	if got := names(t, b.cfg.Dir); !slices.Equal(got, []string{".lock", v.Name}) {
		t.Errorf("the folder has %q", got)
	}
}

// TestOneAtATime: the second is told, and nothing is half there.
func TestOneAtATime(t *testing.T) {
	b := boxOf(t, serve(t, wheels(t)))
	unlock, err := b.alone()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Install(t.Context(), here, nil, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("install: %v", err)
	}
	if _, err := b.Remove(""); !errors.Is(err, ErrBusy) {
		t.Errorf("remove: %v", err)
	}
	unlock()
	install(t, b)
}

// TestWhatWasCutOffIsNotUsed: neither a folder that was being made nor one without its manifest.
func TestWhatWasCutOffIsNotUsed(t *testing.T) {
	b := boxOf(t, serve(t, wheels(t)))
	for _, name := range []string{making + "1/python", removing + b.must(t).name(), here.prefix() + "0123456789abcdef",
		"else"} {
		if err := os.MkdirAll(filepath.Join(b.cfg.Dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := b.List(); err != nil || len(list) != 0 {
		t.Errorf("list %v, %v", list, err)
	}
	v := install(t, b)
	if got := names(t, b.cfg.Dir); !slices.Equal(got, []string{".lock", "else", here.prefix() + "0123456789abcdef",
		v.Name}) &&
		!slices.Equal(got, []string{".lock", "else", v.Name, here.prefix() + "0123456789abcdef"}) {
		t.Errorf("the folder has %q", got)
	}
}

// TestKilledWhileInstalling: kill -9 of the process at many moments; then it is whole or not there, and a new attempt
// makes it.
func TestKilledWhileInstalling(t *testing.T) {
	ix := serve(t, wheels(t))
	for _, at := range []string{"download", "unpack", "compile"} {
		b := boxOf(t, ix)
		c := exec.Command(os.Args[0], "-test.run=^TestInstallAndStop$")
		c.Env = append(os.Environ(), "TOOLBOX_TEST_DIR="+b.cfg.Dir, "TOOLBOX_TEST_AT="+at)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if list, err := b.List(); err != nil || len(list) > 0 {
			t.Errorf("killed at %s: %v, %v", at, list, err)
		}
		v := install(t, b)
		read(t, v.Host+"/python/alpha/__init__.py")
		if got := names(t, b.cfg.Dir); !slices.Equal(got, []string{".lock", v.Name}) {
			t.Errorf("killed at %s: the folder has %q", at, got)
		}
	}
}

// TestInstallAndStop is the process that is killed.
func TestInstallAndStop(t *testing.T) {
	dir := os.Getenv("TOOLBOX_TEST_DIR")
	if dir == "" {
		return // it is part of TestKilledWhileInstalling
	}
	ix := serve(t, wheels(t))
	b := New(Config{Dir: dir, Index: ix.URL + "/simple", HTTP: ix.Client(), lock: ix.lock})
	_, _ = b.Install(t.Context(), here, nil, func(p Progress) {
		if p.Step == os.Getenv("TOOLBOX_TEST_AT") && p.Done > 0 {
			_, _ = os.Stdout.WriteString("!")
			select {}
		}
	})
}

func TestFullDisk(t *testing.T) {
	b := boxOf(t, serve(t, wheels(t)))
	err := b.explain(&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), b.cfg.Dir) {
		t.Errorf("got %v", err)
	}
}

func TestAnswersOfPythons(t *testing.T) {
	good := `{"name": "cpython", "python": "3.12", "machine": "aarch64", "bits": 64, "libc": "glibc 2.36", "free": false}`
	if got, err := ParseAnswer(good + "\n"); err != nil || got != (Target{"3.12", "arm64"}) {
		t.Errorf("got %v, %v", got, err)
	}
	for answer, want := range map[string]string{
		"": "missing", "Traceback": "it answered",
		strings.Replace(good, "cpython", "pypy", 1):          "for CPython",
		strings.Replace(good, "aarch64", "riscv64", 1):       "amd64 and arm64",
		strings.Replace(good, "64,", "32,", 1):               "amd64 and arm64",
		strings.Replace(good, "glibc 2.36", "", 1):           "GNU C library",
		strings.Replace(good, "glibc 2.36", "glibc 2.17", 1): "2.28",
		strings.Replace(good, "false", "true", 1):            "global lock",
	} {
		if got, err := ParseAnswer(answer); !errors.Is(err, ErrTarget) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", answer, got, err)
		}
	}
	if _, err := New(Config{}).wanted(Target{"3.10", "amd64"}); !errors.Is(err, ErrTarget) {
		t.Errorf("3.10: %v", err)
	}
}

// TestThisMachine: what the question asks is answered by the Python of this machine.
func TestThisMachine(t *testing.T) {
	out, err := exec.Command("bash", "-c", Question).Output()
	if err != nil {
		machinetest.Cannot(t, "a Python")
	}
	if _, err := ParseAnswer(string(out)); err != nil {
		t.Error(err)
	}
}

// TestOwnLock: each Python and machine gets every package once, each under a permissive licence, and a hundred
// megabytes of them.
func TestOwnLock(t *testing.T) {
	l, err := readLock(lockText)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]bool{}
	for _, python := range l.Pythons {
		for _, arch := range []string{"amd64", "arm64"} {
			s, err := l.For(Target{python, arch})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.wheels) != len(l.Packages) || s.size() > 130e6 {
				t.Errorf("%s: %d of %d packages, %d bytes", s.target, len(s.wheels), len(l.Packages), s.size())
			}
			digests[s.name()] = true
			if !versionName.MatchString(s.name()) {
				t.Errorf("the name %q", s.name())
			}
		}
	}
	if len(digests) != 8 {
		t.Errorf("%d names for 8 targets", len(digests))
	}
	for _, p := range l.Packages {
		for _, word := range []string{"GPL", "AGPL", "commercial"} {
			if strings.Contains(p.Licence, word) {
				t.Errorf("%s is under %q", p.Name, p.Licence)
			}
		}
	}
	got := importNames(New(Config{}).must(t).packages)
	for _, name := range []string{"pandas", "numpy", "matplotlib", "openpyxl", "docx", "pptx", "reportlab", "pypdf",
		"PIL", "lxml", "bs4", "markdown", "jinja2", "sklearn"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s is missing in %q", name, got)
		}
	}
}
