package lead

import (
	"cmp"
	"slices"

	"github.com/pudu-ai/pudu/agent"
	"github.com/pudu-ai/pudu/internal/config"
	"github.com/pudu-ai/pudu/internal/feature/skills"
	"github.com/pudu-ai/pudu/internal/feature/toolbox"
	"github.com/pudu-ai/pudu/internal/middleware/dynamiccontext"
	"github.com/pudu-ai/pudu/internal/middleware/guardrail"
	"github.com/pudu-ai/pudu/internal/middleware/loopdetection"
	memorymw "github.com/pudu-ai/pudu/internal/middleware/memory"
	"github.com/pudu-ai/pudu/internal/middleware/safetyfinish"
	"github.com/pudu-ai/pudu/internal/middleware/skillactivation"
	"github.com/pudu-ai/pudu/internal/middleware/subagentlimit"
	"github.com/pudu-ai/pudu/internal/middleware/summarization"
	"github.com/pudu-ai/pudu/internal/middleware/title"
	"github.com/pudu-ai/pudu/internal/middleware/todo"
	"github.com/pudu-ai/pudu/internal/middleware/tokenbudget"
	"github.com/pudu-ai/pudu/internal/middleware/tooloutputbudget"
	"github.com/pudu-ai/pudu/internal/middleware/toolprogress"
	"github.com/pudu-ai/pudu/internal/middleware/viewimage"
	"github.com/pudu-ai/pudu/sandbox"
)

// What the rows of the chain make.

const authorizationName = "AuthorizationMiddleware"

// files are the thread's; nil where there is no thread, as when only the chain's shape is asked for.
func (c *Config) files() *sandbox.Files {
	if c.Thread.Space == nil {
		return nil
	}
	return c.Thread.Space.Files()
}

// having returns the middleware if the run has it.
func having(has bool, m agent.Middleware) agent.Middleware {
	if !has {
		return nil
	}
	return m
}

func outputBudget(c *Config) agent.Middleware {
	o := c.Settings.ToolOutput
	exempt := o.ExemptTools
	if exempt == nil {
		exempt = []string{}
	}
	return having(o.Enabled, tooloutputbudget.New(tooloutputbudget.Config{
		Files: c.files(), MinChars: unbounded(o.ExternalizeMinChars),
		PreviewHead: unbounded(o.PreviewHeadChars), PreviewTail: unbounded(o.PreviewTailChars),
		FallbackMax: unbounded(o.FallbackMaxChars), FallbackHead: unbounded(o.FallbackHeadChars),
		FallbackTail: unbounded(o.FallbackTailChars), Subdir: o.StorageSubdir, Exempt: exempt,
		Overrides: o.ToolOverrides,
	}))
}

func authorization(c *Config) agent.Middleware {
	if c.Guards.roles == nil {
		return nil
	}
	return guardrail.New(guardrail.Config{
		Name: authorizationName, Provider: c.Guards.roles, FailOpen: !c.Settings.Authorization.FailClosed,
		Exempt: []string{"tool_search"}, Remote: c.Guards.remote, Subagent: c.Task != nil, Outside: c.outside(),
		Log: c.Log,
	})
}

// outside reports whether who gave the run its task has read what came from outside.
func (c *Config) outside() bool { return c.Task != nil && c.Task.Outside }

func explicitRules(c *Config) agent.Middleware {
	if c.Guards.rules == nil {
		return nil
	}
	g := c.Settings.Guardrails
	of := guardrail.Config{
		Provider: c.Guards.rules, FailOpen: !g.FailClosed, AgentID: cmp.Or(g.Passport, c.Agent.Name),
		Remote: c.Guards.remote, Unattended: c.Options.NoClarification, Subagent: c.Task != nil, Outside: c.outside(),
		Grants: c.Grants, Log: c.Log,
	}
	if c.Secrets != nil {
		of.Secrets = c.Secrets.Wanted
	}
	return guardrail.New(of)
}

func toolProgress(c *Config) agent.Middleware {
	p := c.Settings.ToolProgress
	return having(p.Enabled, toolprogress.New(toolprogress.Config{
		StagnationThreshold: p.StagnationThreshold, WarnEscalation: p.WarnEscalationCount, NoHints: !p.InjectAssessment,
		Similarity: p.Similarity, MinWords: p.MinWordCount, Exempt: p.ExemptTools,
	}))
}

// summary is there even if summarization is not enabled: then it only sees to it that requests fit the model's window.
func summary(c *Config) agent.Middleware {
	s, trigger := c.Settings.Summarization, summarization.Amount{}
	if s.Enabled {
		trigger = summarization.AmountOf(s.Trigger...)
	}
	return summarization.New(summarization.Config{
		RunModel: c.beside(), RunModelName: c.Choice.Model.Name, Window: c.Choice.Model.ContextWindow,
		Model: c.Models.Summary.Model, ModelName: s.Model, ModelWindow: c.Models.Summary.Window,
		MaxAnswer: c.Choice.Model.MaxTokens, Trigger: trigger, Keep: summarization.AmountOf(s.Keep),
		TrimTokens: s.TrimTokens, Prompt: s.Prompt, Files: c.files(),
	})
}

