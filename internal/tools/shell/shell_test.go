package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// space is a thread whose sandbox does what a test says: here only the words of the result are of interest.
type space struct {
	files   *sandbox.Files
	openErr error
	command func(ctx context.Context, c sandbox.Command) (sandbox.Result, error)
}

func (s *space) ID() string            { return "test" }
func (s *space) Files() *sandbox.Files { return s.files }
func (s *space) Close() error          { return nil }
func (s *space) Sandbox(context.Context) (sandbox.Sandbox, error) {
	return s, s.openErr
}
func (s *space) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	return s.command(ctx, c)
}

func newSpace(t testing.TB) (*space, string) {
	t.Helper()
	host := t.TempDir()
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: host, Path: sandbox.Workspace}}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	return &space{files: files}, host
}

// prints is a command that prints and ends.
func prints(out, err string, res sandbox.Result) func(context.Context, sandbox.Command) (sandbox.Result, error) {
	return func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
		_, _ = io.WriteString(c.Stdout, out)
		_, _ = io.WriteString(c.Stderr, err)
		return res, nil
	}
}

func run(t testing.TB, c Config, ctx context.Context) (*tool.Result, error) {
	t.Helper()
	args, _ := json.Marshal(map[string]string{"description": "test", "command": "x"})
	return New(c).Run(ctx, &tool.Call{ID: "call_1", RunID: "r", Args: args, Progress: func(string) {}})
}

