package goals

import (
	"context"
	"os"
	"path/filepath"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/cmd/pudu-bench/measure"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/picture"
	"github.com/pudu-ai/pudu/internal/lead"
	"github.com/pudu-ai/pudu/internal/lib/units"
	"github.com/pudu-ai/pudu/model"
	"github.com/pudu-ai/pudu/sandbox"
	"github.com/pudu-ai/pudu/tool"
)

// measureChain measures what the lead agent's middlewares, all of them switched on, add to a step: beside the same
// agent without any.
func measureChain(ctx context.Context, e env, r *measure.Table) error {
	p := newProse(1)
	bot := newRobot(loopSteps, p, 70)
	c, done, err := leadConfig(filepath.Join(e.dir, "chain"), bot, p)
	if err != nil {
		return err
	}
	defer done()
	whole, err := lead.Build(c)
	if err != nil {
		return err
	}
	system, err := lead.Prompt(c)
	if err != nil {
		return err
	}
	bare, err := agent.New(agent.Config{Model: bot, System: system, Tools: c.Program.Tools})
	if err != nil {
		return err
	}
	history := talk(p)
	took, err := compare(ctx, 100, inMemory(whole, bot, history), inMemory(bare, bot, history))
	if err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "step with the whole chain, 200 messages",
		Unit: units.Seconds, Value: took[0], Beside: took[1]})
	r.Add(measure.Figure{Name: "  what the chain adds to it",
		Unit: units.Seconds, Value: took[0] - took[1], Goal: measure.Within(150e-6)})
	built := timed(1, func(context.Context) error {
		_, err := lead.Build(c)
		return err
	})
	if took, err = compare(ctx, 100, built); err != nil {
		return err
	}
	r.Add(measure.Figure{Name: "making the agent of a run", Unit: units.Seconds, Value: took[0]})
	return nil
}

// leadConfig is a lead agent with everything switched on that a configuration can switch on.
func leadConfig(dir string, bot model.ChatModel, p prose) (c lead.Config, done func(), err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return c, nil, err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return c, nil, err
	}
	files, err := sandbox.NewFiles([]sandbox.Mount{
		{Host: dir, Path: sandbox.Workspace}, {Host: dir, Path: sandbox.Uploads}, {Host: dir, Path: sandbox.Outputs},
	}, sandbox.FilesOptions{})
	if err != nil {
		return c, nil, err
	}
	settings := config.Default()
	settings.ToolProgress.Enabled, settings.TokenBudget.Enabled, settings.Summarization.Enabled = true, true, true
	settings.TokenBudget.MaxTokens = 1 << 40
	settings.Summarization.Trigger = config.Thresholds{{Type: "tokens", Value: 1 << 40}}
	c = lead.Config{
		Settings: settings, Options: lead.Options{Plan: true, Subagents: true, MaxSubagents: 3},
		Album: picture.NewAlbum(0),
		Models: lead.Models{Main: lead.Candidate{
			Model: bot, Entry: config.Model{SupportsVision: true},
			Guard: lead.NewModelGuard(settings.LLMCall, settings.CircuitBreaker),
		}},
		Thread: lead.Thread{Space: placed{files}}, Sandbox: lead.Sandbox{Off: "Not here."},
		Program: lead.Program{Tools: []tool.Tool{look(p, 700, tool.ReadOnly, true)}},
	}
	return c, func() { files.Close() }, nil
}

// placed is a thread's place without a sandbox.
type placed struct{ files *sandbox.Files }

func (placed) ID() string              { return "" }
func (s placed) Files() *sandbox.Files { return s.files }
func (placed) Sandbox(context.Context) (sandbox.Sandbox, error) {
	return nil, sandbox.ErrUnavailable
}
