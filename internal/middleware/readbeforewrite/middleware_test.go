package readbeforewrite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/event"
	"github.com/pudu-ai/pudu/internal/middleware/toolerror"
	"github.com/pudu-ai/pudu/internal/tools/file"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

const path = sandbox.Workspace + "/a.txt"

// op is a call that the model makes.
type op struct {
	tool string
	args map[string]any
}

func read(p string) op { return op{readFile, map[string]any{"path": p}} }
func write(p, text string) op {
	return op{writeFile, map[string]any{"path": p, "content": text}}
}
func add(text string) op {
	return op{writeFile, map[string]any{"path": path, "content": text, "append": true}}
}
func edit(old, text string) op {
	return op{strReplace, map[string]any{"path": path, "old_str": old, "new_str": text}}
}

// fakeModel makes the calls of its turns, those of one turn in one message, then answers.
type fakeModel struct {
	turns [][]op
	n     int
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(context.Context, *model.Request) iter.Seq2[message.Chunk, error] {
	c := message.Chunk{Text: "done", FinishReason: "stop"}
	if f.n < len(f.turns) {
		c = message.Chunk{FinishReason: "tool_calls"}
		for i, o := range f.turns[f.n] {
			o.args["description"] = "test"
			raw, _ := json.Marshal(o.args)
			c.ToolCalls = append(c.ToolCalls, message.ToolCallChunk{Index: i, ID: fmt.Sprintf("c%d-%d", f.n, i),
				Name: o.tool, Args: string(raw)})
		}
	}
	f.n++
	return func(yield func(message.Chunk, error) bool) { yield(c, nil) }
}

// thread is a conversation about files.
type thread struct {
	t     testing.TB
	files *sandbox.Files
	host  string
	mw    *Middleware
	state state.State
	ids   int
	ended map[string]event.ToolEnd // results that were committed before their step
}

func newThread(t testing.TB, host string) *thread {
	t.Helper()
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: host, Path: sandbox.Workspace}}, sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = files.Close() })
	return &thread{t: t, files: files, host: host, mw: New(Config{Files: files}), ended: map[string]event.ToolEnd{}}
}

// put changes the file behind the model's back.
func (th *thread) put(text string) {
	th.t.Helper()
	if err := os.WriteFile(filepath.Join(th.host, "a.txt"), []byte(text), 0o600); err != nil {
		th.t.Fatal(err)
	}
}

func (th *thread) content() string {
	raw, err := th.files.ReadFile(path, 64<<20)
	if err != nil {
		return ""
	}
	return string(raw)
}

func (th *thread) agent(turns ...[]op) *agent.Agent {
	th.t.Helper()
	cfg := file.Config{Files: th.files}
	a, err := agent.New(agent.Config{
		Model: &fakeModel{turns: turns}, Tools: append(file.Reading(cfg), file.Writing(cfg)...),
	}, th.mw, toolerror.New())
	if err != nil {
		th.t.Fatal(err)
	}
	return a
}

func (th *thread) runtime() *agent.Runtime {
	return &agent.Runtime{
		ThreadID: "t", RunID: th.id(), NewID: th.id,
		Commit: func(_ context.Context, step agent.Step) error {
			for _, e := range step.Events {
				if end, ok := e.Data.(event.ToolEnd); ok && end.Writes != nil {
					th.ended[end.CallID] = end
				}
			}
			return nil
		},
	}
}

func (th *thread) id() string { th.ids++; return fmt.Sprint("id", th.ids) }

// do makes a run with these turns and returns for each call whether it was let through.
func (th *thread) do(turns ...[]op) (passed []bool) {
	th.t.Helper()
	before := len(agent.Messages.Get(th.state))
	rt := th.runtime()
	in := message.New(message.Human, "go")
	in.ID = th.id()
	rt.Input = agent.Messages.Append(in)
	var err error
	if th.state, err = th.agent(turns...).Run(th.t.Context(), rt, th.state); err != nil {
		th.t.Fatal(err)
	}
	return verdicts(agent.Messages.Get(th.state)[before:])
}

