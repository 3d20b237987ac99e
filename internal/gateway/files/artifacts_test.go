package files_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/files"
	"github.com/pudu-ai/pudu/internal/store"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
)

// shelf is a kit with a thread "t" that has some files.
func shelf(t *testing.T, change func(*gateway.Config)) *gateways.FileKit {
	k := gateways.NewFiles(t, change)
	k.Foreign("theirs")
	for name, content := range map[string]string{
		"outputs/a.txt": "hello\nworld\n", "outputs/page.html": "<script>alert(1)</script>",
		"outputs/pic.SVG": "<svg/>", "outputs/x.xhtml": "<html/>", "outputs/doc.xml": "<a/>",
		"outputs/img.png": "\x89PNG\r\n\x1a\n\x00\x00", "outputs/t.csv": "x,y\n", "outputs/noext": "plain",
		"outputs/cut": strings.Repeat("ü", 4095) + "x€", "outputs/blob": "\x00\x01", "outputs/d.json": "{}",
		"outputs/s.js": "let a", "outputs/code.ts": "let a", "outputs/f.pdf": "%PDF-1.4",
		"outputs/résumé 1.md": "# md\n", "outputs/empty.txt": "", "outputs/sub/deep.txt": "deep",
		"outputs/say \"hi\"\nX: y;.txt": "odd", "outputs/a\\b.txt": "backslash", "outputs/latin": "\xe4",
		"outputs/.pudu-0123456789abcdef.tmp": "half", "uploads/up.txt": "up", "workspace/w.txt": "work\n",
		"secret.txt": "SECRET", "outputs/locked.txt": "hello\nworld\n",
	} {
		k.Put("t", name, content)
	}
	for _, err := range []error{
		os.Symlink("a.txt", k.Host("t", "outputs/link.txt")),
		os.Symlink("../secret.txt", k.Host("t", "outputs/out.txt")), os.Symlink(k.Host("t", "secret.txt"),
			k.Host("t", "outputs/absolute.txt")), os.Symlink("../..", k.Host("t", "outputs/up")),
		os.Symlink("loop", k.Host("t", "outputs/loop")),
		os.Symlink("../workspace/w.txt", k.Host("t", "outputs/beside.txt")),
		syscall.Mkfifo(k.Host("t", "outputs/fifo"), 0o600), os.Chmod(k.Host("t", "outputs/locked.txt"), 0o400),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return k
}

const artifacts = "/api/threads/t/artifacts/mnt/user-data/"

func TestArtifactTypes(t *testing.T) {
	k := shelf(t, nil)
	for _, c := range []struct{ path, kind, disposition, body string }{
		{"outputs/a.txt", "text/plain; charset=utf-8", "inline; filename*=UTF-8''a.txt", "hello\nworld\n"},
		{"outputs/a.txt?download=true", "text/plain; charset=utf-8", "attachment; filename*=UTF-8''a.txt",
			"hello\nworld\n"},
		{"outputs/a.txt?download=false", "text/plain; charset=utf-8", "inline; filename*=UTF-8''a.txt",
			"hello\nworld\n"},
		{"outputs/page.html", "text/html; charset=utf-8", "attachment; filename*=UTF-8''page.html",
			"<script>alert(1)</script>"},
		{"outputs/page.html?download=false", "text/html; charset=utf-8", "attachment; filename*=UTF-8''page.html",
			"<script>alert(1)</script>"},
		{"outputs/pic.SVG", "image/svg+xml", "attachment; filename*=UTF-8''pic.SVG", "<svg/>"},
		{"outputs/x.xhtml", "application/xhtml+xml", "attachment; filename*=UTF-8''x.xhtml", "<html/>"},
		{"outputs/doc.xml", "application/xml", "attachment; filename*=UTF-8''doc.xml", "<a/>"},
		{"outputs/img.png", "image/png", "inline; filename*=UTF-8''img.png", "\x89PNG\r\n\x1a\n\x00\x00"},
		{"outputs/t.csv", "text/csv; charset=utf-8", "inline; filename*=UTF-8''t.csv", "x,y\n"},
		{"outputs/noext", "text/plain; charset=utf-8", "inline; filename*=UTF-8''noext", "plain"},
		{"outputs/cut", "text/plain; charset=utf-8", "inline; filename*=UTF-8''cut", strings.Repeat("ü", 4095) + "x€"},
		{"outputs/latin", "application/octet-stream", "inline; filename*=UTF-8''latin", "\xe4"},
		{"outputs/blob", "application/octet-stream", "inline; filename*=UTF-8''blob", "\x00\x01"},
		{"outputs/d.json", "application/json", "inline; filename*=UTF-8''d.json", "{}"},
		{"outputs/s.js", "text/javascript; charset=utf-8", "inline; filename*=UTF-8''s.js", "let a"},
		{"outputs/code.ts", "text/plain; charset=utf-8", "inline; filename*=UTF-8''code.ts", "let a"},
		{"outputs/f.pdf", "application/pdf", "inline; filename*=UTF-8''f.pdf", "%PDF-1.4"},
		{"outputs/empty.txt", "text/plain; charset=utf-8", "inline; filename*=UTF-8''empty.txt", ""},
		{"outputs/r%C3%A9sum%C3%A9%201.md", "text/markdown; charset=utf-8",
			"inline; filename*=UTF-8''r%C3%A9sum%C3%A9%201.md", "# md\n"},
		{"outputs/say%20%22hi%22%0AX%3A%20y%3B.txt", "text/plain; charset=utf-8",
			"inline; filename*=UTF-8''say%20%22hi%22%0AX%3A%20y%3B.txt", "odd"},
		{"outputs/a%5Cb.txt", "text/plain; charset=utf-8", "inline; filename*=UTF-8''a%5Cb.txt", "backslash"},
		{"outputs/sub/deep.txt", "text/plain; charset=utf-8", "inline; filename*=UTF-8''deep.txt", "deep"},
		{"outputs/link.txt", "text/plain; charset=utf-8", "inline; filename*=UTF-8''link.txt", "hello\nworld\n"},
		{"uploads/up.txt", "text/plain; charset=utf-8", "inline; filename*=UTF-8''up.txt", "up"},
		{"workspace/w.txt", "text/plain; charset=utf-8", "inline; filename*=UTF-8''w.txt", "work\n"},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := k.Do(method, artifacts+c.path, "")
			h := w.Header()
			want := c.body
			if method == "HEAD" {
				want = ""
			}
			if w.Code != 200 || h.Get("Content-Type") != c.kind || h.Get("Content-Disposition") != c.disposition ||
				w.Body.String() != want ||
				h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "private, no-cache" ||
				h.Get("Accept-Ranges") != "bytes" {
				t.Errorf("%s %s: %d %v %.100q", method, c.path, w.Code, h, w.Body)
			}
			if files.Active(c.kind) != (h.Get("Content-Security-Policy") != "") {
				t.Errorf("%s: policy %q", c.path, h.Get("Content-Security-Policy"))
			}
		}
	}
}

