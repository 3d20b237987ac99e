package tooloutputbudget

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
	"github.com/pudu-ai/pudu/tool"
)

// fakeModel calls tools by turns, name and arguments, then answers. It keeps the requests.
type fakeModel struct {
	turns    [][2]string
	requests [][]message.Message
}

func (*fakeModel) Name() string { return "test/fake" }

func (f *fakeModel) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	n := len(f.requests)
	f.requests = append(f.requests, req.Messages)
	c := message.Chunk{Text: "done", FinishReason: "stop"}
	if n < len(f.turns) {
		call := message.ToolCallChunk{ID: fmt.Sprint("c", n), Name: f.turns[n][0], Args: f.turns[n][1]}
		c = message.Chunk{ToolCalls: []message.ToolCallChunk{call}, FinishReason: "tool_calls"}
	}
	return func(yield func(message.Chunk, error) bool) { yield(c, nil) }
}

// funcTool answers what its function returns.
type funcTool struct {
	name string
	run  func() *tool.Result
}

func (f funcTool) Spec() tool.Spec { return tool.Spec{Name: f.name} }
func (f funcTool) Run(context.Context, *tool.Call) (*tool.Result, error) {
	return f.run(), nil
}

func says(name, text string) tool.Tool {
	return funcTool{name, func() *tool.Result { return tool.Text(text) }}
}

// place is a thread's folders.
type place struct {
	files  *sandbox.Files
	host   string
	mounts []sandbox.Mount
}

func newPlace(t testing.TB) place {
	t.Helper()
	p := place{host: t.TempDir()}
	for _, name := range []string{"workspace", "outputs"} {
		dir := filepath.Join(p.host, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		p.mounts = append(p.mounts, sandbox.Mount{Host: dir, Path: sandbox.UserData + "/" + name})
	}
	var err error
	if p.files, err = sandbox.NewFiles(p.mounts, sandbox.FilesOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.files.Close() })
	return p
}

// stored are the files that the middleware made.
func (p place) stored(t testing.TB) map[string]string {
	t.Helper()
	found := make(map[string]string)
	entries, _ := p.files.ReadDir(sandbox.Outputs + "/.tool-results")
	for _, e := range entries {
		raw, err := p.files.ReadFile(sandbox.Outputs+"/.tool-results/"+e.Name(), 64<<20)
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(raw)
	}
	return found
}

// run makes a run in which the model calls the tools in turn, once each, and returns the requests and the tool
// messages.
func run(t testing.TB, cfg Config, inside []agent.Middleware,
	tools ...tool.Tool) ([][]message.Message, []message.Message) {
	t.Helper()
	m := &fakeModel{}
	for _, tl := range tools {
		args := "{}"
		if tl.Spec().Name == "bash" {
			args = script
		}
		m.turns = append(m.turns, [2]string{tl.Spec().Name, args})
	}
	a, err := agent.New(agent.Config{Model: m, Tools: tools}, append([]agent.Middleware{New(cfg)}, inside...)...)
	if err != nil {
		t.Fatal(err)
	}
	in := message.New(message.Human, "go")
	in.ID = "1"
	s, err := a.Run(t.Context(), &agent.Runtime{ThreadID: "t", RunID: "r", Input: agent.Messages.Append(in)},
		state.State{})
	if err != nil {
		t.Fatal(err)
	}
	var results []message.Message
	for _, msg := range agent.Messages.Get(s) {
		if msg.Role == message.Tool {
			results = append(results, msg)
		}
	}
	return m.requests, results
}
