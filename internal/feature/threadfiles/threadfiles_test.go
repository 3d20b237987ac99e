package threadfiles_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/threadfiles"
	"github.com/pudu-ai/pudu/internal/secrets"
	"github.com/pudu-ai/pudu/sandbox"
)

// desk is a thread's files, below dir on the host.
type desk struct {
	*sandbox.Files

	t   *testing.T
	dir string
}

func newDesk(t *testing.T, content map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir()}
	var mounts []sandbox.Mount
	for _, name := range []string{"workspace", "uploads", "outputs"} {
		mounts = append(mounts, sandbox.Mount{Host: filepath.Join(d.dir, name), Path: sandbox.UserData + "/" + name})
		d.must(os.MkdirAll(filepath.Join(d.dir, name), 0o700))
	}
	for name, text := range content {
		d.must(os.MkdirAll(filepath.Dir(d.host(name)), 0o700))
		d.must(os.WriteFile(d.host(name), []byte(text), 0o600))
	}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{})
	d.must(err)
	t.Cleanup(func() { d.must(files.Close()) })
	d.Files = files
	return d
}

func (d *desk) host(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// zipped is what is in a ZIP of the paths, each folder as "".
func (d *desk) zipped(named ...string) map[string]string {
	d.t.Helper()
	a, err := threadfiles.Choose(d.t.Context(), d.Files, sandbox.UserData, named)
	d.must(err)
	var b bytes.Buffer
	d.must(a.Write(d.t.Context(), &b))
	return d.unpack(b.Bytes())
}

func (d *desk) unpack(raw []byte) map[string]string {
	d.t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	d.must(err)
	out := make(map[string]string)
	for _, f := range z.File {
		r, err := f.Open()
		d.must(err)
		text, err := io.ReadAll(r)
		d.must(err)
		if _, twice := out[f.Name]; twice || !filepath.IsLocal(f.Name) {
			d.t.Errorf("%q is in it twice, or leads elsewhere", f.Name)
		}
		out[f.Name] = string(text)
	}
	return out
}

// TestTree: everything below a folder, each folder before what is in it, by pages.
func TestTree(t *testing.T) {
	d := newDesk(t, map[string]string{"outputs/a.txt": "abc", "outputs/sub/b.txt": "b", "uploads/u.pdf": "u",
		"workspace/w": ""})
	d.must(os.Symlink("a.txt", d.host("outputs/link")))
	d.must(syscall.Mkfifo(d.host("outputs/pipe"), 0o600))
	const root = sandbox.UserData + "/"
	upload := &threadfiles.Maker{Kind: "upload"}
	want := []threadfiles.Entry{
		{Path: root + "outputs", Kind: "folder"}, {Path: root + "outputs/a.txt", Kind: "file", Size: 3},
		{Path: root + "outputs/link", Kind: "link"}, {Path: root + "outputs/pipe", Kind: "other"},
		{Path: root + "outputs/sub", Kind: "folder"}, {Path: root + "outputs/sub/b.txt", Kind: "file", Size: 1},
		{Path: root + "uploads", Kind: "folder"}, {Path: root + "uploads/u.pdf", Kind: "file", Size: 1, MadeBy: upload},
		{Path: root + "workspace", Kind: "folder"}, {Path: root + "workspace/w", Kind: "file"},
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []threadfiles.Entry
		for more := true; more; {
			var page []threadfiles.Entry
			var err error
			page, more, err = threadfiles.Tree(t.Context(), d.Files, sandbox.UserData, "", limit, len(got))
			d.must(err)
			for i := range page {
				if time.Since(page[i].Modified) > time.Minute {
					t.Errorf("%s is of %v", page[i].Path, page[i].Modified)
				}
				page[i].Modified = time.Time{}
			}
			got = append(got, page...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %d (-want +got):\n%s", limit, diff)
		}
	}
	list, _, err := threadfiles.Tree(t.Context(), d.Files, sandbox.UserData, "outputs/sub", 10, 0)
	if err != nil || len(list) != 1 || list[0].Path != root+"outputs/sub/b.txt" {
		t.Errorf("of a folder: %v %v", list, err)
	}
	for name, want := range map[string]error{
		"outputs/none": fs.ErrNotExist, "../x": sandbox.ErrOutside, "/etc": sandbox.ErrOutside,
		"/mnt": sandbox.ErrOutside, "a\x00": sandbox.ErrInvalidPath,
	} {
		if _, _, err := threadfiles.Tree(t.Context(), d.Files, sandbox.UserData, name, 10, 0); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

// TestFill: what is known better than from the path stands in its place.
func TestFill(t *testing.T) {
	list := []threadfiles.Entry{{Path: "a"}, {Path: "b", MadeBy: &threadfiles.Maker{Kind: "upload"}}, {Path: "c"}}
	makers := func(_ context.Context, u access.User, thread string,
		paths []string) (map[string]threadfiles.Maker, error) {
		if u != access.Default() || thread != "t" || strings.Join(paths, "") != "abc" {
			t.Errorf("asked for %v %s %v", u, thread, paths)
		}
		return map[string]threadfiles.Maker{"a": {Kind: "tool", RunID: "r"}, "b": {Kind: "run", RunID: "r"}}, nil
	}
	if err := threadfiles.Fill(t.Context(), makers, access.Default(), "t", list); err != nil {
		t.Fatal(err)
	}
	if *list[0].MadeBy != (threadfiles.Maker{Kind: "tool", RunID: "r"}) || list[1].MadeBy.Kind != "run" ||
		list[2].MadeBy != nil {
		t.Errorf("%+v", list)
	}
}

// TestZip: all, or what was chosen, once each; what cannot be in it is named.
func TestZip(t *testing.T) {
	d := newDesk(t, map[string]string{
		"outputs/a.txt": "abc", "outputs/sub/b.txt": "b", "uploads/u.pdf": "u", "workspace/w": "",
		"outputs/odd\n\\x:y": "odd", "outputs/odd__x_y": "even", "secret.txt": "SECRET",
	})
	d.must(os.Symlink("a.txt", d.host("outputs/inside")))
	d.must(os.Symlink("../secret.txt", d.host("outputs/outside")))
	d.must(os.Symlink("sub", d.host("outputs/folder")))
	d.must(syscall.Mkfifo(d.host("outputs/pipe"), 0o600))
	d.must(os.Mkdir(d.host("outputs/empty"), 0o700))
	const left = "Not in this archive:\n\noutputs/folder: it is a link that leads to no file of its folder\n" +
		"outputs/outside: it is a link that leads to no file of its folder\noutputs/pipe: it is no regular file\n"
	want := map[string]string{
		"outputs/": "", "outputs/a.txt": "abc", "outputs/inside": "abc", "outputs/sub/": "", "outputs/sub/b.txt": "b",
		"outputs/odd__x_y": "odd", "outputs/odd__x_y (2)": "even", "outputs/empty/": "", "uploads/": "",
		"uploads/u.pdf": "u", "workspace/": "", "workspace/w": "", "LEFT-OUT.txt": left,
	}
	if diff := cmp.Diff(want, d.zipped()); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	want = map[string]string{"outputs/a.txt": "abc", "outputs/sub/": "", "outputs/sub/b.txt": "b"}
	if diff := cmp.Diff(want, d.zipped("outputs/sub", "/mnt/user-data/outputs/a.txt",
		"outputs/sub/b.txt")); diff != "" {
		t.Errorf("some (-want +got):\n%s", diff)
	}
	for name, want := range map[string]error{
		"none": sandbox.ErrOutside, "outputs/none": fs.ErrNotExist, "..": sandbox.ErrOutside,
		"/mnt/skills": sandbox.ErrOutside,
	} {
		if _, err := threadfiles.Choose(t.Context(), d.Files, sandbox.UserData, []string{name}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

// TestZipOfFilesThatChange: one that is gone is named, one that grew has the size that it had.
func TestZipOfFilesThatChange(t *testing.T) {
	d := newDesk(t, map[string]string{"outputs/a": "abc", "outputs/gone": "x", "outputs/link": "y", "secret": "SECRET"})
	a, err := threadfiles.Choose(t.Context(), d.Files, sandbox.UserData, []string{"outputs"})
	d.must(err)
	d.must(os.WriteFile(d.host("outputs/a"), []byte("abcdef"), 0o600))
	d.must(errors.Join(os.Remove(d.host("outputs/gone")), os.Remove(d.host("outputs/link")),
		os.Symlink("../secret", d.host("outputs/link"))))
	var b bytes.Buffer
	d.must(a.Write(t.Context(), &b))
	want := map[string]string{
		"outputs/": "", "outputs/a": "abc",
		"LEFT-OUT.txt": "Not in this archive:\n\noutputs/gone: it cannot be read\noutputs/link: it cannot be read\n",
	}
	if diff := cmp.Diff(want, d.unpack(b.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Write(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// full is a client that takes so many bytes and no more.
type full struct{ left int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	n := min(f.left, len(p))
	if f.left -= n; n < len(p) {
		return n, errFull
	}
	return n, nil
}

// TestZipForAClientThatGoes fails wherever it goes: only a whole ZIP is one. What is packed already is not packed
// again.
func TestZipForAClientThatGoes(t *testing.T) {
	large := strings.Repeat("x", 20_000)
	d := newDesk(t, map[string]string{"outputs/a.txt": large, "outputs/b.PNG": large, "outputs/c.txt": "c"})
	d.must(os.Symlink("/etc/passwd", d.host("outputs/out")))
	a, err := threadfiles.Choose(t.Context(), d.Files, sandbox.UserData, nil)
	d.must(err)
	var b bytes.Buffer
	d.must(a.Write(t.Context(), &b))
	if b.Len() < len(large) || b.Len() > len(large)+5000 {
		t.Errorf("it has %d bytes", b.Len())
	}
	for n := 0; n < b.Len(); n += 97 {
		a, err := threadfiles.Choose(t.Context(), d.Files, sandbox.UserData, nil)
		d.must(err)
		if err := a.Write(t.Context(), &full{n}); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// TestZipBounds: too many files, or too much in them, are refused before anything is written.
func TestZipBounds(t *testing.T) {
	d := newDesk(t, nil)
	for i := range threadfiles.MaxMembers {
		d.must(os.WriteFile(d.host(fmt.Sprint("outputs/", i)), nil, 0o600))
	}
	if _, err := threadfiles.Choose(t.Context(), d.Files, sandbox.UserData, []string{"outputs"}); !errors.Is(err,
		threadfiles.ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	d = newDesk(t, map[string]string{"outputs/a": "", "outputs/b": "x"})
	d.must(os.Truncate(d.host("outputs/a"), threadfiles.MaxBytes))
	if _, err := threadfiles.Choose(t.Context(), d.Files, sandbox.UserData, []string{"outputs/a"}); err != nil {
		t.Error(err)
	}
	if _, err := threadfiles.Choose(t.Context(), d.Files, sandbox.UserData, []string{"outputs"}); !errors.Is(err,
		threadfiles.ErrTooLarge) {
		t.Errorf("one byte too much: %v", err)
	}
}

var now = time.Date(2026, 3, 14, 15, 9, 26, 535897000, time.UTC)

func newLinks(t testing.TB) *threadfiles.Links {
	t.Helper()
	s, err := secrets.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	return threadfiles.NewLinks(s)
}

// TestLinks: one leads to the files that it was made for, for an hour, and nothing else does.
func TestLinks(t *testing.T) {
	l := newLinks(t)
	if _, _, err := l.Open("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", now); !errors.Is(err,
		threadfiles.ErrNoLink) {
		t.Errorf("before there is a key: %v", err)
	}
	ann := access.FromRow("ann")
	link, until, err := l.Make(ann, "t", now)
	if err != nil || until.Sub(now) < threadfiles.Valid || until.Sub(now) > threadfiles.Valid+10*time.Minute {
		t.Fatal(until, err)
	}
	if again, _, _ := l.Make(ann, "t", now.Add(time.Second)); again != link {
		t.Error("a moment later it is another one")
	}
	u, thread, err := l.Open(link, until.Add(-time.Second))
	if err != nil || u != ann || thread != "t" {
		t.Errorf("%v %q %v", u, thread, err)
	}
	if _, _, err := l.Open(link, until); !errors.Is(err, threadfiles.ErrExpired) {
		t.Errorf("later: %v", err)
	}
	if _, _, err := newLinks(t).Open(link, now); !errors.Is(err, threadfiles.ErrNoLink) {
		t.Errorf("elsewhere: %v", err)
	}
	for i := range link {
		changed := []byte(link)
		changed[i] ^= 1
		if u, thread, err := l.Open(string(changed), now); !errors.Is(err, threadfiles.ErrNoLink) {
			t.Errorf("changed at %d: %v %q %v", i, u, thread, err)
		}
	}
	if other, _, _ := l.Make(access.FromRow("an"), "nt", now); other == link {
		t.Error("two threads have one link")
	}
	if _, _, err := l.Make(access.User{}, "t", now); !errors.Is(err, access.ErrNoUser) {
		t.Error(err)
	}
	if _, _, err := l.Make(access.FromRow(strings.Repeat("x", 256)), "t", now); err == nil {
		t.Error("an id of 256 bytes")
	}
}

// FuzzLink: whatever a link is made for it leads to, and no text that was not made is one.
func FuzzLink(f *testing.F) {
	l := newLinks(f)
	good, _, err := l.Make(access.FromRow("ann"), "t", now)
	if err != nil {
		f.Fatal(err)
	}
	for _, link := range []string{good, "", "A", good[:len(good)-1], good + "A", "\xff", strings.Repeat("A", 2000)} {
		f.Add(link, "ann", "t")
	}
	f.Fuzz(func(t *testing.T, link, user, thread string) {
		u, id, err := l.Open(link, now)
		if err == nil && (link != good || u.ID() != "ann" || id != "t") {
			t.Errorf("%q leads to %q of %v", link, id, u)
		}
		made, _, err := l.Make(access.FromRow(user), thread, now)
		if err != nil || len(made) > 1024 {
			return
		}
		if u, id, err := l.Open(made, now); err != nil || u.ID() != user || id != thread {
			t.Errorf("%q of %q leads to %q of %q, %v", thread, user, id, u.ID(), err)
		}
	})
}

// FuzzWithin: a path is below the thread's folders, or refused, and does not change when it is looked at again.
func FuzzWithin(f *testing.F) {
	for _, name := range []string{"", "outputs/a", "/mnt/user-data", "/mnt/user-data-2", "../..", "/", "a/../../..",
		`..\..`, "a\x00", "\xff"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := threadfiles.Within(name)
		if err != nil {
			return
		}
		if again, err := threadfiles.Within(p); again != p || err != nil || path.Clean(p) != p ||
			p != sandbox.UserData &&
				!strings.HasPrefix(p, sandbox.UserData+"/") {
			t.Errorf("%q is %q, then %q, %v", name, p, again, err)
		}
	})
}

// FuzzSafeName: a name in an archive leads nowhere else, on no system, and stays as it is if it is harmless.
func FuzzSafeName(f *testing.F) {
	for _, name := range []string{"outputs/a.txt", "../x", `..\x`, "C:/x", "a//b", "a/./b", "a. ", "\xff", "\x1b[2J",
		"/", "", "...", "a\u0085b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := threadfiles.SafeName(name)
		if !filepath.IsLocal(got) || path.Clean(got) != got || !utf8.ValidString(got) ||
			strings.ContainsAny(got, `\:*?"<>|`) ||
			strings.IndexFunc(got, unicode.IsControl) >= 0 || threadfiles.SafeName(got) != got {
			t.Errorf("%q became %q", name, got)
		}
		for part := range strings.SplitSeq(got, "/") {
			if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
				t.Errorf("%q became %q", name, got)
			}
		}
	})
}
