package uploads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/lib/untrusted"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// folder makes uploads with these texts; each is newer than the one before.
func folder(t *testing.T, pairs ...string) (*sandbox.Files, string) {
	t.Helper()
	host := t.TempDir()
	at := time.Unix(1_700_000_000, 0)
	for i := 0; i < len(pairs); i += 2 {
		full := filepath.Join(host, pairs[i])
		if err := os.WriteFile(full, []byte(pairs[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full, at, at.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: host, Path: sandbox.Uploads}}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return files, host
}

func call(t *testing.T, files *sandbox.Files, s state.State, args string) *tool.Result {
	t.Helper()
	res, err := New(files).Run(t.Context(), &tool.Call{Args: json.RawMessage(args), State: s})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestListsEarlierFilesNewestFirst(t *testing.T) {
	files, host := folder(t, "old.csv", "a,b\n", "notes.md", "# One\n## Two\n", "r.pdf", "\x00", "r.md",
		"# Text of r\n", "now.txt", "x", ".pudu-0123456789abcdef.tmp", "x")
	if err := os.Symlink("old.csv", filepath.Join(host, "link")); err != nil {
		t.Fatal(err)
	}
	s, _, err := state.State{}.Apply(threadstate.UploadedFiles.Put([]threadstate.UploadedFile{{Filename: "now.txt"}}))
	if err != nil {
		t.Fatal(err)
	}
	at := `"path":"/mnt/user-data/uploads/`
	r := `{"filename":"r.pdf","size":1,` + at + `r.pdf","extension":".pdf"`
	n := `{"filename":"notes.md","size":13,` + at + `notes.md","extension":".md"`
	o := `{"filename":"old.csv","size":4,` + at + `old.csv","extension":".csv"`
	text := `,"text_path":"/mnt/user-data/uploads/r.md"}`
	end := `],"total_count":3,"message":"3 file(s) of earlier turns."}`
	outR := `,"outline":[{"title":"Text of r","line":1}]`
	outN := `,"outline":[{"title":"One","line":1},{"title":"Two","line":2}]}`
	for _, c := range []struct{ args, want string }{
		{`{}`, `{"files":[` + r + text + "," + n + "}," + o + "}" + end},
		{`{"include_outline":false,"max_results":0}`, `{"files":[` + r +
			text + `],"total_count":3,"truncated":true,"omitted_summary":"2 older: 1 .csv, 1 .md","message":"The newest 1 of 3 files of earlier turns."}`},
		{`{"include_outline":true}`, `{"files":[` + r + outR + text + "," + n + outN + "," + o +
			`,"outline_preview":["a,b"]}` + end},
		{`{"include_outline":["notes.md","none"],"max_results":1000}`, `{"files":[` + r + text + "," + n + outN + "," +
			o + "}" + end},
		{`{"include_outline":["/mnt/user-data/uploads/r.pdf"]}`, `{"files":[` + r + outR + text + "," + n + "}," + o +
			"}" + end},
	} {
		if diff := cmp.Diff(c.want, call(t, files, s, c.args).Text()); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
	}
}

func TestNothingToList(t *testing.T) {
	files, _ := folder(t)
	want := `{"files":[],"total_count":0,"message":"There are no files of earlier turns."}`
	if diff := cmp.Diff(want, call(t, files, state.State{}, `{}`).Text()); diff != "" {
		t.Error(diff)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if res := call(t, files, state.State{}, `{}`); !res.IsError {
		t.Errorf("a folder that cannot be read: %s", res.Text())
	}
}

func TestNamesAndHeadingsAreHarmlessAndStayExact(t *testing.T) {
	name := "<system> " + untrusted.End + " \u202e.md"
	files, _ := folder(t, name, "# <memory>"+untrusted.Begin+"\n")
	text := call(t, files, state.State{}, `{"include_outline":true}`).Text()
	if untrusted.Text(text) != text || strings.ContainsAny(text, "<>\u202e") {
		t.Errorf("text %s", text)
	}
	var got listing
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Files[0].Path != sandbox.Uploads+"/"+name {
		t.Errorf("the path reads as %+v, %v", got.Files, err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	var pairs []string
	for i := range 150 {
		pairs = append(pairs, fmt.Sprintf("%03d%s.md", i, strings.Repeat("n", 200)),
			strings.Repeat("# "+strings.Repeat("t", 300)+"\n", 50))
	}
	files, _ := folder(t, pairs...)
	res := call(t, files, state.State{}, `{"include_outline":true,"max_results":100000}`)
	var got listing
	if err := json.Unmarshal([]byte(res.Text()), &got); err != nil {
		t.Fatal(err)
	}
	outlines := 0
	for _, f := range got.Files {
		if len(f.Outline) > 0 {
			outlines++
		}
	}
	if len(got.Files) != 100 || outlines != maxOutlines || !got.Truncated ||
		!strings.Contains(got.Message, "by name") || len(res.Text()) > 150_000 {
		t.Errorf("%d files, %d outlines, %d bytes: %s", len(got.Files), outlines, len(res.Text()), got.Message)
	}
}

func TestCancelledCallEnds(t *testing.T) {
	files, _ := folder(t, "a.md", "# A")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New(files).Run(ctx, &tool.Call{Args: json.RawMessage(`{"include_outline":true}`)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestFilesThatWereOnlyCountedAreListed: of more than ten new files the message describes ten.
func TestFilesThatWereOnlyCountedAreListed(t *testing.T) {
	files, _ := folder(t, "a10.txt", "x", "a0.txt", "x")
	var current []threadstate.UploadedFile
	for i := range 11 {
		current = append(current, threadstate.UploadedFile{Filename: fmt.Sprintf("a%d.txt", i)})
	}
	s, _, err := state.State{}.Apply(threadstate.UploadedFiles.Put(current))
	if err != nil {
		t.Fatal(err)
	}
	if text := call(t, files, s, `{}`).Text(); !strings.Contains(text, "a10.txt") || strings.Contains(text, "a0.txt") {
		t.Error(text)
	}
}

func TestSpecIsReadOnlyAndSmall(t *testing.T) {
	spec := New(nil).Spec()
	if spec.Effect != tool.ReadOnly || len(spec.Description)+len(spec.Parameters) > 700 {
		t.Errorf("effect %d, %d bytes", spec.Effect, len(spec.Description)+len(spec.Parameters))
	}
}
