package lead_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/message"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/state"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; run with -update if the change is meant):\n%s", path, d)
	}
}

// space is a thread's place without a sandbox.
type space struct{ files *sandbox.Files }

func (s space) ID() string            { return "" }
func (s space) Files() *sandbox.Files { return s.files }
func (s space) Sandbox(context.Context) (sandbox.Sandbox, error) {
	return nil, sandbox.ErrUnavailable
}

// capture is a model that keeps the request and answers at once.
type capture struct{ last *model.Request }

func (*capture) Name() string { return "fake/capture" }
func (c *capture) Stream(_ context.Context, req *model.Request) iter.Seq2[message.Chunk, error] {
	c.last = req
	return func(yield func(message.Chunk, error) bool) {
		yield(message.Chunk{Text: "ok", FinishReason: "stop"}, nil)
	}
}

func base(t *testing.T) lead.Config {
	t.Helper()
	files, err := sandbox.NewFiles([]sandbox.Mount{{Host: t.TempDir(), Path: sandbox.Workspace}},
		sandbox.FilesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	cfg := config.Default()
	return lead.Config{
		Settings: cfg, Models: modelsOf(cfg, &capture{}, config.Model{}),
		Thread: lead.Thread{Space: space{files}}, Sandbox: lead.Sandbox{Programs: "python3, git", Isolated: true},
	}
}

// modelsOf are a model that shares nothing with others, and none beside it.
func modelsOf(cfg *config.Config, m model.ChatModel, entry config.Model) lead.Models {
	return lead.Models{Main: lead.Candidate{Model: m, Entry: entry,
		Guard: lead.NewModelGuard(cfg.LLMCall, cfg.CircuitBreaker)}}
}

// request runs one turn and returns what the model got.
func request(t *testing.T, c lead.Config) *model.Request {
	t.Helper()
	a, err := lead.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	human := message.New(message.Human, "hi")
	human.ID = "h"
	rt := &agent.Runtime{ThreadID: "t", RunID: "r", Input: agent.Messages.Append(human)}
	if _, err := a.Run(t.Context(), rt, state.State{}); err != nil {
		t.Fatal(err)
	}
	return c.Models.Main.Model.(*capture).last
}

func TestChainMatrix(t *testing.T) {
	hooks := []agent.Hook{agent.HookBeforeAgent, agent.HookBeforeModel, agent.HookWrapModelCall, agent.HookAfterModel,
		agent.HookWrapToolCall, agent.HookAfterAgent}
	var b strings.Builder
	fmt.Fprintf(&b, "%-30s", "middleware")
	for _, h := range hooks {
		fmt.Fprintf(&b, " %-15s", h)
	}
	for _, m := range lead.Chain(base(t)) {
		fmt.Fprintf(&b, "\n%-30s", m.Name())
		for _, h := range hooks {
			mark := "."
			if slices.Contains(agent.Hooks(m), h) {
				mark = "x"
			}
			fmt.Fprintf(&b, " %-15s", mark)
		}
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n")+"\n")
	}
	golden(t, "chain.golden", strings.Join(lines, ""))
}

func TestClarificationIsAlwaysLast(t *testing.T) {
	chain := lead.Chain(base(t))
	if got := chain[len(chain)-1].Name(); got != "ClarificationMiddleware" {
		t.Errorf("the last middleware is %s", got)
	}
}

func TestPromptAndTools(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*lead.Config)
	}{
		{"default", func(*lead.Config) {}},
		{"no-sandbox", func(c *lead.Config) { c.Sandbox.Off = "bubblewrap is missing." }},
		{"host-and-mounts", func(c *lead.Config) {
			c.Sandbox.Isolated, c.Models.Main.Entry.SupportsVision = false, true
			c.Sandbox.Mounts = []sandbox.Mount{{Path: "/mnt/reference", ReadOnly: true}, {Path: "/mnt/project"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := base(t)
			c.change(&cfg)
			req := request(t, cfg)
			var b strings.Builder
			b.WriteString(req.System + "\n\ntools:\n")
			for _, tool := range req.Tools {
				b.WriteString(tool.Name + "\n")
			}
			golden(t, "prompt-"+c.name+".golden", b.String())
		})
	}
}

func TestLimits(t *testing.T) {
	cfg := config.Default()
	for _, c := range []struct{ asked, want int }{{0, cfg.MaxRecursionLimit}, {5, 5}, {1 << 30, cfg.MaxRecursionLimit},
		{-1, cfg.MaxRecursionLimit}} {
		if got := lead.Limits(cfg, c.asked).MaxSteps; got != c.want {
			t.Errorf("asked for %d: %d, want %d", c.asked, got, c.want)
		}
	}
}