func verdicts(msgs []message.Message) (passed []bool) {
	for _, m := range msgs {
		if m.Role == message.Tool {
			passed = append(passed, !strings.Contains(m.Text(), "blocked"))
		}
	}
	return passed
}

func (th *thread) last() *message.Message {
	msgs := agent.Messages.Get(th.state)
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == message.Tool {
			return &msgs[i]
		}
	}
	return &message.Message{}
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestWhatMayBeWritten names what happens before each write and whether that is let through.
func TestWhatMayBeWritten(t *testing.T) {
	one := 1
	part := op{readFile, map[string]any{"path": path, "start_line": one, "end_line": one}}
	for _, c := range []struct {
		name, file string // no file if empty
		turns      [][]op
		want       []bool
		left       string
	}{
		{"a missing file passes", "", [][]op{{write(path, "x")}}, []bool{true}, "x"},
		{"an unread file is blocked", "old", [][]op{{write(path, "x")}}, []bool{false}, "old"},
		{"an edit of an unread file is blocked", "old", [][]op{{edit("old", "x")}}, []bool{false}, "old"},
		{"so is one that replaces nothing", "old", [][]op{{edit("", "x")}}, []bool{false}, "old"},
		{"a file that was read", "old", [][]op{{read(path)}, {write(path, "x")}}, []bool{true, true}, "x"},
		{"a ranged read is enough", "old\nmore\n", [][]op{{part}, {edit("more", "x")}}, []bool{true, true}, "old\nx\n"},
		{"a read under another spelling", "old", [][]op{{read("a.txt")}, {write(sandbox.Workspace+"//./a.txt", "x")}},
			[]bool{true, true}, "x"},
		{"a read of another file", "old", [][]op{{write("b.txt", "b")}, {read("b.txt")}, {write(path, "x")}},
			[]bool{true, true, false}, "old"},
		{"what the agent wrote may be written again without reading", "", [][]op{{write(path, "one two")},
			{write(path, "two")}, {edit("two", "three")}, {edit("three", "four")}}, []bool{true, true, true, true},
			"four"},
		{"a long file in sections", "", [][]op{{write(path, "a")}, {add("b")}, {add("c")}, {edit("b", "B")}},
			[]bool{true, true, true, true}, "aBc"},
		{"sections from the first on", "", [][]op{{add("a")}, {add("b")}, {write(path, "c")}}, []bool{true, true, true},
			"c"},
		{"adding to an unread file loses nothing, but its content is not known by that", "old",
			[][]op{{add("+")}, {write(path, "x")}}, []bool{true, false}, "old+"},
		{"two edits in one message", "one two", [][]op{{read(path)}, {edit("one", "1"), edit("two", "2")}},
			[]bool{true, true, true}, "1 2"},
		{"sections in one message keep their order", "",
			[][]op{{write(path, "a"), add("b"), add("c"), add("d"), edit("b", "B")}},
			[]bool{true, true, true, true, true}, "aBcd"},
		{"a read beside the write comes too late for the model", "old", [][]op{{read(path), write(path, "x")}},
			[]bool{true, false}, "old"},
		{"a failed edit changes nothing of what is known", "old",
			[][]op{{read(path)}, {edit("none", "x")}, {edit("old", "new")}}, []bool{true, true, true}, "new"},
		{"a folder is the tool's to refuse", "", [][]op{{write(sandbox.Workspace, "x")}}, []bool{true}, ""},
		{"so is a path that leads out", "", [][]op{{write("../../etc/x", "x")}}, []bool{true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			th := newThread(t, t.TempDir())
			if c.file != "" {
				th.put(c.file)
			}
			if diff := cmp.Diff(c.want, th.do(c.turns...)); diff != "" {
				t.Error(diff)
			}
			if got := th.content(); got != c.left {
				t.Errorf("the file holds %q, want %q", got, c.left)
			}
		})
	}
}

