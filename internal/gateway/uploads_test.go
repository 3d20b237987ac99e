package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/sandbox"
)

// fileKit is a kit whose threads have folders below dir, as dir/ID/{workspace,uploads,outputs}.
type fileKit struct {
	*kit

	dir string
}

func newFileKit(t *testing.T, change func(*Config)) *fileKit {
	dir := t.TempDir()
	return &fileKit{dir: dir, kit: newServer(t, func(c *Config) {
		c.Files = func(user access.User, id string) (*sandbox.Files, error) {
			if user != access.FromRow(testUser) {
				return nil, fmt.Errorf("files of user %q were opened", user.ID())
			}
			var mounts []sandbox.Mount
			for _, name := range []string{"workspace", "uploads", "outputs"} {
				host := filepath.Join(dir, id, name)
				if err := os.MkdirAll(host, 0o750); err != nil {
					return nil, err
				}
				mounts = append(mounts, sandbox.Mount{Host: host, Path: sandbox.UserData + "/" + name})
			}
			return sandbox.NewFiles(mounts, sandbox.FilesOptions{})
		}
		if change != nil {
			change(c)
		}
	})}
}

// host is where a file of a thread is on this machine; folders on the way are made.
func (k *fileKit) host(thread, name string) string {
	k.t.Helper()
	p := filepath.Join(k.dir, thread, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
		k.t.Fatal(err)
	}
	return p
}