func must(t testing.TB, c Config) *tool.Result {
	t.Helper()
	res, err := run(t, c, t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestResult(t *testing.T) { synctest.Test(t, testResult) } // no command is slow by the bubble's clock

func testResult(t *testing.T) {
	for _, tt := range []struct {
		name, out, err string
		res            sandbox.Result
		want, summary  string
		isError        bool
	}{
		{"all", "out\n", "err\n", sandbox.Result{Exit: 3}, "out\n\nStd Error:\nerr\n\nExit Code: 3", "out", false},
		{"nothing", "", "", sandbox.Result{}, "(no output)", "(no output)", false},
		{"only a failure", "", "", sandbox.Result{Exit: 1}, "Exit Code: 1", "Exit Code: 1", false},
		{"only stderr", "", "oops\n", sandbox.Result{}, "oops\n", "oops", false},
		{"no last line feed", "a", "b", sandbox.Result{Exit: 2}, "a\nStd Error:\nb\nExit Code: 2", "a", false},
		{"time-out", "part\n", "", sandbox.Result{TimedOut: true, Exit: 137},
			"part\n\nCommand timed out after 600 seconds and was terminated; what is above is all it printed. Start a long-lived process in the background: command > log.txt 2>&1 &", "part", true},
		{"limit", "", "", sandbox.Result{Limit: "memory", Exit: 137},
			"Exit Code: 137\nThe command was stopped because it ran into the sandbox's memory limit. Work on less data at a time.", "Exit Code: 137", true},
		{"full", "", "", sandbox.Result{Limit: "disk"},
			"The sandbox's disk limit was reached: nothing more can be written before files are deleted. Delete what is not needed or write less.", "The sandbox's disk limit was reached: nothing more can be written before files are deleted. Delete what is not needed or write less.", true},
		{"nearly full", "", "", sandbox.Result{Limit: "free disk", Exit: 137},
			"Exit Code: 137\nThe command was stopped because the server's disk is nearly full. Delete what is not needed or write less. Tell the user.", "Exit Code: 137", true},
		{"escapes", "\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b]52;c;aGk=\x07end\r\n10%\r20%\r\x00\xff\n", "",
			sandbox.Result{}, "red end\n10%\n20%\n\uFFFD\n", "red end", false},
	} {
		s, _ := newSpace(t)
		s.command = prints(tt.out, tt.err, tt.res)
		got := must(t, Config{Space: s})
		if diff := cmp.Diff(tt.want, got.Text()); diff != "" || got.Summary != tt.summary || got.IsError != tt.isError {
			t.Errorf("%s: summary %q, error %v\n%s", tt.name, got.Summary, got.IsError, diff)
		}
		if entries, _ := s.files.ReadDir(sandbox.Workspace); len(entries) > 0 {
			t.Errorf("%s: a file was made: %v", tt.name, entries)
		}
	}
}

func TestCommandReachesTheSandbox(t *testing.T) {
	s, _ := newSpace(t)
	var got sandbox.Command
	s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
		got = c
		return sandbox.Result{}, nil
	}
	must(t, Config{Space: s, Timeout: time.Minute, Env: []string{"A=1"}})
	got.Stdout, got.Stderr = nil, nil
	if diff := cmp.Diff(sandbox.Command{Script: "x", Timeout: time.Minute, Env: []string{"A=1"}}, got); diff != "" {
		t.Error(diff)
	}
	if spec := New(Config{Space: s}).Spec(); spec.Timeout <= sandbox.DefaultTimeout ||
		spec.Effect != tool.SideEffects || len(spec.Description) > 400 {
		t.Errorf("spec %+v", spec)
	}
}

func TestLongOutputIsCutAndKept(t *testing.T) {
	s, host := newSpace(t)
	long := strings.Repeat("0123456789", 3000) + "\n"
	s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
		_, _ = io.WriteString(c.Stdout, "start é\n"+long)
		_, _ = io.WriteString(c.Stderr, "warn\n")
		_, _ = io.WriteString(c.Stdout, "last\n")
		return sandbox.Result{Exit: 1}, nil
	}
	got := must(t, Config{Space: s}).Text()
	body, note, ok := strings.Cut(got, "\nFull output: ")
	if !ok || utf8.RuneCountInString(body) > 20_000 || utf8.RuneCountInString(body) < 19_900 {
		t.Fatalf("%d characters, note %q", utf8.RuneCountInString(body), note)
	}
	head, tail, ok := strings.Cut(body, "\n... [middle truncated: ")
	skipped := 0
	if _, err := fmt.Sscanf(tail, "%d chars skipped] ...\n", &skipped); err != nil || !ok {
		t.Fatalf("no marker in %q", tail[:100])
	}
	_, tail, _ = strings.Cut(tail, "...\n")
	whole := utf8.RuneCountInString("start é\n" + long + "last\n" + "\nStd Error:\nwarn\n" + "\nExit Code: 1")
	if n := utf8.RuneCountInString(head+tail) + skipped; n != whole {
		t.Errorf("shown and skipped are %d, the output has %d", n, whole)
	}
	if !strings.HasPrefix(head, "start é\n0123") ||
		!strings.HasSuffix(tail, "last\n\nStd Error:\nwarn\n\nExit Code: 1") {
		t.Errorf("head %.20q, tail %q", head, tail[len(tail)-60:])
	}
	kept, err := os.ReadFile(filepath.Join(host, strings.TrimPrefix(note, sandbox.Workspace)))
	if err != nil || string(kept) != "start é\n"+long+"warn\nlast\n" {
		t.Errorf("the file %s has %d bytes (%v)", note, len(kept), err)
	}
	if again := must(t, Config{Space: s}).Text(); !strings.HasSuffix(again, "-2.log") {
		t.Errorf("a second call of the same id: %s", again[len(again)-100:])
	}
}

func TestLogIsBounded(t *testing.T) {
	s, host := newSpace(t)
	s.command = prints(strings.Repeat("line\n", 1000), "", sandbox.Result{})
	got := must(t, Config{Space: s, MaxChars: 500, MaxLog: 1024}).Text()
	_, path, ok := strings.Cut(got, "\nThe first 1024 bytes of the output: "+sandbox.Workspace)
	if !ok {
		t.Fatalf("result %q", got)
	}
	if info, err := os.Stat(filepath.Join(host, path)); err != nil || info.Size() != 1024 {
		t.Errorf("log %v, %v", info, err)
	}
}

