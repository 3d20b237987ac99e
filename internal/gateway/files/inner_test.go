package files

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pudu-ai/pudu/internal/gateway/route"
	"github.com/pudu-ai/pudu/sandbox"
)

func FuzzArtifactPath(f *testing.F) {
	for _, s := range []string{"mnt/user-data/outputs/a", "/mnt/user-data/../x", "mnt/user-data/a/./b//c/..",
		"mnt/user-data\x00", "..", "mnt/user-datax", "mnt/folder/a", "mnt/folder/../user-data/a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		p, err := artifactPath(rest)
		if err != nil {
			return
		}
		if p != path.Clean(p) || !within(sandbox.UserData, p) && !within(sandbox.Folder, p) ||
			strings.Contains(p+"/", "/../") || strings.ContainsRune(p, 0) {
			t.Errorf("%q became %q", rest, p)
		}
		if again, err := artifactPath(p); err != nil || again != p {
			t.Errorf("%q, and then %q %v", p, again, err)
		}
	})
}

// torn is content that cannot be read.
type torn struct{ *strings.Reader }

func (torn) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// TestContentThatCannotBeRead has no type, and is not sent.
func TestContentThatCannotBeRead(t *testing.T) {
	g := &Group{Env: &route.Env{}}
	w := httptest.NewRecorder()
	if err := g.serve(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody),
		content{name: "noext", data: torn{strings.NewReader("x")}}, false); !errors.Is(err, io.ErrClosedPipe) ||
		w.Body.Len() > 0 {
		t.Errorf("%v, %s", err, w.Body)
	}
}
func FuzzUploadName(f *testing.F) {
	for _, s := range []string{"a.txt", "../x", `C:\x`, "..", ".hidden", "ü.ext", "a\nb", strings.Repeat("x", 254) +
		".y"} {
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

// TestWhatIsText has no NUL, and is UTF-8 but for a character that is cut.
func TestWhatIsText(t *testing.T) {
	for text, want := range map[string]bool{"a\x00b": false, "a\x01b": true, "ü": true, "\xff": false, "": true,
		"abc\xc3": false} {
		if isText([]byte(text), false) != want {
			t.Errorf("%q", text)
		}
	}
	for text, want := range map[string]bool{"abc\xc3": true, "abc\xe2\x82": true, "abc\xf0\x9f\x98": true,
		"abc\x80\x80\x80": false, "abc\xff": false, "abc": true, "a\x00c": false, "abcü": true} {
		if isText([]byte(text), true) != want {
			t.Errorf("%q, cut", text)
		}
	}
}
