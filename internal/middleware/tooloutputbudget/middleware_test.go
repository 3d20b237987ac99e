package tooloutputbudget

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/feature/toolmeta"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
	"github.com/pudu-ai/pudu/internal/sandboxes/host"
	"github.com/pudu-ai/pudu/internal/tools/file"
	"github.com/pudu-ai/pudu/internal/tools/shell"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// long is a text of n lines of 100 characters.
func long(n int) string { return strings.Repeat(strings.Repeat("ä", 99)+"\n", n) }

func TestLongResultGoesIntoAFile(t *testing.T) {
	p := newPlace(t)
	text := "the first line\n" + long(200) + "L\nthe last line"
	requests, results := run(t, Config{Files: p.files}, nil, says("search_db", text))
	stored := p.stored(t)
	if len(stored) != 1 {
		t.Fatalf("stored %d files", len(stored))
	}
	for name, content := range stored {
		if !strings.HasPrefix(name, "search_db-") || len(name) != len("search_db-123456789abc.txt") ||
			!strings.HasSuffix(name, ".txt") || content != text {
			t.Errorf("file %s of %d bytes", name, len(content))
		}
		got := results[0].Text()
		want := "[Full search_db output saved to /mnt/user-data/outputs/.tool-results/" + name +
			" (20030 chars, ~5007 tokens).]\n[Preview kind: text. "
		if !strings.HasPrefix(got, want) || !strings.Contains(got, "the first line\n") ||
			!strings.Contains(got, "\nthe last line\nAccess: read_file") {
			t.Error(got)
		}
		if n := utf8.RuneCountInString(got); n > 3600 {
			t.Errorf("the synopsis has %d characters", n)
		}
	}
	if diff := cmp.Diff(requests[1][:1], requests[0]); diff != "" {
		t.Error(diff)
	}
}

func TestShortResultsStayAsTheyAre(t *testing.T) {
	p := newPlace(t)
	text := strings.Repeat("ä", 12_000)
	_, results := run(t, Config{Files: p.files}, nil, says("a", text))
	if results[0].Text() != text || len(p.stored(t)) != 0 {
		t.Error("a result of exactly 12,000 characters was shortened")
	}
}

func TestThresholds(t *testing.T) {
	text := long(400) // 40,000 characters
	for _, c := range []struct {
		name string
		cfg  Config
		text string
		want string // how the result begins
		kept bool   // in a file
	}{
		{"an override that is lower", Config{Overrides: map[string]int{"a": 10}}, "0123456789x", "[Full a output",
			true},
		{"at the override", Config{Overrides: map[string]int{"a": 10}}, "0123456789", "0123456789", false},
		{"an override that is higher than everything", Config{Overrides: map[string]int{"a": 40_000}}, text, "ää",
			false},
		{"an override of another tool", Config{Overrides: map[string]int{"b": 10}}, "0123456789x", "0123456789x",
			false},
		{"never stored", Config{Overrides: map[string]int{"a": 0}, FallbackMax: -1}, text, "ää", false},
		{"nothing is stored", Config{MinChars: -1, FallbackMax: -1}, text, "ää", false},
		{"exempt", Config{Exempt: []string{"a"}}, text, "ää", false},
		{"not exempt any more", Config{Exempt: []string{}}, text, "[Full a output", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			c.cfg.Files = p.files
			_, results := run(t, c.cfg, nil, says("a", c.text))
			got := results[0].Text()
			if !strings.HasPrefix(got, c.want) || (len(p.stored(t)) == 1) != c.kept || !c.kept && got != c.text {
				t.Errorf("%d files, result %.60q of %d bytes", len(p.stored(t)), got, len(got))
			}
		})
	}
}

