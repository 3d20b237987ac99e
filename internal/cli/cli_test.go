package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/runs"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

func TestBlocksAreCutAtBlankLinesOutsideFences(t *testing.T) {
	text := "# Title\n\nA para\ngraph.\n\n```go\na\n\nb\n```\n\nlast"
	want := []string{"# Title\n\n", "A para\ngraph.\n\n", "```go\na\n\nb\n```\n\n"}
	for size := 1; size <= len(text); size++ {
		var b blocks
		var got []string
		for i := 0; i < len(text); i += size {
			got = append(got, b.add(text[i:min(i+size, len(text))])...)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("pieces of %d (-want +got):\n%s", size, d)
		}
		if rest := b.rest(); rest != "last" {
			t.Fatalf("pieces of %d: rest is %q", size, rest)
		}
	}
}

func TestParseMounts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"data", "other", "skills"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	data, other := filepath.Join(dir, "data"), filepath.Join(dir, "other")
	got, err := parseMounts([]string{data, other + ":rw"})
	want := []sandbox.Mount{{Host: data, Path: "/mnt/data", ReadOnly: true}, {Host: other, Path: "/mnt/other"}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range [][]string{{"/nonexistent"}, {"/"}, {data, data}, {filepath.Join(dir, "skills")}} {
		if _, err := parseMounts(bad); err == nil || !strings.HasPrefix(err.Error(), "--mount ") {
			t.Errorf("%v: got %v", bad, err)
		}
	}
}

func TestPlaceNeverOverwritesAnotherFile(t *testing.T) {
	dir := t.TempDir()
	put := func(rel, content string) string {
		t.Helper()
		to, err := place(dir, rel, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(to, dir+"/")
	}
	got := []string{put("a.txt", "one"), put("a.txt", "one"), put("a.txt", "two"), put("a.txt", "three"),
		put("sub/b.txt", "x")}
	want := []string{"a.txt", "a.txt", "a-1.txt", "a-2.txt", "sub/b.txt"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := place(dir, "../evil", []byte("x")); err == nil {
		t.Error("a file was placed outside the folder")
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := place(dir, "link/evil", []byte("x")); err == nil {
		t.Error("a file was placed behind a link")
	}
}

// play shows events to a watcher and returns what it wrote.
func play(stdio IO, events []event.Data, answer string) (out, errs string) {
	var o, e bytes.Buffer
	stdio.Out, stdio.Err = &o, &e
	w := newWatcher(stdio, false)
	for i, d := range events {
		w.show(event.Event{ID: event.ID{Attempt: 1, N: int64(i + 1)}, Data: d})
	}
	m := message.New(message.AI, answer)
	m.ID = "m2"
	s, _, err := state.State{}.Apply(agent.Messages.Append(m))
	if err != nil {
		panic(err)
	}
	w.close(runs.Outcome{State: s})
	return o.String(), e.String()
}

var played = []event.Data{
	event.Chunk{MessageID: "m1", Reasoning: "hm\x1b[31m"}, event.Chunk{MessageID: "m1", Text: "Let me look."},
	event.Message{MessageID: "m1"},
	event.ToolStart{CallID: "c", Tool: "bash", Args: json.RawMessage(`{"description":"d","command":"ls -l\nwc"}`)},
	event.Progress{CallID: "c", Text: "working"},
	event.ToolEnd{CallID: "c", Tool: "bash", Summary: "3 \x1b]0;evil\x07files", Millis: 400},
	event.ToolEnd{CallID: "x", Tool: "read_file", Summary: "no such file", IsError: true},
	event.Custom{Value: json.RawMessage(`{"type":"llm_retry","attempt":1,"max_attempts":3,"wait_ms":2000,"reason":"busy"}`)},
	event.Custom{Value: json.RawMessage(`{"type":"llm_fallback","from":"a","to":"b","reason":"busy","message":"a is overloaded; b\u001b[31m answers"}`)},
	event.Custom{Value: json.RawMessage(`{"type":"llm_queued","model":"b","ahead":9,"message":"waiting for a place among the calls of b; 9 before this one"}`)},
	event.Custom{Value: json.RawMessage(`{"type":"another","message":"not for people"}`)},
	event.Chunk{MessageID: "m2", Text: "**Do"}, event.Chunk{MessageID: "m2", Text: "ne**"},
	event.Message{MessageID: "m2"},
}

func TestWatcherKeepsStandardOutputForTheAnswer(t *testing.T) {
	out, errs := play(IO{}, played, "**Done**")
	if out != "**Done**\n" {
		t.Errorf("standard output is %q", out)
	}
	want := "hm\n" +
		"✓ bash ls -l wc                              0.4 s  3 files\n" +
		"✗ read_file                                         no such file\n" +
		"… model: busy; next try in 2.0 s (2 of 3)\n" +
		"… model: a is overloaded; b answers\n" +
		"… model: waiting for a place among the calls of b; 9 before this one\n"
	if d := cmp.Diff(want, errs); d != "" {
		t.Errorf("standard error (-want +got):\n%s", d)
	}
}

func TestWatcherStreamsRenderedTextToATerminalOnce(t *testing.T) {
	out, _ := play(IO{OutTTY: true, Plain: true, Width: 60}, played, "**Done**")
	if strings.Count(out, "Done") != 1 || strings.Count(out, "Let me look.") != 1 {
		t.Errorf("standard output is %q", out)
	}
}

func TestWatcherShowsAWithdrawnAnswerOnlyInItsLastForm(t *testing.T) {
	events := []event.Data{
		event.Chunk{MessageID: "m1", Text: "wrong"}, event.Discard{MessageID: "m1", Reason: "cut"},
		event.Chunk{MessageID: "m2", Text: "right"}, event.Message{MessageID: "m2"},
	}
	if out, _ := play(IO{OutTTY: true, Plain: true}, events, "right"); strings.Contains(out, "wrong") ||
		!strings.Contains(out, "right") {
		t.Errorf("standard output is %q", out)
	}
}

func TestJSONShowsEventsAlone(t *testing.T) {
	var o, e bytes.Buffer
	w := newWatcher(IO{Out: &o, Err: &e}, true)
	w.show(event.Event{ID: event.ID{Attempt: 1, N: 7}, Data: event.Run{Status: "success"}})
	w.close(runs.Outcome{})
	var got struct{ ID, Kind string }
	if err := json.Unmarshal(o.Bytes(), &got); err != nil || got.ID != "1-7" || got.Kind != "run" || e.Len() > 0 {
		t.Errorf("out %q, err %q, %v", o.String(), e.String(), err)
	}
}

func TestReadTask(t *testing.T) {
	for _, c := range []struct {
		name, in string
		args     []string
		tty      bool
		want     string
		fails    bool
	}{
		{name: "arguments", args: []string{"count", "files"}, want: "count files"},
		{name: "standard input", in: " count\n", want: "count"},
		{name: "a dash", args: []string{"-"}, in: "count", tty: true, want: "count"},
		{name: "nothing at a terminal", tty: true, fails: true},
		{name: "empty input", in: " \n", fails: true},
		{name: "too large", in: strings.Repeat("x", maxTask+1), fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readTask(IO{In: strings.NewReader(c.in), InTTY: c.tty}, c.args)
			var coded *codeError
			if got != c.want || (err != nil) != c.fails ||
				c.fails && (!errors.As(err, &coded) || coded.code != ExitUsage) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
