//go:build unix

package file

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// thread is a thread's folders on the host, the tools on them, and what the model would see of a call.
type thread struct {
	t     testing.TB
	host  string
	files *sandbox.Files
	tools map[string]tool.Tool
}

func newThread(t testing.TB, c Config) *thread {
	t.Helper()
	th := &thread{t: t, host: t.TempDir(), tools: map[string]tool.Tool{}}
	var mounts []sandbox.Mount
	for _, name := range []string{"workspace", "outputs", "skills"} {
		dir := filepath.Join(th.host, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		mounts = append(mounts, sandbox.Mount{Host: dir, Path: sandbox.UserData + "/" + name,
			ReadOnly: name == "skills"})
	}
	files, err := sandbox.NewFiles(mounts, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	c.Files, th.files = files, files
	for _, tl := range append(Reading(c), Writing(c)...) {
		th.tools[tl.Spec().Name] = tl
	}
	return th
}

// in is the thread for one input of a fuzz test.
func (th thread) in(t testing.TB) *thread { th.t = t; return &th }

func (th *thread) put(path, text string) {
	th.t.Helper()
	if err := th.files.WriteFile(path, []byte(text), false); err != nil {
		th.t.Fatal(err)
	}
}

// args is what a model would send.
type args map[string]any

func (th *thread) run(name string, a args) *tool.Result {
	th.t.Helper()
	if _, ok := a["description"]; !ok {
		a["description"] = "test"
	}
	raw, err := json.Marshal(a)
	if err != nil {
		th.t.Fatal(err)
	}
	res, err := th.tools[name].Run(context.Background(), &tool.Call{ID: "c", Name: name, Args: raw})
	if err != nil {
		th.t.Fatalf("%s %s: %v", name, raw, err)
	}
	return res
}

func (th *thread) want(name string, a args, text string) {
	th.t.Helper()
	if diff := cmp.Diff(text, th.run(name, a).Text()); diff != "" {
		th.t.Errorf("%s %v: (-want +got)\n%s", name, a, diff)
	}
}

func TestSpecs(t *testing.T) {
	th := newThread(t, Config{})
	for name, tl := range th.tools {
		s := tl.Spec()
		if s.Name != name || s.Description == "" || len(s.Description) > 300 {
			t.Errorf("%s: name %q, description of %d bytes", name, s.Name, len(s.Description))
		}
		reads := name != "write_file" && name != "str_replace"
		if reads != (s.Effect == tool.ReadOnly) {
			t.Errorf("%s: effect %d", name, s.Effect)
		}
	}
}

func TestLs(t *testing.T) {
	th := newThread(t, Config{})
	th.want("ls", args{"path": sandbox.Workspace}, "(empty)")
	for _, p := range []string{"b/c/deep.txt", "b/x.txt", "a.txt", "node_modules/x.js", ".git/HEAD", "debug.log",
		"b.txt"} {
		th.put(p, "")
	}
	ws := sandbox.Workspace
	th.want("ls", args{"path": ws},
		strings.Join([]string{ws + "/a.txt", ws + "/b.txt", ws + "/b/", ws + "/b/c/", ws + "/b/x.txt"}, "\n"))
	th.want("ls", args{"path": "/mnt"},
		"/mnt/user-data/\n/mnt/user-data/outputs/\n/mnt/user-data/skills/\n/mnt/user-data/workspace/")
	th.want("ls", args{"path": ws + "/none"}, "Error: Directory not found: "+ws+"/none")
	th.want("ls", args{"path": ws + "/a.txt"}, "Error: Not a directory: "+ws+"/a.txt")
	th.want("ls", args{"path": "/etc"}, "Error: Permission denied: /etc: "+sandbox.ErrOutside.Error())
	if res := th.run("ls", args{"path": "/etc"}); !res.IsError {
		t.Error("ls /etc is no error")
	}
}

func TestLsIsCut(t *testing.T) {
	th := newThread(t, Config{ListMaxChars: 100})
	for i := range 10 {
		th.put(fmt.Sprintf("file-%d", i), "")
	}
	got := th.run("ls", args{"path": sandbox.Workspace}).Text()
	want := "/mnt/user-data/workspace/file-0\n/mnt/user-data/workspace/file-1\n/mnt/user-data/workspace/file-2\n" +
		"... [truncated: showing first 95 of 319 chars. List a more specific path, or use glob] ..."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadFile(t *testing.T) {
	th := newThread(t, Config{})
	th.put("abc", "a\nb\nc\n")
	th.put("open-end", "a\nb")
	th.put("empty", "")
	th.put("latin1", "caf\xe9 and so on and on and on")
	th.put("bin", "MZ\x00\x01")
	th.put("nonul", strings.Repeat("\xff\xfe\x80a", 100))
	th.put("long", strings.Repeat("é", 100_000))
	for _, tt := range []struct {
		a    args
		want string
	}{
		{args{"path": "abc"}, "a\nb\nc\n"},
		{args{"path": "open-end"}, "a\nb"},
		{args{"path": "abc", "start_line": 2}, "b\nc"},
		{args{"path": "abc", "end_line": 2}, "a\nb"},
		{args{"path": "abc", "start_line": 2, "end_line": 2}, "b"},
		{args{"path": "abc", "start_line": 3, "end_line": 99}, "c"},
		{args{"path": "abc", "start_line": nil, "end_line": nil}, "a\nb\nc\n"},
		{args{"path": "abc", "start_line": 4}, "(start_line exceeds file length)"},
		{args{"path": "abc", "start_line": 0}, "(start_line must be >= 1)"},
		{args{"path": "abc", "end_line": -1}, "(end_line must be >= 1)"},
		{args{"path": "abc", "start_line": 3, "end_line": 2}, "(start_line > end_line — no lines in range)"},
		{args{"path": "empty"}, "(empty)"},
		{args{"path": "empty", "start_line": 1}, "(empty)"},
		{args{"path": "latin1"}, "caf\uFFFD and so on and on and on"},
		{args{"path": "none"}, "Error: File not found: none"},
		{args{"path": sandbox.Workspace}, "Error: Path is a directory, not a file: " + sandbox.Workspace +
			". Use ls to list it."},
		{args{"path": "/mnt/user-data/../../etc/passwd"},
			"Error: Permission denied: /mnt/user-data/../../etc/passwd: " + sandbox.ErrOutside.Error()},
		{args{"path": "long"}, strings.Repeat("é",
			50_000) + "\n... [truncated: showing first 50000 of 100000 chars. Use start_line/end_line to read a specific range] ...\n(the text above ends in line 1 of 1)"},
	} {
		th.want("read_file", tt.a, tt.want)
	}
	for _, p := range []string{"bin", "nonul"} {
		if res := th.run("read_file", args{"path": p}); !res.IsError ||
			!strings.Contains(res.Text(), "it appears to be a binary file") {
			t.Errorf("%s: %s", p, res.Text())
		}
	}
}

func TestReadFileSaysWhereItWasCut(t *testing.T) {
	th := newThread(t, Config{ReadMaxChars: 5})
	th.put("f", "aa\nbb\ncc\ndd\n")
	th.want("read_file", args{"path": "f",
		"start_line": 2}, "bb\ncc\n... [truncated: showing first 5 of 9 chars. Use start_line/end_line to read a specific range] ...\n(the text above ends in line 3 of 4)")
	th.want("read_file", args{"path": "f", "start_line": 2, "end_line": 2}, "bb")
	off := newThread(t, Config{ReadMaxChars: -1})
	off.put("f", strings.Repeat("x", 60_000))
	off.want("read_file", args{"path": "f"}, strings.Repeat("x", 60_000))
}

func TestSparseFileIsRefused(t *testing.T) {
	th := newThread(t, Config{})
	if err := os.WriteFile(th.host+"/workspace/huge", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(th.host+"/workspace/huge", 1<<40); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(th.host+"/workspace/fifo", 0o644); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"huge", "fifo"} {
		for name, a := range map[string]args{"read_file": {}, "grep": {"pattern": "x"},
			"str_replace": {"old_str": "a", "new_str": "b"}} {
			a["path"] = p
			if res := th.run(name, a); !res.IsError || strings.Contains(res.Text(), th.host) {
				t.Errorf("%s %s: %s", name, p, res.Text())
			}
		}
	}
	th.want("grep", args{"path": sandbox.Workspace, "pattern": "x"}, "No matches found under "+sandbox.Workspace)
}

func TestGlob(t *testing.T) {
	th := newThread(t, Config{})
	for _, p := range []string{"a.py", "src/b.py", "src/deep/c.py", "src/d.js", "build/e.py", "src/pkg/f.ts"} {
		th.put(p, "")
	}
	ws := sandbox.Workspace
	list := func(paths ...string) string {
		s := fmt.Sprintf("Found %d paths under %s", len(paths), ws)
		for i, p := range paths {
			s += fmt.Sprintf("\n%d. %s/%s", i+1, ws, p)
		}
		return s
	}
	for _, tt := range []struct {
		pattern, want string
		dirs          bool
	}{
		{"*.py", list("a.py", "src/b.py", "src/deep/c.py"), false},
		{"**/*.py", list("a.py", "src/b.py", "src/deep/c.py"), false},
		{"./*.py", list("a.py"), false},
		{ws + "/src/*.py", list("src/b.py"), false},
		{"src/*.py", list("src/b.py"), false},
		{"src/**/*.py", list("src/b.py", "src/deep/c.py"), false},
		{"**/**/**/*.{js,ts}", list("src/d.js", "src/pkg/f.ts"), false},
		{"*e*", list("src/deep"), true},
		{"*.md", "No files matched under " + ws, false},
		{"", "Error: Invalid glob pattern: it is empty", false},
		{"[", `Error: Invalid glob pattern: "[" is not well-formed`, false},
		{"/etc/*",
			"Error: Invalid glob pattern: it is absolute; give the directory as path and a pattern relative to it",
			false},
		{strings.Repeat("*a", 30), "Error: Invalid glob pattern: it has more than 20 stars or 5 alternatives", false},
	} {
		th.want("glob", args{"pattern": tt.pattern, "path": ws, "include_dirs": tt.dirs}, tt.want)
	}
	th.want("glob", args{"pattern": "*.py", "path": ws, "max_results": 2},
		strings.Replace(list("a.py", "src/b.py"), ws+"\n", ws+" (showing first 2)\n", 1)+
			"\nThere are more. Narrow the pattern or the path.")
	th.want("glob", args{"pattern": "*", "path": "none"}, "Error: Directory not found: none")
	th.want("glob", args{"pattern": "b.py", "path": "/mnt"}, "Found 1 paths under /mnt\n1. "+ws+"/src/b.py")
}

func TestGrep(t *testing.T) {
	th := newThread(t, Config{})
	ws := sandbox.Workspace
	th.put("a.txt", "one\nTwo (x)\r\nthree")
	th.put("src/b.go", "func Two() {}\n"+strings.Repeat("z", 300)+"two\n"+strings.Repeat("two ", 600)+"\n")
	th.put("bin", "two\x00")
	th.put("big", strings.Repeat("two\n", 250_001))
	th.put("run.log", "two\n")
	if err := os.Symlink("a.txt", th.host+"/workspace/link"); err != nil {
		t.Fatal(err)
	}
	cut := strings.Repeat("z", 197) + "..."
	found := func(n int, lines ...string) string {
		return fmt.Sprintf("Found %d matches under %s\n%s", n, ws, strings.Join(lines, "\n"))
	}
	a, b1, b2 := ws+"/a.txt:2: Two (x)", ws+"/src/b.go:1: func Two() {}", ws+"/src/b.go:2: "+cut
	for _, tt := range []struct {
		a    args
		want string
	}{
		{args{"pattern": "two"}, found(3, a, b1, b2)},
		{args{"pattern": "two", "case_sensitive": true}, found(1, b2)},
		{args{"pattern": "two", "glob": "*.go"}, found(2, b1, b2)},
		{args{"pattern": "(x)", "literal": true}, found(1, a)},
		{args{"pattern": "(x)$"}, "No matches found under " + ws},
		{args{"pattern": `\)$`}, found(1, a)},
		{args{"pattern": "two", "max_results": 2}, strings.Replace(found(2, a, b1), ws+"\n", ws+" (showing first 2)\n",
			1) + "\nThere are more. Narrow the pattern, the path or the glob."},
		{args{"pattern": "("}, "Error: Invalid regex pattern: error parsing regexp: missing closing ): `(?i)(`"},
		{args{"pattern": "(?=x)"},
			"Error: Invalid regex pattern: error parsing regexp: invalid or unsupported Perl syntax: `(?=`"},
		{args{"pattern": ""}, "Error: Invalid regex pattern: it is empty"},
		{args{"pattern": "x", "glob": "["}, `Error: Invalid glob pattern: "[" is not well-formed`},
	} {
		tt.a["path"] = ws
		th.want("grep", tt.a, tt.want)
	}
	th.want("grep", args{"pattern": "two", "path": "run.log"}, "Found 1 matches under run.log\n"+ws+"/run.log:1: two")
	th.want("grep", args{"pattern": "two", "path": "bin"}, "No matches found under bin\nThe file is binary.")
	th.want("grep", args{"pattern": "x", "path": "none"}, "Error: Path not found: none")
	if got := th.run("grep", args{"pattern": "two", "path": "big", "max_results": 100_000}).
		Text(); !strings.HasPrefix(got, "Found 500 matches under big (showing first 500)") {
		t.Errorf("more than allowed: %.100s", got)
	}
}

func TestGrepCatastrophicPattern(t *testing.T) {
	th := newThread(t, Config{})
	th.put("a", strings.Repeat("a", 1900)+"!")
	th.want("grep", args{"pattern": "(a+)+$", "path": sandbox.Workspace}, "No matches found under "+sandbox.Workspace)
}

func TestWriteFile(t *testing.T) {
	th := newThread(t, Config{WriteMaxBytes: 10})
	th.want("write_file", args{"path": "d/f", "content": "0123456789"}, "OK")
	th.want("write_file", args{"path": "d/f", "content": "0123456789A"},
		"Error: write_file content (11 bytes) exceeds the 10-byte single-call limit. Nothing was written. Write the first part, then add the others with append=true, each in its own call.")
	th.want("write_file", args{"path": "d/f", "content": "and a long addition", "append": true}, "OK")
	th.want("read_file", args{"path": "d/f"}, "0123456789and a long addition")
	th.want("write_file", args{"path": "d", "content": "x"},
		"Error: Failed to write file 'd': not a regular file: it is a directory")
	th.want("write_file", args{"path": "/mnt/user-data/skills/x", "content": "x"},
		"Error: Failed to write file '/mnt/user-data/skills/x': "+sandbox.ErrReadOnly.Error())
	th.want("write_file", args{"path": "../../x", "content": "x"}, "Error: Failed to write file '../../x': "+
		sandbox.ErrOutside.Error())
	if n := utf8.RuneCountInString(th.run("write_file", args{"path": strings.Repeat("é", 9000), "content": ""}).
		Text()); n > 2000 {
		t.Errorf("an error of %d characters", n)
	}
	if s := th.run("write_file", args{"path": "d/f", "content": "abc"}).Summary; s != "Wrote 3 bytes to d/f" {
		t.Errorf("summary %q", s)
	}
}

func TestStrReplace(t *testing.T) {
	th := newThread(t, Config{})
	th.put("f", "one two\r\ntwo caf\xe9\n")
	th.want("str_replace", args{"path": "f", "old_str": "two", "new_str": "2"}, "OK")
	th.want("str_replace", args{"path": "f", "old_str": "two", "new_str": "2"}, "OK")
	th.want("str_replace", args{"path": "f", "old_str": "2", "new_str": "22", "replace_all": true}, "OK")
	if got, err := th.files.ReadFile("f", 100); err != nil || string(got) != "one 22\r\n22 caf\xe9\n" {
		t.Errorf("file is %q, %v", got, err)
	}
	th.want("str_replace", args{"path": "f", "old_str": "none", "new_str": ""},
		"Error: String to replace not found in file: f")
	th.want("str_replace", args{"path": "f", "old_str": "", "new_str": "x"}, "OK")
	th.want("str_replace", args{"path": "none", "old_str": "", "new_str": "x"}, "Error: File not found: none")
	th.want("str_replace", args{"path": "/mnt/user-data/skills/none", "old_str": "a", "new_str": "x"},
		"Error: File not found: /mnt/user-data/skills/none")
	th.put("grow", strings.Repeat("a", 1<<20))
	if res := th.run("str_replace", args{"path": "grow", "old_str": "a", "new_str": strings.Repeat("b", 100),
		"replace_all": true}); !res.IsError {
		t.Error("a file of 100 MiB was made")
	}
}

func TestConcurrentEditsAllCount(t *testing.T) {
	th := newThread(t, Config{})
	var text string
	for i := range 20 {
		text += fmt.Sprintf("<%d>", i)
	}
	th.put("f", text)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			th.run("str_replace", args{"path": []string{"f", sandbox.Workspace + "/f"}[i%2],
				"old_str": fmt.Sprintf("<%d>", i), "new_str": "x"})
		})
	}
	wg.Wait()
	th.want("read_file", args{"path": "f"}, strings.Repeat("x", 20))
}