func TestBackgroundOutputGoesToTheLog(t *testing.T) {
	s, host := newSpace(t)
	var late io.Writer
	s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
		_, _ = io.WriteString(c.Stdout, "ready\n")
		late = c.Stderr
		return sandbox.Result{Background: 1}, nil
	}
	got := must(t, Config{Space: s}).Text()
	head, path, ok := strings.Cut(got, "What they print from now on goes to "+sandbox.Workspace)
	if !ok || !strings.HasPrefix(head, "ready\n\n1 process(es) still run in the background") {
		t.Fatalf("result %q", got)
	}
	_, _ = io.WriteString(late, "later\x1b[0m, half a \xc3")
	_, _ = io.WriteString(late, "\xa9")
	kept, err := os.ReadFile(filepath.Join(host, strings.TrimSuffix(path, ".")))
	if err != nil || string(kept) != "ready\nlater, half a é" {
		t.Errorf("the log is %q, %v", kept, err)
	}
	s.files.Close() // the thread is gone, the process not yet
	if n, err := late.Write([]byte("x")); n != 1 || err != nil {
		t.Errorf("a write after the end: %d, %v", n, err)
	}
}

func TestNoSandbox(t *testing.T) {
	s, _ := newSpace(t)
	s.openErr = fmt.Errorf("%w: no user namespaces; set kernel.unprivileged_userns_clone=1", sandbox.ErrUnavailable)
	if res := must(t, Config{Space: s}); !res.IsError || !strings.Contains(res.Text(), "unprivileged_userns_clone=1") {
		t.Errorf("unavailable: %q", res.Text())
	}
	s.openErr = errors.New("mkdir /srv/secret/place: no space left on device")
	if res := must(t, Config{Space: s}); !res.IsError || strings.Contains(res.Text(), "/srv") {
		t.Errorf("other failure: %q", res.Text())
	}
	s.openErr = nil
	s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
		_, _ = io.WriteString(c.Stdout, "so far")
		return sandbox.Result{}, sandbox.ErrClosed
	}
	if res := must(t, Config{Space: s}); !res.IsError || !strings.HasSuffix(res.Text(), "It printed:\nso far") {
		t.Errorf("closed: %q", res.Text())
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.command = func(ctx context.Context, _ sandbox.Command) (sandbox.Result, error) {
		cancel()
		return sandbox.Result{}, ctx.Err()
	}
	if _, err := run(t, Config{Space: s}, ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestImpossibleCommands(t *testing.T) {
	s, _ := newSpace(t)
	for _, c := range []string{"", " \n", "a\x00b"} {
		args, _ := json.Marshal(map[string]string{"description": "test", "command": c})
		res, err := New(Config{Space: s}).Run(t.Context(), &tool.Call{Args: args})
		if err != nil || !res.IsError {
			t.Errorf("%q: %v, %v", c, res, err)
		}
	}
}

func TestProgressIsRateLimited(t *testing.T) {
	s, _ := newSpace(t)
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
			for i := range 100 {
				fmt.Fprintf(c.Stdout, "\x1b[2Kstep %d\r", i)
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(10 * time.Second)
			return sandbox.Result{}, nil
		}
		args := json.RawMessage(`{"description":"test","command":"x"}`)
		call := &tool.Call{Args: args, Progress: func(line string) { seen = append(seen, line) }}
		if _, err := New(Config{Space: s}).Run(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if len(seen) < 3 || len(seen) > 5 || !strings.HasPrefix(seen[0], "step 2") {
			t.Errorf("progress %q", seen)
		}
	})
}

// TestOutputProperty: however the output is cut into writes, shown plus skipped is all of it, and the file has it.
func TestOutputProperty(t *testing.T) {
	s, host := newSpace(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		pieces := rapid.SliceOfN(rapid.StringMatching(`[a-zé\n]{0,40}`), 0, 30).Draw(t, "pieces")
		o := newOutput(s.files, 200, 1<<20, fmt.Sprintf("log-%d", n))
		var want [2]string
		for i, p := range pieces {
			want[i%2] += p
			raw := []byte(p)
			cut := rapid.IntRange(0, len(raw)).Draw(t, "cut")
			w := []io.Writer{o.stdout(), o.stderr()}[i%2]
			_, _ = w.Write(raw[:cut])
			_, _ = w.Write(raw[cut:])
		}
		got := o.finish(false)
		text, cut := got.text(200, "")
		whole := want[0]
		if want[0] != "" && want[1] != "" {
			whole += "\nStd Error:\n"
		}
		whole += want[1]
		if !cut {
			if text != whole {
				t.Fatalf("got %q, want %q", text, whole)
			}
			return
		}
		head, tail, _ := strings.Cut(text, "\n... [middle truncated: ")
		skipped := 0
		_, _ = fmt.Sscanf(tail, "%d", &skipped)
		_, tail, _ = strings.Cut(tail, "...\n")
		if utf8.RuneCountInString(head+tail)+skipped != utf8.RuneCountInString(whole) ||
			!strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || utf8.RuneCountInString(text) > 200 {
			t.Fatalf("%q of %q", text, whole)
		}
		kept, err := os.ReadFile(filepath.Join(host, got.log[len(got.log)-len(filepath.Base(got.log)):]))
		if err != nil || len(kept) != len(want[0]+want[1]) {
			t.Fatalf("log %q: %d bytes of %d, %v", got.log, len(kept), len(want[0]+want[1]), err)
		}
	})
}

