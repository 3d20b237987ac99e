package files_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/access"
	"github.com/pudu-ai/pudu/internal/gateway"
	"github.com/pudu-ai/pudu/internal/gateway/files"
	"github.com/pudu-ai/pudu/internal/testkit/gateways"
	"github.com/pudu-ai/pudu/internal/testkit/jsontest"
	"github.com/pudu-ai/pudu/sandbox"
)

// TestFilesThatCannotBeUsed: a folder that nothing can be written to, or that is no more, is told of as what it is.
func TestFilesThatCannotBeUsed(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Put("t", "uploads/a.txt", "x")
	k.Put("t", "outputs/a.txt", "hello")
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	usual := k.Files
	readOnly := func(_ context.Context, _ access.User, id string) (*sandbox.Files, error) {
		return sandbox.NewFiles([]sandbox.Mount{
			{Host: k.Host(id, "uploads"), Path: sandbox.Uploads, ReadOnly: true},
			{Host: k.Host(id, "outputs"), Path: sandbox.Outputs, ReadOnly: true},
		}, sandbox.FilesOptions{})
	}
	k.Change(func(c *gateway.Config) { c.Files = readOnly })
	k.Expect("to a folder that is read alone", k.Upload("t", gateways.File("b.txt", "x")), 403,
		`{"detail":"The file b.txt may not be written"}`)
	if w := k.Do("DELETE", "/threads/t/uploads/a.txt", ""); w.Code < 400 || k.Read("t", "uploads/a.txt") != "x" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := k.Do("PUT", artifacts+"outputs/a.txt", change("new", "hello")); w.Code < 400 ||
		k.Read("t", "outputs/a.txt") != "hello" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	closed := func(ctx context.Context, by access.User, id string) (*sandbox.Files, error) {
		files, err := usual(ctx, by, id)
		if err == nil {
			err = files.Close()
		}
		return files, err
	}
	none := func(context.Context, access.User, string) (*sandbox.Files, error) {
		return nil, errors.New("no folder")
	}
	for name, open := range map[string]func(context.Context, access.User, string) (*sandbox.Files,
		error){"closed": closed, "none": none} {
		k.Change(func(c *gateway.Config) { c.Files = open })
		for _, path := range []string{"GET /threads/t/uploads/list", "DELETE /threads/t/uploads/a.txt", "GET " +
			artifacts + "outputs/a.txt", "PUT " + artifacts + "outputs/a.txt"} {
			method, path, _ := strings.Cut(path, " ")
			body := ""
			if method == "PUT" {
				body = change("new", "hello")
			}
			if w := k.Do(method, path, body); w.Code < 400 {
				t.Errorf("%s: %s %s: %d %s", name, method, path, w.Code, w.Body)
			}
		}
		if w := k.Upload("t", gateways.File("b.txt", "x")); w.Code < 400 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if got := k.Names("t"); !cmp.Equal(got, []string{"a.txt"}) {
		t.Errorf("the uploads are %q", got)
	}
}

// TestNamesThatAreTaken: a thousand files of like names are enough.
func TestNamesThatAreTaken(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	for i := range files.MaxAlike - 1 {
		k.Put("t", "uploads/"+files.Numbered("a.txt", i), "")
	}
	k.Expect("the last one", k.Upload("t", gateways.File("a.txt", "x")), 200,
		`{"files":[{"filename":"a_999.txt","original_filename":"a.txt"}]}`)
	k.Expect("one too many", k.Upload("t", gateways.File("a.txt", "x")), 409,
		`{"detail":"There are too many uploads with names like a.txt; give it another one"}`)
	k.Expect("another name", k.Upload("t", gateways.File("b.txt", "x")), 200, `{}`)
}

// TestFormsAtTheirBounds: as many files and fields as may be, and no more.
func TestFormsAtTheirBounds(t *testing.T) {
	k := gateways.NewFiles(t,
		func(c *gateway.Config) { c.Limits = gateway.Limits{Files: 2, Upload: 100, Uploads: 200} })
	fields := func(n int) (out []gateways.Field) {
		for range n {
			out = append(out, gateways.Field{Name: "note", Filename: "", Content: "x"})
		}
		return out
	}
	k.Expect("two files", k.Upload("t", gateways.File("a", "x"), gateways.File("b", "x")), 200, `{"files":[{},{}]}`)
	k.Expect("three files", k.Upload("t", gateways.File("c", "x"), gateways.File("d", "x"), gateways.File("e", "x")),
		413, `{"detail":"Too many files: maximum is 2"}`)
	k.Expect("all fields", k.Upload("t", append(fields(files.FormFields+1), gateways.File("f", "x"))...), 200,
		`{"files":[{}]}`)
	k.Expect("one more", k.Upload("t", append(fields(files.FormFields+2), gateways.File("g", "x"))...), 413,
		`{"detail":"Too many fields in the form"}`)
	contentType, body := gateways.Form(gateways.Field{Name: "note", Filename: "",
		Content: jsontest.Long(files.FormOverhead + 200)}, gateways.File("h", "x"))
	r := k.Request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = -1 // it does not tell
	k.Expect("too long on the whole", k.Send(r), 413, `{"detail":"Total upload size too large"}`)
	contentType, body = gateways.Form(gateways.File("i", "x"))
	r = k.Request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = 200 + files.FormOverhead // so it says
	k.Expect("as long as may be", k.Send(r), 200, `{"files":[{}]}`)
	r = k.Request("POST", "/threads/t/uploads", body)
	r.Header.Set("Content-Type", contentType)
	r.ContentLength = 200 + files.FormOverhead + 1
	if w := k.Send(r); w.Header().Get("Connection") != "close" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if got := k.Names("t"); !cmp.Equal(got, []string{"a", "b", "f", "i"}) {
		t.Errorf("the uploads are %q", got)
	}
}

// TestEdgesOfNames: a number goes before an extension that is one.
func TestEdgesOfNames(t *testing.T) {
	for in, want := range map[string]string{
		"a." + jsontest.Long(126): "a_1." + jsontest.Long(126), "a." + jsontest.Long(127): "a." + jsontest.Long(127) +
			"_1", "ab.": "ab_1.",
	} {
		if got := files.Numbered(in, 1); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
	for name, good := range map[string]bool{"\u2028": false, "\u2029a": false, "a\u2029": false, "\x01a": false,
		"a": true} {
		if _, ok := files.UploadName(name); ok != good {
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
	k := gateways.NewFiles(t, nil)
	k.Put("t", "outputs/most.skill", skillOf(t, "SKILL.md", files.MaxSkill))
	k.Put("t", "outputs/more.skill", skillOf(t, "SKILL.md", files.MaxSkill+1))
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
	k.Put("t", "outputs/large.skill", members(files.MaxMember, files.MaxMember+1))
	sound := skillOf(t, "SKILL.md", 200)
	k.Put("t", "outputs/sum.skill", strings.Replace(sound, "# skill", "# skull", 1))
	method := []byte(sound)
	method[bytes.Index(method, []byte("PK\x01\x02"))+10] = 99 // no way to pack that is known
	k.Put("t", "outputs/method.skill", string(method))
	k.Put("t", "outputs/none.skill", archiveOf(t, "dir/", "SKILL.md/"))
	for path, want := range map[string]int{
		"most.skill/SKILL.md": 200, "more.skill/SKILL.md": 413, "large.skill/a": 200, "large.skill/b": 413,
		"sum.skill/SKILL.md": 422, "method.skill/SKILL.md": 422,
		"none.skill/SKILL.md": 404, "none.skill/SKILL.md%2F": 404,
	} {
		w := k.Do("HEAD", artifacts+"outputs/"+path, "")
		if w.Code != want {
			t.Errorf("%s: %d %.300s", path, w.Code, w.Body)
		}
	}
	for path, want := range map[string]string{"sum": "zip: checksum error",
		"method": "zip: unsupported compression algorithm"} {
		w := k.Do("GET", artifacts+"outputs/"+path+".skill/SKILL.md", "")
		k.Expect(path, w, 422, `{"detail":"Skill archive cannot be read: `+want+`"}`)
	}
	if err := os.Symlink("../../elsewhere", k.Host("t", "outputs/up.skill")); err != nil {
		t.Fatal(err)
	}
	k.Expect("outside", k.Do("GET", artifacts+"outputs/up.skill/a", ""), 403,
		`{"detail":"Access denied: path traversal detected"}`)
}

// TestFilesThatAreNoText are not edited, whatever text is meant for them.
func TestFilesThatAreNoText(t *testing.T) {
	k := gateways.NewFiles(t, nil)
	k.Do("POST", "/threads", `{"thread_id":"t"}`)
	for content, status := range map[string]int{"\x00": 415, "a\x00": 415, "\xff": 415, "a\x01b": 200} {
		k.Put("t", "outputs/a.txt", content)
		if w := k.Do("PUT", artifacts+"outputs/a.txt", change("new", content)); w.Code != status {
			t.Errorf("%q: %d %s", content, w.Code, w.Body)
		}
	}
}