func TestCancelEndsTheRun(t *testing.T) {
	th := newThread(t, Config{})
	th.put("f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, a := range map[string]string{
		"ls":   `{"description":"","path":"/mnt"}`,
		"glob": `{"description":"","path":"/mnt","pattern":"*"}`,
		"grep": `{"description":"","path":"/mnt","pattern":"x"}`,
	} {
		if _, err := th.tools[name].Run(ctx, &tool.Call{Args: json.RawMessage(a)}); err == nil {
			t.Errorf("%s: no error although the run is cancelled", name)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{"*.py", "**/a", "{a,b}*", "[a-", "(a+)+$", "\\", "(?i)x", "\x00", "**/**/**", "!x"} {
		f.Add(s)
	}
	th := newThread(f, Config{})
	th.put("a/b.py", "hello world\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n")
	th.put("x.txt", "two\n")
	f.Fuzz(func(t *testing.T, pattern string) {
		th := th.in(t)
		for _, name := range []string{"glob", "grep"} {
			got := th.run(name, args{"pattern": pattern, "path": sandbox.Workspace}).Text()
			if got == "" || strings.Contains(got, th.host) {
				t.Fatalf("%s %q: %q", name, pattern, got)
			}
		}
	})
}

func FuzzStrReplace(f *testing.F) {
	f.Add("one two one", "one", "x", true)
	f.Add("a", "", "b", false)
	th := newThread(f, Config{})
	f.Fuzz(func(t *testing.T, content, from, to string, all bool) {
		th := th.in(t)
		if !utf8.ValidString(content + from + to) {
			return // JSON would change it
		}
		th.put("f", content)
		th.run("str_replace", args{"path": "f", "old_str": from, "new_str": to, "replace_all": all})
		want := content
		switch {
		case from == "":
		case all:
			want = strings.ReplaceAll(content, from, to)
		default:
			want = strings.Replace(content, from, to, 1)
		}
		if got, err := th.files.ReadFile("f", 1<<20); err != nil || string(got) != want {
			t.Fatalf("%q: %q -> %q gives %q, want %q (%v)", content, from, to, got, want, err)
		}
	})
}