func TestAFileThatChangedMustBeReadAgain(t *testing.T) {
	th := newThread(t, t.TempDir())
	th.put("one")
	th.do([]op{read(path)})
	th.put("two")
	if got := th.do([]op{write(path, "x")}); got[0] {
		t.Error("a file that changed was overwritten")
	}
	if text := th.last().Text(); !strings.Contains(text, "write_file blocked — "+path+
		" already exists and it has changed since you last read or wrote it") {
		t.Error(text)
	}
	if diff := cmp.Diff([]bool{true, true}, th.do([]op{read(path)}, []op{write(path, "x")})); diff != "" {
		t.Error(diff)
	}
	th.put("three")
	if got := th.do([]op{edit("three", "x")}); got[0] {
		t.Error("what the agent wrote was changed by somebody else, and then by the agent")
	}
}

func TestMarkAndRefusalAsClientsSeeThem(t *testing.T) {
	th := newThread(t, t.TempDir())
	th.put("old")
	th.do([]op{write(path, "x")})
	got := th.last()
	want := `{"status":"error","error_type":"permission","recoverable_by_model":true,"recommended_next_action":"try_alternative","source":"tool_return"}`
	if got.Status != message.StatusError || string(got.Kwargs["deerflow_tool_meta"]) != want ||
		got.Kwargs[KeyMark] != nil {
		t.Errorf("%+v", got)
	}
	if want := "Error: write_file blocked — " + path +
		" already exists and you have not read its current version. "; !strings.HasPrefix(got.Text(), want) {
		t.Error(got.Text())
	}
	th.do([]op{read("a.txt")})
	if diff := cmp.Diff(`{"path":"`+path+`","hash":"`+sha("old")+`"}`,
		string(th.last().Kwargs["deerflow_read_mark"])); diff != "" {
		t.Error(diff)
	}
	if th.last().Kwargs["deerflow_tool_meta"] == nil {
		t.Error("the mark took the place of the tool's own data")
	}
	th.do([]op{edit("old", "new")})
	if diff := cmp.Diff(`{"path":"`+path+`","hash":"`+sha("new")+`"}`,
		string(th.last().Kwargs["deerflow_read_mark"])); diff != "" {
		t.Error(diff)
	}
}

func TestFailedReadsLeaveNoMark(t *testing.T) {
	th := newThread(t, t.TempDir())
	th.put("a\x00b")
	th.do([]op{read(path), read("none.txt"), read(sandbox.Workspace)})
	for _, m := range agent.Messages.Get(th.state) {
		if m.Kwargs[KeyMark] != nil {
			t.Errorf("%s has a mark", m.Text())
		}
	}
}

// TestTextThatBeginsLikeAnErrorIsGuarded: it is a file's content that is judged, not its first word.
func TestTextThatBeginsLikeAnErrorIsGuarded(t *testing.T) {
	th := newThread(t, t.TempDir())
	th.put("Error: not one")
	if got := th.do([]op{write(path, "x")}); got[0] {
		t.Error("overwritten unread")
	}
}

// TestAStateWithoutTheMarkBlocks: a rollback or a compaction takes the mark away with the message, whatever this
// process remembers.
func TestAStateWithoutTheMarkBlocks(t *testing.T) {
	th := newThread(t, t.TempDir())
	before := th.state
	th.do([]op{write(path, "x")})
	th.state = before
	if got := th.do([]op{write(path, "y")}); got[0] {
		t.Error("after a rollback the content is not known")
	}
	th.do([]op{read(path)})
	var err error
	if th.state, _, err = th.state.Apply(agent.Messages.Remove(th.last().ID)); err != nil {
		t.Fatal(err)
	}
	if got := th.do([]op{write(path, "y")}); got[0] {
		t.Error("after a compaction the content is not known")
	}
}

