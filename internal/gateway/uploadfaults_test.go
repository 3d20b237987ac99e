package gateway

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/feature/items"
	"github.com/pudu-ai/pudu/sandbox"
)

// TestFilesThatCannotBeUsed: a folder that nothing can be written to, or that is no more, is told of as what it is.
func TestFilesThatCannotBeUsed(t *testing.T) {
	k := newFileKit(t, nil)
	k.put("t", "uploads/a.txt", "x")
	k.put("t", "outputs/a.txt", "hello")
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	usual := k.Files
	k.Files = func(by access.User, id string) (*sandbox.Files, error) {
		return sandbox.NewFiles([]sandbox.Mount{
			{Host: k.host(id, "uploads"), Path: sandbox.Uploads, ReadOnly: true}, {Host: k.host(id, "outputs"), Path: sandbox.Outputs, ReadOnly: true},
		}, sandbox.FilesOptions{})
	}
	k.expect("to a folder that is read alone", k.upload("t", file("b.txt", "x")), 403, `{"detail":"The file b.txt may not be written"}`)
	if w := k.do("DELETE", "/threads/t/uploads/a.txt", ""); w.Code < 400 || k.read("t", "uploads/a.txt") != "x" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := k.do("PUT", artifacts+"outputs/a.txt", change("new", "hello")); w.Code < 400 || k.read("t", "outputs/a.txt") != "hello" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	closed := func(by access.User, id string) (*sandbox.Files, error) {
		files, err := usual(by, id)
		if err == nil {
			err = files.Close()
		}
		return files, err
	}
	none := func(access.User, string) (*sandbox.Files, error) { return nil, errors.New("no folder") }
	for name, open := range map[string]func(access.User, string) (*sandbox.Files, error){"closed": closed, "none": none} {
		k.Files = open
		for _, path := range []string{"GET /threads/t/uploads/list", "DELETE /threads/t/uploads/a.txt", "GET " + artifacts + "outputs/a.txt", "PUT " + artifacts + "outputs/a.txt"} {
			method, path, _ := strings.Cut(path, " ")
			body := ""
			if method == "PUT" {
				body = change("new", "hello")
			}
			if w := k.do(method, path, body); w.Code < 400 {
				t.Errorf("%s: %s %s: %d %s", name, method, path, w.Code, w.Body)
			}
		}
		if w := k.upload("t", file("b.txt", "x")); w.Code < 400 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	k.Files = usual
	if got := k.names("t"); !cmp.Equal(got, []string{"a.txt"}) {
		t.Errorf("the uploads are %q", got)
	}
}

// TestNamesThatAreTaken: a thousand files of like names are enough.
func TestNamesThatAreTaken(t *testing.T) {
	k := newFileKit(t, nil)
	for i := range maxAlike - 1 {
		k.put("t", "uploads/"+numbered("a.txt", i), "")
	}
	k.expect("the last one", k.upload("t", file("a.txt", "x")), 200, `{"files":[{"filename":"a_999.txt","original_filename":"a.txt"}]}`)
	k.expect("one too many", k.upload("t", file("a.txt", "x")), 409, `{"detail":"There are too many uploads with names like a.txt; give it another one"}`)
	k.expect("another name", k.upload("t", file("b.txt", "x")), 200, `{}`)
}

// TestFormsAtTheirBounds: as many files and fields as may be, and no more.
func TestFormsAtTheirBounds(t *testing.T) {
	k := newFileKit(t, func(c *Config) { c.Limits = Limits{Files: 2, Upload: 100, Uploads: 200} })
	fields := func(n int) (out []field) {
		for range n {
			out = append(out, field{"note", "", "x"})
		}
		return out
	}
	k.expect("two files", k.upload("t", file("a", "x"), file("b", "x")), 200, `{"files":[{},{}]}`)
	k.expect("three files", k.upload("t", file("c", "x"), file("d", "x"), file("e", "x")), 413, `{"detail":"Too many files: maximum is 2"}`)
	k.expect("all fields", k.upload("t", append(fields(formFields+1), file("f", "x"))...), 200, `{"files":[{}]}`)
	k.expect("one more", k.upload("t", append(fields(formFields+2), file("g", "x"))...), 413, `{"detail":"Too many fields in the form"}`)
	contentType, body := form(field{"note", "", long(formOverhead + 200)}, file("h", "x"))
	r := k.request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = -1 // it does not tell
	k.expect("too long on the whole", k.send(r), 413, `{"detail":"Total upload size too large"}`)
	contentType, body = form(file("i", "x"))
	r = k.request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = 200 + formOverhead // so it says
	k.expect("as long as may be", k.send(r), 200, `{"files":[{}]}`)
	r = k.request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = 200 + formOverhead + 1
	if w := k.send(r); w.Header().Get("Connection") != "close" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if got := k.names("t"); !cmp.Equal(got, []string{"a", "b", "f", "i"}) {
		t.Errorf("the uploads are %q", got)
	}
}

// TestEdgesOfNames: a number goes before an extension that is one, and escapes leave what needs none.
func TestEdgesOfNames(t *testing.T) {
	for in, want := range map[string]string{
		"a." + long(126): "a_1." + long(126), "a." + long(127): "a." + long(127) + "_1", "ab.": "ab_1.",
	} {
		if got := numbered(in, 1); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	if got := percent("azAZ09-._~@[`{/: \x00\xff"); got != "azAZ09-._~%40%5B%60%7B%2F%3A%20%00%FF" {
		t.Error(got)
	}
	for name, good := range map[string]bool{"\u2028": false, "\u2029a": false, "a\u2029": false, "\x01a": false, "a": true} {
		if _, ok := uploadName(name); ok != good {
			t.Errorf("%q: %t", name, ok)
		}
	}
}

// skillOf is an archive of a file that is stored as it is. Its whole is so many bytes.
func skillOf(t *testing.T, name string, size int) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(w, "# skill")
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return strings.Repeat("\x00", size-b.Len()) + b.String() // what stands before an archive is no part of it
}

// TestSkillsAtTheirBounds: an archive and a file in it may be as large as their bounds; what is broken says so.
func TestSkillsAtTheirBounds(t *testing.T) {
	k := newFileKit(t, nil)
	k.put("t", "outputs/most.skill", skillOf(t, "SKILL.md", maxSkill))
	k.put("t", "outputs/more.skill", skillOf(t, "SKILL.md", maxSkill+1))
	members := func(sizes ...int64) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i, n := range sizes {
			w, err := z.Create(string(rune('a' + i)))
			if err == nil {
				_, err = io.Copy(w, &zeros{n})
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
	k.put("t", "outputs/large.skill", members(maxMember, maxMember+1))
	sound := skillOf(t, "SKILL.md", 200)
	k.put("t", "outputs/sum.skill", strings.Replace(sound, "# skill", "# skull", 1))
	method := []byte(sound)
	method[bytes.Index(method, []byte("PK\x01\x02"))+10] = 99 // no way to pack that is known
	k.put("t", "outputs/method.skill", string(method))
	k.put("t", "outputs/none.skill", archiveOf(t, "dir/", "SKILL.md/"))
	for path, want := range map[string]int{
		"most.skill/SKILL.md": 200, "more.skill/SKILL.md": 413, "large.skill/a": 200, "large.skill/b": 413, "sum.skill/SKILL.md": 422, "method.skill/SKILL.md": 422,
		"none.skill/SKILL.md": 404, "none.skill/SKILL.md%2F": 404,
	} {
		w := k.do("HEAD", artifacts+"outputs/"+path, "")
		if w.Code != want {
			t.Errorf("%s: %d %.300s", path, w.Code, w.Body)
		}
	}
	for path, want := range map[string]string{"sum": "zip: checksum error", "method": "zip: unsupported compression algorithm"} {
		w := k.do("GET", artifacts+"outputs/"+path+".skill/SKILL.md", "")
		k.expect(path, w, 422, `{"detail":"Skill archive cannot be read: `+want+`"}`)
	}
	if err := os.Symlink("../../elsewhere", k.host("t", "outputs/up.skill")); err != nil {
		t.Fatal(err)
	}
	k.expect("outside", k.do("GET", artifacts+"outputs/up.skill/a", ""), 403, `{"detail":"Access denied: path traversal detected"}`)
}

// TestFilesThatAreNoText are not edited, whatever text is meant for them.
func TestFilesThatAreNoText(t *testing.T) {
	k := newFileKit(t, nil)
	k.do("POST", "/threads", `{"thread_id":"t"}`)
	for content, status := range map[string]int{"\x00": 415, "a\x00": 415, "\xff": 415, "a\x01b": 200} {
		k.put("t", "outputs/a.txt", content)
		if w := k.do("PUT", artifacts+"outputs/a.txt", change("new", content)); w.Code != status {
			t.Errorf("%q: %d %s", content, w.Code, w.Body)
		}
	}
}

// torn is content that cannot be read.
type torn struct{ *strings.Reader }

func (torn) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// TestContentThatCannotBeRead has no type, and is not sent.
func TestContentThatCannotBeRead(t *testing.T) {
	k := newServer(t, nil)
	w := httptest.NewRecorder()
	if err := k.serve(w, k.request("GET", "/", ""), content{name: "noext", data: torn{strings.NewReader("x")}}, false); !errors.Is(err, io.ErrClosedPipe) || w.Body.Len() > 0 {
		t.Errorf("%v, %s", err, w.Body)
	}
}

// TestItemsThatAreTooLargeTogether: the client is told to ask for fewer.
func TestItemsThatAreTooLargeTogether(t *testing.T) {
	k := newServer(t, nil)
	value := []byte(`{"v":"` + strings.Repeat("v", 1<<20-8) + `"}`)
	for i := range 17 {
		if err := k.Items.For(k.User).Put(t.Context(), items.Item{Namespace: []string{"a"}, Key: fmt.Sprint(i), Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	k.play([]scenario{{name: "search", method: "POST", path: "/store/items/search", body: `{"limit":17}`, status: http.StatusUnprocessableEntity,
		want: `{"detail":"The items of the page are too large together; ask for fewer"}`}})
}
