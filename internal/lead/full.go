package lead

import (
	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/filehistory"
	rules "github.com/pudu-ai/pudu/internal/feature/guardrail"
	"github.com/pudu-ai/pudu/internal/feature/memory"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/threadstate"
	"github.com/pudu-ai/pudu/internal/middleware/skillsecrets"
	"github.com/pudu-ai/pudu/state"
)

// Full is a run that has everything there is, whatever the settings turn on: [Chain] makes every middleware of it. It
// is there to be looked at, for the schema of the state and for docs/middlewares.md; it cannot be run.
func Full(settings *config.Config) Config {
	all := *settings
	for _, enabled := range []*bool{
		&all.ToolOutput.Enabled, &all.Authorization.Enabled, &all.Guardrails.Enabled, &all.ReadBeforeWrite.Enabled,
		&all.ToolProgress.Enabled, &all.Summarization.Enabled, &all.TokenUsage.Enabled, &all.Title.Enabled,
		&all.LoopDetection.Enabled, &all.TokenBudget.Enabled, &all.SafetyFinish.Enabled, &all.Memory.Enabled,
		&all.Memory.Injection,
	} {
		*enabled = true
	}
	return Config{
		Settings: &all, Models: Models{Main: Candidate{Entry: config.Model{SupportsVision: true}}},
		Options: Options{Plan: true, Subagents: true}, Thread: Thread{History: (*filehistory.Thread)(nil)},
		Memory: &memory.Mine{}, Skills: (*skills.Mine)(nil).Run(nil), Secrets: skillsecrets.New(skillsecrets.Config{}),
		Guards: Guards{roles: (*rules.RBAC)(nil), rules: (*rules.Allowlist)(nil)},
	}
}

// Schema is every channel that a thread's state can have, whatever its runs were made of. Own are the middlewares that
// the program brings along.
func Schema(settings *config.Config, own ...agent.Middleware) (state.Schema, error) {
	c := Full(settings)
	c.Program.Middlewares = own
	for _, m := range own { // one that takes the place of another may have its channels
		c.Program.Without = append(c.Program.Without, m.Name())
	}
	channels := append(agent.Channels(), threadstate.Channels()...)
	for _, m := range Chain(c) {
		if p, ok := m.(agent.StateProvider); ok {
			channels = append(channels, p.Channels()...)
		}
	}
	return state.NewSchema(channels...)
}
