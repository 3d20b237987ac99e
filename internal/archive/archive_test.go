package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/stores/sqlstore"
)

const room = 1 << 30

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func open(tb testing.TB, dir string) *sqlstore.Store {
	tb.Helper()
	s, err := sqlstore.Open(tb.Context(), sqlstore.Config{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

const work = "users/default/threads/t1/user-data/workspace"

// filledStore makes a store of two threads, one of them with files.
func filledStore(tb testing.TB) (*sqlstore.Store, string) {
	tb.Helper()
	dir := tb.TempDir()
	s := open(tb, dir)
	for _, id := range []string{"t1", "t2"} {
		if err := s.For(access.FromRow("default")).CreateThread(tb.Context(),
			store.Thread{ID: id, Title: strings.Repeat(id, 100), CreatedAt: now, UpdatedAt: now}); err != nil {
			tb.Fatal(err)
		}
	}
	put(tb, dir, work+"/a.txt", "one")
	put(tb, dir, work+"/deep/er/b c\n.txt", strings.Repeat("two ", 10_000))
	put(tb, dir, work+"/empty", "")
	for name, target := range map[string]string{"link": "a.txt", "deep/up": "../deep/er", "out": "/etc/passwd",
		"above": "../../../../x"} {
		if err := os.Symlink(target, filepath.Join(dir, work, name)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, work, "a.txt"), 0o754|os.ModeSetuid); err != nil {
		tb.Fatal(err)
	}
	return s, dir
}

func put(tb testing.TB, dir, name, text string) {
	tb.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// listing is what stands below users: names, modes, and contents or targets.
func listing(tb testing.TB, dir string) (list []string) {
	tb.Helper()
	root := os.DirFS(dir)
	err := fs.WalkDir(root, "users", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %s", info.Mode(), name)
		switch e.Type() {
		case 0:
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %d %.20q", len(raw), raw)
		case fs.ModeSymlink:
			target, err := os.Readlink(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		list = append(list, line)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tb.Fatal(err)
	}
	return list
}

func backup(tb testing.TB, s store.Keeper, dir string) ([]byte, Summary) {
	tb.Helper()
	var b bytes.Buffer
	sum, err := Write(tb.Context(), &b, s, dir, now)
	if err != nil {
		tb.Fatal(err)
	}
	return b.Bytes(), sum
}

func dumped(tb testing.TB, s store.Keeper) string {
	tb.Helper()
	var b bytes.Buffer
	if _, err := s.Dump(tb.Context(), &b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestThereAndBack(t *testing.T) {
	s, dir := filledStore(t)
	put(t, dir, "users/default/threads/.gone-x/user-data/workspace/old", "old")
	put(t, dir, work+"/.pudu-0123456789abcdef.tmp", "half")
	put(t, dir, work+"/.gone-by/the agent's own", "")
	if err := syscall.Mkfifo(filepath.Join(dir, work, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, wrote := backup(t, s, dir)
	if wrote.Threads != 2 || wrote.Files != 4 || wrote.Links != 4 || wrote.Skipped != 1 || wrote.Changed != 0 ||
		wrote.Bytes != 40_003 {
		t.Errorf("wrote %+v", wrote)
	}
	want := slices.DeleteFunc(listing(t, dir), func(line string) bool {
		return strings.Contains(line, "/.gone-x") || strings.Contains(line, ".tmp") ||
			strings.Contains(line, "/pipe") ||
			strings.Contains(line, "/etc/passwd") || strings.Contains(line, "/above ")
	})
	for i := range want {
		want[i] = strings.Replace(want[i], "urwxr-xr--", "-rwxr-xr--", 1) // no set-user-id
	}

	to := t.TempDir()
	target := open(t, to)
	read, err := Read(t.Context(), bytes.NewReader(raw), target, to, room)
	if err != nil {
		t.Fatal(err)
	}
	if read.Threads != 2 || read.Files != 4 || read.Links != 2 || read.Skipped != 2 || read.Bytes != wrote.Bytes {
		t.Errorf("read %+v", read)
	}
	if d := cmp.Diff(want, listing(t, to)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	if dumped(t, s) != dumped(t, target) {
		t.Error("the dumps differ")
	}
	untouched(t, to, "users")
}

// untouched checks that the data folder has nothing but the store and what is named.
func untouched(tb testing.TB, dir string, more ...string) {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "pudu.") && !slices.Contains(more, e.Name()) {
			tb.Errorf("%s stayed behind", e.Name())
		}
	}
}

// Without files and threads there is still an archive.
func TestEmpty(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	raw, _ := backup(t, open(t, dir), dir)
	if sum, err := Read(t.Context(), bytes.NewReader(raw), open(t, to), to, room); err != nil || sum != (Summary{}) {
		t.Errorf("%+v, %v", sum, err)
	}
	untouched(t, to)
}

// A dump of more than one piece is put together again.
func TestManyPieces(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	s, target := open(t, dir), open(t, to)
	for i := range 3 {
		request, err := json.Marshal(map[string]string{"x": strings.Repeat("y", 3<<20)})
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint(i)
		if _, err := s.For(access.FromRow("default")).Admit(t.Context(), store.Admission{Thread: store.Thread{ID: id},
			Run: store.Run{ID: id, ThreadID: id, Request: request}}); err != nil {
			t.Fatal(err)
		}
	}
	raw, _ := backup(t, s, dir)
	if names := entries(t, raw); len(names) != 4 {
		t.Errorf("entries: %q", names)
	}
	if _, err := Read(t.Context(), bytes.NewReader(raw), target, to, room); err != nil {
		t.Fatal(err)
	}
	if dumped(t, s) != dumped(t, target) {
		t.Error("the dumps differ")
	}
}

func entries(t *testing.T, raw []byte) (names []string) {
	t.Helper()
	for _, e := range unpack(t, raw) {
		names = append(names, e.Name)
	}
	return names
}

// entry is one of an archive.
type entry struct {
	tar.Header

	body []byte
}

func unpack(tb testing.TB, raw []byte) (all []entry) {
	tb.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			tb.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, entry{*h, body})
	}
}

func pack(tb testing.TB, all []entry) []byte {
	tb.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, e := range all {
		if e.Typeflag == tar.TypeReg {
			e.Size = int64(len(e.body))
		}
		if err := w.WriteHeader(&e.Header); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write(e.body); err != nil {
			tb.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func regular(name, body string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, []byte(body)}
}

func other(kind byte, name, link string) entry {
	return entry{tar.Header{Typeflag: kind, Name: name, Linkname: link, Mode: 0o755}, nil}
}

// A bad archive is refused with a reason and leaves nothing, wherever the fault stands.
func TestBadArchives(t *testing.T) {
	s, dir := filledStore(t)
	good, _ := backup(t, s, dir)
	all := unpack(t, good)
	with := func(change func(all []entry) []entry) []byte { return pack(t, change(slices.Clone(all))) }
	// before puts entries in front of the summary, the last one.
	before := func(more ...entry) []byte {
		return with(func(all []entry) []entry { return slices.Insert(all, len(all)-1, more...) })
	}
	tests := []struct {
		name string
		raw  []byte
		want string
	}{
		{"nothing", nil, "no backup of Pudu"},
		{"text", []byte("hello, this is a text"), "no backup of Pudu"},
		{"another tar", pack(t, []entry{regular("a", "b")}), "no backup of Pudu"},
		{"no tar", func() []byte { return gzipped(t, "hello") }(), "no backup of Pudu"},
		{"another format", with(func(all []entry) []entry { all[0].body = []byte(`{"format":"x"}`); return all }),
			"no backup of Pudu"},
		{"newer",
			with(func(all []entry) []entry {
				all[0].body = []byte(`{"format":"pudu-backup","version":3}`)
				return all
			}), "newer Pudu"},
		{"cut in half", good[:len(good)/2], "damaged or cut off"},
		{"checksum cut off", good[:len(good)-4], "damaged or cut off"},
		{"a bit turned", turned(good, len(good)-6), "damaged or cut off"},
		{"no summary", with(func(all []entry) []entry { return all[:len(all)-1] }), "summary is missing"},
		{"a file missing", with(func(all []entry) []entry {
			return slices.DeleteFunc(all, func(e entry) bool { return strings.HasSuffix(e.Name, "a.txt") })
		}), "files are missing"},
		{"the dump missing", with(func(all []entry) []entry { return slices.Delete(all, 1, 2) }),
			"cut off after record 0"},
		{"the dump damaged", with(func(all []entry) []entry { all[1].body = all[1].body[:100]; return all }), "record"},
		{"behind the summary", with(func(all []entry) []entry { return append(all, regular("users/x", "y")) }),
			"behind the summary"},
		{"absolute name", before(regular("/etc/evil", "x")), "leads out"},
		{"dots", before(regular("users/../../evil", "x")), "leads out"},
		{"dots at the front", before(regular("../evil", "x")), "leads out"},
		{"beside the users", before(regular("pudu.db", "x")), "leads out"},
		{"like the users", before(regular("usersx/y", "x")), "leads out"},
		{"backslashes", before(regular(`users\..\..\evil`, "x")), "leads out"},
		{"not clean", before(regular("users//x", "x")), "leads out"},
		{"too long", before(regular("users/"+strings.Repeat("x/", 3000)+"x", "x")), "leads out"},
		{"hard link", before(other(tar.TypeLink, "users/x", "/etc/passwd")), "type"},
		{"device", before(other(tar.TypeChar, "users/x", "")), "type"},
		{"pipe", before(other(tar.TypeFifo, "users/x", "")), "type"},
		{"twice", before(regular(work+"/a.txt", "x")), "exists"},
		{"a file for a folder", before(regular(work+"/a.txt/x", "x")), "file exists"},
		{"a folder over a link", before(other(tar.TypeDir, work+"/link", "")), "not a directory"},
		{"a folder over a link to one", before(other(tar.TypeSymlink, work+"/to", "deep"),
			other(tar.TypeDir, work+"/to", "")), "leads out"},
		{"no room", before(regular(work+"/big", strings.Repeat("x", 1<<20))), "not enough room"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			to := t.TempDir()
			target := open(t, to)
			_, err := Read(t.Context(), bytes.NewReader(tt.raw), target, to, 1<<20)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			untouched(t, to)
			if got := dumped(t, target); strings.Contains(got, "t1") {
				t.Error("threads stayed behind")
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(to), "evil")); err == nil {
				t.Error("a file was made outside")
			}
		})
	}
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	io.WriteString(zip, text)
	zip.Close()
	return b.Bytes()
}

func turned(raw []byte, at int) []byte {
	raw = slices.Clone(raw)
	raw[at] ^= 1
	return raw
}

func TestLinksThatStay(t *testing.T) {
	for _, c := range []struct {
		name, target string
		want         bool
	}{
		{work + "/a", "b", true},
		{work + "/a/b", "../c", true},
		{work + "/a", ".", true},
		{work + "/a", "..", false},
		{work + "/a", "../uploads/x", false},
		{work + "/a", "/etc", false},
		{work + "/a", "", false},
		{work, "a", false},
		{"users/default/threads/t1", "b", false},
		{"users/default/notes/t1/user-data/workspace/a", "b", false},
	} {
		if got := linkStays(c.name, c.target); got != c.want {
			t.Errorf("%s -> %s: %v", c.name, c.target, got)
		}
	}
}

func TestOnlyIntoAnEmptyFolder(t *testing.T) {
	s, dir := filledStore(t)
	raw, _ := backup(t, s, dir)
	if _, err := Read(t.Context(), bytes.NewReader(raw), s, dir, room); !errors.Is(err, store.ErrConflict) {
		t.Errorf("into itself: %v", err)
	}
	to := t.TempDir()
	put(t, to, "users/default/notes", "mine")
	before := listing(t, to)
	if _, err := Read(t.Context(), bytes.NewReader(raw), open(t, to), to, room); !errors.Is(err, store.ErrConflict) {
		t.Errorf("over files: %v", err)
	}
	if d := cmp.Diff(before, listing(t, to)); d != "" {
		t.Error(d)
	}
	// A store with threads whose files a restore could take for its own.
	if err := os.Mkdir(filepath.Join(dir, Staging), 0o700); err != nil {
		t.Fatal(err)
	}
	before = listing(t, dir)
	if _, err := Read(t.Context(), bytes.NewReader(raw), s, dir, room); !errors.Is(err, store.ErrConflict) {
		t.Errorf("over threads: %v", err)
	}
	if d := cmp.Diff(before, listing(t, dir)); d != "" {
		t.Error(d)
	}
}

// A restore that was killed, while it unpacked or between placing the files and committing, is done again.
func TestAfterACut(t *testing.T) {
	s, dir := filledStore(t)
	raw, _ := backup(t, s, dir)
	for _, left := range []string{Staging + "/users/x", Staging + "/y", work + "/half"} {
		to := t.TempDir()
		target := open(t, to)
		put(t, to, Staging+"/y", "left")
		put(t, to, left, "left")
		if _, err := Read(t.Context(), bytes.NewReader(raw), target, to, room); err != nil {
			t.Fatalf("%s: %v", left, err)
		}
		untouched(t, to, "users")
		if strings.Contains(strings.Join(listing(t, to), "\n"), "half") {
			t.Error("what was left over is there still")
		}
	}
}

// failing is a store whose commit fails after everything was read.
type failing struct {
	store.Keeper

	with error
}

func (f failing) Load(ctx context.Context, r io.Reader, last func() error) (store.Holding, error) {
	return f.Keeper.Load(ctx, r, func() error { return errors.Join(last(), f.with) })
}

var errCommit = errors.New("no commit")

func TestCommitFails(t *testing.T) {
	s, dir := filledStore(t)
	raw, _ := backup(t, s, dir)
	to := t.TempDir()
	target := open(t, to)
	if _, err := Read(t.Context(), bytes.NewReader(raw), failing{target, errCommit}, to, room); !errors.Is(err,
		errCommit) {
		t.Errorf("error = %v", err)
	}
	untouched(t, to)
	// Nobody knows whether the records are there: then the files must be, and a second attempt is possible.
	if _, err := Read(t.Context(), bytes.NewReader(raw), failing{target, store.ErrUnknown}, to, room); !errors.Is(err,
		store.ErrUnknown) {
		t.Errorf("error = %v", err)
	}
	if len(listing(t, to)) < 5 {
		t.Error("the files are gone")
	}
	if _, err := Read(t.Context(), bytes.NewReader(raw), target, to, room); err != nil {
		t.Error(err)
	}
	untouched(t, to, "users")
}

// Files that change or vanish while they are read do not break the archive.
func TestFilesInMotion(t *testing.T) {
	s, dir := filledStore(t)
	big := filepath.Join(dir, work, "big")
	noise := make([]byte, 8<<20)
	rand.Read(noise)
	put(t, dir, work+"/big", string(noise))
	for i := range 100 {
		put(t, dir, fmt.Sprintf("%s/n%02d", work, i), "x")
	}
	var b bytes.Buffer
	moved := false
	sum, err := Write(t.Context(), writerFunc(func(p []byte) (int, error) {
		if !moved && b.Len() > 1<<20 { // big is being read
			moved = true
			os.Truncate(big, 1000)
			for i := range 50 {
				os.Remove(filepath.Join(dir, work, fmt.Sprintf("n%02d", i)))
			}
		}
		return b.Write(p)
	}), s, dir, now)
	if err != nil || sum.Changed != 1 || sum.Files != 3+1+50 {
		t.Fatalf("%+v, %v", sum, err)
	}
	to := t.TempDir()
	read, err := Read(t.Context(), bytes.NewReader(b.Bytes()), open(t, to), to, room)
	if err != nil || read.Files != sum.Files {
		t.Errorf("%+v, %v; written %+v", read, err, sum)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriteFails(t *testing.T) {
	s, dir := filledStore(t)
	full := errors.New("disk full")
	_, err := Write(t.Context(), writerFunc(func([]byte) (int, error) { return 0, full }), s, dir, now)
	if !errors.Is(err, full) {
		t.Errorf("error = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Write(ctx, io.Discard, s, dir, now); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

func unzipped(tb testing.TB, raw []byte) []byte {
	tb.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	plain, err := io.ReadAll(zip)
	if err != nil {
		tb.Fatal(err)
	}
	return plain
}

// FuzzRead feeds damaged archives: an error or the same archive, never a panic, and nothing outside the folder or left
// in it.
func FuzzRead(f *testing.F) {
	var small bytes.Buffer
	dir := f.TempDir()
	put(f, dir, work+"/a", "text")
	if _, err := Write(f.Context(), &small, open(f, f.TempDir()), dir, now); err != nil {
		f.Fatal(err)
	}
	all := unpack(f, small.Bytes())
	for _, more := range [][]entry{nil, {regular("../x", "y")},
		{other(tar.TypeSymlink, work+"/l", ".."), regular(work+"/l/x", "y")}} {
		f.Add(unzipped(f, pack(f, slices.Insert(slices.Clone(all), len(all)-1, more...))))
	}
	base := f.TempDir()
	to := filepath.Join(base, "data")
	if err := os.Mkdir(to, 0o700); err != nil {
		f.Fatal(err)
	}
	target := failing{open(f, to), errCommit}
	f.Fuzz(func(t *testing.T, plain []byte) {
		var b bytes.Buffer
		zip := gzip.NewWriter(&b)
		zip.Write(plain)
		zip.Close()
		if _, err := Read(t.Context(), &b, target, to, 1<<20); err == nil {
			t.Error("the store did not fail")
		}
		untouched(t, to)
		if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 {
			t.Errorf("%d entries beside the data folder, %v", len(entries), err)
		}
	})
}