// TestHostile35Output is item 35 of the list of hostile inputs: whatever a command prints, its result is a text of
// bounded length that does nothing to a terminal and that every store and every JSON takes.
func TestHostile35Output(t *testing.T) {
	for name, out := range map[string]string{
		"a title, the clipboard, colours": "\x1b]0;owned\x07\x1b]52;c;cm0gLXJmIH4=\x07\x1b[31mred\x1b[0m\x1b[2J\x1b[H",
		"sequences without an end":        "\x1b]52;c;" + strings.Repeat("A", 1<<20),
		"eight-bit controls":              "\x9b31m\x9d0;t\x9c \u009b2J",
		"a link":                          "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
		"a line of 10 MB":                 strings.Repeat("x", 10<<20),
		"10 MB of returns":                strings.Repeat("\r", 10<<20),
		"invalid UTF-8":                   "a\xff\xfe\xc3(\xf8\x88\x80\x80\x80",
		"lone surrogates":                 "\xed\xa0\x80 \xed\xb0\x80",
		"overlong":                        "\xc0\xaf\xe0\x80\xaf",
		"NUL and DEL":                     "a\x00b\x7fc\x08\x08",
	} {
		s, _ := newSpace(t)
		s.command = prints(out, out, sandbox.Result{})
		const most = 20_000
		text := must(t, Config{Space: s, MaxChars: most}).Text()
		for _, r := range text {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
				t.Errorf("%s gives %.100q with %q", name, text, r)
				break
			}
		}
		raw, err := json.Marshal(text)
		if err != nil || !utf8.ValidString(text) || utf8.RuneCountInString(text) > most+1000 ||
			strings.Contains(string(raw), `\ud8`) {
			t.Errorf("%s gives %d characters, %.100q, %v", name, utf8.RuneCountInString(text), text, err)
		}
	}
}

func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\r\n\xff"), 3)
	f.Add([]byte("\x1b]0;x\ny\x9b\xc2\x9b"), 1)
	s, _ := newSpace(f)
	f.Fuzz(func(t *testing.T, raw []byte, at int) {
		o := newOutput(s.files, 1<<20, 1<<20, "never")
		at = min(max(at, 0), len(raw))
		_, _ = o.stdout().Write(raw[:at])
		o.settle()
		_, _ = o.stdout().Write(raw[at:])
		got := o.finish(false)
		if got.log != "" {
			_ = s.files.Remove(got.log)
		}
		text, _ := got.text(1<<20, "")
		for _, r := range text {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
				t.Fatalf("%q gives %q with %q", raw, text, r)
			}
		}
		if !utf8.ValidString(text) {
			t.Fatalf("%q gives invalid %q", raw, text)
		}
	})
}
