package shell

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// logs returns the content of all logs on the host, in the order of their names, with a bar in between.
func logs(t testing.TB, host string) string {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(host, ".tool-results", "*"))
	var all []string
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(raw))
	}
	return strings.Join(all, "|")
}

func TestLogHasWhatIsOlderThanAMoment(t *testing.T) {
	s, host := newSpace(t)
	synctest.Test(t, func(t *testing.T) {
		s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
			step := func(w io.Writer, text string, after time.Duration, want string) {
				t.Helper()
				_, _ = io.WriteString(w, text)
				time.Sleep(after)
				synctest.Wait()
				if got := logs(t, host); got != want {
					t.Errorf("after %q the log is %q, want %q", text, got, want)
				}
			}
			step(c.Stdout, "one\nha", logAfter-1, "")
			step(c.Stderr, "", 1, "one\nha")
			step(c.Stdout, "lf\n", 0, "one\nhalf\n") // a whole line at once
			step(c.Stderr, "\x1b[1", logAfter, "one\nhalf\n")
			step(c.Stderr, "mbold\r", logAfter, "one\nhalf\nbold")
			step(c.Stderr, "\n\xc3", logAfter, "one\nhalf\nbold\n")
			step(c.Stderr, "\xa9 \x1b]0;t", logAfter, "one\nhalf\nbold\né ")
			step(c.Stderr, "\x07ok", logAfter, "one\nhalf\nbold\né ok")
			return sandbox.Result{}, nil
		}
		want := "one\nhalf\n\nStd Error:\nbold\né ok"
		if got := must(t, Config{Space: s}).Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	if entries, _ := s.files.ReadDir(LogFolder); len(entries) > 0 {
		t.Errorf("the log is still there: %v", entries)
	}
}

func TestLogOfACancelledCommandStays(t *testing.T) {
	s, host := newSpace(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.command = func(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
		_, _ = io.WriteString(c.Stdout, "so far")
		cancel()
		return sandbox.Result{}, ctx.Err()
	}
	if _, err := run(t, Config{Space: s}, ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := logs(t, host); got != "so far" {
		t.Errorf("the log is %q", got)
	}
}

func TestDeadSandboxLeavesALogOnlyIfItIsNeeded(t *testing.T) {
	s, host := newSpace(t)
	for _, tt := range []struct {
		lines int
		kept  bool
	}{{1, false}, {1000, true}} {
		s.command = func(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
			_, _ = io.WriteString(c.Stdout, strings.Repeat("line\n", tt.lines))
			time.Sleep(2 * logAfter)
			return sandbox.Result{}, sandbox.ErrClosed
		}
		text := must(t, Config{Space: s, MaxChars: 500}).Text()
		if _, err := os.Stat(filepath.Join(host, ".tool-results")); (err == nil) != tt.kept {
			t.Errorf("%d lines: the folder is left: %v", tt.lines, err == nil)
		}
		if got := logs(t, host) != ""; got != tt.kept || strings.Contains(text, "Full output: "+LogFolder) != tt.kept {
			t.Errorf("%d lines: log %v, result %q", tt.lines, got, text)
		}
	}
}

// TestAFolderThatGoesAway: while a call makes its file, another one removes the folder that it had made for its own.
func TestAFolderThatGoesAway(t *testing.T) {
	s, _ := newSpace(t)
	done := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-done:
				return
			default:
				_ = s.files.Remove(LogFolder)
			}
		}
	}()
	for range 300 {
		o := newOutput(s.files, 1<<20, 1<<20, LogFolder+"/bash-x")
		_, _ = io.WriteString(o.stdout(), "text\n")
		o.settle()
		got := o.finish(false)
		if got.log == "" || !got.full {
			t.Fatalf("the file is %q, whole: %v", got.log, got.full)
		}
		if err := s.files.Remove(got.log); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	<-gone
}

// callOf is call "c" of an AI message.
func callOf(t testing.TB, messageID, command string) *tool.Call {
	t.Helper()
	ai := message.New(message.AI, "")
	ai.ID, ai.ToolCalls = messageID, []message.ToolCall{{ID: "c", Name: "bash"}}
	st, _, err := (state.State{}).Apply(agent.Messages.Append(ai))
	if err != nil {
		t.Fatal(err)
	}
	args, _ := json.Marshal(map[string]string{"description": "test", "command": command})
	return &tool.Call{ID: "c", Name: "bash", RunID: "r", Args: args, State: st, Progress: func(string) {}}
}

func TestInspect(t *testing.T) {
	long := strings.Repeat("0123456789\n", 1000) + "the end"
	for _, tt := range []struct {
		name    string
		logs    map[string]string
		want    []string
		without []string
	}{
		{"nothing printed", nil, []string{"make all", "all its processes", "Nothing that it printed was kept",
			"ls -la"}, []string{LogFolder}},
		{"printed", map[string]string{".log": "compiling\nhalf"},
			[]string{"all that was kept", ".log:\ncompiling\nhalf", "last at 20"}, []string{"Nothing"}},
		{"the newest", map[string]string{".log": "old", "-2.log": "older", "-3.log": "new"}, []string{"-3.log:\nnew"},
			[]string{"old"}},
		{"empty log", map[string]string{".log": ""}, []string{".log:\n(nothing)"}, nil},
		{"long", map[string]string{".log": long}, []string{"all of it is in", "0123456789", "chars skipped",
			"\nthe end"}, nil},
		{"written by the agent's code", map[string]string{".log": "\x1b]0;x\x07\x00\xffhi\x1b[2J"},
			[]string{".log:\n\uFFFDhi"}, []string{"\x1b", "\x00"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newSpace(t)
			call := callOf(t, "ai", "make all\x1b[2J")
			for suffix, text := range tt.logs {
				if err := s.files.WriteFile(logName(call)+suffix, []byte(text), false); err != nil {
					t.Fatal(err)
				}
			}
			other := callOf(t, "another message", "x")
			if err := s.files.WriteFile(logName(other)+".log", []byte("of a call with the same id"),
				false); err != nil {
				t.Fatal(err)
			}
			got := New(Config{Space: s, MaxChars: 500}).(tool.Inspector).Inspect(t.Context(), call)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in %q", want, got)
				}
			}
			for _, no := range append(tt.without, "same id", "\x1b") {
				if strings.Contains(got, no) {
					t.Errorf("%q in %q", no, got)
				}
			}
			if len(got) > 2000 {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}

func TestInspectOfWhatIsNoLog(t *testing.T) {
	s, host := newSpace(t)
	call := callOf(t, "ai", "x")
	name := filepath.Join(host, strings.TrimPrefix(logName(call), sandbox.Workspace)+".log")
	if err := os.MkdirAll(name, 0o755); err != nil {
		t.Fatal(err)
	}
	b := New(Config{Space: s}).(tool.Inspector)
	if got := b.Inspect(t.Context(), call); !strings.Contains(got, "Nothing that it printed") {
		t.Errorf("a folder: %q", got)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", name); err != nil {
		t.Fatal(err)
	}
	if got := b.Inspect(t.Context(), call); !strings.Contains(got, "Nothing that it printed") {
		t.Errorf("a link out: %q", got)
	}
	if got := b.Inspect(t.Context(), &tool.Call{Args: json.RawMessage(`[]`)}); got != "" {
		t.Errorf("impossible arguments: %q", got)
	}
}

// named is a sandbox that can be told from others.
type named struct{ *space }

func (named) Instance() string { return "i1" }

func (n named) Sandbox(context.Context) (sandbox.Sandbox, error) { return n, nil }

func TestBackgroundProcessesAreRemembered(t *testing.T) {
	s, _ := newSpace(t)
	for _, tt := range []struct {
		background int
		want       []threadstate.BackgroundProcesses
	}{
		{0, nil},
		{2, []threadstate.BackgroundProcesses{{Instance: "i1", Command: "serve 8000 & " + strings.Repeat("x", 106) +
			"…", Count: 2}}},
	} {
		s.command = prints("ready\n", "", sandbox.Result{Background: tt.background})
		call := callOf(t, "ai", "serve\n 8000 & "+strings.Repeat("x", 300))
		res, err := New(Config{Space: named{s}}).Run(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		for i := range tt.want {
			tt.want[i].Log = logName(call) + ".log"
		}
		st, _, err := (state.State{}).Apply(res.Update)
		if diff := cmp.Diff(tt.want, threadstate.Background.Get(st)); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}