func (k *fileKit) put(thread, name, content string) {
	k.t.Helper()
	if err := os.WriteFile(k.host(thread, name), []byte(content), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

func (k *fileKit) read(thread, name string) string {
	k.t.Helper()
	raw, err := os.ReadFile(k.host(thread, name))
	if err != nil {
		k.t.Error(err)
	}
	return string(raw)
}

// names are those of all files in a thread's uploads, also of hidden ones.
func (k *fileKit) names(thread string) []string {
	k.t.Helper()
	entries, err := os.ReadDir(filepath.Join(k.dir, thread, "uploads"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// foreign makes a thread of another user with a file in each folder.
func (k *fileKit) foreign(id string) {
	k.t.Helper()
	if err := k.Store.For(access.FromRow("other")).CreateThread(k.t.Context(), store.Thread{ID: id, CreatedAt: time.Now(), UpdatedAt: time.Now()}); err != nil {
		k.t.Fatal(err)
	}
	k.put(id, "uploads/a.txt", "SECRET")
	k.put(id, "outputs/a.txt", "SECRET")
}

// field is one of a form; name is as it stands in the header.
type field struct{ field, filename, content string }

func form(fields ...field) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range fields {
		part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.field, f.filename)}})
		if err == nil {
			_, err = io.WriteString(part, f.content)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return w.FormDataContentType(), b.String()
}

func (k *fileKit) upload(thread string, fields ...field) *httptest.ResponseRecorder {
	k.t.Helper()
	contentType, body := form(fields...)
	r := k.request("POST", "/api/threads/"+thread+"/uploads", body)
	r.Header.Set("Content-Type", contentType)
	return k.send(r)
}

func file(name, content string) field { return field{"files", name, content} }

func (k *fileKit) expect(name string, w *httptest.ResponseRecorder, status int, want string) {
	k.t.Helper()
	if w.Code != status {
		k.t.Errorf("%s: status %d, want %d: %.500s", name, w.Code, status, w.Body)
		return
	}
	if why := unlike(decode(k.t, []byte(want)), decode(k.t, w.Body.Bytes())); why != "" {
		k.t.Errorf("%s: %s in %.1000s", name, why, w.Body)
	}
}

func TestUpload(t *testing.T) {
	k := newFileKit(t, nil)
	const none = `"extension":null,"modified":null,"markdown_file":null,"markdown_path":null,"markdown_virtual_path":null,"markdown_artifact_url":null`
	for _, c := range []struct {
		name   string
		fields []field
		status int
		want   string
	}{
		{"one file, no thread yet", []field{file("notes.txt", "hello\n")}, 200,
			`{"success":true,"message":"Successfully uploaded 1 file(s)","skipped_files":[],"files":[{"filename":"notes.txt","size":6,
			"path":"/mnt/user-data/uploads/notes.txt","virtual_path":"/mnt/user-data/uploads/notes.txt",
			"artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/notes.txt","original_filename":null,` + none + `}]}`},
		{"a name that exists gets another one", []field{file("notes.txt", "new")}, 200,
			`{"success":true,"files":[{"filename":"notes_1.txt","size":3,"original_filename":"notes.txt"}]}`},
		{"twice in one form", []field{file("a.csv", "1"), file("b b.bin", "22"), file("a.csv", "333")}, 200,
			`{"message":"Successfully uploaded 3 file(s)","files":[{"filename":"a.csv","original_filename":null},
			{"filename":"b b.bin","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/b%20b.bin"},
			{"filename":"a_1.csv","size":3,"original_filename":"a.csv"}]}`},
		{"a path", []field{file("../../etc/passwd", "x")}, 200, `{"files":[{"filename":"passwd","original_filename":null}]}`},
		{"a path of Windows", []field{file(`C:\\dir\\w.txt`, "x")}, 200, `{"files":[{"filename":"w.txt"}]}`},
		{"per cent is per cent", []field{file("r%C3%A9.txt", "x")}, 200,
			`{"files":[{"filename":"r%C3%A9.txt","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/r%25C3%25A9.txt"}]}`},
		{"other scripts", []field{file("näme 中.txt", "x")}, 200,
			`{"files":[{"filename":"näme 中.txt","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/n%C3%A4me%20%E4%B8%AD.txt"}]}`},
		{"quotes", []field{file(`say \"hi\" it's.txt`, "x")}, 200, `{"files":[{"filename":"say \"hi\" it's.txt"}]}`},
		{"hidden, twice", []field{file(".env", "x"), file(".env", "y")}, 200, `{"files":[{"filename":".env"},{"filename":".env_1"}]}`},
		{"signs", []field{file("a:b?.txt", "x")}, 200, `{"files":[{"filename":"a:b?.txt","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/a%3Ab%3F.txt"}]}`},
		{"empty", []field{file("e.txt", "")}, 200, `{"success":true,"files":[{"filename":"e.txt","size":0}]}`},
		{"unusable names are listed", []field{file("..", "x"), file("ok.txt", "y"), file("", "z"), file("dir/", "z")}, 200,
			`{"success":false,"files":[{"filename":"ok.txt","size":1}],"skipped_files":["..","","dir/"],
			"message":"Successfully uploaded 1 file(s); skipped 3 unsafe file(s)"}`},
		{"a name too long", []field{file(strings.Repeat("x", 252)+".txt", "x")}, 200, `{"success":false,"files":[],"skipped_files":["*"]}`},
		{"the name of a file being written", []field{file(".pudu-0123456789abcdef.tmp", "x")}, 200, `{"success":false,"files":[]}`},
		{"another field beside", []field{{"file", "one.txt", "x"}, file("two.txt", "y")}, 200, `{"success":true,"files":[{"filename":"two.txt"}]}`},
		{"another field alone", []field{{"file", "one.txt", "x"}}, 422, `{"detail":[{"type":"missing","loc":["body","files"],"msg":"Field required","input":null}]}`},
		{"too many", slices.Repeat([]field{file("many.txt", "x")}, 11), 413, `{"detail":"Too many files: maximum is 10"}`},
	} {
		k.expect(c.name, k.upload("t1", c.fields...), c.status, c.want)
	}
	if got := k.names("t1"); slices.ContainsFunc(got, func(n string) bool { return strings.HasPrefix(n, "many") || strings.HasPrefix(n, ".pudu") }) {
		t.Errorf("left behind: %q", got)
	}
	for name, want := range map[string]string{"notes.txt": "hello\n", "notes_1.txt": "new", "a_1.csv": "333", "passwd": "x"} {
		if got := k.read("t1", "uploads/"+name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	k.play([]scenario{{name: "an upload makes no thread", method: "GET", path: "/threads/t1", status: 404}})
}

func TestUploadRefused(t *testing.T) {
	k := newFileKit(t, nil)
	k.foreign("theirs")
	contentType, body := form(file("a.txt", "content"))
	const missing = `{"detail":[{"type":"missing","loc":["body","files"]}]}`
	for _, c := range []struct {
		name, path, contentType, body string
		status                        int
		want                          string
	}{
		{"JSON", "/threads/t/uploads", "application/json", `{"files":[]}`, 422, missing},
		{"nothing", "/threads/t/uploads", "", "", 422, missing},
		{"no boundary", "/threads/t/uploads", "multipart/form-data", body, 422, missing},
		{"another boundary", "/threads/t/uploads", "multipart/form-data; boundary=x", body, 400, `{"detail":"The upload was cut off; nothing was stored"}`},
		{"no end", "/threads/t/uploads", contentType, body[:len(body)-70], 400, `{"detail":"The upload was cut off; nothing was stored"}`},
		{"no disposition", "/threads/t/uploads", "multipart/form-data; boundary=x", "--x\r\nA: b\r\n\r\n\r\n--x--\r\n", 400, `{"detail":"*"}`},
		{"no header", "/threads/t/uploads", "multipart/form-data; boundary=x", "--x\r\n\x00\xff\r\n\r\n\r\n--x--\r\n", 400, `{"detail":"*"}`},
		{"fields without end", "/threads/t/uploads", "multipart/form-data; boundary=x",
			strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 200) + "--x--\r\n", 413, `{"detail":"Too many fields in the form"}`},
		{"a thread's id that is none", "/threads/bad!id/uploads", contentType, body, 422, `{"detail":[{"loc":["path","thread_id"]}]}`},
		{"..", "/threads/%2e%2e/uploads", contentType, body, 422, `{"detail":[{"loc":["path","thread_id"]}]}`},
		{"somebody else's thread", "/threads/theirs/uploads", contentType, body, 404, `{"detail":"Thread theirs not found"}`},
	} {
		r := k.request("POST", c.path, c.body)
		r.Header.Set("Content-Type", c.contentType)
		k.expect(c.name, k.send(r), c.status, c.want)
	}
	if got := append(k.names("t"), k.names("theirs")...); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("stored %q", got)
	}
}

func TestUploadLimits(t *testing.T) {
	k := newFileKit(t, func(c *Config) { c.Limits = Limits{Upload: 100, Uploads: 250, Files: 5} })
	k.put("t", "uploads/there.txt", "before")
	of := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name   string
		fields []field
		status int
		want   string
	}{
		{"as large as may be", []field{file("100.txt", of(100))}, 200, `{"success":true}`},
		{"one byte more", []field{file("small.txt", "s"), file("big.bin", of(101))}, 413, `{"detail":"File too large: big.bin"}`},
		{"all of them", []field{file("1.txt", of(100)), file("2.txt", of(100)), file("3.txt", of(51))}, 413, `{"detail":"Total upload size too large"}`},
		{"all of them, just", []field{file("4.txt", of(100)), file("5.txt", of(100)), file("6.txt", of(50))}, 200, `{"success":true}`},
		{"what is passed over counts", []field{{"other", "x", of(formOverhead)}, file("7.txt", of(100)), file("8.txt", of(100))}, 413, `{"detail":"Total upload size too large"}`},
	} {
		k.expect(c.name, k.upload("t", c.fields...), c.status, c.want)
	}
	if diff := cmp.Diff([]string{"100.txt", "4.txt", "5.txt", "6.txt", "there.txt"}, k.names("t")); diff != "" {
		t.Error(diff)
	}
	contentType, body := form(file("a.txt", "x"))
	r := k.request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = 250 + formOverhead + 1
	k.expect("by its length", k.send(r), 413, `{"detail":"Total upload size too large"}`)
	k.play([]scenario{
		{name: "limits", method: "GET", path: "/api/threads/t/uploads/limits", status: 200, want: `{"max_files":5,"max_file_size":100,"max_total_size":250}`},
	})
}

func TestUploadsListAndDelete(t *testing.T) {
	k := newFileKit(t, nil)
	k.foreign("theirs")
	k.put("t", "uploads/b.csv", "1,2")
	k.put("t", "uploads/Noext", "x")
	k.put("t", "uploads/sub/in.txt", "x")
	k.put("t", "uploads/.pudu-0123456789abcdef.tmp", "half")
	k.put("t", "uploads/new\nline", "x")
	k.put("t", "uploads/..b", "x")
	k.put("t", "outputs/keep.txt", "x")
	for _, err := range []error{
		os.Symlink("b.csv", k.host("t", "uploads/link")), os.Symlink("/etc/passwd", k.host("t", "uploads/out")),
		syscall.Mkfifo(k.host("t", "uploads/fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	k.play([]scenario{
		{name: "nothing yet", method: "GET", path: "/api/threads/new/uploads/list", status: 200, want: `{"files":[],"count":0}`},
		{name: "regular files by name", method: "GET", path: "/threads/t/uploads/list", status: 200,
			want: `{"count":4,"files":[{"filename":"..b"},{"filename":"Noext","extension":""},
			{"filename":"b.csv","size":3,"extension":".csv","modified":"*","path":"/mnt/user-data/uploads/b.csv"},{"filename":"new\nline"}]}`},
		{name: "somebody else's", method: "GET", path: "/threads/theirs/uploads/list", status: 404, want: `{"detail":"Thread theirs not found"}`},
		{name: "delete without a thread", method: "DELETE", path: "/threads/t/uploads/b.csv", status: 404, want: `{"detail":"Thread t not found"}`},
		{name: "make it", method: "POST", path: "/threads", body: `{"thread_id":"t"}`, status: 200},
		{name: "the files are still there", method: "GET", path: "/threads/t/uploads/list", status: 200, want: `{"count":4}`},
		{name: "delete", method: "DELETE", path: "/api/threads/t/uploads/b.csv", status: 200, want: `{"success":true,"message":"Deleted b.csv"}`},
		{name: "again", method: "DELETE", path: "/threads/t/uploads/b.csv", status: 404, want: `{"detail":"File not found: b.csv"}`},
		{name: "a folder", method: "DELETE", path: "/threads/t/uploads/sub", status: 404},
		{name: "a file that is being written", method: "DELETE", path: "/threads/t/uploads/.pudu-0123456789abcdef.tmp", status: 404},
		{name: "a link", method: "DELETE", path: "/threads/t/uploads/out", status: 200},
		{name: "a FIFO", method: "DELETE", path: "/threads/t/uploads/fifo", status: 200},
		{name: "an odd name", method: "DELETE", path: "/threads/t/uploads/new%0Aline", status: 200},
		{name: "dots in a name", method: "DELETE", path: "/threads/t/uploads/..b", status: 200},
		{name: "the thread above", method: "DELETE", path: "/threads/t/uploads/%2e%2e", status: 400, want: `{"detail":"Invalid path"}`},
		{name: "the folder itself", method: "DELETE", path: "/threads/t/uploads/%2e", status: 400, want: `{"detail":"Invalid path"}`},
		{name: "a path", method: "DELETE", path: "/threads/t/uploads/..%2Foutputs%2Fkeep.txt", status: 404},
		{name: "a path of Windows", method: "DELETE", path: "/threads/t/uploads/..%5Coutputs%5Ckeep.txt", status: 400},
		{name: "twice encoded", method: "DELETE", path: "/threads/t/uploads/%252e%252e", status: 404, want: `{"detail":"File not found: %2e%2e"}`},
		{name: "NUL", method: "DELETE", path: "/threads/t/uploads/a%00b", status: 400},
		{name: "not text", method: "DELETE", path: "/threads/t/uploads/%ff", status: 400},
		{name: "too long", method: "DELETE", path: "/threads/t/uploads/" + strings.Repeat("x", 300), status: 400},
		{name: "somebody else's file", method: "DELETE", path: "/threads/theirs/uploads/a.txt", status: 404, want: `{"detail":"Thread theirs not found"}`},
		{name: "another method", method: "PUT", path: "/threads/t/uploads/a.txt", body: `{}`, status: 405, headers: map[string]string{"Allow": "DELETE"}},
		{name: "the thread is still there", method: "GET", path: "/threads/t", status: 200},
	})
	if diff := cmp.Diff([]string{".pudu-0123456789abcdef.tmp", "Noext", "link", "sub"}, k.names("t")); diff != "" {
		t.Error(diff)
	}
	if k.read("t", "outputs/keep.txt") != "x" || k.read("theirs", "uploads/a.txt") != "SECRET" {
		t.Error("something else was removed")
	}
}

func TestUploadsOfOneNameAtOnce(t *testing.T) {
	k := newFileKit(t, nil)
	const clients = 8
	var wg sync.WaitGroup
	names := make([]string, clients)
	for i := range clients {
		wg.Go(func() {
			var out uploadAnswer
			w := k.upload("t", file("same.txt", fmt.Sprint(i)))
			if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || len(out.Files) != 1 {
				t.Errorf("%v %s", err, w.Body)
				return
			}
			names[i] = out.Files[0].Filename
		})
	}
	wg.Wait()
	for i, name := range names {
		if got := k.read("t", "uploads/"+name); got != fmt.Sprint(i) {
			t.Errorf("%s holds %s, want %d", name, got, i)
		}
	}
	if got := k.names("t"); len(got) != clients {
		t.Error(got)
	}
}

// zeros are n bytes; they take no room.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.n)
	clear(p[:n])
	z.n -= n
	return int(n), nil
}

func TestUploadIsNotHeldInMemory(t *testing.T) {
	k := newFileKit(t, nil)
	const size = 40 << 20
	contentType, body := form(file("big.bin", "@"))
	before, after, _ := strings.Cut(body, "@")
	r := k.request("POST", "/threads/t/uploads", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(before), &zeros{size}, strings.NewReader(after)))
	r.ContentLength = -1
	r.Header.Set("Content-Type", contentType)
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	w := k.send(r)
	runtime.ReadMemStats(&b)
	k.expect("large", w, 200, fmt.Sprintf(`{"files":[{"size":%d}]}`, size))
	if took := b.TotalAlloc - a.TotalAlloc; took > size/8 {
		t.Errorf("took %d bytes of memory for %d", took, size)
	}
}

