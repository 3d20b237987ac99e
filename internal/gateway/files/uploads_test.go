package files_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/files"
	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
)

func TestUpload(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	const none = `"extension":null,"modified":null,"markdown_file":null,"markdown_path":null,"markdown_virtual_path":null,"markdown_artifact_url":null`
	for _, c := range []struct {
		name   string
		fields []gateways.Field
		status int
		want   string
	}{
		{"one file, no thread yet", []gateways.Field{gateways.File("notes.txt", "hello\n")}, 200,
			`{"success":true,"message":"Successfully uploaded 1 file(s)","skipped_files":[],"files":[{"filename":"notes.txt","size":6,
			"path":"/mnt/user-data/uploads/notes.txt","virtual_path":"/mnt/user-data/uploads/notes.txt",
			"artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/notes.txt","original_filename":null,` + none + `}]}`},
		{"a name that exists gets another one", []gateways.Field{gateways.File("notes.txt", "new")}, 200,
			`{"success":true,"files":[{"filename":"notes_1.txt","size":3,"original_filename":"notes.txt"}]}`},
		{"twice in one form", []gateways.Field{gateways.File("a.csv", "1"), gateways.File("b b.bin", "22"),
			gateways.File("a.csv", "333")}, 200,
			`{"message":"Successfully uploaded 3 file(s)","files":[{"filename":"a.csv","original_filename":null},
			{"filename":"b b.bin","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/b%20b.bin"},
			{"filename":"a_1.csv","size":3,"original_filename":"a.csv"}]}`},
		{"a path", []gateways.Field{gateways.File("../../etc/passwd", "x")}, 200,
			`{"files":[{"filename":"passwd","original_filename":null}]}`},
		{"a path of Windows", []gateways.Field{gateways.File(`C:\\dir\\w.txt`, "x")}, 200,
			`{"files":[{"filename":"w.txt"}]}`},
		{"per cent is per cent", []gateways.Field{gateways.File("r%C3%A9.txt", "x")}, 200,
			`{"files":[{"filename":"r%C3%A9.txt","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/r%25C3%25A9.txt"}]}`},
		{"other scripts", []gateways.Field{gateways.File("näme 中.txt", "x")}, 200,
			`{"files":[{"filename":"näme 中.txt","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/n%C3%A4me%20%E4%B8%AD.txt"}]}`},
		{"quotes", []gateways.Field{gateways.File(`say \"hi\" it's.txt`, "x")}, 200,
			`{"files":[{"filename":"say \"hi\" it's.txt"}]}`},
		{"hidden, twice", []gateways.Field{gateways.File(".env", "x"), gateways.File(".env", "y")}, 200,
			`{"files":[{"filename":".env"},{"filename":".env_1"}]}`},
		{"signs", []gateways.Field{gateways.File("a:b?.txt", "x")}, 200,
			`{"files":[{"filename":"a:b?.txt","artifact_url":"/api/threads/t1/artifacts/mnt/user-data/uploads/a%3Ab%3F.txt"}]}`},
		{"empty", []gateways.Field{gateways.File("e.txt", "")}, 200,
			`{"success":true,"files":[{"filename":"e.txt","size":0}]}`},
		{"unusable names are listed", []gateways.Field{gateways.File("..", "x"), gateways.File("ok.txt", "y"),
			gateways.File("", "z"), gateways.File("dir/", "z")}, 200,
			`{"success":false,"files":[{"filename":"ok.txt","size":1}],"skipped_files":["..","","dir/"],
			"message":"Successfully uploaded 1 file(s); skipped 3 unsafe file(s)"}`},
		{"a name too long", []gateways.Field{gateways.File(strings.Repeat("x", 252)+".txt", "x")}, 200,
			`{"success":false,"files":[],"skipped_files":["*"]}`},
		{"the name of a file being written", []gateways.Field{gateways.File(".pudu-0123456789abcdef.tmp", "x")}, 200,
			`{"success":false,"files":[]}`},
		{"another field beside", []gateways.Field{{Name: "file", Filename: "one.txt", Content: "x"},
			gateways.File("two.txt", "y")}, 200, `{"success":true,"files":[{"filename":"two.txt"}]}`},
		{"another field alone", []gateways.Field{{Name: "file", Filename: "one.txt", Content: "x"}}, 422,
			`{"detail":[{"type":"missing","loc":["body","files"],"msg":"Field required","input":null}]}`},
		{"too many", slices.Repeat([]gateways.Field{gateways.File("many.txt", "x")}, 11), 413,
			`{"detail":"Too many files: maximum is 10"}`},
	} {
		k.Expect(c.name, k.Upload("t1", c.fields...), c.status, c.want)
	}
	if got := k.Names("t1"); slices.ContainsFunc(got,
		func(n string) bool { return strings.HasPrefix(n, "many") || strings.HasPrefix(n, ".pudu") }) {
		t.Errorf("left behind: %q", got)
	}
	for name, want := range map[string]string{"notes.txt": "hello\n", "notes_1.txt": "new", "a_1.csv": "333",
		"passwd": "x"} {
		if got := k.Read("t1", "uploads/"+name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	k.Play([]gateways.Scenario{{Name: "an upload makes no thread", Method: "GET", Path: "/threads/t1", Status: 404}})
}

func TestUploadRefused(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Foreign("theirs")
	contentType, body := gateways.Form(gateways.File("a.txt", "content"))
	const missing = `{"detail":[{"type":"missing","loc":["body","files"]}]}`
	for _, c := range []struct {
		name, path, contentType, body string
		status                        int
		want                          string
	}{
		{"JSON", "/threads/t/uploads", "application/json", `{"files":[]}`, 422, missing},
		{"nothing", "/threads/t/uploads", "", "", 422, missing},
		{"no boundary", "/threads/t/uploads", "multipart/form-data", body, 422, missing},
		{"another boundary", "/threads/t/uploads", "multipart/form-data; boundary=x", body, 400,
			`{"detail":"The upload was cut off; nothing was stored"}`},
		{"no end", "/threads/t/uploads", contentType, body[:len(body)-70], 400,
			`{"detail":"The upload was cut off; nothing was stored"}`},
		{"no disposition", "/threads/t/uploads", "multipart/form-data; boundary=x", "--x\r\nA: b\r\n\r\n\r\n--x--\r\n",
			400, `{"detail":"*"}`},
		{"no header", "/threads/t/uploads", "multipart/form-data; boundary=x", "--x\r\n\x00\xff\r\n\r\n\r\n--x--\r\n",
			400, `{"detail":"*"}`},
		{"fields without end", "/threads/t/uploads", "multipart/form-data; boundary=x",
			strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n", 200) + "--x--\r\n", 413,
			`{"detail":"Too many fields in the form"}`},
		{"a thread's id that is none", "/threads/bad!id/uploads", contentType, body, 422,
			`{"detail":[{"loc":["path","thread_id"]}]}`},
		{"..", "/threads/%2e%2e/uploads", contentType, body, 422, `{"detail":[{"loc":["path","thread_id"]}]}`},
		{"somebody else's thread", "/threads/theirs/uploads", contentType, body, 404,
			`{"detail":"Thread theirs not found"}`},
	} {
		r := k.Request("POST", c.path, c.body)
		r.Header.Set("Content-Type", c.contentType)
		k.Expect(c.name, k.Send(r), c.status, c.want)
	}
	if got := append(k.Names("t"), k.Names("theirs")...); !slices.Equal(got, []string{"a.txt"}) {
		t.Errorf("stored %q", got)
	}
}

func TestUploadLimits(t *testing.T) {
	k := gateways.NewFiles(t,
		func(c *gateway.Config) { c.Limits = gateway.Limits{Upload: 100, Uploads: 250, Files: 5} })
	k.Put("t", "uploads/there.txt", "before")
	of := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name   string
		fields []gateways.Field
		status int
		want   string
	}{
		{"as large as may be", []gateways.Field{gateways.File("100.txt", of(100))}, 200, `{"success":true}`},
		{"one byte more", []gateways.Field{gateways.File("small.txt", "s"), gateways.File("big.bin", of(101))}, 413,
			`{"detail":"File too large: big.bin"}`},
		{"all of them", []gateways.Field{gateways.File("1.txt", of(100)), gateways.File("2.txt", of(100)),
			gateways.File("3.txt", of(51))}, 413, `{"detail":"Total upload size too large"}`},
		{"all of them, just", []gateways.Field{gateways.File("4.txt", of(100)), gateways.File("5.txt", of(100)),
			gateways.File("6.txt", of(50))}, 200, `{"success":true}`},
		{"what is passed over counts", []gateways.Field{{Name: "other", Filename: "x",
			Content: of(files.FormOverhead)}, gateways.File("7.txt", of(100)), gateways.File("8.txt", of(100))}, 413,
			`{"detail":"Total upload size too large"}`},
	} {
		k.Expect(c.name, k.Upload("t", c.fields...), c.status, c.want)
	}
	if diff := cmp.Diff([]string{"100.txt", "4.txt", "5.txt", "6.txt", "there.txt"}, k.Names("t")); diff != "" {
		t.Error(diff)
	}
	contentType, body := gateways.Form(gateways.File("a.txt", "x"))
	r := k.Request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = 250 + files.FormOverhead + 1
	k.Expect("by its length", k.Send(r), 413, `{"detail":"Total upload size too large"}`)
	k.Play([]gateways.Scenario{
		{
			Name: "limits", Method: "GET", Path: "/api/threads/t/uploads/limits", Status: 200,
			Want: `{"max_files":5,"max_file_size":100,"max_total_size":250}`,
		},
	})
}

func TestUploadsListAndDelete(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Foreign("theirs")
	k.Put("t", "uploads/b.csv", "1,2")
	k.Put("t", "uploads/Noext", "x")
	k.Put("t", "uploads/sub/in.txt", "x")
	k.Put("t", "uploads/.pudu-0123456789abcdef.tmp", "half")
	k.Put("t", "uploads/new\nline", "x")
	k.Put("t", "uploads/..b", "x")
	k.Put("t", "outputs/keep.txt", "x")
	for _, err := range []error{
		os.Symlink("b.csv", k.Host("t", "uploads/link")), os.Symlink("/etc/passwd", k.Host("t", "uploads/out")),
		syscall.Mkfifo(k.Host("t", "uploads/fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	k.Play([]gateways.Scenario{
		{
			Name: "nothing yet", Method: "GET", Path: "/api/threads/new/uploads/list", Status: 200,
			Want: `{"files":[],"count":0}`,
		},
		{
			Name: "regular files by name", Method: "GET", Path: "/threads/t/uploads/list", Status: 200,
			Want: `{"count":4,"files":[{"filename":"..b"},{"filename":"Noext","extension":""},
			{"filename":"b.csv","size":3,"extension":".csv","modified":"*","path":"/mnt/user-data/uploads/b.csv"},{"filename":"new\nline"}]}`,
		},
		{
			Name: "somebody else's", Method: "GET", Path: "/threads/theirs/uploads/list", Status: 404,
			Want: `{"detail":"Thread theirs not found"}`,
		},
		{
			Name: "delete without a thread", Method: "DELETE", Path: "/threads/t/uploads/b.csv", Status: 404,
			Want: `{"detail":"Thread t not found"}`,
		},
		{Name: "make it", Method: "POST", Path: "/threads", Body: `{"thread_id":"t"}`, Status: 200},
		{
			Name: "the files are still there", Method: "GET", Path: "/threads/t/uploads/list", Status: 200,
			Want: `{"count":4}`,
		},
		{
			Name: "delete", Method: "DELETE", Path: "/api/threads/t/uploads/b.csv", Status: 200,
			Want: `{"success":true,"message":"Deleted b.csv"}`,
		},
		{
			Name: "again", Method: "DELETE", Path: "/threads/t/uploads/b.csv", Status: 404,
			Want: `{"detail":"File not found: b.csv"}`,
		},
		{Name: "a folder", Method: "DELETE", Path: "/threads/t/uploads/sub", Status: 404},
		{
			Name: "a file that is being written", Method: "DELETE",
			Path: "/threads/t/uploads/.pudu-0123456789abcdef.tmp", Status: 404,
		},
		{Name: "a link", Method: "DELETE", Path: "/threads/t/uploads/out", Status: 200},
		{Name: "a FIFO", Method: "DELETE", Path: "/threads/t/uploads/fifo", Status: 200},
		{Name: "an odd name", Method: "DELETE", Path: "/threads/t/uploads/new%0Aline", Status: 200},
		{Name: "dots in a name", Method: "DELETE", Path: "/threads/t/uploads/..b", Status: 200},
		{
			Name: "the thread above", Method: "DELETE", Path: "/threads/t/uploads/%2e%2e", Status: 400,
			Want: `{"detail":"Invalid path"}`,
		},
		{
			Name: "the folder itself", Method: "DELETE", Path: "/threads/t/uploads/%2e", Status: 400,
			Want: `{"detail":"Invalid path"}`,
		},
		{Name: "a path", Method: "DELETE", Path: "/threads/t/uploads/..%2Foutputs%2Fkeep.txt", Status: 404},
		{Name: "a path of Windows", Method: "DELETE", Path: "/threads/t/uploads/..%5Coutputs%5Ckeep.txt", Status: 400},
		{
			Name: "twice encoded", Method: "DELETE", Path: "/threads/t/uploads/%252e%252e", Status: 404,
			Want: `{"detail":"File not found: %2e%2e"}`,
		},
		{Name: "NUL", Method: "DELETE", Path: "/threads/t/uploads/a%00b", Status: 400},
		{Name: "not text", Method: "DELETE", Path: "/threads/t/uploads/%ff", Status: 400},
		{Name: "too long", Method: "DELETE", Path: "/threads/t/uploads/" + strings.Repeat("x", 300), Status: 400},
		{
			Name: "somebody else's file", Method: "DELETE", Path: "/threads/theirs/uploads/a.txt", Status: 404,
			Want: `{"detail":"Thread theirs not found"}`,
		},
		{
			Name: "another method", Method: "PUT", Path: "/threads/t/uploads/a.txt", Body: `{}`, Status: 405,
			Headers: map[string]string{"Allow": "DELETE"},
		},
		{Name: "the thread is still there", Method: "GET", Path: "/threads/t", Status: 200},
	})
	if diff := cmp.Diff([]string{".pudu-0123456789abcdef.tmp", "Noext", "link", "sub"}, k.Names("t")); diff != "" {
		t.Error(diff)
	}
	if k.Read("t", "outputs/keep.txt") != "x" || k.Read("theirs", "uploads/a.txt") != "SECRET" {
		t.Error("something else was removed")
	}
}

func TestUploadsOfOneNameAtOnce(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	const clients = 8
	var wg sync.WaitGroup
	names := make([]string, clients)
	for i := range clients {
		wg.Go(func() {
			var out files.UploadAnswer
			w := k.Upload("t", gateways.File("same.txt", fmt.Sprint(i)))
			if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || len(out.Files) != 1 {
				t.Errorf("%v %s", err, w.Body)
				return
			}
			names[i] = out.Files[0].Filename
		})
	}
	wg.Wait()
	for i, name := range names {
		if got := k.Read("t", "uploads/"+name); got != fmt.Sprint(i) {
			t.Errorf("%s holds %s, want %d", name, got, i)
		}
	}
	if got := k.Names("t"); len(got) != clients {
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
	k := gateways.NewFiles(t, nil)
	const size = 40 << 20
	contentType, body := gateways.Form(gateways.File("big.bin", "@"))
	before, after, _ := strings.Cut(body, "@")
	r := k.Request("POST", "/threads/t/uploads", "")
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(before), &zeros{size}, strings.NewReader(after)))
	r.ContentLength = -1
	r.Header.Set("Content-Type", contentType)
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	w := k.Send(r)
	runtime.ReadMemStats(&b)
	k.Expect("large", w, 200, fmt.Sprintf(`{"files":[{"size":%d}]}`, size))
	if took := b.TotalAlloc - a.TotalAlloc; took > size/8 {
		t.Errorf("took %d bytes of memory for %d", took, size)
	}
}

func TestUploadFolderIsFull(t *testing.T) {
	e := route.AsError(files.UploadError(&fs.PathError{Op: "write", Path: "/mnt/user-data/uploads/a",
		Err: syscall.ENOSPC}, nil))
	if e.Status != http.StatusInsufficientStorage {
		t.Error(e)
	}
}

func TestUploadName(t *testing.T) {
	for sent, want := range map[string]string{
		"a.txt": "a.txt", "/etc/passwd": "passwd", `\\host\share\b.txt`: "b.txt", `a/b\c.txt`: "c.txt", "...": "...",
		" a ": " a ", "": "", ".": "", "..": "", "a/..": "", `a\.`: "", "a/": "", " \t": "", "a\x00b": "", "a\nb": "",
		"a\u2028b": "", "a\x7f": "", "\xff.txt": "", strings.Repeat("x", 255): strings.Repeat("x", 255),
		strings.Repeat("x", 256): "", strings.Repeat("ü", 128): "",
	} {
		got, ok := files.UploadName(sent)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q became %q %v, want %q", sent, got, ok, want)
		}
	}
	for in, want := range map[string]string{
		"a.txt": "a_7.txt", "a": "a_7", ".a": ".a_7", "a.tar.gz": "a.tar_7.gz", "a.": "a_7.",
		strings.Repeat("x", 251) + ".txt": strings.Repeat("x", 249) + "_7.txt", "a." + strings.Repeat("ü", 126): "a." +
			strings.Repeat("ü", 125) + "_7",
	} {
		if got := files.Numbered(in, 7); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