func plan(c *Config) agent.Middleware {
	return having(c.Options.Plan, todo.New())
}

func changing(c *Config) agent.Middleware {
	line := ""
	if c.Sandbox.Off == "" && c.Choice.Has(groupBash) {
		line = toolbox.Note(c.Sandbox.Toolbox)
	}
	return dynamiccontext.New(dynamiccontext.Config{Toolbox: line})
}

func threadTitle(c *Config) agent.Middleware {
	t := c.Settings.Title
	return having(t.Enabled, title.New(title.Config{
		Model: c.Models.Title, ModelName: t.Model, MaxWords: t.MaxWords, MaxChars: t.MaxChars, Prompt: t.Prompt,
	}))
}

// remembers reports whether the run has a memory.
func (c *Config) remembers() bool {
	return c.Memory != nil && c.Settings.Memory.On() && c.Agent.Remembers()
}

func remembered(c *Config) agent.Middleware {
	return having(c.remembers() && c.Settings.Memory.Injection,
		memorymw.New(memorymw.Config{Note: c.Memory.Note, Log: c.Log}))
}

// inPrompt are the skills of which the prompt tells: the starters that the agent may use, which are the same for
// everybody and never change while the program works. What differs from them is told by notes.
func (c *Config) inPrompt() []skills.Skill {
	if c.Skills == nil {
		return nil
	}
	return slices.DeleteFunc(skills.Starters(c.Settings.SkillSettings()), func(s skills.Skill) bool {
		return c.Choice.Skills != nil && !slices.Contains(c.Choice.Skills, s.Name)
	})
}

func taught(c *Config) agent.Middleware {
	return having(c.Skills != nil, skillactivation.New(skillactivation.Config{
		Skills: c.Skills, Prompt: c.inPrompt(), Deferred: c.Settings.Skills.Deferred, Log: c.Log,
	}))
}

// sees reports whether the model can look at images.
func (c *Config) sees() bool { return c.Models.Main.Entry.SupportsVision }

func images(c *Config) agent.Middleware {
	return having(c.sees(), viewimage.New(viewimage.Config{Files: c.files(), Album: c.Album}))
}

func taskLimit(c *Config) agent.Middleware {
	o := c.Options
	return having(o.Subagents, subagentlimit.New(subagentlimit.Config{
		MaxConcurrent: o.MaxSubagents, MaxPerRun: cmp.Or(o.MaxTotalSubagents, c.Settings.Subagents.MaxTotalPerRun),
	}))
}

func loops(c *Config) agent.Middleware {
	l := c.Settings.LoopDetection
	tools := make(map[string]loopdetection.Rule, len(l.ToolFreqOverrides))
	for name, r := range l.ToolFreqOverrides {
		tools[name] = loopdetection.Rule{Warn: r.Warn, HardLimit: r.HardLimit}
	}
	return having(l.Enabled, loopdetection.New(loopdetection.Config{
		WarnThreshold: l.WarnThreshold, HardLimit: l.HardLimit, Window: l.WindowSize,
		Tool: loopdetection.Rule{Warn: l.ToolFreqWarn, HardLimit: l.ToolFreqHardLimit}, Tools: tools,
	}))
}

func budget(c *Config) agent.Middleware {
	b := c.Settings.TokenBudget
	if c.Task != nil {
		b = c.Task.Budget
	}
	if !b.Enabled {
		return nil
	}
	return tokenbudget.New(tokenbudget.Config{
		MaxTokens: b.MaxTokens, MaxInput: b.MaxInputTokens, MaxOutput: b.MaxOutputTokens, MaxCost: b.MaxCost,
		WarnAt: b.WarnThreshold, StopAt: b.HardStopThreshold, Model: c.Choice.Model.Name, Prices: c.prices(),
	})
}

// prices are those of the configured models and of the run's own, which may come from the environment.
func (c *Config) prices() map[string]config.Pricing {
	prices := c.Settings.Prices()
	if p := c.Choice.Model.Pricing; p != nil {
		prices[c.Choice.Model.Name] = *p
	}
	return prices
}

func safety(c *Config) agent.Middleware {
	s := c.Settings.SafetyFinish
	return having(s.Enabled, safetyfinish.New(safetyfinish.Config{Detectors: detectors(s.Detectors)}))
}

func detectors(list config.SafetyDetectors) []safetyfinish.Detector {
	var out []safetyfinish.Detector
	for _, d := range list {
		out = append(out, safetyfinish.Detector{Kind: d.Kind, Reasons: d.Config.Reasons})
	}
	return out
}