func TestWithoutStorageTheMiddleIsLeftOut(t *testing.T) {
	p := newPlace(t)
	if err := os.WriteFile(p.host+"/outputs/.tool-results", []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, cfg := range map[string]Config{
		"no files":                   {},
		"a name that is a path":      {Files: newPlace(t).files, Subdir: "../x"},
		"a file where the folder is": {Files: p.files},
	} {
		t.Run(name, func(t *testing.T) {
			_, results := run(t, cfg, nil, says("a", long(400)), says("b", long(299)))
			got := results[0].Text()
			n := utf8.RuneCountInString(got)
			if n > 30_000 || !strings.Contains(got, " chars omitted from a output. Persistent storage unavailable.") ||
				!strings.HasPrefix(got, "ääää") || !strings.HasSuffix(got, "ä\n") {
				t.Errorf("%d characters: %.200s", n, got)
			}
			if results[1].Text() != long(299) {
				t.Error("a result that can be shown whole was cut")
			}
		})
	}
}

func TestCheckSubdir(t *testing.T) {
	for name, ok := range map[string]bool{
		".tool-results": true, "x": true, "": false, ".": false, "..": false, "a/b": false, `a\b`: false, "/a": false,
		"a\x00": false, ".pudu-0123456789abcdef.tmp": false,
	} {
		if err := CheckSubdir(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestImagesAndStateOfAResultStay(t *testing.T) {
	p := newPlace(t)
	title := state.LastValue[string]("title")
	shared := &tool.Result{
		Content: []message.Part{message.Text(long(100)), message.Text(long(100))}, IsError: true,
		Artifact: json.RawMessage(`{"a":1}`), Kwargs: message.Fields{"k": json.RawMessage("1")},
		Command: tool.Command{Update: title.Put("x")},
	}
	picture := tool.Text(long(200))
	picture.Content = append(picture.Content, message.Part{Type: message.PartImage, URL: "data:image/png;base64,AA=="})
	_, results := run(t, Config{Files: p.files}, nil,
		funcTool{"many", func() *tool.Result { return shared }},
		funcTool{"look", func() *tool.Result { return picture }})
	got := results[0]
	if !strings.HasPrefix(got.Text(), "[Full many output") || got.Status != message.StatusError ||
		string(got.Artifact) != `{"a":1}` || string(got.Kwargs["k"]) != "1" {
		t.Errorf("result %+v", got)
	}
	if len(shared.Content) != 2 || shared.Summary != "" {
		t.Error("the tool's own result was changed")
	}
	if len(results[1].Content) != 2 || len(p.stored(t)) != 1 {
		t.Errorf("a result with an image has %d parts", len(results[1].Content))
	}
}

// hostSpace is a thread's place with a real shell.
type hostSpace struct {
	place
	box sandbox.Sandbox
}

func (*hostSpace) ID() string              { return "t" }
func (s *hostSpace) Files() *sandbox.Files { return s.files }
func (s *hostSpace) Sandbox(context.Context) (sandbox.Sandbox, error) {
	return s.box, nil
}

// script is what the tool bash is called with.
const script = `{"description":"count","command":"for i in $(seq 1 4000); do echo \"line $i of it\"; done; echo truncated >&2; exit 3"}`

// TestBashOutputIsCompleteInTheStoredFile: the shell shortens what it returns, but has all of it in its own file. That
// one is named, and no second one is made.
func TestBashOutputIsCompleteInTheStoredFile(t *testing.T) {
	p := newPlace(t)
	box, err := (&host.Provider{}).Open(t.Context(), sandbox.Spec{ID: "t", Mounts: p.mounts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	bash := shell.New(shell.Config{Space: &hostSpace{p, box}})
	requests, results := run(t, Config{Files: p.files}, []agent.Middleware{toolerror.New()}, bash, bash)
	text := results[0].Text()
	first, _, _ := strings.Cut(text, " (")
	path := strings.TrimPrefix(first, "[Full bash output saved to ")
	raw, err := p.files.ReadFile(path, 1<<20)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if n := strings.Count(string(raw), " of it\n"); n != 4000 || !strings.Contains(string(raw), "line 2000 of it\n") {
		t.Errorf("the file has %d lines", n)
	}
	if !strings.HasPrefix(path, shell.LogFolder) || len(p.stored(t)) != 0 {
		t.Errorf("file %s, and %d more", path, len(p.stored(t)))
	}
	if !strings.Contains(text, "\nExit Code: 3") || !strings.Contains(text, "line 1 of it") ||
		utf8.RuneCountInString(text) > 3600 {
		t.Error(text)
	}
	// A merely long output is no partial success.
	if meta := string(results[0].Kwargs[toolmeta.Key]); !strings.Contains(meta, `"status":"success"`) {
		t.Errorf("meta %s", meta)
	}
	for i := 1; i < len(requests); i++ {
		if diff := cmp.Diff(requests[i-1], requests[i][:len(requests[i-1])]); diff != "" {
			t.Error(diff)
		}
	}
}

// TestToolFileThatIsGoneIsMadeAgain: a command may remove its own log.
func TestToolFileThatIsGoneIsMadeAgain(t *testing.T) {
	p := newPlace(t)
	_, results := run(t, Config{Files: p.files}, nil, funcTool{"bash", func() *tool.Result {
		r := tool.Text(long(150))
		r.Stored = sandbox.Workspace + "/gone.log"
		return r
	}})
	if len(p.stored(t)) != 1 || !strings.Contains(results[0].Text(), sandbox.Outputs+"/.tool-results/bash-") ||
		!strings.Contains(results[0].Text(), ".log (") {
		t.Error(results[0].Text())
	}
}

// TestMerelyLongResultIsNoPartialSuccess holds for tools whose words are looked at, too.
func TestMerelyLongResultIsNoPartialSuccess(t *testing.T) {
	p := newPlace(t)
	_, results := run(t, Config{Files: p.files}, []agent.Middleware{toolerror.New()}, says("search_db", long(300)))
	if meta := string(results[0].Kwargs[toolmeta.Key]); !strings.Contains(meta, `"status":"success"`) ||
		!strings.Contains(meta, `"continue"`) {
		t.Errorf("meta %s", meta)
	}
}

// TestReadFileStaysExempt: what reads the files must not be put into files itself.
func TestReadFileStaysExempt(t *testing.T) {
	p := newPlace(t)
	text := strings.Repeat("x", 49_999) + "\n"
	if err := p.files.WriteFile("big.txt", []byte(text), false); err != nil {
		t.Fatal(err)
	}
	read := file.Reading(file.Config{Files: p.files})[1]
	m := &fakeModel{turns: [][2]string{{"read_file", `{"description":"d","path":"big.txt"}`}}}
	a, err := agent.New(agent.Config{Model: m, Tools: []tool.Tool{read}}, New(Config{Files: p.files}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), &agent.Runtime{RunID: "r"}, state.State{}); err != nil {
		t.Fatal(err)
	}
	last := m.requests[1]
	if got := last[len(last)-1]; got.Text() != text || len(p.stored(t)) != 0 {
		t.Errorf("%d bytes: %.100s", len(got.Text()), got.Text())
	}
}

// TestUnknownToolsNameIsNoPath: models call tools that do not exist, under any name.
func TestUnknownToolsNameIsNoPath(t *testing.T) {
	p := newPlace(t)
	m := New(Config{Files: p.files, MinChars: 5})
	for _, name := range []string{"../../etc/x", "", strings.Repeat("n", 300), "a\nb"} {
		req := &agent.ToolRequest{Call: tool.Call{Name: name}}
		res, err := m.WrapToolCall(t.Context(), req, func(context.Context, *agent.ToolRequest) (*tool.Result, error) {
			return tool.Text("long enough for " + name), nil
		})
		if err != nil || !strings.HasPrefix(res.Text(), "[Full ") {
			t.Errorf("%q: %v, %v", name, res, err)
		}
	}
	if n := len(p.stored(t)); n != 4 {
		t.Errorf("%d files", n)
	}
}

func TestSameResultMakesOneFile(t *testing.T) {
	p := newPlace(t)
	_, results := run(t, Config{Files: p.files}, nil, says("a", long(200)), says("a", long(200)))
	if len(p.stored(t)) != 1 || results[0].Text() != results[1].Text() {
		t.Errorf("%d files", len(p.stored(t)))
	}
}

// TestOversizedHistoryIsCutAlikeOnEveryRequest: messages that another program made have no file.
func TestOversizedHistoryIsCutAlikeOnEveryRequest(t *testing.T) {
	old := []message.Message{
		{ID: "1", Role: message.Human, Content: []message.Part{message.Text("go")}},
		{ID: "2", Role: message.AI,
			ToolCalls: []message.ToolCall{{ID: "a", Name: "search", Args: json.RawMessage("{}")},
				{ID: "b", Name: "read_file", Args: json.RawMessage("{}")}}},
		{ID: "3", Role: message.Tool, Name: "search", ToolCallID: "a",
			Content: []message.Part{message.Text(long(1000))}},
		{ID: "4", Role: message.Tool, Name: "read_file", ToolCallID: "b",
			Content: []message.Part{message.Text(long(500))}},
	}
	m := &fakeModel{turns: [][2]string{{"a", "{}"}, {"a", "{}"}}}
	a, err := agent.New(agent.Config{Model: m, Tools: []tool.Tool{says("a", "x")}}, New(Config{}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Run(t.Context(), &agent.Runtime{RunID: "r", Input: agent.Messages.Append(old...)}, state.State{})
	if err != nil {
		t.Fatal(err)
	}
	if kept := agent.Messages.Get(s)[2]; kept.Text() != long(1000) {
		t.Error("the stored message was changed")
	}
	cut, exempt := m.requests[0][2], m.requests[0][3]
	if n := utf8.RuneCountInString(cut.Text()); n > 30_000 ||
		!strings.Contains(cut.Text(), "chars omitted from search output") || cut.ToolCallID != "a" {
		t.Errorf("%d characters: %.100s", n, cut.Text())
	}
	if exempt.Text() != long(500) {
		t.Error("an exempt message was cut")
	}
	for i := 1; i < len(m.requests); i++ {
		if diff := cmp.Diff(m.requests[i-1], m.requests[i][:len(m.requests[i-1])]); diff != "" {
			t.Error(diff)
		}
	}
}

// TestCutProperties: whatever the bounds, a cut text is no longer than it may be and made of both ends.
func TestCutProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(Config{
			MinChars: -1, FallbackMax: rapid.IntRange(1, 400).Draw(t, "max"),
			FallbackHead: rapid.IntRange(-1, 400).Draw(t, "head"), FallbackTail: rapid.IntRange(-1, 400).
					Draw(t, "tail"),
		})
		text := rapid.StringN(0, 1000, -1).Draw(t, "text")
		got, ok := m.cut("t", text)
		if n := utf8.RuneCountInString(text); ok != (n > m.cfg.FallbackMax) {
			t.Fatalf("%d characters, the limit is %d: cut %t", n, m.cfg.FallbackMax, ok)
		}
		if !ok {
			return
		}
		if n := utf8.RuneCountInString(got); n > m.cfg.FallbackMax {
			t.Fatalf("%d characters, the limit is %d", n, m.cfg.FallbackMax)
		}
		begin, rest, cut := strings.Cut(got, "\n[... ")
		_, end, _ := strings.Cut(rest, "]\n")
		if cut && !strings.ContainsAny(text, "[]") &&
			(!strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end)) {
			t.Fatalf("%q is not made of the ends of %q", got, text)
		}
	})
}

// BenchmarkNothingToDo is what each step pays: 200 messages, none of them too long.
func BenchmarkNothingToDo(b *testing.B) {
	m := New(Config{})
	var msgs []message.Message
	for range 100 {
		msgs = append(msgs, message.New(message.AI, "x"), message.New(message.Tool, strings.Repeat("x", 3000)))
	}
	req := &agent.ModelRequest{Messages: msgs}
	next := func(context.Context, *agent.ModelRequest) (*agent.ModelResponse, error) { return nil, nil }
	for b.Loop() {
		_, _ = m.WrapModelCall(b.Context(), req, next)
	}
}

// BenchmarkStudy is what a result of 1 MB costs.
func BenchmarkStudy(b *testing.B) {
	for name, text := range map[string]string{
		"text": long(5000), "log": strings.Repeat("2026-01-01 12:00:00 INFO a request of a user was served in 3 ms\n",
			16_000),
		"json": "[" + strings.Repeat(`{"a":1,"b":[1,2,3],"c":"text"},`, 32_000) + "1]",
		"csv":  "name,size\n" + strings.Repeat("some name,17\n", 80_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				study(text)
			}
		})
	}
}

var _ model.ChatModel = (*fakeModel)(nil)
