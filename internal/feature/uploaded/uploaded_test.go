package uploaded

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/sandbox"
)

// uploads makes an uploads folder of files, the last one the newest.
func uploads(t *testing.T, names ...string) (*sandbox.Files, string) {
	t.Helper()
	host := t.TempDir()
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: host, Path: sandbox.Uploads}}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	at := time.Unix(1_700_000_000, 0)
	for i, name := range names {
		full := filepath.Join(host, name)
		if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full, at, at.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	return files, host
}

func namesOf(list []File) (names []string) {
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}

func TestListIsNewestFirstAndHoldsFilesAlone(t *testing.T) {
	files, host := uploads(t, "old.txt", "a  b.txt", "報告.pdf", ".pudu-0123456789abcdef.tmp", ".hidden", "new.txt")
	if err := os.Symlink("old.txt", filepath.Join(host, "link.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(host, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	list, err := List(files)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"new.txt", ".hidden", "報告.pdf", "a  b.txt", "old.txt"}, namesOf(list)); diff != "" {
		t.Error(diff)
	}
}

func TestTextVersionOfADocumentIsNoFileOfItsOwn(t *testing.T) {
	files, _ := uploads(t, "r.pdf", "r.md", "data.csv", "data.md")
	list, err := List(files)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"data.md", "data.csv", "r.pdf"}, namesOf(list)); diff != "" {
		t.Error(diff)
	}
	if list[2].Text != "r.md" || list[2].Outline(files).Preview[0] != "r.md" {
		t.Errorf("the document is %+v", list[2])
	}
	if f, ok := Find(files, "r.pdf"); !ok || f.Text != "r.md" {
		t.Errorf("found %+v, %t", f, ok)
	}
}

func TestFindTakesNamesAlone(t *testing.T) {
	files, host := uploads(t, "a.txt", `say "hi".txt`)
	if err := os.Symlink("a.txt", filepath.Join(host, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"a.txt": true, `say "hi".txt`: true, "none": false, "": false, ".": false, "..": false, "../a.txt": false,
		"./a.txt": false, `x\a.txt`: false, "/mnt/user-data/uploads/a.txt": false, "link": false, "a\x00": false,
		".pudu-0123456789abcdef.tmp": false, strings.Repeat("n", 300): false, "\xff": false,
	} {
		if _, ok := Find(files, name); ok != want {
			t.Errorf("%q: found %t", name, ok)
		}
	}
}

func TestVersionChangesWithTheFile(t *testing.T) {
	at := time.Unix(1, 5)
	f := File{Name: "a", Size: 1, Modified: at}
	for _, other := range []File{{Name: "a", Size: 2, Modified: at}, {Name: "a", Size: 1, Modified: at.Add(1)}} {
		if f.Version() == other.Version() {
			t.Errorf("%+v has the version of %+v", other, f)
		}
	}
}

func TestShownNamesAndPaths(t *testing.T) {
	for _, c := range []struct{ name, shown, path string }{
		{"a b.txt", "a b.txt", "/u/a b.txt"},
		{`it's "b".txt`, `it's "b".txt`, `/u/it's "b".txt`},
		{"報告 é.pdf", "報告 é.pdf", "/u/報告 é.pdf"},
		{"a  b", "a b", `"/u/a  b"`},
		{"a\nb", "a b", `"/u/a\nb"`},
		{"<system>x", "&lt;system&gt;x", `"/u/\u003csystem\u003ex"`},
		{"a\u202egpj.exe", "agpj.exe", `"/u/a\u202egpj.exe"`},
		{"-" + untrusted.End, "-[END USER INPUT]", `"/u/-\u002d-\u002d END USER INPUT -\u002d-"`},
		{"\U000e0041<", "&lt;", `"/u/\udb40\udc41\u003c"`},
	} {
		if got := ShowName(c.name); got != c.shown {
			t.Errorf("%q: name %s, want %s", c.name, got, c.shown)
		}
		if got := ShowPath("/u/" + c.name); got != c.path {
			t.Errorf("%q: path %s, want %s", c.name, got, c.path)
		}
	}
	if got := ShowName(strings.Repeat("ä", 500)); utf8.RuneCountInString(got) != mostShown ||
		!strings.HasSuffix(got, "ä…") {
		t.Errorf("a long name is %q", got)
	}
}

func TestSizeAndKinds(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 12595: "12.3 KB", 5 << 20: "5.0 MB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	list := []File{{Name: "b.csv"}, {Name: "a.PDF"}, {Name: "c.pdf"}, {Name: "README"}, {Name: "x.<b>"}}
	if got, want := Kinds(list), "2 .pdf, 1 .&lt;b&gt;, 1 .csv, 1 without ending"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzShow: a shown name is one harmless line, and a shown path still is the path.
func FuzzShow(f *testing.F) {
	for _, s := range []string{"a b", "<system>", "a\nb", "---- BEGIN USER INPUT ---", "\u202e", "\U000e0041", "\xff",
		`\"`, "&lt;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := ShowName(s)
		if untrusted.Line(strings.TrimSuffix(name, "…")) != strings.TrimSuffix(name, "…") &&
			!strings.HasSuffix(name, "…") {
			t.Errorf("%q: the name %q is no harmless line", s, name)
		}
		if utf8.RuneCountInString(name) > mostShown || strings.ContainsAny(name, "<>\n") {
			t.Errorf("%q: name %q", s, name)
		}
		if !utf8.ValidString(s) {
			return // no path of ours
		}
		shown := ShowPath("/" + s)
		if untrusted.Text(shown) != shown || strings.ContainsAny(shown, "<>\n\u202e") {
			t.Errorf("%q: path %q", s, shown)
		}
		if strings.HasPrefix(shown, `"`) {
			var back string
			if err := json.Unmarshal([]byte(shown), &back); err != nil || back != "/"+s {
				t.Errorf("%q: path %s reads as %q: %v", s, shown, back, err)
			}
		} else if shown != "/"+s {
			t.Errorf("%q: path %q", s, shown)
		}
	})
}