func TestArtifactParts(t *testing.T) {
	k := shelf(t, nil)
	k.Put("t", "outputs/big.bin", "")
	if err := os.Truncate(k.Host("t", "outputs/big.bin"), 5<<30); err != nil { // a hole
		t.Fatal(err)
	}
	etag := k.Do("HEAD", artifacts+"outputs/a.txt", "").Header().Get("ETag")
	for _, c := range []struct {
		name, path, header, value string
		more                      [2]string
		status                    int
		contentRange, body        string
	}{
		{"as a preview asks", "outputs/a.txt", "Range", "bytes=0-1048575", [2]string{}, 206, "bytes 0-11/12",
			"hello\nworld\n"},
		{"in the middle", "outputs/a.txt", "Range", "bytes=6-8", [2]string{}, 206, "bytes 6-8/12", "wor"},
		{"the end", "outputs/a.txt", "Range", "bytes=-4", [2]string{}, 206, "bytes 8-11/12", "rld\n"},
		{"behind the end", "outputs/a.txt", "Range", "bytes=99-", [2]string{}, 416, "bytes */12", ""},
		{"of nothing", "outputs/empty.txt", "Range", "bytes=0-1048575", [2]string{}, 416, "bytes */0", ""},
		{"no number", "outputs/a.txt", "Range", "bytes=a-b", [2]string{}, 416, "", ""},
		{"if it is the same", "outputs/a.txt", "Range", "bytes=6-8", [2]string{"If-Range", etag}, 206, "bytes 6-8/12",
			"wor"},
		{"if it is another", "outputs/a.txt", "Range", "bytes=6-8", [2]string{"If-Range", `"other"`}, 200, "",
			"hello\nworld\n"},
		{"known already", "outputs/a.txt", "If-None-Match", etag, [2]string{}, 304, "", ""},
		{"changed", "outputs/a.txt", "If-None-Match", `"other"`, [2]string{}, 200, "", "hello\nworld\n"},
		{"the end of 5 GiB", "outputs/big.bin", "Range", "bytes=5368709118-", [2]string{}, 206,
			"bytes 5368709118-5368709119/5368709120", "\x00\x00"},
	} {
		r := k.Request("GET", artifacts+c.path, "")
		r.Header.Set(c.header, c.value)
		if c.more[0] != "" {
			r.Header.Set(c.more[0], c.more[1])
		}
		w := k.Send(r)
		if w.Code != c.status || w.Header().Get("Content-Range") != c.contentRange || w.Body.String() != c.body {
			t.Errorf("%s: %d %q %q", c.name, w.Code, w.Header().Get("Content-Range"), w.Body)
		}
	}
	r := k.Request("GET", artifacts+"outputs/a.txt", "")
	r.Header.Set("Range", "bytes=0-1,4-5")
	if w := k.Send(r); w.Code != 206 ||
		!strings.HasPrefix(w.Header().Get("Content-Type"), "multipart/byteranges; boundary=") ||
		!strings.Contains(w.Body.String(),
			"Content-Range: bytes 4-5/12\r\nContent-Type: text/plain; charset=utf-8\r\n\r\no\n\r\n") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	r.Header.Set("Range", "lines=1-2")
	k.Expect("another unit", k.Send(r), 400, `{"detail":"Only support bytes range"}`)
}