func TestUploadFolderIsFull(t *testing.T) {
	e := asError(uploadError(&fs.PathError{Op: "write", Path: "/mnt/user-data/uploads/a", Err: syscall.ENOSPC}, nil))
	if e.Status != http.StatusInsufficientStorage {
		t.Error(e)
	}
}

func TestUploadName(t *testing.T) {
	for sent, want := range map[string]string{
		"a.txt": "a.txt", "/etc/passwd": "passwd", `\\host\share\b.txt`: "b.txt", `a/b\c.txt`: "c.txt", "...": "...", " a ": " a ",
		"": "", ".": "", "..": "", "a/..": "", `a\.`: "", "a/": "", " \t": "", "a\x00b": "", "a\nb": "", "a\u2028b": "", "a\x7f": "", "\xff.txt": "",
		strings.Repeat("x", 255): strings.Repeat("x", 255), strings.Repeat("x", 256): "", strings.Repeat("ü", 128): "",
	} {
		got, ok := uploadName(sent)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q became %q %v, want %q", sent, got, ok, want)
		}
	}
	for in, want := range map[string]string{
		"a.txt": "a_7.txt", "a": "a_7", ".a": ".a_7", "a.tar.gz": "a.tar_7.gz", "a.": "a_7.",
		strings.Repeat("x", 251) + ".txt": strings.Repeat("x", 249) + "_7.txt", "a." + strings.Repeat("ü", 126): "a." + strings.Repeat("ü", 125) + "_7",
	} {
		if got := numbered(in, 7); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzUploadName(f *testing.F) {
	for _, s := range []string{"a.txt", "../x", `C:\x`, "..", ".hidden", "ü.ext", "a\nb", strings.Repeat("x", 254) + ".y"} {
		f.Add(s, 3)
	}
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: f.TempDir(), Path: sandbox.Uploads}}, sandbox.FilesOptions{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = files.Close() })
	f.Fuzz(func(t *testing.T, sent string, n int) {
		name, ok := uploadName(sent)
		if !ok {
			return
		}
		for _, name := range []string{name, numbered(name, n&0xffff)} {
			if len(name) > maxName || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\\n\x00") {
				t.Errorf("%q became %q", sent, name)
			}
			m, rel, err := files.Resolve(uploadPath(name))
			if err != nil || m.Path != sandbox.Uploads || rel != name {
				t.Errorf("%q leads to %s %q: %v", name, m.Path, rel, err)
			}
		}
	})
}