// TestSecondEditAfterACrash: the first edit's result was recorded, then the process died before the second one began.
func TestSecondEditAfterACrash(t *testing.T) {
	th := newThread(t, t.TempDir())
	th.put("one two")
	th.do([]op{read(path)})
	calls := []op{edit("one", "1"), edit("two", "2")}
	past := th.state
	th.do(calls)
	first, second := th.ended["c0-0"], th.ended["c0-1"]
	if first.Writes == nil || second.Writes != nil {
		t.Fatalf("recorded %v", th.ended)
	}
	msgs := agent.Messages.Get(th.state)
	asking := len(agent.Messages.Get(past)) + 1
	var err error
	if past, _, err = past.Apply(agent.Messages.Append(msgs[asking-1 : asking+1]...)); err != nil {
		t.Fatal(err)
	}
	th.put("1 two")
	th.mw = New(Config{Files: th.files}) // of another process
	rt := th.runtime()
	rt.Resume = &agent.Resume{Next: agent.NodeTools, Ended: map[string]event.ToolEnd{"c0-0": first},
		Started: map[string]event.ToolStart{}}
	last, err := th.agent().Run(t.Context(), rt, past)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, true}, verdicts(agent.Messages.Get(last)[asking:])); diff != "" ||
		th.content() != "1 2" {
		t.Errorf("the file holds %q: %s", th.content(), diff)
	}
	// Somebody else's change in between is not the first edit's.
	th.put("0 two")
	last, err = th.agent().Run(t.Context(), rt, past)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, false}, verdicts(agent.Messages.Get(last)[asking:])); diff != "" {
		t.Error(diff)
	}
}

func TestLargeFilesAreToldApartWithoutReadingAll(t *testing.T) {
	th := newThread(t, t.TempDir())
	th.put(strings.Repeat("x", maxHashed+1))
	one, _ := th.mw.version(path)
	if again, state := th.mw.version(path); again != one || state != present {
		t.Error("the same file has two versions")
	}
	th.put(strings.Repeat("x", maxHashed) + "y")
	if other, _ := th.mw.version(path); other == one {
		t.Error("a change at the end is not seen")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := New(Config{})
	for i := range 3 * maxMade {
		m.remember(&agent.ToolRequest{}, fmt.Sprint(i), "h")
	}
	if len(m.made) > maxMade {
		t.Errorf("%d entries", len(m.made))
	}
}

// TestGateProperties: whatever the model and others do, a replacing call passes only if the conversation shows the file
// as it is.
func TestGateProperties(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		host, err := os.MkdirTemp(root, "ws")
		if err != nil {
			t.Fatal(err)
		}
		th := newThread(t, host)
		var exists bool
		var seen *string // the content that the conversation shows, which may come back after a change
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			text := rapid.StringMatching(`[ab]{1,3}`).Draw(rt, "text")
			known := exists && seen != nil && *seen == th.content()
			pass := known || !exists
			step := rapid.SampledFrom([]string{"read", "write", "add", "edit", "others", "gone"}).Draw(rt, "step")
			switch step {
			case "read":
				th.do([]op{read(path)})
				pass = exists
			case "others":
				th.put(th.content() + "!")
				exists, pass = true, false
			case "gone":
				_ = os.Remove(filepath.Join(host, "a.txt"))
				exists, pass = false, false
			case "add":
				if got := th.do([]op{add(text)}); !got[0] {
					rt.Fatal("adding was blocked")
				}
				exists = true
			case "write":
				if got := th.do([]op{write(path, text)}); got[0] != pass {
					rt.Fatalf("write passed: %t, the file was there: %t, known: %t", got[0], exists, known)
				}
				exists = true
			case "edit":
				if got := th.do([]op{edit("a", text)}); got[0] != pass {
					rt.Fatalf("edit passed: %t, the file was there: %t, known: %t", got[0], exists, known)
				}
			}
			if exists && pass {
				now := th.content()
				seen = &now
			}
		}
	})
}

// BenchmarkUnknownPath is the longest search: 2,000 messages, half of them with marks of other files.
func BenchmarkUnknownPath(b *testing.B) {
	var msgs []message.Message
	for i := range 2000 {
		m := message.New(message.Tool, "x")
		m.ID = fmt.Sprint(i)
		if i%2 == 0 {
			m.Kwargs = message.Fields{KeyMark: json.RawMessage(`{"path":"/mnt/user-data/workspace/other.txt","hash":"` +
				sha("") + `"}`)}
		}
		msgs = append(msgs, m)
	}
	s, _, err := state.State{}.Apply(agent.Messages.Append(msgs...))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		newest(s, path)
	}
}