// No spelling of a path leads out, and what is no file is none.
func TestArtifactPaths(t *testing.T) {
	k := shelf(t, nil)
	const traversal = "Access denied: path traversal detected"
	const prefix = "Path must start with /mnt/user-data"
	for _, c := range []struct {
		path   string // below /api/threads/
		status int
		detail string // empty: the file's content is the answer
	}{
		{"t/artifacts//mnt/user-data/outputs/a.txt", 200, ""},
		{"t/artifacts/%2fmnt/user-data/outputs/a.txt", 200, ""},
		{"t/artifacts/mnt/user-data/outputs//a.txt", 200, ""},
		{"t/artifacts/mnt/user-data/outputs/./a.txt", 200, ""},
		{"t/artifacts/mnt/user-data/outputs/sub/../a.txt", 200, ""},
		{"t/artifacts/mnt/user-data/outputs/sub/%2e%2e/a.txt", 200, ""},
		{"t/artifacts/mnt/user-data/workspace/..%2foutputs%2fa.txt", 200, ""},
		{"t/artifacts/mnt/user-data/outputs/a.txt/", 200, ""},
		{"t/artifacts", 400, prefix},
		{"t/artifacts/", 400, prefix},
		{"t/artifacts/..", 400, prefix},
		{"t/artifacts/%2e%2e/%2e%2e/t/artifacts/mnt/user-data/outputs/a.txt", 400, prefix},
		{"t/artifacts/etc/passwd", 400, prefix},
		{"t/artifacts/%2fetc%2fpasswd", 400, prefix},
		{"t/artifacts/mnt/user-datax/a", 400, prefix},
		{"t/artifacts/mnt/skills/public/x", 400, prefix},
		{"t/artifacts/mnt%5Cuser-data/outputs/a.txt", 400, prefix},
		{"t/artifacts/C:%5CWindows", 400, prefix},
		{"t/artifacts/mnt/user-data", 400, "Path is not a file: mnt/user-data"},
		{"t/artifacts/mnt/user-data/outputs", 400, "Path is not a file: mnt/user-data/outputs"},
		{"t/artifacts/mnt/user-data/outputs/sub", 400, "Path is not a file: mnt/user-data/outputs/sub"},
		{"t/artifacts/mnt/user-data/outputs/fifo", 400, "Path is not a file: mnt/user-data/outputs/fifo"},
		{"t/artifacts/mnt/user-data/outputs/none.txt", 404, "Artifact not found: mnt/user-data/outputs/none.txt"},
		{"t/artifacts/mnt/user-data/outputs/a.txt/b", 404, "Artifact not found: mnt/user-data/outputs/a.txt/b"},
		{"t/artifacts/mnt/user-data/outputs/a.txt%0a", 404, "Artifact not found: mnt/user-data/outputs/a.txt\n"},
		{"t/artifacts/mnt/user-data/outputs/loop", 404, "Artifact not found: mnt/user-data/outputs/loop"},
		{"t/artifacts/mnt/user-data/outputs/.pudu-0123456789abcdef.tmp", 404,
			"Artifact not found: mnt/user-data/outputs/.pudu-0123456789abcdef.tmp"},
		{"t/artifacts/mnt/user-data/secret.txt", 404, "Artifact not found: mnt/user-data/secret.txt"},
		{"t/artifacts/mnt/user-data/outputs/../secret.txt", 404, "Artifact not found: mnt/user-data/secret.txt"},
		{"t/artifacts/mnt/user-data/outputs/%252e%252e%252fsecret.txt", 404,
			"Artifact not found: mnt/user-data/outputs/%2e%2e%2fsecret.txt"},
		{"t/artifacts/mnt/user-data/outputs/..%5csecret.txt", 404,
			`Artifact not found: mnt/user-data/outputs/..\secret.txt`},
		{"t/artifacts/mnt/user-data/outputs/%ff", 404, "Artifact not found: mnt/user-data/outputs/\ufffd"},
		{"t/artifacts/mnt/user-data/outputs/" + strings.Repeat("x", 300), 404,
			"Artifact not found: mnt/user-data/outputs/" + strings.Repeat("x", 300)},
		{"t/artifacts/mnt/user-data/outputs/%ef%bc%8e%ef%bc%8e/secret.txt", 404,
			"Artifact not found: mnt/user-data/outputs/．．/secret.txt"},
		{"t/artifacts/mnt/user-data/outputs/a.txt%00.png", 400, "embedded null byte"},
		{"t/artifacts/mnt/user-data/outputs/out.txt", 403, traversal},
		{"t/artifacts/mnt/user-data/outputs/absolute.txt", 403, traversal},
		{"t/artifacts/mnt/user-data/outputs/up/theirs/outputs/a.txt", 403, traversal},
		{"t/artifacts/mnt/user-data/outputs/beside.txt", 403, traversal},
		{"t/artifacts/mnt/user-data/outputs/../../../../../../etc/passwd", 403, traversal},
		{"t/artifacts/mnt/user-data/outputs/%2e%2e/%2e%2e/%2e%2e/etc/passwd", 403, traversal},
		{"t/artifacts/mnt/user-data/outputs/..%2f..%2f..%2f..%2fetc%2fpasswd", 403, traversal},
		{"t/artifacts/mnt/user-data/..%2f..%2fx", 403, traversal},
		{"t/artifacts/mnt/user-data/..", 403, traversal},
		{"none/artifacts/mnt/user-data/outputs/a.txt", 404, "Artifact not found: mnt/user-data/outputs/a.txt"},
		{"theirs/artifacts/mnt/user-data/outputs/a.txt", 404, "Thread theirs not found"},
		{"t/artifacts/../../theirs/artifacts/mnt/user-data/outputs/a.txt", 400, prefix},
	} {
		w := k.Do("GET", "/api/threads/"+c.path, "")
		if c.detail == "" {
			if w.Code != c.status || w.Body.String() != "hello\nworld\n" {
				t.Errorf("%s: %d %.200s", c.path, w.Code, w.Body)
			}
			continue
		}
		want, _ := json.Marshal(map[string]string{"detail": c.detail})
		k.Expect(c.path, w, c.status, string(want))
	}
	k.Play([]gateways.Scenario{
		{Name: "a word for a choice", Method: "GET", Path: artifacts + "outputs/a.txt?download=maybe", Status: 422,
			Want: `{"detail":[{"type":"bool_parsing","loc":["query","download"],"input":"maybe"}]}`},
		{Name: "a bad id", Method: "GET", Path: "/threads/bad!id/artifacts/mnt/user-data/outputs/a.txt", Status: 422},
		{
			Name: "another method", Method: "POST", Path: artifacts + "outputs/a.txt", Body: "{}", Status: 405,
			Headers: map[string]string{"Allow": "GET, PUT"},
		},
	})
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func change(text, seen string) string {
	b, _ := json.Marshal(map[string]string{"content": text, "expected_sha256": sum(seen)})
	return string(b)
}

func TestArtifactSave(t *testing.T) {
	k := shelf(t, nil)
	k.Put("t", "outputs/large.txt", strings.Repeat("q", files.MaxEdit+1))
	put := func(name, p, body string, status int, want string) gateways.Scenario {
		return gateways.Scenario{Name: name, Method: "PUT", Path: p, Body: body, Status: status, Want: want}
	}
	hello := "hello\nworld\n"
	k.Play([]gateways.Scenario{
		put("no thread", artifacts+"outputs/a.txt", change("new\n", hello), 404, `{"detail":"Thread t not found"}`),
		put("somebody else's", "/threads/theirs/artifacts/mnt/user-data/outputs/a.txt", change("new\n", "SECRET"),
			404, `{"detail":"Thread theirs not found"}`),
		{Name: "make it", Method: "POST", Path: "/threads", Body: `{"thread_id":"t"}`, Status: 200},
		put("save", artifacts+"outputs/a.txt", change("new\n", hello), 200,
			`{"path":"/mnt/user-data/outputs/a.txt","sha256":"`+sum("new\n")+`","size":4}`),
		put("with the old sum", artifacts+"outputs/a.txt", change("newer\n", hello), 412,
			`{"detail":"Artifact changed since it was opened"}`),
		put("nothing", artifacts+"outputs/a.txt", change("", "new\n"), 200, `{"size":0}`),
		put("again something", artifacts+"outputs/a.txt", change("ü\r\n", ""), 200, `{"size":4}`),
		put("resolved into the outputs", artifacts+"workspace/%2e%2e/outputs/sub/deep.txt", change("x", "deep"), 200,
			`{"path":"/mnt/user-data/outputs/sub/deep.txt"}`),
		put("missing", artifacts+"outputs/none.txt", change("x", ""), 404,
			`{"detail":"Artifact not found: /mnt/user-data/outputs/none.txt"}`),
		put("the workspace", artifacts+"workspace/w.txt", change("x", "work\n"), 400,
			`{"detail":"Only files in /mnt/user-data/outputs can be edited"}`),
		put("the workspace from the outputs", artifacts+"outputs/%2e%2e/workspace/w.txt", change("x", "work\n"), 400,
			`{"detail":"Only files in /mnt/user-data/outputs can be edited"}`),
		put("the same, slashes encoded", artifacts+"outputs/..%2fworkspace%2fw.txt", change("x", "work\n"), 400, ""),
		put("the same by a link", artifacts+"outputs/beside.txt", change("x", "work\n"), 403,
			`{"detail":"Access denied: path traversal detected"}`),
		put("out", artifacts+"outputs/../../x", change("x", ""), 403,
			`{"detail":"Access denied: path traversal detected"}`),
		put("by a link out", artifacts+"outputs/out.txt", change("x", "SECRET"), 403,
			`{"detail":"Access denied: path traversal detected"}`),
		put("the outputs themselves", artifacts+"outputs", change("x", ""), 400, ""),
		put("a folder", artifacts+"outputs/sub", change("x", ""), 400,
			`{"detail":"Path is not a file: /mnt/user-data/outputs/sub"}`),
		put("a FIFO", artifacts+"outputs/fifo", change("x", ""), 400,
			`{"detail":"Path is not a file: /mnt/user-data/outputs/fifo"}`),
		put("a link to a changed file", artifacts+"outputs/link.txt", change("x", hello), 412, ""),
		put("a link", artifacts+"outputs/link.txt", change("x", "ü\r\n"), 400,
			`{"detail":"Path is not a file: /mnt/user-data/outputs/link.txt"}`),
		put("bytes", artifacts+"outputs/img.png", change("x", ""), 415,
			`{"detail":"Binary artifacts cannot be edited"}`),
		put("text of another encoding", artifacts+"outputs/latin", change("x", "\xe4"), 415,
			`{"detail":"Binary artifacts cannot be edited"}`),
		put("write-protected", artifacts+"outputs/locked.txt", change("x", hello), 403,
			`{"detail":"Access denied: /mnt/user-data/outputs/locked.txt"}`),
		put("in a skill", artifacts+"outputs/my.skill/SKILL.md", change("x", ""), 415,
			`{"detail":"Skill archives cannot be edited in the artifacts panel"}`),
		put("a skill", artifacts+"outputs/my.skill", change("x", ""), 415, ""),
		put("NUL", artifacts+"outputs/a.txt", change("a\x00b", "ü\r\n"), 415,
			`{"detail":"Binary content cannot be saved as an artifact"}`),
		put("too large", artifacts+"outputs/a.txt", change(strings.Repeat("q", files.MaxEdit+1), "ü\r\n"), 413,
			`{"detail":"Artifact is too large to edit"}`),
		put("too large already", artifacts+"outputs/large.txt", change("x", ""), 413,
			`{"detail":"Artifact is too large to edit"}`),
		put("as large as may be", artifacts+"outputs/a.txt", change(strings.Repeat("q", files.MaxEdit), "ü\r\n"), 200,
			""),
		put("no sum", artifacts+"outputs/a.txt", `{"content":"x","expected_sha256":"XYZ"}`, 422,
			`{"detail":[{"type":"string_pattern_mismatch","loc":["body","expected_sha256"],"input":"XYZ","ctx":{"pattern":"^[0-9a-f]{64}$"}}]}`),
		put("nothing said", artifacts+"outputs/a.txt", `{}`, 422,
			`{"detail":[{"type":"missing","loc":["body","content"]},{"type":"missing","loc":["body","expected_sha256"]}]}`),
		put("no text", artifacts+"outputs/a.txt", `{"content":1,"expected_sha256":"`+sum("")+`"}`, 422,
			`{"detail":[{"type":"string_type","loc":["body","content"]}]}`),
	})
	for name, want := range map[string]string{
		"outputs/a.txt": strings.Repeat("q", files.MaxEdit), "outputs/sub/deep.txt": "x", "workspace/w.txt": "work\n",
		"secret.txt": "SECRET", "outputs/locked.txt": hello,
	} {
		if got := k.Read("t", name); got != want {
			t.Errorf("%s holds %.40q", name, got)
		}
	}
}

func TestArtifactSaveWhileARunIsActive(t *testing.T) {
	k := shelf(t, nil)
	k.Start("t")
	const refused = `{"detail":"Thread has a run in flight. Save after the run finishes."}`
	k.Play([]gateways.Scenario{{
		Name: "active", Method: "PUT", Path: artifacts + "outputs/a.txt", Body: change("x", "hello\nworld\n"),
		Status: 409, Want: refused,
	}})
	k.Free()
	gateways.Eventually(t, func() bool {
		list, err := k.Data().ListRuns(t.Context(),
			store.RunFilter{ThreadID: "t", Statuses: []string{"pending", "running"}})
		return err == nil && len(list) == 0
	})
	k.Play([]gateways.Scenario{{
		Name: "ended", Method: "PUT", Path: artifacts + "outputs/a.txt", Body: change("x", "hello\nworld\n"),
		Status: 200,
	}})
}

// Of edits that began with the same text one is made, and the others are told.
func TestArtifactSavedAtOnce(t *testing.T) {
	k := shelf(t, nil)
	k.Play([]gateways.Scenario{{Name: "make it", Method: "POST", Path: "/threads", Body: `{"thread_id":"t"}`,
		Status: 200}})
	var mu sync.Mutex
	codes := map[int]int{}
	var wg sync.WaitGroup
	for _, text := range []string{"one", "two", "three", "four"} {
		wg.Go(func() {
			w := k.Do("PUT", artifacts+"outputs/a.txt", change(text, "hello\nworld\n"))
			mu.Lock()
			defer mu.Unlock()
			codes[w.Code]++
		})
	}
	wg.Wait()
	if codes[200] != 1 || codes[412] != 3 {
		t.Error(codes)
	}
}

// archiveOf is a ZIP archive with these files.
func archiveOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			content := io.Reader(strings.NewReader("# " + name))
			if strings.HasSuffix(name, "bomb") {
				content = &zeros{files.MaxMember + 1}
			}
			_, err = io.Copy(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestArtifactsInSkills(t *testing.T) {
	k := shelf(t, nil)
	k.Put("t", "outputs/my.skill", archiveOf(t, "my/", "my/SKILL.md", "my/page.html", "my/bomb", "../up.md",
		"/etc/abs.md", "other/b.md"))
	k.Put("t", "outputs/broken.skill", "PK\x03\x04 and no more")
	k.Put("t", "outputs/folder.skill/in.txt", "in a folder")
	k.Put("t", "outputs/large.skill", "")
	if err := os.Truncate(k.Host("t", "outputs/large.skill"), files.MaxSkill+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../secret.txt", k.Host("t", "outputs/out.skill")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		status int
		body   string // or the detail
		header [2]string
	}{
		{"my.skill/SKILL.md", 200, "# my/SKILL.md", [2]string{"Cache-Control", "private, max-age=300"}},
		{"my.skill/my/SKILL.md", 200, "# my/SKILL.md", [2]string{"Content-Type", "text/markdown; charset=utf-8"}},
		{"my.skill/page.html", 200, "# my/page.html",
			[2]string{"Content-Disposition", "attachment; filename*=UTF-8''page.html"}},
		{"my.skill/SKILL.md?download=true", 200, "# my/SKILL.md",
			[2]string{"Content-Disposition", "attachment; filename*=UTF-8''SKILL.md"}},
		{"my.skill/up.md", 200, "# ../up.md", [2]string{}},
		{"folder.skill/in.txt", 200, "in a folder", [2]string{"Cache-Control", "private, no-cache"}},
		{"my.skill/none", 404, "File 'none' not found in skill archive", [2]string{}},
		{"my.skill/my", 404, "File 'my' not found in skill archive", [2]string{}},
		{"my.skill/..%2f..%2fsecret.txt", 404, "Artifact not found: mnt/user-data/secret.txt", [2]string{}},
		{"my.skill/bomb", 413, "File 'bomb' is larger than 16777216 bytes", [2]string{}},
		{"none.skill/SKILL.md", 404, "Skill file not found: mnt/user-data/outputs/none.skill", [2]string{}},
		{"broken.skill/SKILL.md", 422, "Skill archive cannot be read: zip: not a valid zip file", [2]string{}},
		{"large.skill/SKILL.md", 413, "Skill archive is larger than 16777216 bytes", [2]string{}},
		{"out.skill/SKILL.md", 403, "Access denied: path traversal detected", [2]string{}},
	} {
		w := k.Do("GET", artifacts+"outputs/"+c.path, "")
		got := w.Body.String()
		if w.Code >= 400 {
			got, _ = jsontest.At(jsontest.Decode(t, w.Body.Bytes()), "detail").(string)
		}
		if w.Code != c.status || got != c.body || c.header[0] != "" && w.Header().Get(c.header[0]) != c.header[1] {
			t.Errorf("%s: %d %v %.300s", c.path, w.Code, w.Header(), w.Body)
		}
	}
	r := k.Request("GET", artifacts+"outputs/my.skill/SKILL.md", "")
	r.Header.Set("Range", "bytes=2-3")
	if w := k.Send(r); w.Code != 206 || w.Body.String() != "my" || w.Header().Get("Content-Range") != "bytes 2-3/13" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A client that does not take what it asked for is let go; one that takes it late is not.
func TestArtifactSlowClients(t *testing.T) {
	const wait = 600 * time.Millisecond
	watch := &gateways.Answered{}
	k := shelf(t, func(c *gateway.Config) { c.Limits.Write, c.Watch = wait, watch })
	if err := os.Truncate(k.Host("t", "outputs/blob"), 1<<30); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(k)
	defer server.Close()
	get := func(p string) string { return "GET " + artifacts + p + " HTTP/1.1\r\nHost: localhost\r\n\r\n" }
	dead := gateways.Raw(t, server, get("outputs/blob"))
	defer dead.Close()
	gateways.Eventually(t, func() bool { return watch.Count() == 1 })

	late := gateways.Raw(t, server, get("outputs/a.txt"))
	defer late.Close()
	answers := bufio.NewReader(late)
	for _, want := range []string{"hello\nworld\n", `{"ok":true}`} {
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait * 3 / 2)
		if got := gateways.ReadAll(t, res.Body); got != want {
			t.Error(got)
		}
		res.Body.Close()
		if _, err := io.WriteString(late, "GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
}

// The routes take every path as it stands: none sends the client elsewhere.
func TestPathsAreTakenLiterally(t *testing.T) {
	k := shelf(t, nil)
	k.Play([]gateways.Scenario{{Name: "make it", Method: "POST", Path: "/threads", Body: `{"thread_id":"t"}`,
		Status: 200}})
	for _, p := range []string{
		"/api/threads/t/uploads/..", "/threads/t/uploads/%2e%2e", "/threads/t/runs/..", "/threads/t/runs/%2E%2E",
		"/threads/x/../t", "/threads/./t", "/threads/t/runs/r/../..", "/threads/t/artifacts/..",
		"/api/threads/t/artifacts/mnt/../..",
	} {
		if w := k.Do("DELETE", p, ""); w.Code < 400 {
			t.Errorf("%s: %d %v", p, w.Code, w.Header())
		}
	}
	k.Play([]gateways.Scenario{{Name: "it is still there", Method: "GET", Path: "/threads/t", Status: 200}})
}
